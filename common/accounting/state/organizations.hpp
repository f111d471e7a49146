// The organizations of the books: names by OrgId (dense, in order of joining; guests 0, commons 1), and the configured
// order as a fold over declarations, whatever order they arrived in. Single-threaded; the caller owns it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.hpp"

namespace shapley::accounting {

class Organizations {
 public:
  Organizations();

  // The organization's id; it joins the books if it is new.
  OrgId join(std::string_view name);
  [[nodiscard]] std::optional<OrgId> find(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::vector<OrgId> by_name() const;

  [[nodiscard]] const std::vector<std::string>* declared_at(Instant at) const;
  void declare(Instant at, std::vector<std::string> names);
  [[nodiscard]] const std::map<Instant, std::vector<std::string>>& declarations() const { return declarations_; }

  // The latest declaration's names, then those that earlier ones named (the later the declaration, the earlier), then
  // those never declared by name, then guests and commons.
  [[nodiscard]] std::vector<OrgId> configured_order() const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, OrgId, std::less<>> ids_;
  std::map<Instant, std::vector<std::string>> declarations_;
};

}  // namespace shapley::accounting
