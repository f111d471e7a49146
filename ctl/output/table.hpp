// Tables in the manner of Slurm's commands: columns chosen by name with `name%width`, a form for people and a form for
// programs, both from one list of fields, so that every value that a person can see a program can read exactly.
//
// Pure text in, text out. Widths count characters (code points of UTF-8). Values are printable (base/printable.hpp): a
// job's name is its user's choice and must not be able to drive an operator's terminal or to forge a line.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "ctl/output/paint.hpp"

namespace shapley::ctl {

enum class Align { left, right };

// One member of a row (a JSON object of a report) that can be a column.
struct Field {
  std::string_view name;     // for -o and --helpformat: lower case, stable
  std::string_view member;   // of the row; its value as text is what programs get
  std::string_view title;    // head of the column for people; programs get the name
  std::string_view meaning;  // one line for --helpformat, with the unit
  Align align = Align::right;
  std::string (*people)(const nlohmann::json& value) = nullptr;  // null: as for programs
  Paint (*paint)(const nlohmann::json& value) = nullptr;         // null: none
};

// A chosen field. width 0: as wide as its content. A longer cell is cut and ends with '+'.
struct Column {
  const Field* field = nullptr;
  std::size_t width = 0;
  Align align = Align::right;
};

// "name,psi%12,sentence%-40": names in any case; width > 0 aligns right, < 0 left, as in sacct. Errc::invalid_argument
// names the word that is wrong and the fields that exist. REQUIRES: `fields` outlives the columns.
[[nodiscard]] Expected<std::vector<Column>> parse_columns(std::string_view format, std::span<const Field> fields);

// Makes the column of `field` as wide as its longest cell or its width, whichever is more, if there is one. Where the
// table would be wider than a terminal of so many columns (0: there is none), only as wide as the longest cell, and
// narrower if the table fits then and no two different cells look alike. For people's tables with a header.
void fit_names(std::vector<Column>& columns, std::string_view field, const nlohmann::json& rows, std::size_t terminal);

enum class Form {
  people,    // aligned, with a rule under the header
  parsable,  // exact values between '|', none at the end of a line (-P)
};

struct TableStyle {
  Form form = Form::people;
  bool header = true;
  bool colour = false;  // people only
};

// `rows`: a JSON array of objects. Every line ends with a newline; people's lines have no trailing blanks.
[[nodiscard]] std::string render_table(std::span<const Column> columns, const nlohmann::json& rows,
                                       const TableStyle& style);

// A member of a report as printable text on one line: a number without needless zeros, true and false as yes and no, ""
// when it is null or not there.
[[nodiscard]] std::string member_text(const nlohmann::json& object, std::string_view member);

// What --helpformat prints: a line per field, name and meaning.
[[nodiscard]] std::string render_field_help(std::span<const Field> fields);

}  // namespace shapley::ctl
