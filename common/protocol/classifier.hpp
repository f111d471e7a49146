// Which organization a job belongs to: the first rule that matches, else guests. The daemon and the plugin use this one
// function, so the rank that orders a job and the row it is booked under cannot differ.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/messages.hpp"

namespace shapley::protocol {

// What a rule looks at. An account rule matches the job's account and every account above it.
struct JobTraits {
  std::string_view account;
  std::span<const std::string> account_ancestors;
  std::string_view partition;
  std::string_view qos;
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
};

// Immutable after construction; safe to read from several threads. organization_of does not allocate.
class Classifier {
 public:
  Classifier() = default;
  explicit Classifier(std::vector<Rule> rules);
  // Name of the organization; empty: no rule matches (guests). Lives as long as the classifier.
  [[nodiscard]] std::string_view organization_of(const JobTraits& job) const;

 private:
  std::vector<Rule> rules_;
};

}  // namespace shapley::protocol
