// A status as shapleyd answers it, with everything in it.
#pragma once

#include <nlohmann/json.hpp>

#include "exporter/metrics.hpp"
#include "reports/status.hpp"
#include "tests/support/partial_report.hpp"

namespace shapley::exporter {

inline nlohmann::json full_status() {
  nlohmann::json status = nlohmann::json::parse(R"({
    "at": 1795244400, "contribution": "direct_contr", "ranks_act": true, "behind": ["hindsight"], "not_kept": [],
    "hindsight_bounded": {"coalitions": "pairs", "since": 1795240000, "needed_bytes": 2000, "bound_bytes": 1000},
    "organizations": [
      {"name": "physics", "rank": 1, "standing_core_hours": 12.5, "psi": "1234567890.25", "phi": "3", "phi_direct": "3.5",
       "phi_hindsight": "4", "got_processor_seconds": "1800", "given_processor_seconds": "5472900", "owned": 64, "used": 0,
       "lent": 32.5, "borrowed": 0, "waiting": 8, "idle_wanted": 8, "down": 16, "running_jobs": 0, "waiting_jobs": 2, "no_start_since": 1795240000},
      {"name": "commons", "rank": null, "standing_core_hours": 0, "psi": "0", "phi": "0", "phi_direct": "0",
       "phi_hindsight": "0", "got_processor_seconds": "0", "given_processor_seconds": "0", "owned": 4, "used": 0, "lent": 0,
       "borrowed": 0, "waiting": 0, "running_jobs": 0, "waiting_jobs": 0, "no_start_since": null}],
    "clusters": [
      {"cluster": "south", "stated_at": 1795244280, "stands_still": 1795247880, "is_stale": false, "refused": 3, "ahead_s": 2,
       "organizations": [{"organization": "physics", "core_hours": -40.5}, {"organization": "elsewhere", "core_hours": 1}]},
      {"cluster": "west", "stated_at": null, "stands_still": null, "is_stale": false, "organizations": [], "refused": 0}],
    "conservation": {"holds": true},
    "worth": {
      "organizations": [
        {"name": "physics", "psi": "1234567890.25", "alone": "987654321.5", "gain_core_hours": 0.5,
         "alone_processor_seconds": "1700", "provisional": true}],
      "together": {"gain_core_hours": 0.25}, "leaving": {"gain_core_hours": -0.125}},
    "daemon": {
      "version": "1.0.0", "started_at": 1795200000, "now": 1795244400, "mode": "priorities", "order": "strict",
      "ranks_computed_at": 1795244399, "stale_after_s": 300, "rebuild": null, "rebuilds": 2, "lost_runs": 3,
      "dropped_observations": 4, "held_observations": {"messages": 5, "since": 1795244000},
      "clock": {"since": 1795244000, "ahead_s": -70, "exact": true},
      "failures": {"commit": "ledger: append: the disk is full"},
      "commits": {"count": 10, "seconds": 1.5, "last_s": 0.1, "buckets": [[0.1, 6], [1.0, 3]]},
      "storage": {"ledger_bytes": 4096, "wal_bytes": 8192, "free_bytes": 1000000},
      "events": 12345, "events_since_checkpoint": 45,
      "queries": {"waiting": 1, "reading": 0, "answered": 100, "dropped": 2},
      "backup": {"at": 1795240001, "sequence": 12000}, "audit": {"at": 1795240002, "sequence": 11000, "clean": true},
      "configuration": {"file": "/etc/shapley/shapleyd.yaml", "hash": "00ff", "loaded_at": 1795200001,
                        "refused_at": 1795240003, "refusal": "no such node"},
      "privacy": {"jobs": false, "usage": false, "told_at": 1795244390},
      "hindsight": {"bytes": 900, "bound_bytes": 1000}, "gaps": {"count": 6, "seconds": 70, "unobserved_seconds": 50, "last_begin": 1795230000, "last_end": 1795230060,
               "last_cause": "unobserved"},
      "state_losses": {"count": 2, "closed": 3, "closed_processor_seconds": 7200, "retracted": 1,
                       "retracted_processor_seconds": 60, "last": {"at": 1795230070}},
      "cluster": {"name": "consort", "refused": null, "refusals": 7},
      "controller": {"role": "active", "state": "writes", "peer_answers": true, "behind": 0, "in_step": true,
                     "acknowledged_alone": 2}},
    "plugin": {"connected": true, "program": "priority/shapley 1.0.0", "cluster": "consort", "slurm_version": "22.05.8",
               "last_heard_at": 1795244390, "sign_of_life_s": 10, "backlog": 9, "dropped_backlogs": 1}
  })");
  fill<ledger::StatusReport>(status);
  return status;
}

// The same, read, with users.
inline Status whole_status() {
  Status status = read_status(full_status()).value();
  status.users = ChosenUsers{.at = Instant{1795244000},
                             .count = 3,
                             .left_out = 2,
                             .rows = {{.organization = "physics", .account = "theory", .user = "ada", .got = 1700.5}}};
  return status;
}

}  // namespace shapley::exporter
