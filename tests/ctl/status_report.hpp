// A fixed report of `shapleyctl status`.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace shapley::ctl {

inline nlohmann::json fixed_report() {
  return nlohmann::json::parse(R"({
    "report_version": 1, "at": 1795244400, "at_utc": "2026-11-21T07:00:00Z",
    "period": {"name": "monthly", "begin": 1793491200, "begin_utc": "2026-11-01T00:00:00Z"},
    "contribution": "direct_contr",
    "organizations": [
      {"name": "physics", "rank": 1, "standing_core_hours": 12.4375, "key_core_hours": -0.5,
       "sentence": "is owed 12.4 core-hours by the others, on average this period", "psi": "1234567890.25", "phi": "79999999999",
       "phi_direct": "79999999999", "phi_hindsight": "81000000000.000001", "got_core_hours": 0.5, "given_core_hours": 1520.25,
       "got_processor_seconds": "1800", "given_processor_seconds": "5472900", "owned": 64, "used": 0, "lent": 32.5,
       "borrowed": 0, "waiting": 8, "running_jobs": 0, "waiting_jobs": 2},
      {"name": "a-very-long-organization", "rank": 2, "standing_core_hours": 0, "key_core_hours": 0,
       "sentence": "is even with the others", "psi": "0", "phi": "0", "phi_direct": "0", "phi_hindsight": "0",
       "got_core_hours": 0, "given_core_hours": 0, "got_processor_seconds": "0", "given_processor_seconds": "0",
       "owned": 0, "used": 0, "lent": 0, "borrowed": 0, "waiting": 0, "running_jobs": 0, "waiting_jobs": 0},
      {"name": "guests", "rank": 3, "standing_core_hours": -3.125, "key_core_hours": -3.125,
       "sentence": "owes the others 3.1 core-hours, on average this period", "psi": "19732545333", "phi": "0", "phi_direct": "0", "phi_hindsight": "0",
       "got_core_hours": 1519.75, "given_core_hours": 0, "got_processor_seconds": "5471100",
       "given_processor_seconds": "0", "owned": 0, "used": 33, "lent": 0, "borrowed": 33, "waiting": 400,
       "running_jobs": 2, "waiting_jobs": 100},
      {"name": "commons", "rank": null, "key_core_hours": null, "standing_core_hours": 0.00041,
       "sentence": "is owed less than 0.001 core-hours by the others, on average this period", "psi": "0", "phi": "2588", "phi_direct": "2588",
       "phi_hindsight": "0", "got_core_hours": 0, "given_core_hours": 0, "got_processor_seconds": "0",
       "given_processor_seconds": "0", "owned": 4, "used": 0, "lent": 0.5, "borrowed": 0, "waiting": 0,
       "running_jobs": 0, "waiting_jobs": 0}],
    "conservation": {"sum_psi": "1", "sum_phi_direct": "1", "sum_phi_hindsight": "1", "holds": true}
  })");
}

// What a daemon adds to it.
inline nlohmann::json with_daemon(nlohmann::json report) {
  report["daemon"] = {{"version", "1.0.0"}, {"pid", 4711},          {"started_at", 1795244400 - 18720},
                      {"order", "strict"},  {"mode", "priorities"}, {"ledger", "/var/lib/shapley/ledger.db"},
                      {"events", 12345},    {"lost_runs", 0}};
  report["daemon"]["configuration"] = {
      {"file", "/etc/shapley/shapleyd.yaml"}, {"hash", std::string(64, 'a')}, {"loaded_at", 1795244400 - 18720}};
  report["daemon"]["privacy"] = {{"jobs", false}, {"usage", false}, {"told_at", 1795244400 - 18720}};
  report["plugin"] = {{"connected", true},
                      {"program", "priority/shapley 1.0.0"},
                      {"slurm_version", "22.05.8"},
                      {"cluster", "consort"},
                      {"last_heard_at", 1795244400}};
  return report;
}

}  // namespace shapley::ctl
