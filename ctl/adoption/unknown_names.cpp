#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/slurm_text.hpp"
#include "base/text.hpp"
#include "ctl/adoption/slurm_site.hpp"
#include "site_rules/attribution.hpp"

namespace shapley::ctl {

namespace {

using NameSet = std::set<std::string, std::less<>>;

// Slurm keeps accounts and QOS in lower case.
NameSet lower_names(const std::vector<std::string>& names) {
  NameSet lowered;
  for (const std::string& name : names) lowered.insert(lower(name));
  return lowered;
}

bool is_numeric_id(const std::string& text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string first_names(const std::vector<std::string>& names) {
  constexpr std::size_t k_most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), k_most); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() <= k_most ? text : fmt::format("{} and {} more", text, names.size() - k_most);
}

class SlurmCheck {
 public:
  SlurmCheck(const config::Configuration& configuration, const SlurmSite& slurm)
      : configuration_(configuration), slurm_(slurm) {}

  SlurmComparison run() {
    for (const config::OrganizationConfig& organization : configuration_.organizations) {
      for (const config::Rule& rule : organization.rules) look_up(organization.name, rule);
      for (const config::NodeClaim& claim : organization.nodes) look_up(organization.name, claim);
    }
    std::ranges::stable_sort(out_.unknown, {}, &config::Fault::line);
    if (slurm_.accounting) doubt_accounts_below_others();
    compare_prices(configuration_, slurm_, out_);
    std::ranges::stable_sort(out_.doubts, {}, &config::Fault::line);
    if (!slurm_.accounting) {
      out_.notes.emplace_back("Slurm runs without slurmdbd: accounts, users and QOS cannot be compared");
    } else {
      note_accounts_without_rule();
    }
    note_nodes_of_nobody();
    return std::move(out_);
  }

 private:
  void unknown(int line, const std::string& organization, const std::string& what, const std::string& command) {
    out_.unknown.push_back({line, fmt::format("organization '{}': {} unknown to Slurm", organization, what),
                            "correct the name, or see what there is: " + command});
  }

  void look_up(const std::string& organization, const config::Rule& rule) {
    switch (rule.kind) {
      case RuleKind::account:
        if (slurm_.accounting && !has_account(lower(rule.name))) {
          unknown(rule.line, organization, fmt::format("account '{}' is", rule.name), "sacctmgr show account");
        }
        return;
      case RuleKind::qos:
        if (slurm_.accounting && !lower_names(slurm_.accounting->qos).contains(lower(rule.name))) {
          unknown(rule.line, organization, fmt::format("QOS '{}' is", rule.name), "sacctmgr show qos");
        }
        return;
      case RuleKind::user:
        if (slurm_.accounting && !is_numeric_id(rule.name) &&
            std::ranges::find(slurm_.accounting->users, rule.name) == slurm_.accounting->users.end()) {
          unknown(rule.line, organization, fmt::format("user '{}' has no association and is", rule.name),
                  "sacctmgr show associations");
        }
        return;
      case RuleKind::partition:
        if (std::ranges::find(slurm_.partitions, rule.name, &SlurmPartition::name) == slurm_.partitions.end()) {
          unknown(rule.line, organization, fmt::format("partition '{}' is", rule.name), "scontrol show partition");
        }
        return;
      case RuleKind::group:
        return;
    }
  }

  void look_up(const std::string& organization, const config::NodeClaim& claim) {
    std::vector<std::string> missing;
    for (const std::string& node : claim.nodes) {
      if (!nodes().contains(node)) missing.push_back(node);
      claimed_.insert(node);
    }
    if (missing.empty()) return;
    unknown(
        claim.line, organization,
        (missing.size() == 1 ? "node " : "nodes ") + collapse_names(missing) + (missing.size() == 1 ? " is" : " are"),
        "scontrol show nodes");
  }

  [[nodiscard]] bool has_account(const std::string& name) const {
    const auto& accounts = slurm_.accounting->accounts;
    return std::ranges::find(accounts, name, &SlurmAccount::name) != accounts.end();
  }

  const NameSet& nodes() {
    if (nodes_.empty()) {
      for (const SlurmNode& node : slurm_.nodes) nodes_.insert(node.name);
    }
    return nodes_;
  }

  // A rule of an account also matches the accounts below it, and the first rule that matches decides.
  void doubt_accounts_below_others() {
    struct Named {
      const config::Rule* rule;
      const std::string* organization;
    };
    std::map<std::string, Named> before;  // by account
    site_rules::AccountParents parents;
    for (const SlurmAccount& account : slurm_.accounting->accounts) {
      if (!account.parent.empty()) parents.emplace(account.name, account.parent);
    }
    for (const config::OrganizationConfig& organization : configuration_.organizations) {
      for (const config::Rule& rule : organization.rules) {
        if (rule.kind != RuleKind::account) continue;
        for (const std::string& above : site_rules::accounts_above(parents, rule.name)) {
          const auto first = before.find(above);
          if (first == before.end() || *first->second.organization == organization.name) continue;
          out_.doubts.push_back(
              {rule.line,
               fmt::format("organization '{}': the rule of account '{}' never matches: the account is below '{}', "
                           "whose rule of '{}' in line {} comes first",
                           organization.name, rule.name, above, *first->second.organization, first->second.rule->line),
               fmt::format("name '{}' before '{}'", organization.name, *first->second.organization)});
          break;
        }
        before.emplace(lower(rule.name), Named{&rule, &organization.name});
      }
    }
  }

  // Accounts that are neither named nor below a named one.
  void note_accounts_without_rule() {
    NameSet named;
    for (const config::OrganizationConfig& organization : configuration_.organizations) {
      for (const config::Rule& rule : organization.rules) {
        if (rule.kind == RuleKind::account) named.insert(lower(rule.name));
      }
    }
    // Parents may come after their children, so this repeats until no account is added.
    for (std::size_t before = 0; before != named.size();) {
      before = named.size();
      for (const SlurmAccount& account : slurm_.accounting->accounts) {
        if (named.contains(account.parent)) named.insert(account.name);
      }
    }
    std::vector<std::string> others;
    for (const SlurmAccount& account : slurm_.accounting->accounts) {
      if (account.name != "root" && !named.contains(account.name)) others.push_back(account.name);
    }
    if (others.empty()) return;
    out_.notes.push_back(
        "no rule names these accounts of Slurm, so their jobs are guests' unless another rule matches: " +
        first_names(others));
  }

  void note_nodes_of_nobody() {
    std::vector<std::string> unclaimed;
    for (const SlurmNode& node : slurm_.nodes) {
      if (!claimed_.contains(node.name)) unclaimed.push_back(node.name);
    }
    if (unclaimed.empty()) return;
    out_.notes.push_back("no organization claims these nodes of Slurm, so what runs there is credited to commons: " +
                         collapse_names(unclaimed));
  }

  const config::Configuration& configuration_;
  const SlurmSite& slurm_;
  SlurmComparison out_;
  NameSet nodes_;
  NameSet claimed_;
};

}  // namespace

SlurmComparison compare_with_slurm(const config::Configuration& configuration, const SlurmSite& slurm) {
  return SlurmCheck(configuration, slurm).run();
}

}  // namespace shapley::ctl
