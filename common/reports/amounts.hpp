// Amounts in the form of reports, and in the form that people read.
//
// Standing in core-hours. phi - psi is in processor-seconds squared, the integral over time of (given - got). People
// read its average since the period began,
//     standing = (phi - psi) / (t - period begin) / 3600        [core-hours]
// which has the sign and, at one t, the order of phi - psi.
//
// An hour is that of a core, or of a unit of what Slurm bills or the site weights; AmountUnit says which. Members and
// functions are called core_hours whichever it is.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/json.hpp"
#include "base/types.hpp"

namespace shapley::ledger {

// What the amounts of a report are counted in, by the rules by which runs of its time were charged
// (docs/reference/configuration.md, `charge`): core-hours, billing-hours (`billing` and `weights`), or, where the rule
// changed from one to the other, charged-hours.
struct AmountUnit {
  std::string unit = {};     // empty: core-hours
  std::string changes = {};  // of charged-hours: "core-hours until 2026-11-03T00:00:00Z, then billing-hours"

  [[nodiscard]] std::string word() const { return unit.empty() ? "core-hours" : unit; }
  // The word, and what it stands for where that changed.
  [[nodiscard]] std::string in_full() const { return changes.empty() ? word() : word() + " (" + changes + ')'; }
};
SHAPLEY_DESCRIBE(AmountUnit, (supplement, unit), (supplement, changes, "unit_changes"));

// Of a time by the rules of charge, ascending (accounting::State::charges()). The first one holds for what was before
// it, too: runs that were imported. At since == until: of that instant.
[[nodiscard]] AmountUnit unit_of(std::span<const accounting::ChargeDeclared> charges, Instant since, Instant until);

// Processors: whole ones are integers in JSON; fractions (shared nodes) are the nearest double of six decimals.
struct Processors {
  ProcessorMillionths count;

  constexpr Processors() = default;
  constexpr Processors(ProcessorMillionths q) : count(q) {}
  [[nodiscard]] double number() const { return static_cast<double>(count.value) / static_cast<double>(k_micro); }
  friend constexpr auto operator<=>(const Processors&, const Processors&) = default;
};
[[nodiscard]] nlohmann::json json_value(const Processors& processors);
[[nodiscard]] bool take_json_value(const nlohmann::json& value, Processors& processors);

// Work: {"core_hours", "processor_seconds"}, for people and exact.
struct Amount {
  CpuTime work;

  [[nodiscard]] double core_hours() const;
};
[[nodiscard]] nlohmann::json json_value(const Amount& amount);
[[nodiscard]] bool take_json_value(const nlohmann::json& value, Amount& amount);

// Work as a number of hours.
[[nodiscard]] double core_hours(CpuTime work);
// (phi - psi) / elapsed / 3600; `elapsed` since the period began; 0 in a period that has lasted less than a second.
[[nodiscard]] double standing_core_hours(Utility balance, Duration elapsed);

// An amount of hours for people, without its sign: "1,204.3", "12.4", below one three digits ("0.412",
// "0.00412").
[[nodiscard]] std::string format_core_hours(double core_hours);

// "is owed 12.4 core-hours by the others, on average this period", "owes the others 3.1 core-hours, on average this
// period", "is even with the others" (exactly 0 only).
[[nodiscard]] std::string standing_sentence(double standing_core_hours, const AmountUnit& in);

// An amount without its sign, as it is printed, and its sign: -1, 0 or 1.
struct SignedText {
  std::string amount;
  int sign = 0;
};
[[nodiscard]] SignedText signed_text(double core_hours);

// Of a period up to some instant: "has got 15.1 core-hours more than it gave; on average over the period it owed 18.3".
// The first amount can be paid back: it is what the organization has to give more than it gets to be even.
[[nodiscard]] std::string difference_sentence(const SignedText& difference, const SignedText& standing,
                                              const AmountUnit& in);

// "a, b, c": of more than `most` names so many, and "and 38 others". `most` > 0.
[[nodiscard]] std::string listed_names(const std::vector<std::string>& names, std::size_t most);

}  // namespace shapley::ledger
