// "Would we be better off alone?" [MO11]: a ledger's finished runs, as they ran, on every organization's own nodes
// alone, and planned together by MOCCA followed by ILBA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/types.hpp"
#include "ledger/reports/jobs_report.hpp"
#include "ledger/reports/worth_report.hpp"
#include "planning/grid.hpp"
#include "planning/schedule.hpp"

namespace shapley::ctl {

// Common to both kinds of advice: an organization's makespan and mean flow, and their table.

// In seconds.
struct JobsOutcome {
  double makespan = 0;
  double mean_flow = 0;  // 0 without jobs
};
constexpr auto description_of(std::type_identity<JobsOutcome>) {
  return describe(member("makespan", &JobsOutcome::makespan), member("mean_flow", &JobsOutcome::mean_flow));
}

// The outcome of one plan, or of the real runs; nullopt: not planned, or no runs.
struct Way {
  std::string_view title;
  std::optional<JobsOutcome> reached;
};

struct OutcomeRow {
  std::string organization;
  std::int64_t processors = 0;
  std::size_t jobs = 0;
  std::vector<Way> ways;
};

// Each organization's outcomes, one below the other. `count`: the name and the title of the column that counts its
// jobs.
struct CountColumn {
  std::string_view name;
  std::string_view title;
};
[[nodiscard]] std::string outcome_table(const std::vector<OutcomeRow>& rows, const CountColumn& count);

// "Limits:" and a line for each.
[[nodiscard]] std::string limits_text(const std::vector<std::string>& limits);

struct AdviceQuestion {
  std::filesystem::path ledger;
  std::optional<Instant> since;  // runs of jobs submitted at this instant or later
  std::optional<Instant>
      until;  // runs that ended by this instant, and owners until then; none: until the last run ended
};

// The processors that were owned from this instant on.
struct OwnedSince {
  std::int64_t from = 0;
  std::int64_t processors = 0;
};
constexpr auto description_of(std::type_identity<OwnedSince>) {
  return describe(member("from", &OwnedSince::from), member("processors", &OwnedSince::processors));
}

struct AdviceRow {
  std::string organization = {};
  std::int64_t processors = 0;  // processors that it owns in the end
  std::vector<OwnedSince> owned = {};
  std::size_t runs = 0;
  std::size_t could_not_run_alone = 0;
  JobsOutcome as_it_ran = {};
  JobsOutcome alone = {};
  std::size_t planned_runs = 0;
  std::optional<JobsOutcome> planned_alone = {};
  std::optional<JobsOutcome> planned_together = {};
};
constexpr auto description_of(std::type_identity<AdviceRow>) {
  return describe(member("organization", &AdviceRow::organization), member("processors", &AdviceRow::processors),
                  member("owned", &AdviceRow::owned), member("runs", &AdviceRow::runs),
                  member("could_not_run_alone", &AdviceRow::could_not_run_alone),
                  member("as_it_ran", &AdviceRow::as_it_ran), member("alone", &AdviceRow::alone),
                  member("planned_runs", &AdviceRow::planned_runs), member("planned_alone", &AdviceRow::planned_alone),
                  member("planned_together", &AdviceRow::planned_together));
}

struct AdviceReport {
  std::int64_t begin = 0;  // the first submission
  std::vector<AdviceRow> organizations = {};
  std::size_t runs = 0;
  std::size_t planned_runs = 0;
  std::vector<std::string> limits = {};
  std::map<std::string, std::int64_t> left_out_without_nodes = {};
  // The books' own answer, or the reason why it is missing.
  std::optional<std::optional<ledger::WorthReport>> worth = {};
  std::string worth_unknown = {};
};
constexpr auto description_of(std::type_identity<AdviceReport>) {
  return describe(member("begin", &AdviceReport::begin), member("organizations", &AdviceReport::organizations),
                  member("runs", &AdviceReport::runs), member("planned_runs", &AdviceReport::planned_runs),
                  member("limits", &AdviceReport::limits),
                  member("left_out_without_nodes", &AdviceReport::left_out_without_nodes),
                  supplement("worth", &AdviceReport::worth), supplement("worth_unknown", &AdviceReport::worth_unknown));
}

// Errc::invalid_argument if the ledger contains no finished run of an organization that owns processors.
[[nodiscard]] Expected<AdviceReport> advice_report(const AdviceQuestion& question);

// "Would our pending jobs be done sooner together?" [MO11]: the daemon's queue, time limits as run times, on every
// organization's own nodes alone, and planned together by MOCCA followed by ILBA.

struct PendingRow {
  std::string organization = {};
  std::int64_t processors = 0;
  std::size_t jobs = 0;
  JobsOutcome in_order = {};
  JobsOutcome planned_alone = {};
  JobsOutcome planned_together = {};
};
constexpr auto description_of(std::type_identity<PendingRow>) {
  return describe(member("organization", &PendingRow::organization), member("processors", &PendingRow::processors),
                  member("jobs", &PendingRow::jobs), member("in_order", &PendingRow::in_order),
                  member("planned_alone", &PendingRow::planned_alone),
                  member("planned_together", &PendingRow::planned_together));
}

struct PendingReport {
  Instant at = {};
  bool truncated = false;
  std::vector<PendingRow> organizations = {};
  std::map<std::string, std::int64_t> left_out = {};  // reason -> tasks
  std::vector<std::string> limits = {};
};
constexpr auto description_of(std::type_identity<PendingReport>) {
  return describe(member("at", &PendingReport::at), member("truncated", &PendingReport::truncated),
                  member("organizations", &PendingReport::organizations), member("left_out", &PendingReport::left_out),
                  member("limits", &PendingReport::limits));
}

// Errc::limit above 100,000 tasks.
[[nodiscard]] Expected<PendingReport> pending_advice_report(const ledger::QueueReport& queue);

// The text for people of such a report.
[[nodiscard]] std::string render_pending_advice(const PendingReport& report);

}  // namespace shapley::ctl
