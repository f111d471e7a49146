// The table of every key that the configuration file may hold.
//
// The parser knows the keys by it, and the manual page is made of it. The table of the reference page and the defaults
// of configuration.hpp are tested against it, so a key or a default that is changed here must be changed there, too.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace shapley::config {

// Where shapleyd and shapleyctl look for the file.
inline constexpr std::string_view k_default_file = "/etc/shapley/shapleyd.yaml";

struct Key {
  std::string_view name;
  // Texts of the reference page: what may be written; the value that holds if the key is missing, `in quotes` when it
  // could be written; and what the key is for.
  std::string_view type;
  std::string_view fallback;
  std::string_view meaning;
};

inline constexpr std::string_view k_required = "required";

inline constexpr auto k_file_keys = std::to_array<Key>({
    {"ledger", "Absolute path", "`/var/lib/shapley/ledger.db`", "the file with the books"},
    {"socket", "Absolute path of at most 107 characters", "`/run/shapley/shapleyd.sock`",
     "where the plugin and shapleyctl find the daemon"},
    {"peer", "Absolute path of at most 107 characters, `HOST:PORT`, or `none`", "`none`",
     "where the other one of two controllers is"},
    {"listen", "A place `HOST:PORT`, or `none`", "`none`",
     "where other hosts may ask, and the other one of two controllers follow"},
    {"munge_socket", "Absolute path of at most 107 characters, or `none`", "`none`",
     "where munged listens, for all that goes over TCP"},
    {"signing_key", "Absolute path of a private key, or `none`", "`none`", "signs heads of the ledger"},
    {"slurm_user", "Login name or numeric id", "`slurm`", "who may feed the books, besides root"},
    {"contribution", "Name of an estimator", "`direct_contr`", "what an organization gave, for the ranks"},
    {"hindsight", "`on` or `off`", "`on`", "whether phi by hindsight is kept"},
    {"hindsight_memory", "Bytes, or a number with `K`, `M`, `G` or `T`, from 16 MiB to 1 TiB, or `auto`", "`auto`",
     "how much memory phi by hindsight may take"},
    {"rule", "`braking` or `published`", "`braking`", "what ranks look at"},
    {"guarantee", "Fraction, percentage or decimal from 0 to 1", "`0.5`",
     "the part of its own processors that an organization may count on"},
    {"guests", "`last` or `ranked`", "`last`", "whether jobs of no organization go after all others"},
    {"order", "`strict` or `weighted`", "`strict`", "whether ranks outweigh Slurm's own factors"},
    {"rank_weight", "Whole number from 1 to 1000000000", "`10000`", "what the first rank adds with `order: weighted`"},
    {"mode", "`priorities` or `observe`", "`priorities`", "whether ranks act on priorities"},
    {"period", "`none`, `monthly`, `quarterly` or `yearly`", "`none`", "when standings begin again from zero"},
    {"stale_after", "Seconds, or a number with `s`, `m`, `h` or `d`, from 1 second to 365 days", "`5m`",
     "how long the last ranks hold without shapleyd"},
    {"charge", "`dominant`, `cpu`, `weights` or `billing`", "`dominant`", "what a job is charged on a node"},
    {"weights", "Table of resources with whole numbers from 1 to 1000", "each CPU 1",
     "what counts as processors with `charge: weights`"},
    {"node_weights", "Table of nodes with whole numbers from 1 to 1000", "none", "what a CPU of a node is worth"},
    {"within_organization", "`fifo` or `workflow_fairness`", "`fifo`", "how one organization's jobs are ordered"},
    {"workflows", "Table with the keys below", "as each of them says", "what a workflow is and how it is measured"},
    {"consortium", "Table with the keys below", "none", "one consortium, several clusters: ranks by the sum over them"},
    {"organizations", "List of organizations", k_required, "in the order that breaks ties of rank"},
});

// Keys that releases before had at the file's top level: why there is none any more, and what to write instead.
struct FormerKey {
  std::string_view name;
  std::string_view why;
  std::string_view remedy;
};
inline constexpr auto k_former_keys = std::to_array<FormerKey>({
    {"horizon", "ranks do not look a fixed time ahead any more",
     "leave it out; what horizon: 0 was is rule: published"},
    {"running_weight", "what runs counts in full, by the rule that brakes", "leave it out"},
});

// Of `workflows`, at the file's top level and in an organization.
inline constexpr auto k_workflow_keys = std::to_array<Key>({
    {"workflow_key", "List of rules", "`[wckey, array, job_name_prefix, dependency]`", "names a job's workflow"},
    {"activity_key", "List of the same rules", "`[array, job_name_prefix]`", "names a job's activity"},
    {"name_delimiter", "1 to 8 characters without blanks", "`\"-\"`", "parts the job's name"},
    {"mode", "`elapsed_only_upper_median`, `phases_upper_median` or `phases_mid_median`", "`elapsed_only_upper_median`",
     "what is measured of an activity"},
    {"relative_duration", "`on` or `off`", "`off`", "whether activities of long tasks weigh more"},
    {"threshold", "Fraction, percentage or decimal above 0 and at most 1", "`0.2`", "how uneven it may be"},
});

// Of `consortium`, and of each cluster in its list.
inline constexpr auto k_consortium_keys = std::to_array<Key>({
    {"name", "1 to 64 letters A-Z and a-z, digits, `.`, `_` and `-`", k_required, "the same on all its clusters"},
    {"weight", "Decimal from 0.001 to 1000", "`1`", "what a processor here counts for"},
    {"every", "Seconds, or a number with `s`, `m` or `h`, from 1 second to 1 hour", "`60s`",
     "how often the other clusters' standings are read"},
    {"clusters", "List of clusters", k_required, "the other ones"},
});

inline constexpr auto k_cluster_keys = std::to_array<Key>({
    {"name", "1 to 64 letters A-Z and a-z, digits, `.`, `_` and `-`", k_required, "its ClusterName"},
    {"standing", "A place `HOST:PORT`, a list of some, or an absolute path", k_required,
     "where its standing statements are"},
    {"public_key", "Absolute path of a public key", k_required, "of the key that signs them"},
    {"weight", "Decimal from 0.001 to 1000", "`1`", "what a processor there counts for"},
    {"stale_after", "Seconds, or a number with `s`, `m`, `h` or `d`, from 10 seconds to 365 days, or `auto`", "`auto`",
     "how long its last statement is carried on"},
    {"as", "Table of organizations and their names there", "none", "those that have another name there"},
});

inline constexpr auto k_organization_keys = std::to_array<Key>({
    {"name", "1 to 64 letters A-Z and a-z, digits, `.`, `_` and `-`", k_required, "the name in the books"},
    {"title", "One line of text", "the name", "for people"},
    {"accounts", "List of Slurm accounts", "none", "whose jobs are its own, with all sub-accounts"},
    {"partitions", "List of partitions", "none", "whose jobs are its own"},
    {"qos", "List of QOS names", "none", "whose jobs are its own"},
    {"users", "List of login names or numeric ids", "none", "whose jobs are its own"},
    {"groups", "List of group names or numeric ids", "none", "whose jobs are its own"},
    {"guarantee", "Fraction, percentage or decimal from 0 to 1", "what the file's own says",
     "the part of its own processors that it may count on"},
    {"within_organization", "`fifo` or `workflow_fairness`", "what the file's own says", "how its jobs are ordered"},
    {"workflows", "Table with the keys of `workflows`", "each what the file's own table says",
     "what its workflows are"},
    {"nodes", "List of claims", "none", "what it owns, whole and always or as below"},
});

// A claim in its long form: {nodes: "gpu[1-2]", share: 1/3, from: 2026-01-01, until: 2030-01-01}.
inline constexpr auto k_claim_keys = std::to_array<Key>({
    {"nodes", "Node names", k_required, "which nodes"},
    {"share", "Fraction `1/3`, percentage `33.3%` or decimal `0.333`, above 0 and at most 1", "`1`",
     "the part of every node"},
    {"from", "Date `2026-01-01` or `2026-01-01T12:00:00Z`, UTC", "since ever", "its first instant"},
    {"until", "Date, after `from`", "without end", "the first instant that is not part of it any more"},
});

template <std::size_t N>
[[nodiscard]] constexpr std::array<std::string_view, N> names_of(const std::array<Key, N>& keys) {
  std::array<std::string_view, N> names;
  for (std::size_t i = 0; i < N; ++i) names[i] = keys[i].name;
  return names;
}

}  // namespace shapley::config
