// A site's history as an instance: its jobs, their organizations, and who owned how many processors at what time.
//
// In an export of sacct (sacct/sacct_rows.hpp) the configuration's rules determine a job's organization; a ledger's
// runs keep the organizations under which they are booked. A requeued job is one job for each of its runs. A job exists
// from when it was eligible (in a ledger: submitted) and takes all its CPUs at once; memory and generic resources are
// not
// modelled, nor partitions, limits, reservations and nodes that were down.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "config/configuration.hpp"
#include "game/serving_order.hpp"
#include "sacct/sacct_rows.hpp"
#include "sacct/site_nodes.hpp"
#include "scheduling/easy.hpp"

namespace shapley::sim {

enum class Estimates { requested, exact };

struct SiteHistorySource {
  std::filesystem::path config = {};
  std::filesystem::path trace = {};     // sacct -P, plain or compressed, or a ledger
  std::filesystem::path nodes = {};     // sacct::read_nodes; empty: a ledger's own, or as far as they were used
  std::filesystem::path accounts = {};  // site_rules::read_account_parents; empty: no account has one above it
  std::optional<Instant> since = {}, until = {};  // jobs that were there in [since, until)
  Estimates estimates = Estimates::requested;
  bool oversubscribed = false;  // an export's runs may hold more CPUs of a node at once than it has
  sacct::Malformed malformed = sacct::Malformed::refuse;  // what to do with an export's bad rows
};

struct SiteHistory {
  std::vector<std::string> organizations;  // those with jobs or processors: as configured, guests, commons
  Instant begin;                           // instant 0 of the instance
  Duration length;                         // until the last job had ended
  scheduling::EasyInstance instance;
  scheduling::EasySchedule recorded;  // as it ran
  game::ServingRule rule;             // the configuration's
  std::vector<std::string> notes;     // what was left out or assumed, in sentences
};

// Errors name file, line, fault and remedy. Errc::not_found when no job is left; Errc::limit beyond
// k_max_organizations.
[[nodiscard]] Expected<SiteHistory> read_site_history(const SiteHistorySource& source);

// The owners' processors over time: the configuration's spans, multiplied by the sizes of the nodes.
//
// One entry for every stretch of [begin, end) between two changes, with its `at` counted from `begin`. Whole processors
// by largest remainder, ties to the first of `organizations`, which is also their order; the last one (commons) gets
// what no organization owns. Errc::not_found when the nodes together have no processor.
[[nodiscard]] Expected<std::vector<scheduling::Endowment>> dated_owners(const config::Configuration& configuration,
                                                                        const sacct::SiteNodes& nodes,
                                                                        const std::vector<std::string>& organizations,
                                                                        Instant begin, Instant end);

}  // namespace shapley::sim
