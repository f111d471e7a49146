// Each rule, just before and just behind what it allows.
#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/health/well.hpp"

namespace shapley::health {
namespace {

using protocol::ControllerReport;
using protocol::ControllerRole;
using protocol::ControllerState;

constexpr Duration k_day{86'400};

Limits all_limits() {
  return {.backup_age = Duration{3600}, .audit_age = k_day, .papers_delay = Duration{1'753'200}};
}

// Nothing that is demanded is missing.
Report kept_up() {
  Report report = well();
  report.daemon.backup = {.at = k_now - Duration{60}, .sequence = 5};
  report.daemon.audit = {.at = k_now - Duration{60}, .sequence = 5, .clean = true};
  return report;
}

OtherCluster south() {
  return {.cluster = "south", .stated_at = k_now - Duration{120}};
}
protocol::StateLossReport loss_of(Duration age) {
  return {.at = k_now - age, .seen = k_now - age, .runs = {.closed = 1, .closed_seconds = 8}};
}
protocol::GapsReport gap_of(Duration age, const char* cause) {
  return {.count = 1, .last_begin = k_now - age - Duration{60}, .last_end = k_now - age, .last_cause = cause};
}
ControllerReport controller(ControllerRole role, ControllerState state) {
  return {.role = role, .state = state, .peer_answers = true};
}

struct Case {
  const char* rule;
  State state;
  std::function<void(Report&)> change;
};

std::vector<Case> plugin_cases() {
  const auto silent = [](std::int64_t seconds, std::uint32_t sign_of_life) {
    return [=](Report& of) {
      of.plugin.last_heard_at = k_now - Duration{seconds};
      of.plugin.sign_of_life_s = sign_of_life;
    };
  };
  const auto ranks = [](std::int64_t age) {
    return [=](Report& of) { of.daemon.ranks_computed_at = k_now - Duration{age}; };
  };
  const auto standby = [](ControllerState state) {
    return [=](Report& of) {
      of.plugin = {};
      of.daemon.ranks_computed_at = Instant{0};
      of.daemon.controller = controller(ControllerRole::standby, state);
    };
  };
  return {
      {"plugin", State::critical, [](Report& of) { of.plugin.connected = false; }},
      {"plugin", State::ok, standby(ControllerState::follows)},
      {"plugin", State::critical, standby(ControllerState::waits_for_slurmctld)},
      {"plugin_silent", State::ok, silent(30, 10)},
      {"plugin_silent", State::warning, silent(31, 10)},
      {"plugin_silent", State::warning, silent(300, 10)},
      {"plugin_silent", State::critical, silent(301, 10)},
      {"plugin_silent", State::ok, silent(1020, 0)},
      {"ranks", State::ok, ranks(300)},
      {"ranks", State::critical, ranks(301)},
      {"ranks", State::ok, standby(ControllerState::follows)},
  };
}

std::vector<Case> ledger_cases() {
  const auto backlog = [](std::uint64_t messages) { return [=](Report& of) { of.plugin.backlog = messages; }; };
  const auto slow = [](std::uint64_t commits) {
    return [=](Report& of) { of.daemon.commits.slow_in_a_row = commits; };
  };
  const auto room = [](std::uint64_t bytes) { return [=](Report& of) { of.daemon.storage.free_bytes = bytes; }; };
  return {
      {"books", State::critical, [](Report& of) { of.conservation.holds = false; }},
      {"operations", State::critical, [](Report& of) { of.daemon.failures["commit"] = "the disk is full"; }},
      {"rebuild", State::warning, [](Report& of) { of.daemon.rebuild.emplace(); }},
      {"backlog", State::ok, backlog(600)},
      {"backlog", State::warning, backlog(601)},
      {"spool", State::warning, [](Report& of) { of.plugin.dropped_backlogs = 1; }},
      {"commits", State::ok, slow(2)},
      {"commits", State::warning, slow(3)},
      {"disk", State::ok, room(1'000'000'000)},
      {"disk", State::warning, room(999'999'999)},
      {"disk", State::ok, [](Report& of) { of.daemon.storage.free_bytes.reset(); }},
  };
}

std::vector<Case> observation_cases() {
  const auto gap = [](Duration age, const char* cause) {
    return [=](Report& of) { of.daemon.gaps = gap_of(age, cause); };
  };
  const auto refused = [](std::int64_t age) {
    return [=](Report& of) {
      of.daemon.cluster.refused = {.cluster = "trial", .times = 1, .last_at = k_now - Duration{age}};
    };
  };
  const auto loss = [](Duration age) { return [=](Report& of) { of.daemon.state_losses.last = loss_of(age); }; };
  return {
      {"lost_runs", State::warning, [](Report& of) { of.daemon.lost_runs = 1; }},
      {"observation_gap", State::ok, gap(k_day, "unobserved")},
      {"observation_gap", State::warning, gap(k_day - Duration{1}, "unobserved")},
      {"observation_gap", State::ok, gap(Duration{5}, "slurmctld_down")},
      {"observation_gap", State::warning, gap(Duration{5}, "events_lost")},
      {"refused_plugin", State::ok, refused(3600)},
      {"refused_plugin", State::warning, refused(3599)},
      {"state_loss", State::ok, loss(k_day)},
      {"state_loss", State::warning, loss(k_day - Duration{1})},
      {"dropped_messages", State::warning, [](Report& of) { of.daemon.dropped_observations = 1; }},
      {"clock", State::warning, [](Report& of) { of.daemon.clock.emplace(); }},
      {"clock", State::warning, [](Report& of) { of.daemon.held_observations.emplace(); }},
  };
}

std::vector<Case> cluster_cases() {
  const auto with = [](std::function<void(OtherCluster&)> change) {
    return [change = std::move(change)](Report& of) {
      of.clusters = {south(), south()};
      change(of.clusters.back());
    };
  };
  const auto ahead = [=](std::int64_t seconds) {
    return with([=](OtherCluster& of) { of.ahead = Duration{seconds}; });
  };
  return {
      // One that is away for minutes is no fault.
      {"cluster_statement", State::ok, with([](OtherCluster& of) { of.fault = "no route"; })},
      {"cluster_statement", State::warning, with([](OtherCluster& of) { of.stated_at = {}; })},
      {"cluster_statement", State::warning, with([](OtherCluster& of) { of.is_stale = true; })},
      {"cluster_refused", State::warning, with([](OtherCluster& of) { of.is_refused = true; })},
      {"cluster_jump", State::warning, with([](OtherCluster& of) { of.jump = "A gave more than it can"; })},
      {"cluster_clock", State::ok, ahead(1)},
      {"cluster_clock", State::warning, ahead(2)},
  };
}

std::vector<Case> pair_and_upkeep_cases() {
  const auto pair = [](std::function<void(ControllerReport&)> change) {
    return [change = std::move(change)](Report& of) {
      of.daemon.controller = controller(ControllerRole::active, ControllerState::writes);
      change(*of.daemon.controller);
    };
  };
  const auto backup = [](std::int64_t age) {
    return [=](Report& of) { of.daemon.backup->at = k_now - Duration{age}; };
  };
  const auto audit = [](std::int64_t age) { return [=](Report& of) { of.daemon.audit->at = k_now - Duration{age}; }; };
  // November began 1,753,200 seconds ago: the papers of October are there; only those of September are.
  const auto papers = [](Instant until) {
    return [=](Report& of) { of.daemon.papers = {.at = k_now, .until = until}; };
  };
  return {
      {"configuration", State::warning, [](Report& of) { of.daemon.configuration.refused_at = k_now; }},
      {"controllers", State::critical, pair([](ControllerReport& of) { of.fault = "both wrote"; })},
      {"peer", State::warning, pair([](ControllerReport& of) { of.peer_answers = false; })},
      {"peer_step", State::ok, pair([](ControllerReport& of) { of.in_step = true; })},
      {"peer_step", State::warning, pair([](ControllerReport& of) { of.in_step = false; })},
      {"backup", State::ok, backup(3600)},
      {"backup", State::warning, backup(3601)},
      {"backup", State::warning, [](Report& of) { of.daemon.backup.reset(); }},
      {"audit", State::ok, audit(86'400)},
      {"audit", State::warning, audit(86'401)},
      {"audit", State::warning, [](Report& of) { of.daemon.audit.reset(); }},
      {"papers", State::ok, papers(Instant{1'793'491'200})},
      {"papers", State::ok, papers(Instant{1'790'812'800})},
      {"papers", State::warning,
       [=](Report& of) {
         papers(Instant{1'790'812'800})(of);
         of.daemon.now = k_now + Duration{1};
       }},
      {"audit_findings", State::critical, [](Report& of) { of.daemon.audit->clean = false; }},
  };
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& some :
       {plugin_cases(), ledger_cases(), observation_cases(), cluster_cases(), pair_and_upkeep_cases()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

// No other rule finds anything because of it.
TEST(Rules, EachFindsItsOwnCauseAndNoOther) {
  for (const Case& each : all_cases()) {
    Report report = kept_up();
    each.change(report);
    for (const Verdict& verdict : judge(report, all_limits())) {
      const State expected = verdict.rule == each.rule ? each.state : State::ok;
      EXPECT_EQ(verdict.state(), expected) << each.rule << ", judged: " << verdict.rule;
    }
  }
}

TEST(Rules, EachHasACaseThatItFinds) {
  std::set<std::string> found{"daemon"};  // the next test
  for (const Case& each : all_cases()) {
    if (each.state != State::ok) found.insert(each.rule);
  }
  std::set<std::string> names;
  for (const std::string_view name : rule_names()) names.emplace(name);
  EXPECT_EQ(found, names);
  EXPECT_EQ(names.size(), rule_names().size()) << "two rules have one name";
}

TEST(Rules, OfADaemonWithoutAReportOnlyThatIsJudged) {
  const auto of = [](Errc code) { return judge(tl::unexpected<Error>(Error{code, "it is away"}), all_limits()); };
  for (const auto& verdicts : {of(Errc::unavailable), of(Errc::denied)}) {
    ASSERT_EQ(verdicts.size(), 1U);
    EXPECT_EQ(verdicts.front().rule, "daemon");
    EXPECT_EQ(verdicts.front().causes.front().text, "it is away");
  }
  EXPECT_EQ(of(Errc::unavailable).front().state(), State::critical);
  EXPECT_EQ(of(Errc::denied).front().state(), State::unknown);
}

TEST(Rules, WhatNoLimitDemandsIsNotJudged) {
  const auto names = [](const Limits& limits) {
    std::set<std::string> judged;
    for (const Verdict& verdict : judge(well(), limits)) judged.emplace(verdict.rule);
    return judged;
  };
  EXPECT_EQ(names(all_limits()).size(), rule_names().size());
  EXPECT_EQ(names({}).size(), rule_names().size() - k_limit_options.size());
  for (const char* rule : {"backup", "audit", "papers"}) EXPECT_FALSE(names({}).contains(rule)) << rule;
  EXPECT_TRUE(names({.audit_age = k_day}).contains("audit"));
}

TEST(Rules, TheWorstOfTheCausesIsTheState) {
  const Verdict verdict{"some", {{State::warning, "a"}, {State::critical, "b"}, {State::warning, "c"}}};
  EXPECT_EQ(verdict.state(), State::critical);
  EXPECT_EQ(Verdict{"some"}.state(), State::ok);
}

TEST(Rules, NameEveryOperationAndEveryCluster) {
  Report report = well();
  report.daemon.failures = {{"commit", "the disk is full"}, {"sign a head", "no key"}};
  report.clusters = {{.cluster = "west"},
                     {.cluster = "south", .stated_at = k_now, .fault = "forged", .is_refused = true}};
  std::vector<std::string> causes;
  for (const Verdict& verdict : judge(report, {})) {
    for (const Cause& cause : verdict.causes) causes.push_back(cause.text);
  }
  EXPECT_EQ(causes, (std::vector<std::string>{"commit fails: the disk is full", "sign a head fails: no key",
                                              "ranks do not count the cluster west yet, of which there is no statement",
                                              "a statement of the cluster south is refused: forged"}));
}

TEST(Limits, AreAgesWithAUnit) {
  const auto limits = parse_limits({"36h", "", "2d"});
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->backup_age, Duration{36 * 3600});
  EXPECT_EQ(limits->audit_age, std::nullopt);
  EXPECT_EQ(limits->papers_delay, Duration{2 * k_day.value});
  EXPECT_EQ(parse_limits({"", "1000000d", ""})->audit_age, Duration{1'000'000 * k_day.value});
  for (const char* wrong : {"soon", "0", "-1d", "1000001", "2w", "d"}) {
    const auto refused = parse_limits({"", wrong, ""});
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().what,
              "--max-audit-age: '" + std::string(wrong) + "' is no length of time like 36h or 2d");
  }
}

// The rows of a page's table whose first column is a rule, in order.
std::vector<std::string> rules_of_page(const char* path) {
  std::ifstream stream(std::string(SHAPLEY_SOURCE_DIR "/") + path);
  EXPECT_TRUE(stream.good()) << path;
  const std::string page{std::istreambuf_iterator<char>(stream), {}};
  const std::regex row(R"(\n\| `([a-z_]+)` \| )");
  std::vector<std::string> names;
  for (std::sregex_iterator it(page.begin(), page.end(), row), end; it != end; ++it) names.push_back((*it)[1]);
  return names;
}

TEST(Pages, ListTheRulesInTheirOrder) {
  const std::vector<std::string_view> names = rule_names();
  const std::vector<std::string> expected(names.begin(), names.end());
  for (const char* page : {"docs/reference/shapleyctl/health.md", "docs/operating/monitoring.md"})
    EXPECT_EQ(rules_of_page(page), expected) << page;
}

}  // namespace
}  // namespace shapley::health
