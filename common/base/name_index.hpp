// Names as small numbers: a trace or a ledger of years repeats a few names millions of times.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace shapley {

// Dense numbers, from 0, in the order of the names' first appearance.
class NameIndex {
 public:
  std::uint32_t number_of(const std::string& name) {
    const auto [entry, is_new] = numbers_.emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return entry->second;
  }
  // REQUIRES: number < size()
  [[nodiscard]] const std::string& name_of(std::uint32_t number) const { return names_[number]; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace shapley
