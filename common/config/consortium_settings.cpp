#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "config/keys.hpp"
#include "config/settings.hpp"
#include "config/values.hpp"
#include "config/yaml_reader.hpp"

namespace shapley::config {

namespace {

constexpr std::size_t k_most_clusters = 100;
constexpr std::size_t k_most_places = 4;
constexpr Duration k_least_every{1};
constexpr Duration k_most_every{3600};
constexpr Duration k_least_stale_after{10};
constexpr std::string_view k_auto = "auto";

class ConsortiumReader {
 public:
  ConsortiumReader(YamlReader& reader, FaultList& faults, Configuration& configuration)
      : reader_(reader),
        faults_(faults),
        organizations_(configuration.organizations),
        consortium_(configuration.consortium) {}

  void read(const Value& value) {
    const auto entries = reader_.mapping(value, value.name + ": ", names_of(k_consortium_keys));
    if (!entries) return;
    if (const Value* name = required(*entries, "name", value, "give it one, the same on all clusters: 'name: ...'")) {
      if (auto read = read_name(reader_, *name, faults_)) consortium_.name = *std::move(read);
    }
    weight(*entries, consortium_.weight);
    if (const Value* every = entries->find("every")) {
      read_duration(reader_, *every, faults_, k_least_every, k_most_every, consortium_.every);
    }
    if (const Value* clusters = required(*entries, "clusters", value, k_clusters_remedy)) read_clusters(*clusters);
  }

 private:
  static constexpr std::string_view k_clusters_remedy = "write '- name: ...' for each of the other clusters";

  void add(const Value& value, const std::string& what, std::string remedy) {
    faults_.add(value.line, value.name + ": " + what, std::move(remedy));
  }

  // nullptr after a fault of `table`: the key is missing.
  const Value* required(const Mapping& entries, std::string_view key, const Value& table, std::string_view remedy) {
    const Value* value = entries.find(key);
    if (value == nullptr) add(table, "has no " + std::string(key), std::string(remedy));
    return value;
  }

  void weight(const Mapping& entries, std::int64_t& parts_per_million) {
    const Value* value = entries.find("weight");
    const auto text = value ? reader_.text(*value, "write a decimal such as 1.5") : std::nullopt;
    if (!text) return;
    const auto weight = parse_weight(*text);
    if (!weight) return add(*value, shown(*text) + " is no such weight", weight.error().what);
    parts_per_million = *weight;
  }

  void read_clusters(const Value& value) {
    const auto list = reader_.list(value, k_clusters_remedy);
    if (!list) return;
    if (list->empty()) add(value, "the list is empty", std::string(k_clusters_remedy));
    if (list->size() > k_most_clusters) {
      return add(value, std::to_string(list->size()) + " clusters", "name at most " + std::to_string(k_most_clusters));
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string context = "consortium: " + element_context((*list)[i], "cluster", i + 1);
      read_cluster({(*list)[i].node, (*list)[i].line, context});
    }
  }

  void read_cluster(const Value& value) {
    const auto entries = reader_.mapping(value, value.name + ": ", names_of(k_cluster_keys));
    if (!entries) return;
    OtherClusterConfig cluster;
    cluster.line = value.line;
    if (const Value* name = required(*entries, "name", value, "write its ClusterName: 'name: ...'")) {
      // slurmctld keeps ClusterName in lower case, however it was typed.
      if (const auto read = read_name(reader_, *name, faults_)) cluster.name = lower(*read);
    }
    standing(*entries, value, cluster);
    if (const Value* key = required(*entries, "public_key", value, "write the path of a key: 'public_key: /...'")) {
      const auto text = reader_.text(*key, "write an absolute path");
      if (text) take_path(*key, *text, faults_, k_max_path, cluster.public_key);
    }
    weight(*entries, cluster.weight);
    stale_after(*entries, cluster);
    names(*entries, cluster);
    check_once(value, cluster);
    consortium_.clusters.push_back(std::move(cluster));
  }

  void standing(const Mapping& entries, const Value& table, OtherClusterConfig& cluster) {
    constexpr std::string_view k_remedy =
        "write where its shapleyd listens, HOST:PORT, or the path of a file; of two controllers a list of both";
    const Value* value = required(entries, "standing", table, k_remedy);
    if (value == nullptr) return;
    const bool are_several = value->node.IsSequence();
    const auto places = are_several ? reader_.list(*value, k_remedy) : std::vector<Value>{*value};
    if (!places) return;
    if (places->empty() || places->size() > k_most_places)
      return add(*value, std::to_string(places->size()) + " places", std::string(k_remedy));
    for (const Value& place : *places) {
      const auto text = reader_.text(place, k_remedy);
      if (!text) return;
      if (text->starts_with('/') && !are_several) {
        std::filesystem::path file;
        take_path(place, *text, faults_, k_max_path, file);
        cluster.standing = file.string();
      } else if (parse_endpoint(*text)) {
        cluster.standing += (cluster.standing.empty() ? "" : ", ") + *text;
      } else if (text->starts_with('/')) {
        add(place, shown(*text) + " is a path in a list", "name one file, to which both controllers bring it");
      } else {
        add(place, shown(*text) + " is neither HOST:PORT nor an absolute path", std::string(k_remedy));
      }
    }
  }

  void stale_after(const Mapping& entries, OtherClusterConfig& cluster) {
    const Value* value = entries.find("stale_after");
    if (value == nullptr || (value->node.IsScalar() && value->node.Scalar() == k_auto)) return;
    read_duration(reader_, *value, faults_, k_least_stale_after, k_longest_duration, cluster.stale_after);
    // A statement that is too old before the next one is due would never be carried on.
    if (cluster.stale_after > Duration{0} && cluster.stale_after < consortium_.every) {
      add(*value, seconds_text(cluster.stale_after) + " is less than `every`",
          "write " + seconds_text(consortium_.every) + " or more");
    }
  }

  // Every organization here has one name there, and no two have the same.
  void names(const Mapping& entries, OtherClusterConfig& cluster) {
    const Value* value = entries.find("as");
    const auto table = value ? reader_.table(*value, "write a table such as {physics: physik}") : std::nullopt;
    if (!table) return;
    std::map<std::string, std::string> here_by_there;
    for (const OrganizationConfig& organization : organizations_) {
      if (table->find(organization.name) == nullptr) here_by_there.emplace(organization.name, organization.name);
    }
    for (const Mapping::Entry& entry : table->entries()) {
      const auto there = read_name(reader_, entry.value, faults_);
      if (!is_organization(entry) || !there) continue;
      if (is_reserved(*there)) {
        add(entry.value, shown(*there) + " is no organization", "guests and commons have the same name everywhere");
        continue;
      }
      const auto [first, is_new] = here_by_there.emplace(*there, entry.key);
      if (!is_new) {
        add(entry.value, shown(*there) + " is there the name of '" + first->second + "' already",
            "give each organization a name of its own there");
        continue;
      }
      cluster.names.push_back({entry.key, *there});
    }
    std::ranges::sort(cluster.names, {}, &accounting::NameElsewhere::there);
  }

  bool is_organization(const Mapping::Entry& entry) {
    if (is_reserved(entry.key)) {
      add(entry.value, shown(entry.key) + " is no organization", "guests and commons have the same name everywhere");
      return false;
    }
    std::vector<std::string_view> known;
    for (const OrganizationConfig& organization : organizations_) {
      if (organization.name == entry.key) return true;
      known.emplace_back(organization.name);
    }
    const std::string_view near = nearest(entry.key, known);
    add(entry.value, "the file has no organization " + shown(entry.key),
        near.empty() ? "write an organization of this file, then its name there"
                     : "did you mean '" + std::string(near) + "'?");
    return false;
  }

  void check_once(const Value& value, const OtherClusterConfig& cluster) {
    for (const OtherClusterConfig& earlier : consortium_.clusters) {
      const std::string line = " of line " + std::to_string(earlier.line);
      if (!cluster.name.empty() && earlier.name == cluster.name) {
        add(value, "is the cluster" + line + " again", "name each cluster once; capitals do not matter");
      } else if (!cluster.standing.empty() && earlier.standing == cluster.standing) {
        add(value, "its standing is where that of the cluster" + line + " is", "a statement is of one cluster");
      }
    }
  }

  YamlReader& reader_;
  FaultList& faults_;
  const std::vector<OrganizationConfig>& organizations_;
  ConsortiumConfig& consortium_;
};

}  // namespace

void read_consortium(YamlReader& reader, const Mapping& file, FaultList& faults, Configuration& configuration) {
  const Value* value = file.find("consortium");
  if (value != nullptr) ConsortiumReader(reader, faults, configuration).read(*value);
}

std::string consortium_text(const ConsortiumConfig& consortium) {
  if (consortium.name.empty()) return "none";
  return consortium.name + ", weight " + format_micro(consortium.weight) + ", every " + seconds_text(consortium.every);
}

std::string cluster_text(const OtherClusterConfig& cluster) {
  std::string text = "standing " + cluster.standing + ", public_key " + cluster.public_key.string() + ", weight " +
                     format_micro(cluster.weight) + ", stale_after " +
                     (cluster.stale_after == Duration{0} ? std::string(k_auto) : seconds_text(cluster.stale_after));
  for (const accounting::NameElsewhere& name : cluster.names) text += ", " + name.here + " as " + name.there;
  return text;
}

}  // namespace shapley::config
