#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/contract.hpp"
#include "config/keys.hpp"
#include "config/settings.hpp"
#include "config/values.hpp"
#include "config/yaml_reader.hpp"

namespace shapley::config {

namespace {

using namespace std::string_view_literals;
using workflow::KeyRule;

constexpr std::array k_orders{std::pair{"fifo"sv, false}, std::pair{"workflow_fairness"sv, true}};
constexpr std::array k_switch{std::pair{"on"sv, true}, std::pair{"off"sv, false}};
constexpr std::size_t k_max_delimiter = 8;

class WorkflowReader {
 public:
  WorkflowReader(YamlReader& reader, FaultList& faults, workflow::Settings& settings)
      : reader_(reader), faults_(faults), settings_(settings) {}

  void read(const Mapping& entries) {
    choice(entries, "within_organization", k_orders, settings_.fairness);
    const Value* value = entries.find("workflows");
    const auto table = value ? reader_.mapping(*value, value->name + ": ", names_of(k_workflow_keys)) : std::nullopt;
    if (!table) return;
    rules(*table, "workflow_key", settings_.workflow_key);
    rules(*table, "activity_key", settings_.activity_key);
    delimiter(*table);
    choice(*table, "mode", workflow::k_modes, settings_.mode);
    choice(*table, "relative_duration", k_switch, settings_.relative_duration);
    threshold(*table);
  }

 private:
  void add(const Value& value, const std::string& what, std::string remedy) {
    faults_.add(value.line, value.name + ": " + what, std::move(remedy));
  }

  template <typename Choice, std::size_t N>
  void choice(const Mapping& entries, std::string_view key,
              const std::array<std::pair<std::string_view, Choice>, N>& choices, Choice& chosen) {
    const Value* value = entries.find(key);
    if (const auto read = value ? read_choice(reader_, faults_, *value, choices) : std::nullopt) chosen = *read;
  }

  void rules(const Mapping& entries, std::string_view key, std::vector<KeyRule>& rules) {
    const Value* value = entries.find(key);
    const auto list =
        value ? reader_.list(*value, "write a list such as [wckey, array], or [] for none") : std::nullopt;
    if (!list) return;
    std::vector<KeyRule> read;
    for (const Value& element : *list) {
      const auto rule = read_choice(reader_, faults_, element, workflow::k_key_rules);
      if (!rule) continue;
      if (std::ranges::find(read, *rule) != read.end()) add(element, "a rule is named twice", "name it once");
      read.push_back(*rule);
    }
    rules = std::move(read);
  }

  void delimiter(const Mapping& entries) {
    const Value* value = entries.find("name_delimiter");
    const auto text =
        value ? reader_.text(*value, "write the text that parts a job's name, such as \"-\"") : std::nullopt;
    if (!text) return;
    const auto unfit = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 127; };
    if (text->empty() || text->size() > k_max_delimiter || std::ranges::any_of(*text, unfit)) {
      return add(*value, shown(*text) + " is no delimiter",
                 "write 1 to " + std::to_string(k_max_delimiter) + " characters without blanks");
    }
    settings_.name_delimiter = *text;
  }

  void threshold(const Mapping& entries) {
    const Value* value = entries.find("threshold");
    const auto text = value ? reader_.text(*value, "write a part of 1, such as 0.2") : std::nullopt;
    if (!text) return;
    const auto share = parse_share(*text);
    if (!share) return add(*value, shown(*text) + " is no threshold", share.error().what);
    settings_.threshold_ppm = share->parts_per_million();
  }

  YamlReader& reader_;
  FaultList& faults_;
  workflow::Settings& settings_;
};

template <typename Word, std::size_t N>
std::string word_for(const std::array<std::pair<std::string_view, Word>, N>& words, Word wanted) {
  const auto found = std::ranges::find(words, wanted, [](const auto& entry) { return entry.second; });
  SHAPLEY_REQUIRE(found != words.end());  // every word of the enumeration is in the table
  return std::string(found->first);
}

std::string rules_text(const std::vector<workflow::KeyRule>& rules) {
  std::string text;
  for (const auto rule : rules) text += (text.empty() ? "[" : ", ") + word_for(workflow::k_key_rules, rule);
  return text + ']';
}

}  // namespace

void read_workflow_settings(YamlReader& reader, const Mapping& entries, FaultList& faults,
                            workflow::Settings& settings) {
  WorkflowReader(reader, faults, settings).read(entries);
}

std::string workflows_text(const workflow::Settings& settings) {
  return "workflow_key " + rules_text(settings.workflow_key) + ", activity_key " + rules_text(settings.activity_key) +
         ", name_delimiter '" + settings.name_delimiter + "', mode " + word_for(workflow::k_modes, settings.mode) +
         ", relative_duration " + (settings.relative_duration ? "on" : "off") + ", threshold " +
         part_text(settings.threshold_ppm);
}

}  // namespace shapley::config
