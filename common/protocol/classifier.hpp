// The organization of a job: that of the first rule that matches, else guests. The daemon and the plugin use this one
// class, so that the rank that orders a job and the row under which it is booked follow from the same rules.
//
// A pending job may ask for several partitions. Then the rules are tried for each of them, as if it asked for that one
// alone; rules about something else match in all of them. It may run for any organization that results. The plugin
// ranks it with the worst-ranked of these, so a longer list is never an advantage. Its demand is booked under the one
// whose rule comes last, guests last of all: that depends neither on the order of the list nor on the ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "protocol/messages.hpp"

namespace shapley::protocol {

// Account names in the form of either side: strings in a JobUpdate, C strings in slurmctld's memory. A view that copies
// nothing, so a lookup under slurmctld's locks need not allocate. A null C string counts as empty.
class NameList {
 public:
  NameList() = default;
  NameList(const std::vector<std::string>& names) : strings_(names) {}  // NOLINT: a view, meant to convert
  NameList(std::span<const std::string> names) : strings_(names) {}     // NOLINT
  NameList(std::span<const char* const> names) : c_strings_(names) {}   // NOLINT
  [[nodiscard]] std::size_t size() const { return strings_.size() + c_strings_.size(); }  // one of the two is empty
  [[nodiscard]] std::string_view operator[](std::size_t i) const {
    if (!strings_.empty()) return strings_[i];
    return c_strings_[i] == nullptr ? std::string_view{} : std::string_view{c_strings_[i]};
  }

  // As much of an iterator as `for (std::string_view name : names)` needs.
  struct Position {
    const NameList* list;
    std::size_t index;
    std::string_view operator*() const { return (*list)[index]; }
    Position& operator++() { return ++index, *this; }
    bool operator!=(const Position& other) const { return index != other.index; }
  };
  [[nodiscard]] Position begin() const { return {this, 0}; }
  [[nodiscard]] Position end() const { return {this, size()}; }

 private:
  std::span<const std::string> strings_;
  std::span<const char* const> c_strings_;
};

// The traits that rules examine. An account rule matches the job's account and every account above it.
struct JobTraits {
  std::string_view account;
  NameList account_ancestors;
  std::string_view partition;  // several: separated by commas, in any order
  std::string_view qos;
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
};

[[nodiscard]] inline JobTraits traits_of(const JobUpdate& job) {
  return {.account = job.account,
          .account_ancestors = job.account_ancestors,
          .partition = job.partition,
          .qos = job.qos,
          .user_id = job.user_id,
          .group_id = job.group_id};
}

// Immutable after construction; safe to read from several threads. No function allocates; each costs one hash look-up
// for each trait (accounts: each level; partitions: each of the list, which Slurm limits to 1024 letters), however many
// rules there are.
class Classifier {
 public:
  Classifier() = default;
  explicit Classifier(std::vector<Rule> rules);
  // Name of the organization; empty: no rule matches (guests). Lives as long as the classifier.
  [[nodiscard]] std::string_view organization_of(const JobTraits& job) const;
  // The rule behind organization_of(); nullptr: none matches. Lives as long as the classifier.
  [[nodiscard]] const Rule* rule_of(const JobTraits& job) const;
  // Calls visit(name) for every organization that the job may run for, perhaps twice; empty: guests.
  template <typename Visit>
  void for_each_organization(const JobTraits& job, Visit&& visit) const {
    for_each_choice(job, [&](std::size_t position) { visit(organization_at(position)); });
  }

 private:
  // Slurm keeps accounts in lower case, but a rule or a job may have been typed otherwise: letters A-Z and a-z are
  // equal.
  struct AccountHash {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(std::string_view name) const;
  };
  struct AccountEqual {
    using is_transparent = void;
    [[nodiscard]] bool operator()(std::string_view a, std::string_view b) const;
  };
  struct NameHash {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };

  // Positions of rules; past the end: none.
  [[nodiscard]] std::size_t deciding(const JobTraits& job) const;
  [[nodiscard]] std::size_t first_of(const JobTraits& job) const;  // that looks at anything but the partition
  [[nodiscard]] std::size_t first_of_partition(std::string_view partition) const;
  [[nodiscard]] std::string_view organization_at(std::size_t position) const;

  // Calls visit(position of the first rule that matches) for each partition.
  template <typename Visit>
  void for_each_choice(const JobTraits& job, Visit&& visit) const {
    const std::size_t first = first_of(job);
    bool any = false;
    for (std::string_view rest = job.partition; !rest.empty();) {
      const std::string_view name = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
      if (name.empty()) continue;
      any = true;
      visit(std::min(first, first_of_partition(name)));
    }
    if (!any) visit(first);
  }

  // Each maps what a rule looks for to the position of the first such rule.
  std::vector<Rule> rules_;
  std::unordered_map<std::string, std::size_t, AccountHash, AccountEqual> accounts_;
  std::unordered_map<std::string, std::size_t, NameHash, std::equal_to<>> partitions_;
  std::unordered_map<std::string, std::size_t, NameHash, std::equal_to<>> qos_;
  std::unordered_map<std::uint32_t, std::size_t> users_;
  std::unordered_map<std::uint32_t, std::size_t> groups_;
};

}  // namespace shapley::protocol
