// Reports for people and programs, as JSON: the one source for the daemon's replies and for offline reading of a
// ledger, so that the two cannot say different things. docs/reference/shapleyctl.md lists every member.
//
// Pure functions of the books and of t; they read no clock and own nothing.
//
// Standing in core-hours. phi - psi is in processor-seconds squared, the integral over time of (given - got). People
// read its average since the period began,
//     standing = (phi - psi) / (t - period begin) / 3600        [core-hours]
// which has the sign and, at one t, the order of phi - psi. Ranks go by the key, phi - psi a horizon ahead if nothing
// more starts and what runs counts for the mean residual run time, by its weight (game/serving_order.hpp): in
// core-hours it is the standing at that time,
//     key = (phi - psi)(t + H) / (t + H - period begin) / 3600     [core-hours]
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/types.hpp"

namespace shapley::ledger {

// Raised when a member of a report changes its meaning or goes away; new members do not raise it.
inline constexpr int k_report_version = 2;

// Whole processors are integers in JSON; fractions (shared nodes) are the nearest double of six decimals.
[[nodiscard]] nlohmann::json processor_count(MicroProcessors q);

// The books at max(t, state.now()): organizations in rank order (commons, which runs nothing and has no rank, last) and
// the conservation sums. "ranking" says the rule and the mean residual run time in force, and in "sentences" who goes
// before one that is owed more, and why. psi, phi and processor-seconds are exact decimal text; core-hours and
// processors are numbers. The daemon's answer to {"request": "status"[, "contribution": NAME]} is this object with two
// further members (docs/reference/protocol.md), from which shapleyctl makes its health lines; instants in seconds since
// the epoch:
//   "daemon": {"version", "pid", "started_at", "ledger", "events", "socket", "mode", "order", "lost_runs",
//              "configuration": {"file", "hash", "loaded_at", "refused_at", "refusal"}}
//   "plugin": {"connected", "program", "cluster", "slurm_version", "last_heard_at", "sign_of_life_s"}
// An answer that failed is {"error": {"code": name_of(Errc), "what": TEXT}}.
// Figures are by `wanted` ("contribution"), or, if it is not among `able`, by its stand-in ("ranked_by"); able: those
// of State::caught_up at t, else all that are kept. phi of others is null.
[[nodiscard]] nlohmann::json status_report(accounting::State& state, Instant t, accounting::EstimatorId wanted);
[[nodiscard]] nlohmann::json status_report(accounting::State& state, Instant t, accounting::EstimatorId wanted,
                                           const accounting::EstimatorSet& able);

// Into every row whose organization has one: its title, the name for people. Without one "title" is the name.
void set_titles(nlohmann::json& report, const std::map<std::string, std::string>& titles);

// Who is kept waiting: [{"organization", "since"}], in the configuration's order, of the organizations with startable
// jobs. `since`, in seconds since the epoch: when a run of it began last, or, if that is later, when the longest
// present stretch of a job of it being startable began. The same as "no_start_since" of the rows above, null there for
// others. `only`: of these organizations; empty: of all.
[[nodiscard]] nlohmann::json no_start_report(const accounting::State& state, const std::vector<std::string>& only = {});

// Errc::invalid_argument, with the organizations that the books have, unless every name is one of them.
[[nodiscard]] Expected<void> check_organizations(const accounting::State& state, const std::vector<std::string>& names);

[[nodiscard]] tl::unexpected<Error> unknown_organization(const std::string& name,
                                                         const std::vector<std::string>& known);

// "a, b, c": of more than `most` names so many, and "and 38 others". `most` > 0.
[[nodiscard]] std::string listed_names(const std::vector<std::string>& names, std::size_t most);

// "is owed 12.4 core-hours by the others, on average this period", "owes the others 3.1 core-hours, on average this
// period", "is even with the others" (exactly 0 only).
[[nodiscard]] std::string standing_sentence(double standing_core_hours);

// The amount of core-hours for people, without its sign: "1,204.3", "12.4", below one three digits ("0.412",
// "0.00412").
[[nodiscard]] std::string format_core_hours(double core_hours);

// A whole number of millionths as exact decimal text: "-3", "0.000001", "2.5".
[[nodiscard]] std::string format_micro(Int128 micro);

// Work as a number of core-hours.
[[nodiscard]] double core_hours(CpuTime work);
// (phi - psi) / elapsed / 3600; `elapsed` since the period began. Nothing can have happened in a period that has not
// lasted a second: 0.
[[nodiscard]] double standing_core_hours(Utility balance, Duration elapsed);

}  // namespace shapley::ledger
