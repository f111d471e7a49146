// The organizations of the books: names by OrgId (dense, in order of joining; guests 0, commons 1), and the configured
// order as a fold over declarations, whatever order they arrived in. Single-threaded; the caller owns it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/state/kept_facts.hpp"
#include "base/types.hpp"

namespace shapley::accounting {

class Organizations {
 public:
  Organizations();

  // The organization's id; a new organization joins the books.
  OrgId join(std::string_view name);
  [[nodiscard]] std::optional<OrgId> find(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::vector<OrgId> by_name() const;

  // Whether the declaration known at that instant equals the event; nullopt: none is known.
  [[nodiscard]] std::optional<bool> repeats(const OrganizationsDeclared& event) const;
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

// A former name: by an adjustment, what was booked under it is part of another organization's row.
struct FormerName {
  std::string today;    // the organization whose row it is part of
  bool merged = false;  // false: renamed
  Instant at;           // of the adjustment
  friend bool operator==(const FormerName&, const FormerName&) = default;
};
using FormerNames = std::map<std::string, FormerName>;

using Adjustments = std::set<AdjustmentMade, ByIdentity>;  // ascending by number

// Whether the adjustment is in force: no adjustment that is itself in force reverses it.
[[nodiscard]] bool is_in_force(const Adjustments& all, std::uint32_t number);

// The row of each organization, by OrgId: after all renamings and mergers, of the one that these led to in the end.
// REQUIRES: the names of all renamings and mergers have joined.
[[nodiscard]] std::vector<OrgId> rows_by(const Adjustments& all, const Organizations& organizations);

// For each former name the last one that it led to, whatever names came in between.
[[nodiscard]] FormerNames former_names(const std::vector<AdjustmentMade>& all);

}  // namespace shapley::accounting
