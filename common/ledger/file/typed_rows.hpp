// Rows of a SELECT as structs: its columns are the members of the struct's description (base/description.hpp), in their
// order; those of a described member stand in its place.
//
// A value that is missing where the member is not optional, of another type, or out of range is a damaged row, not a
// zero: Errc::corrupt names its column.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/contract.hpp"
#include "base/description.hpp"
#include "base/error.hpp"
#include "ledger/file/database.hpp"

namespace shapley::ledger {

template <typename Value>
inline constexpr bool k_is_optional = false;
template <typename Value>
inline constexpr bool k_is_optional<std::optional<Value>> = true;

// False: the column does not hold such a value. An enumeration is stored as its number, a strong type as its value.
template <typename Value>
[[nodiscard]] bool take_column(const Statement& row, int column, Value& value) {
  if constexpr (k_is_optional<Value>) {
    value.reset();
    return row.is_null(column) || take_column(row, column, value.emplace());
  } else if constexpr (std::same_as<Value, std::string>) {
    value = row.text(column);
    return row.is_text(column);
  } else if constexpr (std::same_as<Value, bool>) {
    value = row.integer(column) != 0;
    return row.is_integer(column);
  } else if constexpr (std::integral<Value>) {
    value = static_cast<Value>(row.integer(column));
    return row.is_integer(column) && std::in_range<Value>(row.integer(column));
  } else if constexpr (std::is_enum_v<Value>) {
    for (const Value each : k_values<Value>) {
      value = each;
      if (row.is_integer(column) && static_cast<std::int64_t>(each) == row.integer(column)) return true;
    }
    return false;
  } else {
    return take_column(row, column, value.value);
  }
}

// Reads the members of `record` from the columns from `column` on, and moves `column` behind them. The first column
// that does not hold its value becomes `damaged`.
template <Described Record>
void take_columns(const Statement& row, int& column, Record& record, std::optional<int>& damaged) {
  for_each_member(record, [&]<typename Value>(std::string_view, Value& value, auto) {
    if constexpr (Described<Value>) {
      take_columns(row, column, value, damaged);
    } else {
      if (!take_column(row, column, value) && !damaged) damaged = column;
      ++column;
    }
  });
}

// The row at which the statement stands.
template <Described Record>
[[nodiscard]] Expected<Record> typed_row(const Statement& row) {
  Record record;
  int columns = 0;
  std::optional<int> damaged;
  take_columns(row, columns, record, damaged);
  SHAPLEY_REQUIRE(columns == row.columns());
  if (!damaged) return record;
  return fail(Errc::corrupt, "a row's " + std::string(row.name(*damaged)) +
                                 " is missing or damaged; shapleyctl audit says what else is");
}

// All rows that are left. `most`: more of them are Errc::limit; 0: no bound.
template <Described Record>
[[nodiscard]] Expected<std::vector<Record>> typed_rows(Statement& select, std::size_t most = 0) {
  std::vector<Record> records;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool there, select.step());
    if (!there) return records;
    if (most > 0 && records.size() == most) return fail(Errc::limit, "more than " + std::to_string(most) + " rows");
    SHAPLEY_TRY_ASSIGN(Record record, typed_row<Record>(select));
    records.push_back(std::move(record));
  }
}

}  // namespace shapley::ledger
