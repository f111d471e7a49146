#include "ctl/output/csv.hpp"

#include <string_view>

#include <nlohmann/json.hpp>

#include "base/csv.hpp"

namespace shapley::ctl {

std::string render_csv(std::span<const Field> fields, const nlohmann::json& rows) {
  std::string text;
  const auto add = [&](bool first, const std::string& value) { text += (first ? "" : ",") + csv_cell(value); };
  for (const Field& field : fields) add(&field == &fields.front(), std::string(field.name));
  text += '\n';
  for (const nlohmann::json& row : rows) {
    for (const Field& field : fields) add(&field == &fields.front(), member_text(row, field.member));
    text += '\n';
  }
  return text;
}

}  // namespace shapley::ctl
