#include "tables/page.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include <kainjow/mustache.hpp>

#include "base/contract.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "tables/instants.hpp"

namespace shapley::tables {

namespace {

using nlohmann::json;
namespace mustache = kainjow::mustache;

// A table of more columns than this does not fit on paper.
constexpr std::size_t k_paper_columns = 10;

std::string percent_encoded(std::string_view content) {
  constexpr std::string_view k_digits = "0123456789ABCDEF";
  std::string text;
  for (const char c : content) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~,:/").find(c) != std::string_view::npos;
    if (plain) {
      text += c;
    } else {
      text.append("%").append(1, k_digits[byte >> 4U]).append(1, k_digits[byte & 15U]);
    }
  }
  return text;
}

// Whether a line of a template has nothing but one tag that opens or closes a section or names another template.
bool is_tag_alone(std::string_view line) {
  const std::string_view tag = trimmed(line);
  return tag.size() > 4 && tag.starts_with("{{") && tag.find("}}") == tag.size() - 2 &&
         std::string_view("#^/>").find(tag[2]) != std::string_view::npos;
}

// Without the ends of such lines: the library writes an empty line for a section that is left out.
std::string without_lines_of_tags(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const bool has_end = end != std::string_view::npos;
    if (is_tag_alone(line)) {
      out += trimmed(line);
    } else {
      out += line;
      if (has_end) out += '\n';
    }
    text.remove_prefix(has_end ? end + 1 : text.size());
  }
  return out;
}

mustache::data data_of(const json& value) {
  if (value.is_object()) {
    mustache::data object;
    for (const auto& [name, member] : value.items()) object.set(name, data_of(member));
    return object;
  }
  if (value.is_array()) {
    mustache::data list(mustache::data::type::list);
    for (const json& item : value) list.push_back(data_of(item));
    return list;
  }
  if (value.is_boolean() || value.is_null()) return value.is_boolean() && value.get<bool>();
  return value.is_string() ? value.get_ref<const std::string&>() : plain_number(value);
}

// A name that is not there would be left out of the page without a word.
class AllThere : public mustache::context<std::string> {
 public:
  using Values = mustache::context<std::string>;
  using Values::Values;

  const mustache::data* get(const std::string& name) const override {
    const mustache::data* value = Values::get(name);
    SHAPLEY_REQUIRE(value != nullptr);
    return value;
  }
  const mustache::data* get_partial(const std::string& name) const override {
    const mustache::data* text = Values::get_partial(name);
    SHAPLEY_REQUIRE(text != nullptr);
    return text;
  }
};

// As markup. A long name in a narrow column breaks behind a sign that separates its words, rather than within one.
std::string cell_markup(const std::string& text) {
  constexpr std::size_t k_long = 16;
  std::string markup = html(text);
  if (text.size() <= k_long) return markup;
  constexpr std::string_view k_break = "<wbr>";
  for (std::size_t at = markup.find('_'); at != std::string::npos; at = markup.find('_', at + 1 + k_break.size()))
    markup.insert(at + 1, k_break);
  return markup;
}

json cell_values(const Column& column, const std::string& text, bool names_row) {
  constexpr std::size_t k_sentence = 60;
  return {{"markup", cell_markup(text)},
          {"is_text", column.align == Align::left},
          {"is_long", text.size() > k_sentence},
          {"names_row", names_row}};
}

}  // namespace

std::string html(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string rendered(std::string_view name, std::span<const Template> templates, const json& values) {
  mustache::data data = data_of(values);
  std::string page;
  for (const std::span<const Template> list : {common_templates(), templates}) {
    for (const Template& each : list) {
      std::string text = without_lines_of_tags(each.text);
      data.set(std::string(each.name), text);
      if (each.name == name) page = std::move(text);
    }
  }
  mustache::mustache parsed(page);
  parsed.set_custom_escape([](const std::string& text) { return html(text); });
  AllThere context(&data);
  std::string text = parsed.render(context);
  SHAPLEY_REQUIRE(parsed.is_valid());
  return with_instants_in_words(text);
}

json page_values(const std::string& title, const std::string& heading, std::int64_t reload_s) {
  std::string_view style;
  for (const Template& each : common_templates()) {
    if (each.name == "page.css") style = each.text;
  }
  return {
      {"title", title}, {"heading", heading}, {"reload_s", reload_s == 0 ? json() : json(reload_s)}, {"style", style}};
}

json table_values(const Table& table) {
  const std::vector<std::vector<std::string>> cells = cells_for_people(table);
  json head = json::array();
  json rows = json::array();
  for (std::size_t r = 0; r < cells.size(); ++r) {
    json line = json::array();
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      line.push_back(cell_values(table.columns[i], cells[r][i], i == 0));
    if (r == 0)
      head = std::move(line);
    else
      rows.push_back({{"cells", std::move(line)}});
  }
  return {{"name", table.name},
          {"fits", table.columns.size() <= k_paper_columns},
          {"head", std::move(head)},
          {"rows", std::move(rows)}};
}

json sheet_values(const Table& table) {
  return {{"table", table_values(table)}, {"file", nullptr}, {"content", nullptr}};
}

json sheet_values(const Table& table, std::string_view file, const Table& values) {
  return {{"table", table_values(table)}, {"file", file}, {"content", percent_encoded(csv_text(values))}};
}

}  // namespace shapley::tables
