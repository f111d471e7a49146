#include "site_rules/attribution.hpp"

#include <algorithm>
#include <istream>
#include <utility>

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

#include "base/files.hpp"
#include "base/slurm_text.hpp"
#include "base/text.hpp"
#include "config/checks.hpp"

namespace shapley::site_rules {

namespace {

constexpr std::string_view k_export_accounts =
    "export with sacctmgr -nP list associations cluster=NAME format=Account,ParentName";

// Beyond all numbers that systems give to people; for names without a known number.
constexpr std::uint32_t k_first_made_up = 0xf000'0000U;

std::optional<std::uint32_t> user_here(const std::string& name) {
  const passwd* entry = getpwnam(name.c_str());
  return entry == nullptr ? std::nullopt : std::optional<std::uint32_t>(entry->pw_uid);
}

std::optional<std::uint32_t> group_here(const std::string& name) {
  const group* entry = getgrnam(name.c_str());
  return entry == nullptr ? std::nullopt : std::optional<std::uint32_t>(entry->gr_gid);
}

template <typename Here>
void add_name(std::map<std::string, std::uint32_t, std::less<>>& numbers, const std::string& name, const Here& here) {
  if (name.empty() || numbers.contains(name)) return;
  auto number = parse_number<std::uint32_t>(name);
  if (!number) number = here(name);
  numbers.emplace(name, number.value_or(k_first_made_up + static_cast<std::uint32_t>(numbers.size())));
}

std::uint32_t number_of(const std::map<std::string, std::uint32_t, std::less<>>& numbers, const std::string& name) {
  const auto found = numbers.find(name);
  return found == numbers.end() ? k_unknown_number : found->second;
}

}  // namespace

Expected<AccountParents> read_account_parents(std::istream& text) {
  AccountParents parents;
  std::map<std::string, std::int64_t, std::less<>> named;  // the line that names an account's parent
  std::string line;
  Lines lines(text);
  while (lines.next(line)) {
    if (line.empty()) continue;
    const std::size_t bar = line.find('|');
    if (bar == std::string::npos || line.find('|', bar + 1) != std::string::npos) {
      return fail(Errc::invalid_argument,
                  fmt::format("line {}: no line ACCOUNT|PARENT; {}", lines.number(), k_export_accounts));
    }
    if (bar + 1 == line.size()) continue;
    const std::string account = lower(line.substr(0, bar));
    const auto [known, is_new] = parents.emplace(account, lower(line.substr(bar + 1)));
    if (is_new) {
      named.emplace(account, lines.number());
    } else if (known->second != lower(line.substr(bar + 1))) {
      return fail(Errc::invalid_argument,
                  fmt::format("line {}: account {} has the parent {}, and in line {} the parent {}; each cluster of a "
                              "slurmdbd has accounts of its own, so {}",
                              lines.number(), account, line.substr(bar + 1), named.at(account), known->second,
                              k_export_accounts));
    }
  }
  SHAPLEY_TRY(lines.end());
  return parents;
}

Attribution::Attribution(const config::Configuration& configuration, const sacct::NamedNumbers& users,
                         const sacct::NamedNumbers& groups, AccountParents parents)
    : parents_(std::move(parents)) {
  for (const auto& [name, number] : users)
    if (number) users_.emplace(name, *number);
  for (const auto& [name, number] : groups)
    if (number) groups_.emplace(name, *number);
  std::vector<protocol::Rule> rules;
  for (const config::OrganizationConfig& organization : configuration.organizations) {
    for (const config::Rule& rule : organization.rules) {
      protocol::Rule wire{organization.name, rule.kind, rule.name, 0};
      if (rule.kind == RuleKind::user) {
        add_name(users_, rule.name, user_here);
        wire.id = number_of(users_, rule.name);
      } else if (rule.kind == RuleKind::group) {
        add_name(groups_, rule.name, group_here);
        wire.id = number_of(groups_, rule.name);
      }
      rules.push_back(std::move(wire));
    }
  }
  for (const auto& [name, number] : users) add_name(users_, name, user_here);
  for (const auto& [name, number] : groups) add_name(groups_, name, group_here);
  classifier_ = protocol::Classifier(std::move(rules));
}

std::uint32_t Attribution::user_of(const sacct::SacctRow& row) const {
  return row.user_id ? *row.user_id : number_of(users_, row.user);
}

std::uint32_t Attribution::group_of(const sacct::SacctRow& row) const {
  return row.group_id ? *row.group_id : number_of(groups_, row.group);
}

std::vector<std::string> accounts_above(const AccountParents& parents, std::string_view account) {
  constexpr std::size_t k_deepest = 64;  // a loop in the file ends
  std::vector<std::string> above;
  for (auto at = parents.find(lower(account)); at != parents.end() && above.size() < k_deepest;
       at = parents.find(above.back()))
    above.push_back(at->second);
  return above;
}

std::string_view Attribution::organization_of(const sacct::SacctRow& row) const {
  const std::vector<std::string> ancestors = ancestors_of(row.account);
  return classifier_.organization_of({.account = row.account,
                                      .account_ancestors = ancestors,
                                      .partition = row.partition,
                                      .qos = row.qos,
                                      .user_id = user_of(row),
                                      .group_id = group_of(row)});
}

ledger::RuleMatched rule_matched(const protocol::Rule& rule, std::string_view through) {
  return {.kind = std::string(names_of(rule.kind).name),
          .name = rule.name,
          .organization = rule.organization,
          .through = std::string(through)};
}

namespace {

std::optional<ledger::RuleMatched> matched(const protocol::Classifier& classifier, const protocol::JobTraits& job,
                                           std::string_view through) {
  const protocol::Rule* rule = classifier.rule_of(job);
  return rule == nullptr ? std::nullopt : std::optional(rule_matched(*rule, through));
}

// `job`: what names its user, group, account, partition and QOS.
protocol::JobTraits traits_of(const auto& job, const std::vector<std::string>& accounts_above) {
  return {.account = job.account,
          .account_ancestors = accounts_above,
          .partition = job.partition,
          .qos = job.qos,
          .user_id = job.user_id,
          .group_id = job.group_id};
}

std::vector<protocol::Rule> rules_in(const std::string& configuration) {
  const auto parsed = config::parse_recorded(configuration);
  std::vector<protocol::Rule> rules;
  if (!parsed) return rules;
  for (config::NumberedRule& rule : config::known_rules(parsed->configuration))
    rules.push_back({std::move(rule.organization), rule.kind, std::move(rule.name), rule.id});
  return rules;
}

}  // namespace

std::optional<ledger::RuleMatched> rule_of(const protocol::Classifier& classifier, const ledger::JobIdentity& job) {
  return matched(classifier, traits_of(job, {}), "itself");
}

std::optional<ledger::RuleMatched> rule_of(const protocol::Classifier& classifier, const ledger::SubmissionAsked& job) {
  return matched(classifier, traits_of(job, job.accounts_above), "itself or an account above");
}

ledger::RuleFound rule_in(const std::string& configuration, const ledger::JobIdentity& job) {
  std::vector<protocol::Rule> rules = rules_in(configuration);
  ledger::RuleFound found;
  for (const protocol::Rule& rule : rules) {
    if (rule.kind == RuleKind::account) found.by_account.push_back(rule.organization);
  }
  found.rule = rule_of(protocol::Classifier(std::move(rules)), job);
  return found;
}

std::optional<ledger::RuleMatched> rule_for(const std::string& configuration, const ledger::SubmissionAsked& job) {
  return rule_of(protocol::Classifier(rules_in(configuration)), job);
}

}  // namespace shapley::site_rules
