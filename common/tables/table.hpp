// The one model of a table: columns with title, meaning and format, and rows of values. Its writers are for people, for
// programs (-P), for spreadsheets (CSV) and for pages (page.hpp), so that programs can read every value that people
// see, and exactly. Columns can be chosen by name with `name%width`, in the style of Slurm's commands.
//
// The functions are pure. Widths count characters (code points of UTF-8). Values are made printable
// (base/printable.hpp): a job's name is chosen by its user, and must not be able to control an operator's terminal or
// to forge a line.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json.hpp"

namespace shapley::tables {

enum class Align { left, right };

// Colours only emphasize; every fact is also in the text.
enum class Paint { none, good, bad, dim };

// `text` in the escape sequence of `paint`; unchanged when colour is off, or with Paint::none.
[[nodiscard]] std::string painted(std::string_view text, Paint paint, bool colour);

// A described member of a row that can be shown as a column.
struct Field {
  std::string_view name;          // for -o and --helpformat, and the head for programs: lower case, stable
  std::string_view title = {};    // head of the column for people
  std::string_view meaning = {};  // one line for --helpformat, with the unit
  std::string_view member = {};   // member of the row, whose value as text programs get; empty: the field's name
  std::string (*people)(const nlohmann::json& value) = nullptr;  // null: the text for programs
  Paint (*paint)(const nlohmann::json& value) = nullptr;         // null: none
  Align align = Align::right;
};

// The same field, aligned left, for text.
[[nodiscard]] constexpr Field left(Field field) {
  field.align = Align::left;
  return field;
}

// A column of one table: of a field, or of what only this table has.
struct Column {
  std::string name;  // head for programs
  std::string title = {};
  std::string member = {};  // of rows that are objects; empty: the name
  std::string (*people)(const nlohmann::json& value) = nullptr;
  Paint (*paint)(const nlohmann::json& value) = nullptr;
  Align align = Align::right;
  std::size_t width = 0;  // 0: as wide as its content. A longer cell is cut and ends with '+'
};

[[nodiscard]] Column column_of(const Field& field);
[[nodiscard]] std::vector<Column> columns_of(std::span<const Field> fields);
// For what is made for one table: columns whose name is their title.
[[nodiscard]] Column text_column(const std::string& title);
[[nodiscard]] Column amount_column(const std::string& title);

struct Table {
  std::string name = {};  // for readers who do not see it (pages)
  std::vector<Column> columns = {};
  // Each an object, as described records are (base/json.hpp), or an array of a value for each column. People see null
  // as "-".
  nlohmann::json rows = nlohmann::json::array();
};

// Takes out the column of this name, if there is one. REQUIRES: rows are objects, or there are none yet.
void drop_column(Table& table, std::string_view name);

// "name,psi%12,sentence%-40": names in any case; width > 0 aligns right, < 0 left, as in sacct. Errc::invalid_argument
// names the word that is wrong and the fields that exist.
[[nodiscard]] Expected<std::vector<Column>> parse_columns(std::string_view format, std::span<const Field> fields);
// The same of words that the program itself has. REQUIRES: each is right.
[[nodiscard]] std::vector<Column> default_columns(std::span<const std::string> words, std::span<const Field> fields);

// Makes the column of this name, if there is one, as wide as its longest cell or its width, whichever is greater. If
// the table is wider than a terminal of `terminal` columns (0: no terminal), it is only as wide as the longest cell,
// and narrower if the table fits then and no two different cells look alike. For people's tables with a header.
void fit_names(Table& table, std::string_view name, std::size_t terminal);

// What people see: a line of titles, then a line for each row.
[[nodiscard]] std::vector<std::vector<std::string>> cells_for_people(const Table& table);

struct PeopleStyle {
  bool header = true;
  bool colour = false;
};

// For people: aligned, with a rule under the header. Every line ends with a newline; none has trailing blanks.
[[nodiscard]] std::string people_text(const Table& table, const PeopleStyle& style = {});

// For programs (-P): exact values between '|', without one at the end of a line.
[[nodiscard]] std::string parsable_text(const Table& table, bool header = true);

// For spreadsheets (RFC 4180): a header, then a line of exact values for each row. Lines end with a newline only.
[[nodiscard]] std::string csv_text(const Table& table);

// The output of --helpformat: a line per field, with name and meaning.
[[nodiscard]] std::string field_help(std::span<const Field> fields);

// A member of a report as printable text on one line: a number without needless zeros, true and false as yes and no, ""
// when it is null or not there.
[[nodiscard]] std::string member_text(const nlohmann::json& object, std::string_view member);

// A JSON number with the fewest digits that are parsed as the same number: "3", "-0.25", "0.333333", "1e-07".
[[nodiscard]] std::string plain_number(const nlohmann::json& number);

// Reports as JSON text for people and programs: indented, with a newline at the end.
[[nodiscard]] inline std::string json_text(const nlohmann::json& report) {
  return text_of(report, 2) + '\n';
}

}  // namespace shapley::tables
