// Explanations, comparisons and forecasts on a ledger whose figures are worked by hand, and what they print.
//
// A and B own a processor each. A's job 1 runs on both from 0 to 10, B's job 2 on both from 20 on. A's job 3 waits from
// 25 on, B's job 4 from 30 on, a guest's job 5 from 35 on; A's job 6 could not start. The published rule: H = 0.
//
// At 40: psi of A is 2 (40 + ... + 31) = 710, of B 2 (20 + ... + 1) = 420, phi of each is half of both, 565. So the key
// of A is -145, of B +145, of guests 0. From 20 on B gets two a second and gives one: D(d) = key(B) - key(A)
// = 310 + 19 d - d^2 after 20 + d, which is 290 at 40, 20 at 49 and -20 at 50.
#pragma once

#include <chrono>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ctl/commands/explain.hpp"
#include "ctl/offline.hpp"
#include "ctl/output/forecast.hpp"
#include "ctl/rank_answers.hpp"
#include "fake_daemon.hpp"
#include "ledger/reports/compare_report.hpp"
#include "ledger/reports/explain_report.hpp"
#include "ledger/store/ledger.hpp"
#include "no_terminal.hpp"
#include "scripted_books.hpp"
#include "tests/support/must.hpp"
#include "tests/support/partial_report.hpp"

namespace shapley::ctl {

using namespace accounting;
using nlohmann::json;

inline std::string render_explanation(const json& report) {
  return ctl::render_explanation(partial<Explanation>(report));
}

inline std::string render_comparison(const json& report) {
  return ctl::render_comparison(partial<Comparison>(report));
}

inline std::string render_forecast(const json& report) {
  return ctl::render_forecast(partial<ledger::StatusReport>(report));
}

// From a ledger file, by a request of the daemon's protocol.
inline Expected<json> offline_rank_answer(const json& request, const RankSource& source) {
  const auto as_json = [](const auto& report) -> Expected<json> {
    if (!report) return tl::unexpected(report.error());
    return json_of(*report);
  };
  const std::string name = request["request"];
  if (name == "explain") return as_json(explained({.job = request["job"]}, source, {}));
  return as_json(compared(request["a"], request["b"], source, {}));
}

inline Instant second(std::int64_t offset) {
  return k_example_begin + Duration{offset};
}

inline constexpr ProcessorMillionths k_one{k_micro};

inline JobDescribed job_of(std::uint32_t job, const std::string& organization, std::int64_t submit) {
  JobDescribed described;
  described.job = JobId{job};
  described.submit = second(submit);
  described.organization = organization;
  described.user_id = 4'000'000'000U;
  described.account = organization.empty() ? "none" : "acct_" + organization;
  described.partition = "main";
  described.qos = "normal";
  return described;
}

inline SegmentOpened opened(SegmentKind kind, std::uint32_t job, const std::string& organization, std::int64_t begin) {
  SegmentOpened segment{.key = {.kind = kind, .job = JobId{job}, .anchor = second(begin), .ordinal = 0},
                        .organization = organization,
                        .begin = second(begin),
                        .processors = k_one + k_one,
                        .nodes = {}};
  if (kind == SegmentKind::run) segment.nodes = {{"n1", k_one}, {"n2", k_one}};
  return segment;
}

inline SegmentClosed ended(const SegmentOpened& segment, std::int64_t end, CloseReason reason) {
  return {segment.key, second(end), reason, "COMPLETED"};
}

inline constexpr const char* k_configuration =
    "organizations:\n"
    "  - name: A\n"
    "    accounts: [acct_A]\n"
    "    nodes: [n1]\n"
    "  - name: B\n"
    "    partitions: [main]\n"
    "    nodes: [n2]\n";

inline std::vector<Event> waiting_events() {
  const SegmentOpened first = opened(SegmentKind::run, 1, "A", 0);
  JobDescribed task = job_of(72, "B", 36);
  task.array_job = 72;
  return {OrganizationsDeclared{second(0), {"A", "B"}},
          ConfigurationLoaded{second(0), k_configuration},
          OwnershipStated{"n1", second(0), {{second(0), {{"A", k_whole_node}}}}},
          OwnershipStated{"n2", second(0), {{second(0), {{"B", k_whole_node}}}}},
          CapacityChanged{"n1", second(0), 0, k_one},
          CapacityChanged{"n2", second(0), 0, k_one},
          job_of(1, "A", 0),
          first,
          ended(first, 10, CloseReason::ended),
          job_of(2, "B", 20),
          opened(SegmentKind::run, 2, "B", 20),
          job_of(3, "A", 25),
          opened(SegmentKind::wait, 3, "A", 25),
          job_of(4, "B", 30),
          opened(SegmentKind::wait, 4, "B", 30),
          job_of(5, std::string(k_guests), 35),
          opened(SegmentKind::wait, 5, std::string(k_guests), 35),
          job_of(6, "A", 36),
          task,
          RankingDeclared{second(0), "direct_contr", 0, 0, {}}};
}

inline json strict_priorities() {
  return {{"mode", "priorities"}, {"order", "strict"}, {"rank_weight", 0},         {"ranks", {"B", "guests", "A"}},
          {"levels", false},      {"level", 0},        {"plugin_connected", true}, {"plugin_age_s", 0}};
}

class RankedBooks : public testing::Test {
 protected:
  void SetUp() override { write(waiting_events(), 40); }

  void write(const std::vector<Event>& events, std::int64_t received) const {
    auto ledger = must(ledger::Ledger::open(file(), ledger::OpenMode::create_or_write));
    must(ledger.append(events, second(received)));
  }

  [[nodiscard]] std::filesystem::path file() const { return directory / "ledger.db"; }

  [[nodiscard]] Expected<json> asked(const json& request, std::optional<std::int64_t> at = std::nullopt) const {
    return offline_rank_answer(
        request, {.ledger = file().native(), .at = at ? format_instant(second(*at)) : std::string(), .archives = ""});
  }
  [[nodiscard]] json answer(const json& request, std::optional<std::int64_t> at = std::nullopt) const {
    auto report = asked(request, at);
    EXPECT_TRUE(report) << report.error().what;
    return report ? *report : json();
  }
  [[nodiscard]] json explained(const std::string& job, std::optional<std::int64_t> at = std::nullopt) const {
    return answer({{"request", "explain"}, {"job", job}}, at);
  }
  [[nodiscard]] json compared(const std::string& a, const std::string& b,
                              std::optional<std::int64_t> at = std::nullopt) const {
    return answer({{"request", "compare"}, {"a", a}, {"b", b}}, at);
  }
  // The report of status with the forecast.
  [[nodiscard]] json forecast(std::optional<std::int64_t> at = std::nullopt) const {
    const answers::LedgerFile asked{.path = file()};
    if (!at) return json_of(must(answers::answer(ledger::StatusRequest{.forecast = true}, asked)));
    return json_of(must(answers::answer(ledger::StatusAtRequest{.at = second(*at), .of = {.forecast = true}}, asked)));
  }

  std::string printed(const std::string& job, const std::string& at = "") {
    return printed_by({.job = job, .source = {.ledger = file().native(), .at = at, .archives = ""}}, {});
  }
  // By the daemon at the socket "s".
  std::string printed_by_daemon(const std::string& job, const std::string& at = "") {
    return printed_by({.job = job, .source = {.ledger = "", .at = at, .archives = ""}},
                      {.socket = directory / "s", .timeout = std::chrono::minutes(4)});
  }
  std::string printed_by(const ExplainArguments& arguments, const Endpoint& endpoint) {
    must(run_explain(arguments, endpoint, environment));
    return out.str();
  }

  TempDirectory directory;
  std::ostringstream out;
  std::ostringstream err;
  Environment environment = no_terminal(out, err);
};

}  // namespace shapley::ctl
