#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/slurm_text.hpp"
#include "base/text.hpp"
#include "config/configuration.hpp"
#include "ctl/adoption/slurm_site.hpp"

namespace shapley::ctl {

namespace {

// With guests and commons twelve players, of which hindsight weighs every coalition.
constexpr std::size_t k_most_by_hindsight = 10;

struct Proposed {
  std::string name;                // of the organization
  std::string named_after;         // the account or partition, as Slurm has it
  std::vector<std::string> nodes;  // that it is likely to own
};

bool may_stand_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

// Whether a rule can contain this name of an account or partition.
bool can_be_named(const std::string& name) {
  return !name.empty() && trimmed(name) == name &&
         std::ranges::none_of(name, [](unsigned char c) { return c < ' ' || c == ',' || c == 0x7F; });
}

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    // Slurm's names contain no newline; nevertheless a name must not end the line.
    out += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  }
  return out + '"';
}

std::string case_folded(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

class Proposal {
 public:
  explicit Proposal(const SlurmSite& slurm) : slurm_(slurm), by_account_(slurm.accounting.has_value()) {}

  Expected<std::string> text() {
    find_organizations();
    if (organizations_.empty()) {
      return fail(Errc::not_found, by_account_
                                       ? "slurmdbd has no account below root: make them first (sacctmgr add account)"
                                       : "Slurm has no partition: nothing to make organizations of");
    }
    give_nodes();
    std::string out = head();
    for (const Proposed& organization : organizations_) out += entry(organization);
    return out + rest();
  }

 private:
  // A name that the configuration accepts and that no organization has yet.
  std::string organization_name(const std::string& from) {
    constexpr std::size_t k_longest = 60;  // 64, and room for a number
    std::string name = from.substr(0, k_longest);
    std::ranges::replace_if(
        name, [](char c) { return !may_stand_in_name(c); }, '_');
    if (case_folded(name) == "guests" || case_folded(name) == "commons") name += "-org";
    std::string unique = name;
    for (int i = 2; !names_.insert(case_folded(unique)).second; ++i) unique = name + '-' + std::to_string(i);
    return unique;
  }

  void find_organizations() {
    std::vector<std::string> sources;
    if (by_account_) {
      for (const SlurmAccount& account : slurm_.accounting->accounts) {
        if (account.parent == "root" && account.name != "root") sources.push_back(account.name);
      }
    } else {
      for (const SlurmPartition& partition : slurm_.partitions) sources.push_back(partition.name);
    }
    std::ranges::sort(sources);
    for (const std::string& source : sources) {
      if (can_be_named(source)) {
        organizations_.push_back({organization_name(source), source, {}});
      } else {
        left_out_.push_back(source);
      }
    }
  }

  // The account directly below root that an account belongs to; empty: none.
  [[nodiscard]] std::string top_of(std::string account) const {
    const auto& accounts = slurm_.accounting->accounts;
    for (std::size_t steps = 0; steps <= accounts.size(); ++steps) {
      const auto found = std::ranges::find(accounts, account, &SlurmAccount::name);
      if (found == accounts.end()) return {};
      if (found->parent == "root") return account;
      account = found->parent;
    }
    return {};
  }

  // The organization that a partition belongs to, by the accounts that may use it or by its name; empty: several or
  // none.
  [[nodiscard]] std::string owner_of(const SlurmPartition& partition) const {
    if (!by_account_) return partition.name;
    std::set<std::string> tops;
    for (const std::string& account : partition.accounts) tops.insert(top_of(account));
    if (tops.size() == 1) return *tops.begin();
    const auto same_name = [&](const Proposed& o) { return case_folded(o.named_after) == case_folded(partition.name); };
    const auto named = std::ranges::find_if(organizations_, same_name);
    return tops.empty() && named != organizations_.end() ? named->named_after : std::string();
  }

  void give_nodes() {
    std::map<std::string, std::string> owners;
    for (const SlurmPartition& partition : slurm_.partitions) owners[partition.name] = owner_of(partition);
    for (const SlurmNode& node : slurm_.nodes) {
      std::set<std::string> candidates;
      for (const std::string& partition : node.partitions) {
        const std::string& owner = owners[partition];
        if (!owner.empty()) candidates.insert(owner);
      }
      const auto only = candidates.size() == 1
                            ? std::ranges::find(organizations_, *candidates.begin(), &Proposed::named_after)
                            : organizations_.end();
      if (only == organizations_.end()) {
        unclaimed_.push_back(node);
      } else {
        only->nodes.push_back(node.name);
      }
    }
  }

  [[nodiscard]] std::string head() const {
    const bool usual = slurm_.slurm_user.empty() || slurm_.slurm_user == config::Configuration{}.slurm_user;
    std::string text = fmt::format(
        "# shapleyd's configuration, proposed by shapleyctl init for the cluster {}. Read it, correct it, and\n"
        "# check it: shapleyctl check-config --against-slurm FILE. Every key has a page: man shapleyd.yaml\n"
        "\n"
        "# The books are kept and every priority is left alone: shapleyctl status shows the ranks that would be in\n"
        "# force. When the members agree with what they read: mode: priorities, and systemctl reload shapleyd.\n"
        "mode: observe\n"
        "\n"
        "{}\n"
        "# The user that slurmctld runs as (SlurmUser). Besides root the only one who may feed the books.\n",
        in_quotes(slurm_.cluster), contribution());
    return fmt::format(
        "{}slurm_user: {}\n"
        "\n"
        "# What is not said here is as the manual page says. To be agreed on before the ranks act: guarantee (the "
        "part\n"
        "# of its own processors that each may count on, a half), period (when standings begin again from zero, "
        "never)\n"
        "# and charge (what a job is charged on a node, dominant).\n"
        "\n"
        "# {}\n# The order breaks ties of rank. Who matches no rule is a guest. Names stay in the books: choose them "
        "well.\n"
        "organizations:\n",
        text, usual ? config::Configuration{}.slurm_user : in_quotes(slurm_.slurm_user),
        by_account_
            ? std::string("One organization for each account directly below root in slurmdbd. A rule covers the "
                          "accounts below its own.")
            : std::string("Slurm runs without slurmdbd, so there is one organization for each partition."));
  }

  // By figures of lab/docs/real-jobs.md.
  [[nodiscard]] std::string contribution() const {
    if (organizations_.size() > k_most_by_hindsight) {
      return "# What ranks. hindsight is nearest to what is due, but weighs every coalition of up to ten "
             "organizations\n"
             "# only; direct_contr can be checked by adding core-seconds.\n"
             "contribution: direct_contr\n";
    }
    return "# What ranks. Of the contributions hindsight comes nearest to the exact order, with wide jobs and where "
           "one\n"
           "# member owns the GPU nodes. Its figures move until jobs have ended, and small members are credited less "
           "for\n"
           "# wide jobs: see choosing.md. direct_contr, the built-in default, can be checked by adding core-seconds.\n"
           "contribution: hindsight\n";
  }

  [[nodiscard]] std::string entry(const Proposed& organization) const {
    std::string text = fmt::format("  - name: {}\n    {}: [{}]\n", in_quotes(organization.name),
                                   by_account_ ? "accounts" : "partitions", in_quotes(organization.named_after));
    if (organization.nodes.empty()) {
      return text +
             "    # No partition is for it alone or has its name, so nothing says which nodes are its own.\n    nodes: "
             "[]\n";
    }
    if (by_account_)
      text += "    # From the partitions that it alone may use, or that have its name. Who bought them knows better.\n";
    return fmt::format("{}    nodes: [{}]\n", text, in_quotes(collapse_names(organization.nodes)));
  }

  // Nodes without an owner, with equal ones in one line.
  [[nodiscard]] std::string rest() const {
    std::string text;
    for (const std::string& name : left_out_) {
      text += fmt::format("\n# Left out, because no rule can name it (a comma, or a blank around it): {}\n",
                          in_quotes(name));
    }
    if (unclaimed_.empty()) return text;
    using Kind = std::array<std::string, 3>;
    std::map<Kind, std::vector<std::string>> kinds;
    for (const SlurmNode& node : unclaimed_) {
      std::string partitions;
      for (const std::string& partition : node.partitions) partitions += (partitions.empty() ? "" : ",") + partition;
      kinds[{partitions, std::to_string(node.cpus), node.gres}].push_back(node.name);
    }
    text +=
        "\n# Without an owner yet: write each into the nodes of its owner, or into several with shares ({nodes: "
        "\"gpu1\", "
        "share: 1/3}).\n"
        "# Until then what runs on them is credited to commons, and to no organization.\n";
    for (const auto& [kind, names] : kinds) {
      const auto& [partitions, cpus, gres] = kind;
      text += "#   " + in_quotes(collapse_names(names)) + ": " +
              (cpus == "0" ? "CPUs not shown by Slurm while powered down" : cpus + " CPUs each") +
              (gres.empty() ? "" : ", " + gres) +
              (partitions.empty() ? ", in no partition" : ", partition " + partitions) + '\n';
    }
    return text;
  }

  const SlurmSite& slurm_;
  const bool by_account_;
  std::vector<Proposed> organizations_;
  std::set<std::string> names_;
  std::vector<std::string> left_out_;
  std::vector<SlurmNode> unclaimed_;
};

}  // namespace

Expected<std::string> propose_configuration(const SlurmSite& slurm) {
  return Proposal(slurm).text();
}

}  // namespace shapley::ctl
