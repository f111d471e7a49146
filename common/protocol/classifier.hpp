// Which organization a job belongs to: the first rule that matches, else guests. The daemon and the plugin use this one
// function, so the rank that orders a job and the row it is booked under cannot differ.
#pragma once

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

// Account names as either end holds them: strings in a JobRecord, C strings in slurmctld's memory. A view: nothing is
// copied, so a lookup under slurmctld's locks need not allocate. A null C string counts as empty.
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

  // Enough of an iterator for `for (std::string_view name : names)`.
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

// What a rule looks at. An account rule matches the job's account and every account above it.
struct JobTraits {
  std::string_view account;
  NameList account_ancestors;
  std::string_view partition;
  std::string_view qos;
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
};

[[nodiscard]] inline JobTraits traits_of(const JobRecord& job) {
  return {.account = job.account,
          .account_ancestors = job.account_ancestors,
          .partition = job.partition,
          .qos = job.qos,
          .user_id = job.user_id,
          .group_id = job.group_id};
}

// Immutable after construction; safe to read from several threads. organization_of does not allocate and costs one hash
// look-up for each trait (accounts: each level), however many rules there are.
class Classifier {
 public:
  Classifier() = default;
  explicit Classifier(std::vector<Rule> rules);
  // Name of the organization; empty: no rule matches (guests). Lives as long as the classifier.
  [[nodiscard]] std::string_view organization_of(const JobTraits& job) const;

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

  // Each maps what a rule looks for to the position of the first such rule.
  std::vector<Rule> rules_;
  std::unordered_map<std::string, std::size_t, AccountHash, AccountEqual> accounts_;
  std::unordered_map<std::string, std::size_t, NameHash, std::equal_to<>> partitions_;
  std::unordered_map<std::string, std::size_t, NameHash, std::equal_to<>> qos_;
  std::unordered_map<std::uint32_t, std::size_t> users_;
  std::unordered_map<std::uint32_t, std::size_t> groups_;
};

}  // namespace shapley::protocol
