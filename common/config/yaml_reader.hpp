// Reads YAML nodes as the types that a key wants and reports what does not fit. The only user of yaml-cpp.
//
// Every value that is read is counted: by aliases a short file can name more values than memory holds. After
// k_max_values the reader reports one fault and returns nothing. Single-threaded; the FaultList must outlive the
// reader.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "config/configuration.hpp"
#include "config/values.hpp"

namespace shapley::config {

// A value, the line that its faults name, and its name in messages ("organization 'physics': nodes").
struct Value {
  YAML::Node node;
  int line = 0;
  std::string name;
};

// A mapping whose keys are known and unique. Keeps the file's order.
class Mapping {
 public:
  void insert(std::string key, Value value);
  // nullptr: the file does not have this key.
  [[nodiscard]] const Value* find(std::string_view key) const;

  struct Entry {
    std::string key;
    Value value;
  };
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

class YamlReader {
 public:
  static constexpr std::size_t k_max_values = 1'000'000;

  explicit YamlReader(FaultList& faults) : faults_(faults) {}

  // The single document of the text, which is a mapping; nullopt after a fault.
  [[nodiscard]] std::optional<Value> document(std::string_view text);

  // Each of these returns nullopt after reporting a fault. `context` is put before the names of the values within
  // ("organization 'x': ").
  [[nodiscard]] std::optional<Mapping> mapping(const Value& value, std::string_view context,
                                               std::span<const std::string_view> known_keys);
  // The same of the whole file. Keys that there are no more (k_former_keys) are faults that say what to write instead,
  // or, with `former`, are noted there.
  [[nodiscard]] std::optional<Mapping> file(const Value& value, std::span<const std::string_view> known_keys,
                                            std::vector<std::string>* former);
  // As mapping, for keys that are data (the names of a weight table).
  [[nodiscard]] std::optional<Mapping> table(const Value& value, std::string_view remedy);
  [[nodiscard]] std::optional<std::vector<Value>> list(const Value& value, std::string_view remedy);
  [[nodiscard]] std::optional<std::string> text(const Value& value, std::string_view remedy);

 private:
  // Reports the parser's message, or its likely cause: a key without ':' is on an earlier line than the message names.
  void add_syntax_fault(int line, const std::string& message);
  [[nodiscard]] bool spend(const Value& value);
  [[nodiscard]] std::optional<Mapping> unique_entries(const Value& value, std::string_view context);
  // What `value` maps; nullopt after reporting a fault.
  [[nodiscard]] std::optional<Mapping> entries(const Value& value, std::string_view context,
                                               std::span<const std::string_view> known_keys);
  void add_unknown(const Mapping::Entry& entry, std::string_view context, std::span<const std::string_view> known_keys);
  // yaml-cpp lets a quote that is never closed end with the file, and so swallow every key that follows. False after
  // reporting that.
  [[nodiscard]] bool closes_its_quote(const YAML::Node& node, const std::string& name);
  void wrong_type(const Value& value, std::string_view wanted, std::string_view remedy);

  FaultList& faults_;
  std::string_view text_;  // of document(); must outlive the reader
  std::size_t values_ = 0;
};

// The choice that the word in `value` names; nullopt after reporting a fault that lists what is allowed.
template <typename Choice>
[[nodiscard]] std::optional<Choice> read_choice(YamlReader& reader, FaultList& faults, const Value& value,
                                                std::span<const std::pair<std::string_view, Choice>> choices) {
  std::vector<std::string_view> words;
  for (const auto& choice : choices) words.push_back(choice.first);
  const std::string allowed = "write " + join(words, " or ");
  const auto text = reader.text(value, allowed);
  if (!text) return std::nullopt;
  for (const auto& [word, choice] : choices) {
    if (*text == word) return choice;
  }
  const std::string_view near = nearest(*text, words);
  faults.add(value.line, value.name + ": " + shown(*text) + " is not known",
             near.empty() ? allowed : "did you mean " + std::string(near) + "? Allowed: " + join(words, " or "));
  return std::nullopt;
}

template <typename Choice, std::size_t N>
[[nodiscard]] std::optional<Choice> read_choice(YamlReader& reader, FaultList& faults, const Value& value,
                                                const std::array<std::pair<std::string_view, Choice>, N>& choices) {
  return read_choice(reader, faults, value, std::span<const std::pair<std::string_view, Choice>>(choices));
}

}  // namespace shapley::config
