// The keys of the file's top level, except the organizations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "config/configuration.hpp"
#include "config/yaml_reader.hpp"
#include "workflow/settings.hpp"

namespace shapley::config {

// Sets the keys that `file` has and leaves the others at their defaults; faults are added to the list.
void read_settings(YamlReader& reader, const Mapping& file, FaultList& faults, Configuration& configuration);

// The key `guarantee`, of the file or of an organization.
void read_part(YamlReader& reader, const Value& value, FaultList& faults, std::int64_t& parts_per_million);

// Values that keys of several tables have. After a fault the value that they would set stays as it is.
inline constexpr std::size_t k_max_path = 4095;
void read_duration(YamlReader& reader, const Value& value, FaultList& faults, Duration least, Duration most,
                   Duration& duration);
void take_path(const Value& value, const std::string& text, FaultList& faults, std::size_t max_length,
               std::filesystem::path& path);
void take_endpoint(const Value& value, const std::string& text, FaultList& faults, std::string& endpoint);
// The name of an organization, a consortium or a cluster; nullopt after a fault.
[[nodiscard]] std::optional<std::string> read_name(YamlReader& reader, const Value& value, FaultList& faults);
// How messages call an element of a list: "organization 'physics'" by its `name`, or "organization 2" if it has none.
[[nodiscard]] std::string element_context(const Value& element, const std::string& word, std::size_t number);
// Whether no organization of the file may have this name: guests and commons are always in the books.
[[nodiscard]] bool is_reserved(std::string_view organization);

// Every key of the file that has a value of its own, and that value as text: all keys of keys.hpp except
// `organizations`.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> values_of(const Configuration& configuration);

// The keys `within_organization` and `workflows`, of the file's top level or of an organization: sets those that
// `entries` has and leaves the rest as it is; faults are added to the list.
void read_workflow_settings(YamlReader& reader, const Mapping& entries, FaultList& faults,
                            workflow::Settings& settings);

// The table `workflows` in one line, for people.
[[nodiscard]] std::string workflows_text(const workflow::Settings& settings);

// The key `consortium`. REQUIRES: the configuration's organizations are read.
void read_consortium(YamlReader& reader, const Mapping& file, FaultList& faults, Configuration& configuration);

// The table `consortium` in one line, for people: its own keys, and those of a cluster.
[[nodiscard]] std::string consortium_text(const ConsortiumConfig& consortium);
[[nodiscard]] std::string cluster_text(const OtherClusterConfig& cluster);

// The `organizations` list: names, rules and node claims. Each is checked by itself, then all of them together.
//
// In file order. An organization or claim with a fault is left out or incomplete; the list of faults says so.
// `settings`: the file's own, which are the defaults of organizations.
[[nodiscard]] std::vector<OrganizationConfig> read_organizations(YamlReader& reader, const Mapping& file,
                                                                 FaultList& faults, const Configuration& settings);

// Checks the claims of all organizations together (claims.cpp): reports organizations of one name, rules claimed twice,
// and nodes of which more than 100 % are owned at some date.
void check_claims(const std::vector<OrganizationConfig>& organizations, FaultList& faults);

}  // namespace shapley::config
