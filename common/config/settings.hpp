// The keys of the file's top level, organizations apart.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/configuration.hpp"
#include "config/faults.hpp"
#include "config/yaml_reader.hpp"

namespace shapley::config {

// Sets what `file` says and leaves the defaults of what it does not; faults go to the list.
void read_settings(YamlReader& reader, const Mapping& file, FaultList& faults, Configuration& configuration);

// The key `guarantee`, here or of an organization.
void read_part(YamlReader& reader, const Value& value, FaultList& faults, std::int64_t& parts_per_million);

// Every key of the file with a value of its own, by its name, and that value as text: all of keys.hpp but
// `organizations`.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> values_of(const Configuration& configuration);

}  // namespace shapley::config
