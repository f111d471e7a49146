#include "sacct/columns.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace shapley::sacct {

Columns::Columns(std::string_view header) {
  const auto names = split(header, '|');
  count_ = names.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto known = std::find(k_columns.begin(), k_columns.end(), names[i]);
    if (known != k_columns.end()) places_[static_cast<std::size_t>(known - k_columns.begin())] = i;
  }
}

std::optional<Column> Columns::missing(std::initializer_list<Column> needed) const {
  const auto found = std::find_if(needed.begin(), needed.end(), [&](Column column) { return !has(column); });
  return found == needed.end() ? std::nullopt : std::optional(*found);
}

Fields::Fields(const Columns& columns, std::string_view line) : columns_(columns), texts_(split(line, '|')) {}

std::string Fields::miscount() const {
  if (texts_.size() == columns_.count()) return {};
  return fmt::format("{} fields where the header has {}", texts_.size(), columns_.count());
}

RowKind Fields::kind() const {
  const std::string_view raw = text(Column::job_id_raw);
  const std::string_view name = has(Column::job_id) ? text(Column::job_id) : raw;
  if (name.find('.') != std::string_view::npos || raw.find('.') != std::string_view::npos) return RowKind::step;
  return name.find('[') == std::string_view::npos ? RowKind::job : RowKind::pending_array;
}

std::string_view Fields::state() const {
  const std::string_view whole = text(Column::state);
  return whole.substr(0, whole.find(' '));
}

bool OneCluster::takes(const Fields& row, std::int64_t line) {
  const std::string_view cluster = row.text(Column::cluster);
  if (line_ == 0) {
    name_ = cluster;
    line_ = line;
  }
  return cluster == name_;
}

}  // namespace shapley::sacct
