// Adjustments: what can be asked for, the list of those made, and what one would change. docs/reference/protocol.md,
// "adjust"; ledger/adjustments plans them, ledger/reports/adjustment_report.hpp makes the reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/json.hpp"
#include "base/types.hpp"
#include "reports/amounts.hpp"
#include "reports/status.hpp"

namespace shapley::ledger {

// Moves runs that began in [since, until) to another organization, and the waits that led to them: the runs of one job
// (all tasks of an array, all parts of a heterogeneous one), of one task or part, of an account or of a user. Exactly
// one of job, account and user_id is set.
struct AttributionAsked {
  std::optional<JobId> job;           // with `task` or `part`: the job of the array or of the heterogeneous job
  std::optional<std::uint32_t> task;  // of the array `job`
  std::optional<std::uint32_t> part;  // of the heterogeneous job `job`, from 0; not both
  std::optional<std::string> account;
  std::optional<std::uint32_t> user_id;
  std::optional<std::string> user;  // the name; user_id is meant where the ledger knows no user of that name
  std::optional<Instant> since;     // required with account and user_id
  std::optional<Instant> until;
  std::string into;
};
SHAPLEY_DESCRIBE(AttributionAsked, (supplement, job), (supplement, task), (supplement, part), (supplement, account),
                 (supplement, user_id), (supplement, user), (supplement, since), (supplement, until), into);

// The owners of nodes in [since, until), as agreed afterwards.
struct OwnershipAsked {
  std::string nodes;  // in Slurm's notation
  std::vector<accounting::OwnerPart> owners;
  Instant since;
  std::optional<Instant> until;  // nullopt: now. Later changes are made in the configuration
};
SHAPLEY_DESCRIBE(OwnershipAsked, nodes, owners, since, (supplement, until));

// Work that was agreed on and that no run did (accounting::WorkSettled): `from` gave it, `to` got it.
struct SettlementAsked {
  std::string from;
  std::string to;
  CpuTime work;  // > 0
  Instant at;    // not in the future
};
SHAPLEY_DESCRIBE(SettlementAsked, from, to, (named, work, "processor_seconds"), at);

struct AdjustmentRow {
  std::uint32_t number = 0;
  Dated at = {};
  accounting::AdjustmentKind kind = accounting::AdjustmentKind::attribute;
  std::string what = {};
  std::string organization = {};
  std::string into = {};
  std::int64_t runs = 0;
  std::int64_t facts = 0;
  std::optional<std::uint32_t> reverses = {};
  std::string author = {};
  std::string reason = {};

  // "runs of job 104 are library's".
  [[nodiscard]] std::string sentence() const;
};
SHAPLEY_DESCRIBE(AdjustmentRow, number, at, kind, what, organization, into, runs, facts, reverses, author, reason);

struct ListedAdjustment {
  AdjustmentRow is = {};
  std::optional<std::uint32_t> reversed_by = {};  // nullopt: it is in force
  // Members of a statement's list.
  std::optional<bool> later = {};                  // it was made after that time and changed its amounts
  std::optional<std::optional<Amount>> work = {};  // of the runs that it moved; nullopt: it moved none
};
SHAPLEY_DESCRIBE(ListedAdjustment, (flattened, is), reversed_by, (supplement, later), (supplement, work));

struct AdjustmentsReport {
  int report_version = k_report_version;
  std::vector<ListedAdjustment> adjustments = {};
};
SHAPLEY_DESCRIBE(AdjustmentsReport, report_version, adjustments);

struct StandingsRow {
  std::string name = {};
  double before = 0;
  std::optional<double> after = {};       // nullopt: afterwards it is a part of another one
  std::optional<double> key_before = {};  // both: nullopt: it has no rank
  std::optional<double> key_after = {};
};
SHAPLEY_DESCRIBE(StandingsRow, name, (named, before, "standing_core_hours_before"),
                 (named, after, "standing_core_hours_after"), (named, key_before, "key_core_hours_before"),
                 (named, key_after, "key_core_hours_after"));

// An organization in a closed period, in hours.
struct ClosedRow {
  std::string name = {};
  double standing_before = 0;
  double standing_after = 0;
  double got_before = 0;
  double got_after = 0;
  double given_before = 0;
  double given_after = 0;
};
SHAPLEY_DESCRIBE(ClosedRow, name, (named, standing_before, "standing_core_hours_before"),
                 (named, standing_after, "standing_core_hours_after"), (named, got_before, "got_core_hours_before"),
                 (named, got_after, "got_core_hours_after"), (named, given_before, "given_core_hours_before"),
                 (named, given_after, "given_core_hours_after"));

// A closed period that is restated, with the organizations whose figures change.
struct RestatedPeriod {
  Dated begin = {};
  Dated end = {};
  std::vector<ClosedRow> organizations = {};
};
SHAPLEY_DESCRIBE(RestatedPeriod, begin, end, organizations);

struct PreviewReport {
  int report_version = k_report_version;
  AdjustmentRow adjustment = {};
  double core_hours = 0;  // of its runs
  std::string contribution = {};
  std::vector<StandingsRow> organizations = {};  // in the present period
  // Those that change, ascending; of a name none, because the two rows are added up for all times.
  std::vector<RestatedPeriod> closed = {};
  std::vector<std::string> elsewhere = {};  // other clusters of the consortium, which know the former name
  AmountUnit in = {};                       // from the first of the restated periods on
};
SHAPLEY_DESCRIBE(PreviewReport, report_version, adjustment, core_hours, contribution, organizations,
                 (supplement, closed), (supplement, elsewhere), (flattened, in));

// An adjustment that was booked.
struct AdjustedReport {
  AdjustmentRow adjustment = {};
  double core_hours = 0;
  bool rebuild = false;                     // the books are rebuilt for it
  bool alone = false;                       // the other one of two controllers does not have it yet
  std::vector<std::string> elsewhere = {};  // as of PreviewReport
  AmountUnit in = {};
};
SHAPLEY_DESCRIBE(AdjustedReport, adjustment, core_hours, rebuild, (supplement, alone), (supplement, elsewhere),
                 (flattened, in));

}  // namespace shapley::ledger
