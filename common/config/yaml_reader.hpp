// Reads YAML nodes as the types that a key wants and reports what does not fit. The only user of yaml-cpp.
//
// Every value that is read is counted: by aliases a short file can name more values than memory holds. After
// k_max_values the reader reports one fault and returns nothing. Single-threaded; the FaultList must outlive the
// reader.
#pragma once

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
  explicit Mapping(Value table) : table_(std::move(table)) {}

  // What faults name of which no key is at fault.
  [[nodiscard]] const Value& table() const { return table_; }
  void insert(std::string key, Value value);
  // nullptr: the file does not have this key.
  [[nodiscard]] const Value* find(std::string_view key) const;

  struct Entry {
    std::string key;
    Value value;
  };
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  Value table_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

class YamlReader {
 public:
  static constexpr std::size_t k_max_values = 1'000'000;

  // `former`: takes what there is to say of what a former release had; nullptr: it is a fault.
  explicit YamlReader(FaultList& faults, std::vector<std::string>* former = nullptr)
      : faults_(faults), former_(former) {}

  // "NAME: what", in the value's line.
  void fault(const Value& value, const std::string& what, std::string remedy);
  void fault(const Value& value, const Fault& without_line) { fault(value, without_line.what, without_line.remedy); }
  // What a former release had.
  void gone(const Value& value, std::string what, std::string_view remedy);
  [[nodiscard]] FaultList& faults() { return faults_; }
  // How many faults were reported, dropped ones included.
  [[nodiscard]] std::size_t reported() const { return reported_; }

  // The single document of the text, which is a mapping and has no name; nullopt after a fault.
  [[nodiscard]] std::optional<Value> document(std::string_view text);

  // Each of these returns nullopt after reporting a fault. The names of the values within begin with that of `value`.
  [[nodiscard]] std::optional<Mapping> mapping(const Value& value, std::span<const std::string_view> known_keys);
  // The same of the whole file, in which some keys are gone (k_former_keys).
  [[nodiscard]] std::optional<Mapping> file(const Value& value, std::span<const std::string_view> known_keys);
  // As mapping, for keys that are data (the names of a weight table).
  [[nodiscard]] std::optional<Mapping> table(const Value& value, std::string_view remedy);
  [[nodiscard]] std::optional<std::vector<Value>> list(const Value& value, std::string_view remedy);
  [[nodiscard]] std::optional<std::string> text(const Value& value, std::string_view remedy);
  // Node names in Slurm's notation, each once. A file names at most k_max_expanded_nodes together; after that nothing
  // is expanded, because it would only take time, and not every text is a fault of its own.
  [[nodiscard]] std::optional<std::vector<std::string>> nodes(const Value& value);

 private:
  void add(int line, std::string what, std::string remedy);
  // Reports the parser's message, or its likely cause: a key without ':' is on an earlier line than the message names.
  void add_syntax_fault(int line, const std::string& message);
  [[nodiscard]] bool spend(const Value& value);
  [[nodiscard]] std::optional<Mapping> unique_entries(const Value& value);
  // What `value` maps; nullopt after reporting a fault.
  [[nodiscard]] std::optional<Mapping> entries(const Value& value, std::span<const std::string_view> known_keys);
  void add_unknown(const Value& table, const Mapping::Entry& entry, std::span<const std::string_view> known_keys);
  // yaml-cpp lets a quote that is never closed end with the file, and so swallow every key that follows. False after
  // reporting that.
  [[nodiscard]] bool closes_its_quote(const YAML::Node& node, const std::string& name);
  void wrong_type(const Value& value, std::string_view wanted, std::string_view remedy);

  FaultList& faults_;
  std::vector<std::string>* former_;
  std::string_view text_;  // of document(); must outlive the reader
  std::size_t values_ = 0;
  std::size_t nodes_ = 0;
  std::size_t reported_ = 0;
};

}  // namespace shapley::config
