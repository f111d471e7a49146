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
#include "reports/explain.hpp"
#include "reports/statement.hpp"

namespace shapley::ledger {

// The whole request.
template <Described Members>
[[nodiscard]] nlohmann::json request_of(std::string_view name, const Members& members) {
  nlohmann::json request = json_of(members);
  request.update({{"request", name}});
  return request;
}

// For a request without members.
struct NoMembers {};
constexpr auto description_of(std::type_identity<NoMembers>) {
  return Description<NoMembers>{};
}

// status.
struct StatusRequest {
  std::string contribution = {};  // an estimator's name; empty: the configured one
  bool worth = false;             // with ledger::worth_report
  bool forecast = false;          // with ledger::forecast_report
};
constexpr auto description_of(std::type_identity<StatusRequest>) {
  return describe(supplement("contribution", &StatusRequest::contribution), supplement("worth", &StatusRequest::worth),
                  supplement("forecast", &StatusRequest::forecast));
}

// status_at.
struct StatusAtRequest {
  Instant at;
  StatusRequest of = {};
};
constexpr auto description_of(std::type_identity<StatusAtRequest>) {
  return describe(member("at", &StatusAtRequest::at), flattened(&StatusAtRequest::of));
}

// The common part of statement and history.
struct IntervalRequest {
  std::optional<Instant> since = {};
  std::optional<Instant> until = {};
  std::vector<std::string> organizations = {};  // empty: all
  std::string contribution = {};                // as StatusRequest::contribution
};
constexpr auto description_of(std::type_identity<IntervalRequest>) {
  return describe(supplement("since", &IntervalRequest::since), supplement("until", &IntervalRequest::until),
                  supplement("organizations", &IntervalRequest::organizations),
                  supplement("contribution", &IntervalRequest::contribution));
}

// By what was known when each period closed, or by everything known now.
enum class AsOf : std::uint8_t { then, now };
constexpr auto values_of(std::type_identity<AsOf>) {
  return std::array{AsOf::then, AsOf::now};
}
constexpr std::string_view name_of(AsOf as_of) {
  return as_of == AsOf::then ? "then" : "now";
}

struct StatementRequest {
  IntervalRequest of = {};
  AsOf as_of = AsOf::then;
};
constexpr auto description_of(std::type_identity<StatementRequest>) {
  return describe(flattened(&StatementRequest::of), supplement("as_of", &StatementRequest::as_of));
}

struct HistoryRequest {
  IntervalRequest of = {};
  std::optional<Interval> by = {};  // nullopt: day
};
constexpr auto description_of(std::type_identity<HistoryRequest>) {
  return describe(flattened(&HistoryRequest::of), supplement("by", &HistoryRequest::by));
}

// The two requests about ranks; without `at` they are about the present.
// A job that was submitted, by its name, or one that could be.
struct ExplainRequest {
  std::string job = {};
  std::optional<SubmissionAsked> submit = {};
  std::optional<Instant> at = {};
};
constexpr auto description_of(std::type_identity<ExplainRequest>) {
  return describe(supplement("job", &ExplainRequest::job), supplement("submit", &ExplainRequest::submit),
                  supplement("at", &ExplainRequest::at));
}

struct CompareRequest {
  std::string a = {};  // an organization or a job, as b
  std::string b = {};
  std::optional<Instant> at = {};
};
constexpr auto description_of(std::type_identity<CompareRequest>) {
  return describe(member("a", &CompareRequest::a), member("b", &CompareRequest::b),
                  supplement("at", &CompareRequest::at));
}

struct WorkflowsRequest {
  std::string organization = {};  // empty: all
};
constexpr auto description_of(std::type_identity<WorkflowsRequest>) {
  return describe(supplement("organization", &WorkflowsRequest::organization));
}

struct RenameClusterRequest {
  std::string cluster = {};
  std::string reason = {};
};
constexpr auto description_of(std::type_identity<RenameClusterRequest>) {
  return describe(member("cluster", &RenameClusterRequest::cluster), member("reason", &RenameClusterRequest::reason));
}

// accept_line: without `book` the answer says what would change.
struct AcceptLineRequest {
  std::string cluster = {};
  std::string reason = {};
  bool book = false;
};
constexpr auto description_of(std::type_identity<AcceptLineRequest>) {
  return describe(member("cluster", &AcceptLineRequest::cluster), member("reason", &AcceptLineRequest::reason),
                  supplement("book", &AcceptLineRequest::book));
}

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
constexpr auto description_of(std::type_identity<UpkeepRequest>) {
  return describe(member("done", &UpkeepRequest::done), member("sequence", &UpkeepRequest::sequence),
                  member("hash", &UpkeepRequest::hash), supplement("clean", &UpkeepRequest::clean),
                  supplement("until", &UpkeepRequest::until));
}

// adjust and adjust_preview: exactly one member besides the reason says what is corrected (ledger::adjustment_asked).
struct JoinRequest {
  std::string organization = {};
  std::string into = {};
};
constexpr auto description_of(std::type_identity<JoinRequest>) {
  return describe(member("organization", &JoinRequest::organization), member("into", &JoinRequest::into));
}

struct AdjustRequest {
  std::string reason = {};
  std::optional<AttributionAsked> attribute = {};
  std::optional<OwnershipAsked> own = {};
  std::optional<JoinRequest> rename = {};
  std::optional<JoinRequest> merge = {};
  std::optional<SettlementAsked> settle = {};
  std::optional<std::uint32_t> reverse = {};
};
constexpr auto description_of(std::type_identity<AdjustRequest>) {
  return describe(supplement("reason", &AdjustRequest::reason), supplement("attribute", &AdjustRequest::attribute),
                  supplement("own", &AdjustRequest::own), supplement("rename", &AdjustRequest::rename),
                  supplement("merge", &AdjustRequest::merge), supplement("settle", &AdjustRequest::settle),
                  supplement("reverse", &AdjustRequest::reverse));
}

// The input of the program that reads the ledger for shapleyd (shapleyctl --answer), on its standard input; it writes
// {"report": ...} or {"error": ...} to its standard output.
struct Reading {
  std::string ledger = {};      // the file
  Instant now;                  // everything up to this instant is in the ledger
  std::string author = {};      // of an adjustment
  nlohmann::json request = {};  // one of Lane::report, checked
};
constexpr auto description_of(std::type_identity<Reading>) {
  return describe(member("ledger", &Reading::ledger), member("now", &Reading::now), member("author", &Reading::author),
                  member("request", &Reading::request));
}

}  // namespace shapley::ledger
