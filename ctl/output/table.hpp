// Tables in the style of Slurm's commands: columns are chosen by name with `name%width`. There is a form for people and
// a form for programs, both from one list of fields, so that programs can read every value that people see, and
// exactly.
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
#include "ctl/output/paint.hpp"

namespace shapley::ctl {

enum class Align { left, right };

// A member of a row (a JSON object of a report) that can be shown as a column.
struct Field {
  std::string_view name;          // for -o and --helpformat: lower case, stable
  std::string_view title = {};    // head of the column for people; programs get the name
  std::string_view meaning = {};  // one line for --helpformat, with the unit
  std::string_view member = {};   // member of the row, whose value as text programs get; empty: the field's name
  std::string (*people)(const nlohmann::json& value) = nullptr;  // null: the text for programs
  Paint (*paint)(const nlohmann::json& value) = nullptr;         // null: none
  Align align = Align::right;

  [[nodiscard]] constexpr std::string_view key() const { return member.empty() ? name : member; }
};

// The same field, aligned left, for text.
[[nodiscard]] constexpr Field left(Field field) {
  field.align = Align::left;
  return field;
}

// A chosen field. Width 0: as wide as its content. A longer cell is cut and ends with '+'.
struct Column {
  const Field* field = nullptr;
  std::size_t width = 0;
  Align align = Align::right;
};

// "name,psi%12,sentence%-40": names in any case; width > 0 aligns right, < 0 left, as in sacct. Errc::invalid_argument
// names the word that is wrong and the fields that exist. REQUIRES: `fields` outlives the columns.
[[nodiscard]] Expected<std::vector<Column>> parse_columns(std::string_view format, std::span<const Field> fields);

// Makes the column of `field`, if there is one, as wide as its longest cell or its width, whichever is greater. If the
// table is wider than a terminal of `columns` (0: no terminal), the column is only as wide as the longest cell, and
// narrower if the table fits then and no two different cells look alike. For people's tables with a header.
void fit_names(std::vector<Column>& columns, std::string_view field, const nlohmann::json& rows, std::size_t terminal);

enum class Form {
  people,    // aligned, with a rule under the header
  parsable,  // exact values between '|', without one at the end of a line (-P)
};

struct TableStyle {
  Form form = Form::people;
  bool header = true;
  bool colour = false;  // people only
};

// `rows`: a JSON array of objects. Every line ends with a newline; people's lines have no trailing blanks.
[[nodiscard]] std::string render_table(std::span<const Column> columns, const nlohmann::json& rows,
                                       const TableStyle& style);
// All fields as columns, for people.
[[nodiscard]] std::string render_table(std::span<const Field> fields, const nlohmann::json& rows);

// A member of a report as printable text on one line: a number without needless zeros, true and false as yes and no, ""
// when it is null or not there.
[[nodiscard]] std::string member_text(const nlohmann::json& object, std::string_view member);

// The output of --helpformat: a line per field, with name and meaning.
[[nodiscard]] std::string render_field_help(std::span<const Field> fields);

// Tables as comma-separated values (RFC 4180), for spreadsheets: a header, then a line for each row.

// `rows`: a JSON array of objects; values as for programs. Lines end with a newline only.
[[nodiscard]] std::string render_csv(std::span<const Field> fields, const nlohmann::json& rows);

// Reports as JSON text for people and programs.

// Indented, with a newline at the end.
[[nodiscard]] inline std::string json_text(const nlohmann::json& report) {
  return text_of(report, 2) + '\n';
}

}  // namespace shapley::ctl
