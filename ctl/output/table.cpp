#include "ctl/output/table.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "ctl/output/amounts.hpp"

namespace shapley::ctl {

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
    return fail(Errc::invalid_argument, "format: '" + std::string(word) + "': the width after '%' must be 1 to " +
                                            std::to_string(k_max_width) + ", or negative to align left");
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
    return fail(Errc::invalid_argument, "format: no field is called '" + name + "'; there are " + names_of(fields));
  }
  Column column{.field = &*field, .width = 0, .align = field->align};
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

std::string render_parsable(std::span<const Column> columns, const json& rows, bool header) {
  std::string out;
  const auto line = [&](auto&& cell) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) out += '|';
      out += cell(columns[i]);
    }
    out += '\n';
  };
  if (header) line([](const Column& column) { return std::string(column.field->name); });
  for (const json& row : rows)
    line([&](const Column& column) { return cell_between_bars(member_text(row, column.field->key())); });
  return out;
}

const json& value_of(const json& object, std::string_view member) {
  static const json k_nothing;
  const auto found = object.find(std::string(member));
  return found == object.end() ? k_nothing : *found;
}

std::string cell_for_people(const Field& field, const json& row) {
  const json& value = value_of(row, field.key());
  if (value.is_null()) return "-";
  return field.people == nullptr ? member_text(row, field.key()) : field.people(value);
}

Paint paint_of(const Field& field, const json& row) {
  const json& value = value_of(row, field.key());
  return field.paint == nullptr || value.is_null() ? Paint::none : field.paint(value);
}

std::vector<std::vector<std::string>> cells_for_people(std::span<const Column> columns, const json& rows) {
  std::vector<std::vector<std::string>> cells;
  for (const json& row : rows) {
    std::vector<std::string>& line = cells.emplace_back();
    for (const Column& column : columns) line.push_back(printable(cell_for_people(*column.field, row)));
  }
  return cells;
}

std::vector<std::size_t> fit_widths(std::span<const Column> columns, const std::vector<std::vector<std::string>>& cells,
                                    bool header) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t width = columns[i].width;
    if (width == 0) {
      width = header ? width_of(columns[i].field->title) : 1;
      for (const auto& line : cells) width = std::max(width, width_of(line[i]));
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

std::string render_people(std::span<const Column> columns, const json& rows, const TableStyle& style) {
  const std::vector<std::vector<std::string>> cells = cells_for_people(columns, rows);
  const std::vector<std::size_t> widths = fit_widths(columns, cells, style.header);
  std::string out;
  if (style.header) {
    Line titles;
    Line rule;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      titles.add(std::string(columns[i].field->title), widths[i], columns[i].align, Paint::none, style.colour);
      rule.add(std::string(widths[i], '-'), widths[i], Align::left, Paint::none, style.colour);
    }
    out += titles.finish() + rule.finish();
  }
  for (std::size_t r = 0; r < cells.size(); ++r) {
    Line line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      line.add(cells[r][i], widths[i], columns[i].align, paint_of(*columns[i].field, rows[r]), style.colour);
    }
    out += line.finish();
  }
  return out;
}

}  // namespace

Expected<std::vector<Column>> parse_columns(std::string_view format, std::span<const Field> fields) {
  std::vector<Column> columns;
  std::size_t begin = 0;
  while (begin <= format.size()) {
    const std::size_t comma = std::min(format.find(',', begin), format.size());
    const std::string_view word = trimmed(format.substr(begin, comma - begin));
    begin = comma + 1;
    if (word.empty()) continue;
    SHAPLEY_TRY_ASSIGN(const Column column, parse_column(word, fields));
    columns.push_back(column);
  }
  if (columns.empty()) {
    return fail(Errc::invalid_argument, "format: names no field; there are " + names_of(fields));
  }
  return columns;
}

void fit_names(std::vector<Column>& columns, std::string_view field, const json& rows, std::size_t terminal) {
  const auto column =
      std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.field->name == field; });
  if (column == columns.end()) return;
  const std::vector<std::vector<std::string>> cells = cells_for_people(columns, rows);
  const auto place = static_cast<std::size_t>(column - columns.begin());
  std::set<std::string> names;
  std::size_t longest = width_of(column->field->title);
  for (const auto& line : cells) {
    names.insert(line[place]);
    longest = std::max(longest, width_of(line[place]));
  }
  column->width = std::max(column->width, longest);
  std::size_t total = columns.size() - 1;  // a blank between two
  for (const std::size_t width : fit_widths(columns, cells, true)) total += width;
  if (terminal == 0 || total <= terminal) return;
  // Blanks are removed first; a name is cut only if the table fits then.
  const std::size_t rest = total - column->width;
  column->width = longest;
  const auto alike = [&](std::size_t width) {
    std::set<std::string> cut;
    for (const std::string& name : names) cut.insert(fitted(name, width));
    return cut.size() < names.size();
  };
  const std::size_t room = terminal > rest ? terminal - rest : 0;
  if (room < longest && room >= k_least_name && !alike(room)) column->width = room;
}

std::string render_table(std::span<const Column> columns, const json& rows, const TableStyle& style) {
  if (style.form == Form::parsable) return render_parsable(columns, rows, style.header);
  return render_people(columns, rows, style);
}

std::string render_table(std::span<const Field> fields, const json& rows) {
  std::vector<Column> columns;
  for (const Field& field : fields) columns.push_back({.field = &field, .width = 0, .align = field.align});
  return render_table(columns, rows, {});
}

std::string member_text(const json& object, std::string_view member) {
  const json& value = value_of(object, member);
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number()) return plain_number(value);
  return {};
}

std::string render_field_help(std::span<const Field> fields) {
  std::size_t width = 0;
  for (const Field& field : fields) width = std::max(width, field.name.size());
  std::string out;
  for (const Field& field : fields) {
    out.append(padded(std::string(field.name), width + 2, Align::left)).append(field.meaning).append("\n");
  }
  return out;
}

std::string render_csv(std::span<const Field> fields, const nlohmann::json& rows) {
  std::string text;
  const auto add = [&](bool first, const std::string& value) { text += (first ? "" : ",") + csv_cell(value); };
  for (const Field& field : fields) add(&field == &fields.front(), std::string(field.name));
  text += '\n';
  for (const nlohmann::json& row : rows) {
    for (const Field& field : fields) add(&field == &fields.front(), member_text(row, field.key()));
    text += '\n';
  }
  return text;
}

}  // namespace shapley::ctl
