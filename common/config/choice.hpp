// One word of a few.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/values.hpp"
#include "config/yaml_reader.hpp"

namespace shapley::config {

// What the word in `value` stands for; nullopt after reporting a fault that names what is allowed.
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
