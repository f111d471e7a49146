// The `organizations` list: names, rules and node claims, each checked by itself. What they say together is checked by
// claims.hpp.
#pragma once

#include <vector>

#include "config/configuration.hpp"
#include "config/faults.hpp"
#include "config/yaml_reader.hpp"

namespace shapley::config {

// In file order. An organization or claim with a fault is left out or incomplete; the list of faults says so.
// `settings`: the file's own, which an organization begins with.
[[nodiscard]] std::vector<OrganizationConfig> read_organizations(YamlReader& reader, const Mapping& file,
                                                                 FaultList& faults, const Configuration& settings);

// The key under which the rules of a kind stand ("accounts"), and the word for one of them ("account").
[[nodiscard]] std::string_view key_of(RuleKind kind);
[[nodiscard]] std::string_view word_of(RuleKind kind);

}  // namespace shapley::config
