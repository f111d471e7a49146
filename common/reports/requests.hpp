// Requests of readers to shapleyd: the members of each kind of request, besides the member `request` that names the
// kind (docs/reference/protocol.md, "Queries"). shapleyctl writes requests from these structs; shapleyd reads them
// (request_from), and passes those about the past on to a program that reads the ledger (Reading).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/types.hpp"
#include "reports/adjustments.hpp"
#include "reports/compare.hpp"
#include "reports/explain.hpp"
#include "reports/statement.hpp"
#include "reports/status.hpp"

namespace shapley::ledger {

// The whole request.
template <Described Members>
[[nodiscard]] nlohmann::json request_of(std::string_view name, const Members& members) {
  nlohmann::json request = json_of(members);
  request.update({{"request", name}});
  return request;
}
// Of members that are of one kind of request only, which they name, with the report that answers it.
template <Described Members>
[[nodiscard]] nlohmann::json request_of(const Members& members) {
  return request_of(Members::k_name, members);
}

// For a request without members.
struct NoMembers {};
constexpr auto description_of(std::type_identity<NoMembers>) {
  return Description<NoMembers>{};
}

// status.
struct StatusRequest {
  using Report = StatusReport;
  static constexpr std::string_view k_name = "status";
  std::string contribution = {};  // an estimator's name; empty: the configured one
  bool worth = false;             // with ledger::worth_report
  bool forecast = false;          // with ledger::forecast_report
};
SHAPLEY_DESCRIBE(StatusRequest, (supplement, contribution), (supplement, worth), (supplement, forecast));

// status_at.
struct StatusAtRequest {
  using Report = StatusReport;
  static constexpr std::string_view k_name = "status_at";
  Instant at;
  StatusRequest of = {};
};
SHAPLEY_DESCRIBE(StatusAtRequest, at, (flattened, of));

// The common part of statement and history.
struct IntervalRequest {
  std::optional<Instant> since = {};
  std::optional<Instant> until = {};
  std::vector<std::string> organizations = {};  // empty: all
  std::string contribution = {};                // as StatusRequest::contribution
};
SHAPLEY_DESCRIBE(IntervalRequest, (supplement, since), (supplement, until), (supplement, organizations),
                 (supplement, contribution));

// By what was known when each period closed, or by everything known now.
enum class AsOf : std::uint8_t { then, now };
constexpr auto values_of(std::type_identity<AsOf>) {
  return std::array{AsOf::then, AsOf::now};
}
constexpr std::string_view name_of(AsOf as_of) {
  return as_of == AsOf::then ? "then" : "now";
}

struct StatementRequest {
  using Report = AccountReport;
  static constexpr std::string_view k_name = "statement";
  IntervalRequest of = {};
  AsOf as_of = AsOf::then;
};
SHAPLEY_DESCRIBE(StatementRequest, (flattened, of), (supplement, as_of));

struct HistoryRequest {
  using Report = HistoryReport;
  static constexpr std::string_view k_name = "history";
  IntervalRequest of = {};
  std::optional<Interval> by = {};  // nullopt: day
  bool utilization = false;
};
SHAPLEY_DESCRIBE(HistoryRequest, (flattened, of), (supplement, by), (supplement, utilization));

// The two requests about ranks; without `at` they are about the present.
// A job that was submitted, by its name, or one that could be.
struct ExplainRequest {
  using Report = ExplainReport;
  static constexpr std::string_view k_name = "explain";
  std::string job = {};
  std::optional<SubmissionAsked> submit = {};
  std::optional<Instant> at = {};
};
SHAPLEY_DESCRIBE(ExplainRequest, (supplement, job), (supplement, submit), (supplement, at));

struct CompareRequest {
  using Report = CompareReport;
  static constexpr std::string_view k_name = "compare";
  std::string a = {};  // an organization or a job, as b
  std::string b = {};
  std::optional<Instant> at = {};
};
SHAPLEY_DESCRIBE(CompareRequest, a, b, (supplement, at));

struct WorkflowsRequest {
  std::string organization = {};  // empty: all
};
SHAPLEY_DESCRIBE(WorkflowsRequest, (supplement, organization));

struct RenameClusterRequest {
  std::string cluster = {};
  std::string reason = {};
};
SHAPLEY_DESCRIBE(RenameClusterRequest, cluster, reason);

// accept_line: without `book` the answer says what would change.
struct AcceptLineRequest {
  std::string cluster = {};
  std::string reason = {};
  bool book = false;
};
SHAPLEY_DESCRIBE(AcceptLineRequest, cluster, reason, (supplement, book));

// upkeep.
enum class UpkeepDone : std::uint8_t { backup, audit, papers };
constexpr auto values_of(std::type_identity<UpkeepDone>) {
  return std::array{UpkeepDone::backup, UpkeepDone::audit, UpkeepDone::papers};
}
constexpr std::string_view name_of(UpkeepDone done) {
  return std::array{"backup", "audit", "papers"}[static_cast<std::size_t>(done)];
}

struct UpkeepRequest {
  UpkeepDone done = UpkeepDone::backup;
  std::int64_t sequence = 0;  // the last event that was copied or checked
  std::string hash = {};      // of this event
  bool clean = false;         // an audit without a finding
  Instant until = {};         // the end of the month (UTC) of papers
};
SHAPLEY_DESCRIBE(UpkeepRequest, done, sequence, hash, (supplement, clean), (supplement, until));

// adjust and adjust_preview: exactly one member besides the reason says what is corrected (ledger::adjustment_asked).
struct JoinRequest {
  std::string organization = {};
  std::string into = {};
};
SHAPLEY_DESCRIBE(JoinRequest, organization, into);

struct AdjustRequest {
  std::string reason = {};
  std::optional<AttributionAsked> attribute = {};
  std::optional<OwnershipAsked> own = {};
  std::optional<JoinRequest> rename = {};
  std::optional<JoinRequest> merge = {};
  std::optional<SettlementAsked> settle = {};
  std::optional<std::uint32_t> reverse = {};
};
SHAPLEY_DESCRIBE(AdjustRequest, (supplement, reason), (supplement, attribute), (supplement, own), (supplement, rename),
                 (supplement, merge), (supplement, settle), (supplement, reverse));

// The input of the program that reads the ledger for shapleyd (shapleyctl --answer), on its standard input; it writes
// {"report": ...} or {"error": ...} to its standard output.
struct Reading {
  std::string ledger = {};      // the file
  Instant now;                  // everything up to this instant is in the ledger
  std::string author = {};      // of an adjustment
  nlohmann::json request = {};  // one of Lane::report, checked
};
SHAPLEY_DESCRIBE(Reading, ledger, now, author, request);

}  // namespace shapley::ledger
