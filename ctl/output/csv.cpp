#include "ctl/output/csv.hpp"

#include <string_view>

#include <nlohmann/json.hpp>

namespace shapley::ctl {

namespace {

std::string quoted(std::string text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  for (std::size_t at = text.find('"'); at != std::string::npos; at = text.find('"', at + 2)) text.insert(at, 1, '"');
  return '"' + text + '"';
}

}  // namespace

std::string render_csv(std::span<const Field> fields, const nlohmann::json& rows) {
  std::string text;
  const auto add = [&](bool first, std::string value) { text += (first ? "" : ",") + quoted(std::move(value)); };
  for (const Field& field : fields) add(&field == &fields.front(), std::string(field.name));
  text += '\n';
  for (const nlohmann::json& row : rows) {
    for (const Field& field : fields) add(&field == &fields.front(), member_text(row, field.member));
    text += '\n';
  }
  return text;
}

}  // namespace shapley::ctl
