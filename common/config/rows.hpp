// A key of the file is one row: its name, what it sets, its format, and what it is for.
//
// The parser, the comparison of two configurations and the pages go through the rows, so a new key is one row
// (settings.hpp has the tables). A format is a notation with its limits: values are read, printed and described by it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/contract.hpp"
#include "config/configuration.hpp"
#include "config/keys.hpp"
#include "config/values.hpp"
#include "config/yaml_reader.hpp"

namespace shapley::config {

template <typename T>
struct Format {
  std::string type;  // what may be written, for pages
  // A fault is added to the list: the file is refused, whatever `into` is then.
  std::function<void(YamlReader& reader, const Value& value, T& into)> read;
  std::function<std::string(const T&)> text = {};     // for people; empty: it is not compared
  std::function<std::string(const T&)> written = {};  // as a file has it; empty: as `text`
};

template <typename Table>
struct Row {
  Key key;
  // Sets what the key is for if `entries` has it, and leaves the default otherwise.
  std::function<void(YamlReader& reader, const Mapping& entries, Table& into)> read = {};
  std::function<std::string(const Table&)> text = {};  // empty: it has no value of its own
  bool last = false;                                   // read after all others, on which it depends
};

template <typename Table>
using Rows = std::vector<Row<Table>>;

// `fallback`: in words, where the default cannot be written; without it the default is what a Table{} has.
template <typename Table, typename Type>
[[nodiscard]] Row<Table> key(std::string_view name, Type Table::*member, const Format<Type>& format,
                             std::string meaning, std::string fallback = {}) {
  Row<Table> row{{name, format.type, std::move(fallback), std::move(meaning)}};
  row.read = [name, member, read = format.read](YamlReader& reader, const Mapping& entries, Table& into) {
    if (const Value* value = entries.find(name)) read(reader, *value, into.*member);
  };
  if (!format.text) return row;
  row.text = [member, text = format.text](const Table& of) { return text(of.*member); };
  const auto& written = format.written ? format.written : format.text;
  if (row.key.fallback.empty()) row.key.fallback = '`' + written(Table{}.*member) + '`';
  return row;
}

// A key of which the value is in a member of a member.
template <typename Outer, typename Inner>
[[nodiscard]] Row<Outer> within(Inner Outer::*member, const Row<Inner>& row) {
  Row<Outer> outer{row.key};
  outer.read = [member, read = row.read](YamlReader& reader, const Mapping& entries, Outer& into) {
    read(reader, entries, into.*member);
  };
  if (row.text) outer.text = [member, text = row.text](const Outer& of) { return text(of.*member); };
  return outer;
}

// A key that must not be missing; `remedy` says what to write.
template <typename Table>
[[nodiscard]] Row<Table> required(std::string remedy, Row<Table> row) {
  row.key.fallback = k_required;
  row.read = [name = std::string(row.key.name), remedy = std::move(remedy), read = std::move(row.read)](
                 YamlReader& reader, const Mapping& entries, Table& into) {
    if (entries.find(name) == nullptr) return reader.fault(entries.table(), "has no " + name, remedy);
    read(reader, entries, into);
  };
  return row;
}

template <typename Table>
[[nodiscard]] std::vector<std::string_view> names_of(const Rows<Table>& rows) {
  std::vector<std::string_view> names;
  for (const Row<Table>& row : rows) names.push_back(row.key.name);
  return names;
}

template <typename Table>
void read_rows(YamlReader& reader, const Mapping& entries, const Rows<Table>& rows, Table& into) {
  for (const bool last : {false, true}) {
    for (const Row<Table>& row : rows) {
      if (row.read && row.last == last) row.read(reader, entries, into);
    }
  }
}

// "weight 1, every 1 minute".
template <typename Table>
[[nodiscard]] std::string rows_text(const Rows<Table>& rows, const Table& of) {
  std::string text;
  for (const Row<Table>& row : rows) {
    if (row.text) text += (text.empty() ? "" : ", ") + std::string(row.key.name) + ' ' + row.text(of);
  }
  return text;
}

// A value, or the fault without its line.
template <typename T>
using OrFault = tl::expected<T, Fault>;

// The fault "'TEXT' is no such part", with what `parse`, which makes an Expected<T>, allows.
template <typename Parse>
[[nodiscard]] auto or_fault(Parse parse, const char* is_no) {
  return [parse, is_no](const std::string& text) {
    return parse(text).map_error([&](const Error& error) { return Fault{0, shown(text) + is_no, error.what}; });
  };
}

// A notation that is one text. `remedy`: of a list or a table in its place. `nothing`: the word for T{}, if there is
// one.
template <typename T>
[[nodiscard]] Format<T> scalar(std::string type, std::string remedy,
                               std::function<OrFault<T>(const std::string&)> parse,
                               std::function<std::string(const T&)> text = {}, const std::string& nothing = {}) {
  Format<T> format{std::move(type), {}, text};
  if (!nothing.empty()) {
    format.type += ", or `" + nothing + '`';
    format.text = [nothing, text](const T& value) { return value == T{} ? nothing : text(value); };
  }
  format.read = [nothing, remedy, parse](YamlReader& reader, const Value& value, T& into) {
    const auto said = reader.text(value, remedy);
    if (!said) return;
    auto parsed = !nothing.empty() && *said == nothing ? OrFault<T>(T{}) : parse(*said);
    if (!parsed) return reader.fault(value, parsed.error());
    into = *std::move(parsed);
  };
  return format;
}

// "`strict` or `weighted`".
[[nodiscard]] std::string quoted(std::span<const std::string_view> words);

template <typename T>
using Choices = std::vector<std::pair<std::string_view, T>>;

// `type`: without it, all words.
template <typename T>
[[nodiscard]] Format<T> choice(const Choices<T>& choices, std::string type = {}) {
  std::vector<std::string_view> words;
  for (const auto& [word, value] : choices) words.push_back(word);
  const std::string allowed = "write " + join(words, " or ");
  const auto parse = [choices, words, allowed](const std::string& text) -> OrFault<T> {
    for (const auto& [word, value] : choices) {
      if (text == word) return value;
    }
    const std::string_view near = nearest(text, words);
    return tl::unexpected(
        Fault{0, shown(text) + " is not known",
              near.empty() ? allowed : "did you mean " + std::string(near) + "? Allowed: " + join(words, " or ")});
  };
  const auto word_of = [choices](const T& value) {
    const auto found = std::ranges::find(choices, value, &Choices<T>::value_type::second);
    SHAPLEY_REQUIRE(found != choices.end());  // every word of the enumeration is in the table
    return std::string(found->first);
  };
  return scalar<T>(type.empty() ? quoted(words) : std::move(type), allowed, parse, word_of);
}

template <typename T, std::size_t N>
[[nodiscard]] Format<T> choice(const std::array<std::pair<std::string_view, T>, N>& choices) {
  return choice(Choices<T>(choices.begin(), choices.end()));
}

// Notations that several keys have. Lengths are in bytes.
inline constexpr std::size_t k_max_path = 4095;
[[nodiscard]] OrFault<std::filesystem::path> parse_path(const std::string& text, std::size_t max_length = k_max_path);
// `nothing`: the word for no path, or a duration of 0.
[[nodiscard]] Format<std::filesystem::path> path(std::string type, std::size_t max_length = k_max_path,
                                                 const std::string& nothing = {});
[[nodiscard]] Format<bool> on_or_off();
[[nodiscard]] Format<std::int64_t> part();    // of 1, in parts per million
[[nodiscard]] Format<std::int64_t> weight();  // of a cluster's processors, in parts per million
[[nodiscard]] Format<Duration> duration(Duration least, Duration most, const std::string& nothing = {});

}  // namespace shapley::config
