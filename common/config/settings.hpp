// The tables of the file: their keys as rows, and how lists and tables within it are read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.hpp"
#include "config/rows.hpp"
#include "config/yaml_reader.hpp"
#include "workflow/settings.hpp"

namespace shapley::config {

// In the order in which pages show them and, except the consortium, they are read.
[[nodiscard]] const Rows<Configuration>& file_rows();
[[nodiscard]] const Rows<workflow::Settings>& workflow_rows();
[[nodiscard]] const Rows<Configuration>& consortium_rows();  // of the table `consortium`
[[nodiscard]] const Rows<OtherClusterConfig>& cluster_rows();
[[nodiscard]] const Rows<OrganizationConfig>& organization_rows();
[[nodiscard]] const Rows<NodeClaim>& claim_rows();

// The keys `within_organization` and `workflows`, of the file's top level or of an organization.
[[nodiscard]] Row<workflow::Settings> workflow_order(std::string meaning, std::string fallback = {});
[[nodiscard]] Format<workflow::Settings> workflow_table(std::string type);

// The table `consortium` and its clusters. REQUIRES: the organizations are read.
void read_consortium(YamlReader& reader, const Value& value, Configuration& into);
// In one line, for people: the table's own keys, and those of a cluster.
[[nodiscard]] std::string consortium_text(const Configuration& configuration);
[[nodiscard]] std::string cluster_text(const OtherClusterConfig& cluster);

// The list of organizations: names, rules and node claims. Each is checked by itself, then all of them together.
//
// In file order. An organization or claim with a fault is left out or incomplete; the list of faults says so. What an
// organization does not say is as `into` has it.
void read_organizations(YamlReader& reader, const Mapping& file, Configuration& into);

// Checks the claims of all organizations together (claims.cpp): reports organizations of one name, rules claimed twice,
// and nodes of which more than 100 % are owned at some date.
void check_claims(const std::vector<OrganizationConfig>& organizations, FaultList& faults);

// The name of an organization, a consortium or a cluster. It is not compared: it says of what the rest is.
[[nodiscard]] OrFault<std::string> parse_name(const std::string& text);
[[nodiscard]] Format<std::string> name(OrFault<std::string> (*parse)(const std::string& text) = parse_name);
// The element of a list with the name by which messages call it: "organization 'physics'" by its `name`, or
// "organization 2" if it has none.
[[nodiscard]] Value named_element(const Value& element, const std::string& word, std::size_t number);
// Whether no organization of the file may have this name: guests and commons are always in the books.
[[nodiscard]] bool is_reserved(std::string_view organization);

}  // namespace shapley::config
