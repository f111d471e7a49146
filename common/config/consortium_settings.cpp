#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "config/settings.hpp"

namespace shapley::config {

namespace {

constexpr std::size_t k_most_clusters = 100;
constexpr std::size_t k_most_places = 4;
constexpr const char* k_clusters_remedy = "write '- name: ...' for each of the other clusters";
constexpr const char* k_standing_remedy =
    "write where its shapleyd listens, HOST:PORT, or the path of a file; of two controllers a list of both";

// slurmctld keeps ClusterName in lower case, however it was typed.
OrFault<std::string> parse_cluster(const std::string& text) {
  return parse_name(text).map([](const std::string& name) { return lower(name); });
}

void read_standing(YamlReader& reader, const Value& value, std::string& into) {
  const bool are_several = value.node.IsSequence();
  const auto places = are_several ? reader.list(value, k_standing_remedy) : std::vector<Value>{value};
  if (!places) return;
  if (places->empty() || places->size() > k_most_places)
    return reader.fault(value, std::to_string(places->size()) + " places", k_standing_remedy);
  for (const Value& place : *places) {
    const auto text = reader.text(place, k_standing_remedy);
    if (!text) return;
    if (text->starts_with('/') && !are_several) {
      const auto file = parse_path(*text);
      if (!file) return reader.fault(place, file.error());
      into = file->string();
    } else if (parse_endpoint(*text)) {
      into += (into.empty() ? "" : ", ") + *text;
    } else if (text->starts_with('/')) {
      reader.fault(place, shown(*text) + " is a path in a list", "name one file, to which both controllers bring it");
    } else {
      reader.fault(place, shown(*text) + " is neither HOST:PORT nor an absolute path", k_standing_remedy);
    }
  }
}

bool is_organization(YamlReader& reader, const Mapping::Entry& entry,
                     const std::vector<OrganizationConfig>& organizations) {
  if (is_reserved(entry.key)) {
    reader.fault(entry.value, shown(entry.key) + " is no organization",
                 "guests and commons have the same name everywhere");
    return false;
  }
  std::vector<std::string_view> known;
  for (const OrganizationConfig& organization : organizations) {
    if (organization.name == entry.key) return true;
    known.emplace_back(organization.name);
  }
  const std::string_view near = nearest(entry.key, known);
  reader.fault(entry.value, "the file has no organization " + shown(entry.key),
               near.empty() ? "write an organization of this file, then its name there"
                            : fmt::format("did you mean '{}'?", near));
  return false;
}

// Every organization here has one name there, and no two have the same.
void read_names(YamlReader& reader, const Value& value, const std::vector<OrganizationConfig>& organizations,
                OtherClusterConfig& cluster) {
  const auto table = reader.table(value, "write a table such as {physics: physik}");
  if (!table) return;
  std::map<std::string, std::string> here_by_there;
  for (const OrganizationConfig& organization : organizations) {
    if (table->find(organization.name) == nullptr) here_by_there.emplace(organization.name, organization.name);
  }
  for (const Mapping::Entry& entry : table->entries()) {
    std::string there;
    name().read(reader, entry.value, there);
    if (!is_organization(reader, entry, organizations) || there.empty()) continue;
    if (is_reserved(there)) {
      reader.fault(entry.value, shown(there) + " is no organization",
                   "guests and commons have the same name everywhere");
      continue;
    }
    const auto [first, is_new] = here_by_there.emplace(there, entry.key);
    if (!is_new) {
      reader.fault(entry.value, fmt::format("{} is there the name of '{}' already", shown(there), first->second),
                   "give each organization a name of its own there");
      continue;
    }
    cluster.names.push_back({entry.key, there});
  }
  std::ranges::sort(cluster.names, {}, &accounting::NameElsewhere::there);
}

void check_once(YamlReader& reader, const Value& value, const OtherClusterConfig& cluster,
                const std::vector<OtherClusterConfig>& earlier_ones) {
  for (const OtherClusterConfig& earlier : earlier_ones) {
    const std::string line = " of line " + std::to_string(earlier.line);
    if (!cluster.name.empty() && earlier.name == cluster.name) {
      reader.fault(value, fmt::format("is the cluster{} again", line),
                   "name each cluster once; capitals do not matter");
    } else if (!cluster.standing.empty() && earlier.standing == cluster.standing) {
      reader.fault(value, fmt::format("its standing is where that of the cluster{} is", line),
                   "a statement is of one cluster");
    }
  }
}

void read_cluster(YamlReader& reader, const Value& value, Configuration& into) {
  const auto entries = reader.mapping(value, names_of(cluster_rows()));
  if (!entries) return;
  ConsortiumConfig& consortium = into.consortium;
  OtherClusterConfig cluster;
  cluster.line = value.line;
  read_rows(reader, *entries, cluster_rows(), cluster);
  // A statement that is too old before the next one is due would never be carried on.
  if (cluster.stale_after > Duration{0} && cluster.stale_after < consortium.every) {
    reader.fault(*entries->find("stale_after"), seconds_text(cluster.stale_after) + " is less than `every`",
                 fmt::format("write {} or more", seconds_text(consortium.every)));
  }
  if (const Value* names = entries->find("as")) read_names(reader, *names, into.organizations, cluster);
  check_once(reader, value, cluster, consortium.clusters);
  consortium.clusters.push_back(std::move(cluster));
}

void read_clusters(YamlReader& reader, const Mapping& consortium, Configuration& into) {
  const Value& value = *consortium.find("clusters");
  const auto list = reader.list(value, k_clusters_remedy);
  if (!list) return;
  if (list->empty()) reader.fault(value, "the list is empty", k_clusters_remedy);
  if (list->size() > k_most_clusters) {
    return reader.fault(value, std::to_string(list->size()) + " clusters",
                        "name at most " + std::to_string(k_most_clusters));
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    Value cluster = named_element((*list)[i], "cluster", i + 1);
    cluster.name.insert(0, "consortium: ");
    read_cluster(reader, cluster, into);
  }
}

}  // namespace

const Rows<Configuration>& consortium_rows() {
  using Consortium = ConsortiumConfig;
  static const Rows<Configuration> rows{
      within(&Configuration::consortium,
             required("give it one, the same on all clusters: 'name: ...'",
                      key("name", &Consortium::name, name(), "the same on all its clusters"))),
      within(&Configuration::consortium,
             key("weight", &Consortium::weight, weight(), "what a processor here counts for")),
      within(&Configuration::consortium, key("every", &Consortium::every, duration(Duration{1}, Duration{3600}),
                                             "how often the other clusters' standings are read")),
      required<Configuration>(k_clusters_remedy,
                              {{"clusters", "List of clusters", "", "the other ones"}, read_clusters}),
  };
  return rows;
}

const Rows<OtherClusterConfig>& cluster_rows() {
  using Cluster = OtherClusterConfig;
  static const Rows<Cluster> rows{
      required("write its ClusterName: 'name: ...'",
               key("name", &Cluster::name, name(parse_cluster), "its ClusterName")),
      required(k_standing_remedy, key("standing", &Cluster::standing,
                                      {"A place `HOST:PORT`, a list of some, or an absolute path", read_standing,
                                       [](const std::string& places) { return places; }},
                                      "where its standing statements are")),
      required(
          "write the path of a key: 'public_key: /...'",
          key("public_key", &Cluster::public_key, path("Absolute path of a public key"), "of the key that signs them")),
      key("weight", &Cluster::weight, weight(), "what a processor there counts for"),
      key("stale_after", &Cluster::stale_after, duration(Duration{10}, k_longest_duration, "auto"),
          "how long its last statement is carried on"),
      {{"as", "Table of organizations and their names there", "none", "those that have another name there"}},
  };
  return rows;
}

void read_consortium(YamlReader& reader, const Value& value, Configuration& into) {
  const auto entries = reader.mapping(value, names_of(consortium_rows()));
  if (entries) read_rows(reader, *entries, consortium_rows(), into);
}

std::string consortium_text(const Configuration& configuration) {
  const std::string& name = configuration.consortium.name;
  return name.empty() ? "none" : fmt::format("{}, {}", name, rows_text(consortium_rows(), configuration));
}

std::string cluster_text(const OtherClusterConfig& cluster) {
  std::string text = rows_text(cluster_rows(), cluster);
  for (const accounting::NameElsewhere& name : cluster.names) text += fmt::format(", {} as {}", name.here, name.there);
  return text;
}

}  // namespace shapley::config
