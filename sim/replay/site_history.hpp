// A site's history as an instance: its jobs, whose they were, and who owned how many processors when.
//
// From an export of sacct (history/sacct_rows.hpp) the rules of the configuration say whose a job was; a ledger's runs
// keep the organizations that they are booked under. A requeued job is one job for each of its runs. A job is there
// from when it was eligible (a ledger: submitted) and takes all its CPUs at once; memory and generic resources are not
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
#include "game/serving_order.hpp"
#include "history/sacct_rows.hpp"
#include "scheduling/easy.hpp"

namespace shapley::sim {

enum class Estimates { requested, exact };

struct SiteHistorySource {
  std::filesystem::path config = {};
  std::filesystem::path trace = {};     // sacct -P, plain or compressed, or a ledger
  std::filesystem::path nodes = {};     // history::read_nodes; empty: a ledger's own, or as far as they were used
  std::filesystem::path accounts = {};  // history::read_account_parents; empty: no account has one above it
  std::optional<Instant> since = {}, until = {};  // jobs that were there in [since, until)
  Estimates estimates = Estimates::requested;
  bool oversubscribed = false;  // an export's runs may hold more CPUs of a node at once than it has
  history::Malformed malformed = history::Malformed::refuse;  // what to do with an export's bad rows
};

struct SiteHistory {
  std::vector<std::string> organizations;  // that have jobs or processors: as configured, guests, commons
  Instant begin;                           // instant 0 of the instance
  Duration length;                         // until the last job had ended
  scheduling::EasyInstance instance;
  scheduling::EasySchedule recorded;  // as it ran
  game::ServingRule rule;             // the configuration's
  std::vector<std::string> notes;     // what was left out or assumed, in sentences
};

// Errors name file, line, fault and remedy. Errc::not_found when no job is left; Errc::limit beyond 32 organizations.
[[nodiscard]] Expected<SiteHistory> read_site_history(const SiteHistorySource& source);

}  // namespace shapley::sim
