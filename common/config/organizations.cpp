#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/slurm_text.hpp"
#include "base/text.hpp"
#include "config/keys.hpp"
#include "config/settings.hpp"
#include "config/values.hpp"

namespace shapley::config {

namespace {

constexpr std::size_t k_max_name = 64;
constexpr std::size_t k_max_title = 200;

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; });
}

class OrganizationsReader {
 public:
  OrganizationsReader(YamlReader& reader, FaultList& faults, const Configuration& file)
      : reader_(reader), faults_(faults), file_(file) {}

  std::vector<OrganizationConfig> read(const Mapping& file) {
    constexpr std::string_view k_remedy = "write '- name: ...' for each organization";
    const Value* value = file.find("organizations");
    if (value == nullptr) {
      faults_.add(
          0, "organizations: missing",
          "name them (shapleyctl init proposes a first configuration); a file cut off before them must not pass");
      return {};
    }
    const auto list = reader_.list(*value, k_remedy);
    if (!list) return {};
    if (list->empty()) add(*value, "the list is empty", std::string(k_remedy));
    std::vector<OrganizationConfig> organizations;
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (auto organization = read_organization((*list)[i], i + 1)) organizations.push_back(std::move(*organization));
    }
    return organizations;
  }

 private:
  void add(const Value& value, const std::string& what, std::string remedy) {
    faults_.add(value.line, value.name + ": " + what, std::move(remedy));
  }

  std::optional<OrganizationConfig> read_organization(const Value& value, std::size_t number) {
    const std::string context = element_context(value, "organization", number);
    auto entries = reader_.mapping({value.node, value.line, context}, context + ": ", names_of(k_organization_keys));
    if (!entries) return std::nullopt;
    OrganizationConfig organization;
    organization.line = value.line;
    read_name(*entries, {value.node, value.line, context}, organization);
    read_title(*entries, organization);
    for (const RuleKindNames& kind : k_rule_kinds) read_rules(*entries, kind, organization);
    organization.guarantee = file_.guarantee;
    if (const Value* guarantee = entries->find("guarantee")) {
      read_part(reader_, *guarantee, faults_, organization.guarantee);
    }
    organization.workflows = file_.workflows;
    read_workflow_settings(reader_, *entries, faults_, organization.workflows);
    read_nodes(*entries, organization);
    return organization;
  }

  void read_name(const Mapping& entries, const Value& organization, OrganizationConfig& read) {
    const Value* value = entries.find("name");
    if (value == nullptr) return add(organization, "has no name", "give it one: 'name: ...'");
    const auto name = config::read_name(reader_, *value, faults_);
    if (!name) return;
    if (is_reserved(*name)) {
      return add(*value, shown(*name) + " is reserved", "choose another; guests and commons are always in the books");
    }
    read.name = *name;
  }

  void read_title(const Mapping& entries, OrganizationConfig& read) {
    const Value* value = entries.find("title");
    const auto title = value ? reader_.text(*value, "write the name for people") : std::nullopt;
    if (!title) return;
    if (title->size() > k_max_title || has_control_character(*title)) {
      return add(*value, "this is no title", "write one line of at most " + std::to_string(k_max_title) + " bytes");
    }
    read.title = *title;
  }

  void read_rules(const Mapping& entries, const RuleKindNames& kind, OrganizationConfig& read) {
    const Value* value = entries.find(kind.key);
    const auto list = value ? reader_.list(*value, "write a list: [a, b], or [] for none") : std::nullopt;
    if (!list) return;
    for (const Value& element : *list) {
      const auto name = reader_.text(element, "write " + std::string(kind.word) + " names");
      if (!name) continue;
      if (name->empty() || name->find_first_of(" \t,") != std::string::npos || has_control_character(*name)) {
        add(element, shown(*name) + " is no " + std::string(kind.word) + " name",
            "write each name as one element of the list, without blanks and commas");
        continue;
      }
      // Slurm keeps account and QOS names in lower case, however they were typed.
      const bool folds = kind.kind == RuleKind::account || kind.kind == RuleKind::qos;
      read.rules.push_back({kind.kind, folds ? lower(*name) : *name, element.line});
    }
  }

  void read_nodes(const Mapping& entries, OrganizationConfig& read) {
    constexpr std::string_view k_remedy = "write a list: [\"n[1-4]\"] or one '- n[1-4]' a line";
    const Value* value = entries.find("nodes");
    const auto list = value ? reader_.list(*value, k_remedy) : std::nullopt;
    if (!list) return;
    for (const Value& element : *list) {
      auto claim = element.node.IsMap() ? read_long_claim(element) : read_nodes_of_claim(element);
      if (claim) read.nodes.push_back(std::move(*claim));
    }
  }

  std::optional<NodeClaim> read_long_claim(const Value& value) {
    const auto entries = reader_.mapping(value, value.name + ": ", names_of(k_claim_keys));
    if (!entries) return std::nullopt;
    const Value* nodes = entries->find("nodes");
    if (nodes == nullptr) {
      add(value, "a claim names no nodes", "write {nodes: \"n[1-4]\", share: 1/2}");
      return std::nullopt;
    }
    auto claim = read_nodes_of_claim({nodes->node, nodes->line, value.name});
    // Every key is read even if others have faults, so that all faults are reported.
    bool complete = read_share(*entries, claim);
    complete = read_date(*entries, "from", claim, &NodeClaim::from) && complete;
    complete = read_date(*entries, "until", claim, &NodeClaim::until) && complete;
    if (!claim || !complete) return std::nullopt;
    claim->line = value.line;
    if (claim->from >= claim->until) {
      add(value, "until " + format_instant(claim->until) + " is not after from " + format_instant(claim->from),
          "correct the dates; from is included, until is not");
      return std::nullopt;
    }
    return claim;
  }

  std::optional<NodeClaim> read_nodes_of_claim(const Value& value) {
    const auto text = reader_.text(value, "write node names such as \"n[1-4]\"");
    if (!text) return std::nullopt;
    if (expanded_ > k_max_expanded_nodes) return std::nullopt;  // said before; expanding on would only take time
    auto names = expand_brackets(*text);
    if (!names) {
      add(value, shown(*text) + ": " + names.error().what, "write names as Slurm does: n[1-4,7],gpu01");
      return std::nullopt;
    }
    expanded_ += names->size();
    if (expanded_ > k_max_expanded_nodes) {
      add(value, "the file names more than " + std::to_string(k_max_expanded_nodes) + " nodes", "correct the ranges");
      return std::nullopt;
    }
    std::unordered_set<std::string_view> seen;
    for (const std::string& name : *names) {
      if (seen.insert(name).second) continue;
      add(value, "node " + name + " is named twice in " + shown(*text), "name it once");
      return std::nullopt;
    }
    NodeClaim claim;
    claim.nodes = std::move(*names);
    claim.line = value.line;
    return claim;
  }

  // The following functions read on after a fault (claim may be empty), so that every fault of a claim is found.
  bool read_share(const Mapping& entries, std::optional<NodeClaim>& claim) {
    const Value* value = entries.find("share");
    if (value == nullptr) return true;
    const auto text = reader_.text(*value, "write a fraction such as 1/3");
    if (!text) return false;
    const auto share = parse_share(*text);
    if (!share) {
      add(*value, shown(*text) + " is no share", share.error().what);
      return false;
    }
    if (claim) claim->share = *share;
    return true;
  }

  bool read_date(const Mapping& entries, std::string_view key, std::optional<NodeClaim>& claim,
                 Instant NodeClaim::*date) {
    const Value* value = entries.find(key);
    if (value == nullptr) return true;
    const auto text = reader_.text(*value, "write a date such as 2026-01-01");
    if (!text) return false;
    const auto instant = parse_instant(*text);
    if (!instant) {
      add(*value, shown(*text) + " is no date", "write YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ, in UTC, from 1970 on");
      return false;
    }
    if (claim) (*claim).*date = *instant;
    return true;
  }

  YamlReader& reader_;
  FaultList& faults_;
  const Configuration& file_;  // what organizations that do not say otherwise begin with
  std::size_t expanded_ = 0;
};

}  // namespace

std::optional<std::string> read_name(YamlReader& reader, const Value& value, FaultList& faults) {
  constexpr std::string_view k_allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  auto name = reader.text(value, "write a name");
  if (!name) return std::nullopt;
  if (!name->empty() && name->size() <= k_max_name && name->find_first_not_of(k_allowed) == std::string::npos) {
    return name;
  }
  faults.add(value.line, value.name + ": " + shown(*name) + " is no allowed name",
             "use 1 to " + std::to_string(k_max_name) + " letters A-Z and a-z, digits, '.', '_' and '-'");
  return std::nullopt;
}

std::string element_context(const Value& element, const std::string& word, std::size_t number) {
  if (element.node.IsMap()) {
    for (const auto& entry : element.node) {
      const bool is_name = entry.first.IsScalar() && entry.first.Scalar() == "name" && entry.second.IsScalar();
      if (is_name && !entry.second.Scalar().empty() && entry.second.Scalar().size() <= k_max_name &&
          !has_control_character(entry.second.Scalar())) {
        return word + " '" + entry.second.Scalar() + "'";
      }
    }
  }
  return word + " " + std::to_string(number);
}

bool is_reserved(std::string_view organization) {
  const std::string folded = lower(organization);
  return folded == accounting::k_guests || folded == accounting::k_commons;
}

std::vector<OrganizationConfig> read_organizations(YamlReader& reader, const Mapping& file, FaultList& faults,
                                                   const Configuration& settings) {
  return OrganizationsReader(reader, faults, settings).read(file);
}

}  // namespace shapley::config
