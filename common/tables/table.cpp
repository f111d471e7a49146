#include "tables/table.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/contract.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"

namespace shapley::tables {

namespace {

using nlohmann::json;

// A width beyond any terminal is an error, and padding to it would fill the memory.
constexpr int k_max_width = 1000;

// Fewer characters of a name are not meaningful.
constexpr std::size_t k_least_name = 6;

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

// The first `width` characters; the last of them is '+' when something was cut.
std::string fitted(std::string text, std::size_t width) {
  if (width_of(text) <= width) return text;
  std::size_t bytes = 0;
  for (std::size_t characters = 0; characters + 1 < width; ++characters) {
    do {
      ++bytes;
    } while (bytes < text.size() && continues_character(text[bytes]));
  }
  text.resize(bytes);
  return text + '+';
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::size_t blanks = width - std::min(width, width_of(text));
  return align == Align::right ? std::string(blanks, ' ') + text : text + std::string(blanks, ' ');
}

Expected<int> parse_width(std::string_view text, std::string_view word) {
  int width = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), width);
  if (failure != std::errc{} || end != text.data() + text.size() || width == 0 || width > k_max_width ||
      width < -k_max_width) {
    return fail(
        Errc::invalid_argument,
        fmt::format("format: '{}': the width after '%' must be 1 to {}, or negative to align left", word, k_max_width));
  }
  return width;
}

std::string names_of(std::span<const Field> fields) {
  std::string names;
  for (const Field& field : fields) names.append(names.empty() ? "" : ", ").append(field.name);
  return names;
}

Expected<Column> parse_column(std::string_view word, std::span<const Field> fields) {
  const std::size_t percent = word.find('%');
  const std::string name = lower(trimmed(word.substr(0, percent)));
  const auto field = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == name; });
  if (field == fields.end()) {
    return fail(Errc::invalid_argument,
                fmt::format("format: no field is called '{}'; there are {}", name, names_of(fields)));
  }
  Column column = column_of(*field);
  if (percent == std::string_view::npos) return column;
  SHAPLEY_TRY_ASSIGN(const int width, parse_width(trimmed(word.substr(percent + 1)), word));
  column.align = width < 0 ? Align::left : Align::right;
  column.width = static_cast<std::size_t>(width < 0 ? -width : width);
  return column;
}

// A name may contain the separator, which is escaped like other characters that would break a line
// (base/printable.hpp).
std::string cell_between_bars(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\x7c") : std::string(1, c);
  return out;
}

const json& value_of(const json& object, std::string_view member) {
  static const json k_nothing;
  const auto found = object.find(std::string(member));
  return found == object.end() ? k_nothing : *found;
}

// The value of the column with number `i` in a row.
const json& value_of(const Table& table, const json& row, std::size_t i) {
  if (row.is_array()) return row.at(i);
  const Column& column = table.columns[i];
  return value_of(row, column.member.empty() ? column.name : column.member);
}

std::string exact_text(const json& value) {
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number()) return plain_number(value);
  return {};
}

std::string cell_for_people(const Column& column, const json& value) {
  if (value.is_null()) return "-";
  return printable(column.people == nullptr ? exact_text(value) : column.people(value));
}

Paint paint_of(const Column& column, const json& value) {
  return column.paint == nullptr || value.is_null() ? Paint::none : column.paint(value);
}

// A line of names and one for each row, as programs read them: each cell as `cell` writes it, with `separator` between
// two.
std::string text_for_programs(const Table& table, bool header, char separator,
                              std::string (*cell)(const std::string& text)) {
  std::string out;
  const auto line = [&](auto&& text_at) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (i > 0) out += separator;
      out += cell(text_at(i));
    }
    out += '\n';
  };
  if (header) line([&](std::size_t i) { return table.columns[i].name; });
  for (const json& row : table.rows) line([&](std::size_t i) { return exact_text(value_of(table, row, i)); });
  return out;
}

// `cells`: with the line of titles first, which counts only if it is shown.
std::vector<std::size_t> fit_widths(const Table& table, const std::vector<std::vector<std::string>>& cells,
                                    bool header) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::size_t width = table.columns[i].width;
    if (width == 0) {
      width = header ? width_of(cells.front()[i]) : 1;
      for (std::size_t r = 1; r < cells.size(); ++r) width = std::max(width, width_of(cells[r][i]));
    }
    widths.push_back(width);
  }
  return widths;
}

// Collects padded cells; blanks are written only before a further cell, so that no line ends in blanks.
class Line {
 public:
  void add(const std::string& cell, std::size_t width, Align align, Paint paint, bool colour) {
    const std::string text = padded(fitted(cell, width), width, align);
    const std::size_t first = text.find_first_not_of(' ');
    if (!text_.empty() || written_) pending_ += ' ';
    written_ = true;
    if (first == std::string::npos) {
      pending_ += text;
      return;
    }
    const std::size_t last = text.find_last_not_of(' ');
    text_ += pending_ + text.substr(0, first) + painted(text.substr(first, last - first + 1), paint, colour);
    pending_ = text.substr(last + 1);
  }
  [[nodiscard]] std::string finish() const { return text_ + '\n'; }

 private:
  std::string text_;
  std::string pending_;
  bool written_ = false;
};

// Ends in the colours of a terminal, whose sequences PrintableStream lets pass (base/printable.hpp).
TerminalControl control_of(Paint paint) {
  if (paint == Paint::good) return TerminalControl::green;
  if (paint == Paint::bad) return TerminalControl::red;
  return TerminalControl::dim;
}

}  // namespace

std::string painted(std::string_view text, Paint paint, bool colour) {
  if (!colour || paint == Paint::none) return std::string(text);
  return std::string(sequence_of(control_of(paint))).append(text).append(sequence_of(TerminalControl::plain));
}

Column column_of(const Field& field) {
  return {.name = std::string(field.name),
          .title = std::string(field.title),
          .member = std::string(field.member),
          .people = field.people,
          .paint = field.paint,
          .align = field.align};
}

std::vector<Column> columns_of(std::span<const Field> fields) {
  std::vector<Column> columns;
  for (const Field& field : fields) columns.push_back(column_of(field));
  return columns;
}

Column text_column(const std::string& title) {
  return {.name = title, .title = title, .align = Align::left};
}

Column amount_column(const std::string& title) {
  return {.name = title, .title = title};
}

void drop_column(Table& table, std::string_view name) {
  std::erase_if(table.columns, [&](const Column& column) { return column.name == name; });
}

Expected<std::vector<Column>> parse_columns(std::string_view format, std::span<const Field> fields) {
  std::vector<Column> columns;
  std::size_t begin = 0;
  while (begin <= format.size()) {
    const std::size_t comma = std::min(format.find(',', begin), format.size());
    const std::string_view word = trimmed(format.substr(begin, comma - begin));
    begin = comma + 1;
    if (word.empty()) continue;
    SHAPLEY_TRY_ASSIGN(Column column, parse_column(word, fields));
    columns.push_back(std::move(column));
  }
  if (columns.empty()) {
    return fail(Errc::invalid_argument, "format: names no field; there are " + names_of(fields));
  }
  return columns;
}

std::vector<Column> default_columns(std::span<const std::string> words, std::span<const Field> fields) {
  std::vector<Column> columns;
  for (const std::string& word : words) {
    Expected<Column> column = parse_column(word, fields);
    SHAPLEY_REQUIRE(column);
    if (column) columns.push_back(*std::move(column));
  }
  return columns;
}

void fit_names(Table& table, std::string_view name, std::size_t terminal) {
  const auto column = std::ranges::find(table.columns, name, &Column::name);
  if (column == table.columns.end()) return;
  const std::vector<std::vector<std::string>> cells = cells_for_people(table);
  const auto place = static_cast<std::size_t>(column - table.columns.begin());
  std::set<std::string> names;
  std::size_t longest = width_of(column->title);
  for (std::size_t r = 1; r < cells.size(); ++r) {
    names.insert(cells[r][place]);
    longest = std::max(longest, width_of(cells[r][place]));
  }
  column->width = std::max(column->width, longest);
  std::size_t total = table.columns.size() - 1;  // a blank between two
  for (const std::size_t width : fit_widths(table, cells, true)) total += width;
  if (terminal == 0 || total <= terminal) return;
  // Blanks are removed first; a name is cut only if the table fits then.
  const std::size_t rest = total - column->width;
  column->width = longest;
  const auto alike = [&](std::size_t width) {
    std::set<std::string> cut;
    for (const std::string& each : names) cut.insert(fitted(each, width));
    return cut.size() < names.size();
  };
  const std::size_t room = terminal > rest ? terminal - rest : 0;
  if (room < longest && room >= k_least_name && !alike(room)) column->width = room;
}

std::vector<std::vector<std::string>> cells_for_people(const Table& table) {
  std::vector<std::vector<std::string>> cells(1);
  for (const Column& column : table.columns) cells.front().push_back(printable(column.title));
  for (const json& row : table.rows) {
    std::vector<std::string>& line = cells.emplace_back();
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      line.push_back(cell_for_people(table.columns[i], value_of(table, row, i)));
  }
  return cells;
}

std::string people_text(const Table& table, const PeopleStyle& style) {
  const std::vector<std::vector<std::string>> cells = cells_for_people(table);
  const std::vector<std::size_t> widths = fit_widths(table, cells, style.header);
  std::string out;
  for (std::size_t r = style.header ? 0 : 1; r < cells.size(); ++r) {
    Line line;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const Column& column = table.columns[i];
      const Paint paint = r == 0 ? Paint::none : paint_of(column, value_of(table, table.rows[r - 1], i));
      line.add(cells[r][i], widths[i], column.align, paint, style.colour);
    }
    out += line.finish();
    if (r > 0) continue;
    Line rule;
    for (const std::size_t width : widths) rule.add(std::string(width, '-'), width, Align::left, Paint::none, false);
    out += rule.finish();
  }
  return out;
}

std::string parsable_text(const Table& table, bool header) {
  return text_for_programs(table, header, '|', cell_between_bars);
}

std::string csv_text(const Table& table) {
  return text_for_programs(table, true, ',', [](const std::string& text) { return csv_cell(text); });
}

std::string field_help(std::span<const Field> fields) {
  std::size_t width = 0;
  for (const Field& field : fields) width = std::max(width, field.name.size());
  std::string out;
  for (const Field& field : fields) {
    out.append(padded(std::string(field.name), width + 2, Align::left)).append(field.meaning).append("\n");
  }
  return out;
}

std::string member_text(const json& object, std::string_view member) {
  return exact_text(value_of(object, member));
}

std::string plain_number(const json& number) {
  std::string text = number.dump();
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

}  // namespace shapley::tables
