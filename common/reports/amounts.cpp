#include "reports/amounts.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/calendar.hpp"
#include "reports/rounding.hpp"

namespace shapley::ledger {

namespace {

using nlohmann::json;

constexpr double k_seconds_per_hour = 3600.0;

struct AmountMembers {
  double core_hours = 0;
  CpuTime processor_seconds;
};
constexpr auto description_of(std::type_identity<AmountMembers>) {
  return describe(member("core_hours", &AmountMembers::core_hours),
                  member("processor_seconds", &AmountMembers::processor_seconds));
}

std::string hours_by(const accounting::ChargeDeclared& rule) {
  return rule.charge == "billing" || rule.charge == "weights" ? "billing-hours" : AmountUnit{}.word();
}

}  // namespace

AmountUnit unit_of(std::span<const accounting::ChargeDeclared> charges, Instant since, Instant until) {
  AmountUnit of;
  std::string last;
  for (std::size_t i = 0; i < charges.size(); ++i) {
    if (i + 1 < charges.size() && charges[i + 1].at <= since) continue;
    if (!last.empty() && charges[i].at >= until) break;
    const std::string hours = hours_by(charges[i]);
    if (last.empty()) {
      if (hours != of.word()) of.unit = hours;
    } else if (hours != last) {
      of.changes = fmt::format("{} until {}, then {}", of.changes.empty() ? last : of.changes,
                               format_instant(charges[i].at), hours);
      of.unit = "charged-hours";
    }
    last = hours;
  }
  return of;
}

json json_value(const Processors& processors) {
  const ProcessorMillionths q = processors.count;
  if (q.value % k_micro == 0) return q.value / k_micro;
  return processors.number();
}

bool take_json_value(const json& value, Processors& processors) {
  constexpr double k_most = 1e12;
  if (!value.is_number() || std::fabs(value.get<double>()) > k_most) return false;
  processors.count = {std::llround(value.get<double>() * static_cast<double>(k_micro))};
  return true;
}

double Amount::core_hours() const {
  return ledger::core_hours(work);
}

json json_value(const Amount& amount) {
  return json_of(AmountMembers{amount.core_hours(), amount.work});
}

bool take_json_value(const json& value, Amount& amount) {
  const auto members = from_json<AmountMembers>(value);
  if (members) amount.work = members->processor_seconds;
  return members.has_value();
}

double core_hours(CpuTime work) {
  return static_cast<double>(work.value) / static_cast<double>(k_micro) / k_seconds_per_hour;
}

double standing_core_hours(Utility balance, Duration elapsed) {
  if (elapsed.value <= 0 || balance.value == 0) return 0.0;
  const double processor_seconds =
      static_cast<double>(balance.value) / static_cast<double>(k_micro) / static_cast<double>(elapsed.value);
  return processor_seconds / k_seconds_per_hour;
}

std::string format_core_hours(double core_hours) {
  const double amount = std::fabs(core_hours);
  int decimals = 1;
  if (amount < 1) decimals = 3;
  if (amount < 0.1) decimals = 4;
  if (amount < 0.01) decimals = 5;
  return unit_text(core_hour_units(work_of(amount), decimals), decimals);
}

std::string standing_sentence(double standing_core_hours, const AmountUnit& in) {
  if (standing_core_hours == 0) return "is even with the others";
  // 0.001 hours are 3.6 seconds of a core: a smaller amount is not worth reading.
  const std::string amount =
      std::fabs(standing_core_hours) < 0.001 ? "less than 0.001" : format_core_hours(standing_core_hours);
  if (standing_core_hours > 0)
    return fmt::format("is owed {} {} by the others, on average this period", amount, in.word());
  return fmt::format("owes the others {} {}, on average this period", amount, in.word());
}

SignedText signed_text(double core_hours) {
  return {format_core_hours(core_hours), core_hours > 0 ? 1 : core_hours < 0 ? -1 : 0};
}

std::string difference_sentence(const SignedText& difference, const SignedText& standing, const AmountUnit& in) {
  std::string text = "has got as much as it gave";
  if (difference.sign > 0) text = fmt::format("has given {} {} more than it got", difference.amount, in.word());
  if (difference.sign < 0) text = fmt::format("has got {} {} more than it gave", difference.amount, in.word());
  text += "; on average over the period it ";
  if (standing.sign == 0) return text + "owed nothing";
  return text + (standing.sign > 0 ? "was owed " : "owed ") + standing.amount;
}

std::string listed_names(const std::vector<std::string>& names, std::size_t most) {
  // "and 1 other" would be less informative than the name.
  const std::size_t shown = names.size() <= most + 1 ? names.size() : most;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + names[i];
  return shown == names.size() ? text : fmt::format("{} and {} others", text, names.size() - shown);
}

}  // namespace shapley::ledger
