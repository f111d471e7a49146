// The judgement of how shapleyd and its plugin are: rules over shapleyd's answer to `status`.
//
// `shapleyctl health` prints what they find, shapley-exporter exports it by rule, and Prometheus' alerts only read
// that: there is no second judgement. Pure. docs/reference/shapleyctl/health.md lists the rules and what each finds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/description.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/types.hpp"
#include "protocol/self_report.hpp"

namespace shapley::health {

// What the rules read of an answer to `status` (docs/reference/protocol.md); it has more members.

struct Balance {
  bool holds = true;
};
SHAPLEY_DESCRIBE(Balance, holds);

// Another cluster of the consortium.
struct OtherCluster {
  std::string cluster = {};
  Dated stated_at = {};
  bool is_stale = false;
  std::string fault = {};
  bool is_refused = false;
  std::optional<Duration> ahead = {};
  std::string jump = {};
};
SHAPLEY_DESCRIBE(OtherCluster, cluster, stated_at, is_stale, (supplement, fault), (supplement, is_refused),
                 (supplement, ahead, "ahead_s"), (supplement, jump));

struct Report {
  Balance conservation = {};
  std::vector<OtherCluster> clusters = {};
  protocol::DaemonReport daemon = {};
  protocol::PluginReport plugin = {};
};
SHAPLEY_DESCRIBE(Report, conservation, (supplement, clusters), daemon, plugin);

// What a site may demand of its upkeep. nullopt: that is not judged.
struct Limits {
  std::optional<Duration> backup_age = {};
  std::optional<Duration> audit_age = {};
  std::optional<Duration> papers_delay = {};  // after the end of their month
};

// The options by which both programs take them, each with an age ("36h", "2d").
struct LimitOption {
  const char* name;
  const char* meaning;
  std::optional<Duration> Limits::*limit;
};
inline constexpr std::array k_limit_options{
    LimitOption{"--max-backup-age", "Warn when the last backup is older than this, or unknown", &Limits::backup_age},
    LimitOption{"--max-audit-age", "Warn when the last audit is older than this, or unknown", &Limits::audit_age},
    LimitOption{"--max-papers-delay",
                "Warn when a month ended longer ago than this and has no papers, if an earlier month has some",
                &Limits::papers_delay}};
// What was written behind each of them; empty: the option is not given.
using LimitTexts = std::array<std::string, k_limit_options.size()>;
// Errc::invalid_argument names the option.
[[nodiscard]] Expected<Limits> parse_limits(const LimitTexts& texts);

// Nagios' states, with its numbers.
enum class State : std::uint8_t { ok = 0, warning = 1, critical = 2, unknown = 3 };

struct Cause {
  State state = State::warning;
  std::string text = {};
};

struct Verdict {
  std::string_view rule;
  std::vector<Cause> causes = {};  // empty: the rule finds nothing against a good state
  // The worst of the causes.
  [[nodiscard]] State state() const;
};

// The verdict of each rule, in the order of the table, fine ones included. A rule whose limit is not given has none. If
// there is no report, `daemon` alone has a verdict: a daemon that is away (Errc::unavailable) is critical, because no
// process keeps the books; otherwise the state is unknown.
[[nodiscard]] std::vector<Verdict> judge(const Expected<Report>& report, const Limits& limits);

// The names of all rules, in that order.
[[nodiscard]] std::vector<std::string_view> rule_names();

// The time for which a connected plugin has been silent for too long: the time since its last message, if it sends
// signs of life and three of them are missing. nullopt: it sends messages, or is not connected.
[[nodiscard]] std::optional<Duration> plugin_silence(const protocol::PluginReport& plugin, Instant now);

// Whether this is the standby of two controllers, which has no plugin.
[[nodiscard]] bool is_standby(const protocol::DaemonReport& daemon);

// "2 runs (480 processor-seconds) counted until the last look, 1 run (16 processor-seconds) retracted, ...".
[[nodiscard]] std::string lost_runs_in_words(const protocol::LostRunsReport& runs);

}  // namespace shapley::health
