// The columns of events that are kept in typed rows (sql/001_ledger.sql), from the events' descriptions: a column is
// named after its member.
//
// The time of an event is the column `at` of event_rows, the kind of a segment is part of `kind`, and the nodes of a
// segment are rows of event_nodes. Texts, lists of resources and words of enumerations are stored once (InternedTexts)
// and named by their number.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/description.hpp"

namespace shapley::ledger {

// Calls visit(name, value, role) for every member of the event, or of the node of a segment, that is a column; `role`
// is a std::integral_constant.
template <typename Record, typename Visit>
void for_each_column(Record& record, const Visit& visit) {
  for_each_member(record, [&]<typename Value>(std::string_view name, Value& value, auto role) {
    using Type = std::remove_const_t<Value>;
    constexpr bool is_elsewhere = decltype(role)::value == Role::time ||
                                  std::is_same_v<Type, accounting::SegmentKind> ||
                                  std::is_same_v<Type, std::vector<accounting::NodeShare>>;
    if constexpr (Described<Type>) {
      for_each_column(value, visit);
    } else if constexpr (!is_elsewhere) {
      visit(name, value, role);
    }
  });
}

template <Described Record>
[[nodiscard]] std::vector<std::string_view> column_names() {
  Record record;
  std::vector<std::string_view> names;
  for_each_column(record, [&](std::string_view name, const auto&, auto) { names.push_back(name); });
  return names;
}

// "a, b, c"
[[nodiscard]] std::string listed_columns(const std::vector<std::string_view>& names);

// Whether NULL stands for the member's default value: where it is optional or a supplement, and in two columns that
// have an index of the rows where they say something.
template <Role role>
[[nodiscard]] constexpr bool is_null_for_default(std::string_view name) {
  return is_supplement(role) || name == "array_job" || name == "het_job";
}

// The names of jobs, of which there are many, are stored as themselves where JSON does not write them in another way.
[[nodiscard]] constexpr bool may_be_plain_text(std::string_view name) {
  return name == "name";
}

}  // namespace shapley::ledger
