#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/calendar.hpp"
#include "base/text.hpp"
#include "config/checks.hpp"
#include "config/settings.hpp"

namespace shapley::config {

namespace {

constexpr std::size_t k_max_name = 64;
constexpr std::size_t k_max_title = 200;

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; });
}

OrFault<std::string> parse_organization(const std::string& text) {
  auto name = parse_name(text);
  if (!name || !is_reserved(*name)) return name;
  return tl::unexpected(
      Fault{0, shown(*name) + " is reserved", "choose another; guests and commons are always in the books"});
}

OrFault<std::string> parse_title(const std::string& text) {
  if (text.size() <= k_max_title && !has_control_character(text)) return text;
  return tl::unexpected(Fault{0, "this is no title", fmt::format("write one line of at most {} bytes", k_max_title)});
}

OrFault<Instant> parse_date(const std::string& text) {
  if (const auto instant = parse_instant(text)) return *instant;
  return tl::unexpected(
      Fault{0, shown(text) + " is no date", "write YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ, in UTC, from 1970 on"});
}

// Slurm takes accounts and QOS of any text without commas, blanks within it, too; other names are words.
bool is_rule_name(const std::string& name, bool may_have_blanks) {
  if (name.empty() || has_control_character(name) || name.find(',') != std::string::npos) return false;
  return may_have_blanks ? trimmed(name) == name : name.find(' ') == std::string::npos;
}

void read_rules_of(YamlReader& reader, const Value& value, const RuleKindNames& kind, std::vector<Rule>& rules) {
  const auto list = reader.list(value, "write a list: [a, b], or [] for none");
  if (!list) return;
  for (const Value& element : *list) {
    const auto name = reader.text(element, fmt::format("write {} names", kind.word));
    if (!name) continue;
    // Slurm keeps account and QOS names in lower case, however they were typed.
    const bool is_of_accounting = kind.kind == RuleKind::account || kind.kind == RuleKind::qos;
    if (!is_rule_name(*name, is_of_accounting)) {
      reader.fault(element, fmt::format("{} is no {} name", shown(*name), kind.word),
                   std::string("write each name as one element of the list, without commas") +
                       (is_of_accounting ? " and without blanks around it" : " and blanks"));
      continue;
    }
    rules.push_back({kind.kind, is_of_accounting ? lower(*name) : *name, element.line});
  }
}

Row<OrganizationConfig> row_of_rules(RuleKind kind, std::string type, std::string meaning) {
  const RuleKindNames& names = names_of(kind);
  const auto read = [&names](YamlReader& reader, const Mapping& entries, OrganizationConfig& into) {
    if (const Value* value = entries.find(names.key)) read_rules_of(reader, *value, names, into.rules);
  };
  return {{names.key, std::move(type), "none", std::move(meaning)}, read};
}

std::optional<NodeClaim> read_long_claim(YamlReader& reader, const Value& value) {
  const auto entries = reader.mapping(value, names_of(claim_rows()));
  if (!entries) return std::nullopt;
  const Value* nodes = entries->find("nodes");
  if (nodes == nullptr) {
    reader.fault(value, "a claim names no nodes", "write {nodes: \"n[1-4]\", share: 1/2}");
    return std::nullopt;
  }
  NodeClaim claim;
  // Every key is read even if others have faults, so that all faults are reported.
  const std::size_t faults = reader.reported();
  auto names = reader.nodes({nodes->node, nodes->line, value.name});
  read_rows(reader, *entries, claim_rows(), claim);
  if (!names || reader.reported() != faults) return std::nullopt;
  claim.nodes = *std::move(names);
  if (claim.from < claim.until) return claim;
  reader.fault(value,
               fmt::format("until {} is not after from {}", format_instant(claim.until), format_instant(claim.from)),
               "correct the dates; from is included, until is not");
  return std::nullopt;
}

void read_claims(YamlReader& reader, const Value& value, std::vector<NodeClaim>& claims) {
  const auto list = reader.list(value, "write a list: [\"n[1-4]\"] or one '- n[1-4]' a line");
  if (!list) return;
  for (const Value& element : *list) {
    std::optional<NodeClaim> claim;
    if (element.node.IsMap()) {
      claim = read_long_claim(reader, element);
    } else if (auto nodes = reader.nodes(element)) {
      claim.emplace().nodes = *std::move(nodes);
    }
    if (!claim) continue;
    claim->line = element.line;
    claims.push_back(*std::move(claim));
  }
}

std::string share_text(const Share& share) {
  return part_text(share.parts_per_million());
}

Format<Instant> date(std::string type) {
  return scalar<Instant>(std::move(type), "write a date such as 2026-01-01", parse_date, format_instant);
}

void read_organization(YamlReader& reader, const Value& value, Configuration& into) {
  const auto entries = reader.mapping(value, names_of(organization_rows()));
  if (!entries) return;
  OrganizationConfig organization;
  organization.line = value.line;
  organization.guarantee = into.guarantee;
  organization.workflows = into.workflows;
  read_rows(reader, *entries, organization_rows(), organization);
  into.organizations.push_back(std::move(organization));
}

}  // namespace

const Rows<OrganizationConfig>& organization_rows() {
  using Organization = OrganizationConfig;
  constexpr const char* k_whose = "whose jobs are its own";
  constexpr const char* k_as_file = "what the file's own says";
  static const Rows<Organization> rows{
      required("give it one: 'name: ...'",
               key("name", &Organization::name, name(parse_organization), "the name in the books")),
      key("title", &Organization::title,
          scalar<std::string>("One line of text", "write the name for people", parse_title,
                              [](const std::string& text) { return '\'' + text + '\''; }),
          "for people", "the name"),
      row_of_rules(RuleKind::account, "List of Slurm accounts", "whose jobs are its own, with all sub-accounts"),
      row_of_rules(RuleKind::partition, "List of partitions", k_whose),
      row_of_rules(RuleKind::qos, "List of QOS names", k_whose),
      row_of_rules(RuleKind::user, "List of login names or numeric ids", k_whose),
      row_of_rules(RuleKind::group, "List of group names or numeric ids", k_whose),
      key("guarantee", &Organization::guarantee, part(), "the part of its own processors that it may count on",
          k_as_file),
      within(&Organization::workflows, workflow_order("how its jobs are ordered", k_as_file)),
      key("workflows", &Organization::workflows, workflow_table("Table with the keys of `workflows`"),
          "what its workflows are", "each what the file's own table says"),
      key("nodes", &Organization::nodes, {"List of claims", read_claims}, "what it owns, whole and always or as below",
          "none"),
  };
  return rows;
}

const Rows<NodeClaim>& claim_rows() {
  static const Rows<NodeClaim> rows{
      {{"nodes", "Node names", std::string(k_required), "which nodes"}},
      key("share", &NodeClaim::share,
          scalar<Share>("Fraction `1/3`, percentage `33.3%` or decimal `0.333`, above 0 and at most 1",
                        "write a fraction such as 1/3", or_fault(parse_share, " is no share"), share_text),
          "the part of every node"),
      key("from", &NodeClaim::from, date("Date `2026-01-01` or `2026-01-01T12:00:00Z`, UTC"), "its first instant",
          "since ever"),
      key("until", &NodeClaim::until, date("Date, after `from`"), "the first instant that is not part of it any more",
          "without end"),
  };
  return rows;
}

OrFault<std::string> parse_name(const std::string& text) {
  constexpr std::string_view k_allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  if (!text.empty() && text.size() <= k_max_name && text.find_first_not_of(k_allowed) == std::string::npos) return text;
  return tl::unexpected(Fault{0, shown(text) + " is no allowed name",
                              fmt::format("use 1 to {} letters A-Z and a-z, digits, '.', '_' and '-'", k_max_name)});
}

Format<std::string> name(OrFault<std::string> (*parse)(const std::string& text)) {
  return scalar<std::string>(fmt::format("1 to {} letters A-Z and a-z, digits, `.`, `_` and `-`", k_max_name),
                             "write a name", parse);
}

Value named_element(const Value& element, const std::string& word, std::size_t number) {
  if (element.node.IsMap()) {
    for (const auto& entry : element.node) {
      const bool is_name = entry.first.IsScalar() && entry.first.Scalar() == "name" && entry.second.IsScalar();
      if (is_name && !entry.second.Scalar().empty() && entry.second.Scalar().size() <= k_max_name &&
          !has_control_character(entry.second.Scalar())) {
        return {element.node, element.line, fmt::format("{} '{}'", word, entry.second.Scalar())};
      }
    }
  }
  return {element.node, element.line, fmt::format("{} {}", word, number)};
}

bool is_reserved(std::string_view organization) {
  const std::string folded = lower(organization);
  return folded == accounting::k_guests || folded == accounting::k_commons;
}

void read_organizations(YamlReader& reader, const Mapping& file, Configuration& into) {
  constexpr const char* k_remedy = "write '- name: ...' for each organization";
  const Value* value = file.find("organizations");
  if (value == nullptr) {
    return reader.fault(
        {{}, 0, "organizations"}, "missing",
        "name them (shapleyctl init proposes a first configuration); a file cut off before them must not pass");
  }
  const auto list = reader.list(*value, k_remedy);
  if (!list) return;
  if (list->empty()) reader.fault(*value, "the list is empty", k_remedy);
  for (std::size_t i = 0; i < list->size(); ++i) {
    read_organization(reader, named_element((*list)[i], "organization", i + 1), into);
  }
  check_claims(into.organizations, reader.faults());
  check_contribution(into, reader.faults());
}

}  // namespace shapley::config
