// What a rule examines to find the organization of a job: the job's account, partition or QOS, or its submitter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shapley {

// The numbers travel in messages (protocol/messages.hpp): a new kind comes last.
enum class RuleKind : std::uint8_t { account, partition, qos, user, group };

struct RuleKindNames {
  RuleKind kind;
  std::string_view name;  // in JSON: "account", "partition", "qos", "user", "group"
  std::string_view key;   // of the list of such rules in the configuration: "accounts"
  std::string_view word;  // its name in sentences
};
inline constexpr std::array<RuleKindNames, 5> k_rule_kinds{
    {{RuleKind::account, "account", "accounts", "account"},
     {RuleKind::partition, "partition", "partitions", "partition"},
     {RuleKind::qos, "qos", "qos", "QOS"},
     {RuleKind::user, "user", "users", "user"},
     {RuleKind::group, "group", "groups", "group"}}};

[[nodiscard]] constexpr const RuleKindNames& names_of(RuleKind kind) {
  return k_rule_kinds[static_cast<std::size_t>(kind)];
}

}  // namespace shapley
