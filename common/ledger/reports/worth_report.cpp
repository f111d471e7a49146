#include "ledger/reports/worth_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

namespace shapley::ledger {

namespace {

using accounting::Comparison;
using Worth = accounting::CooperationWorth;

// Of jobs in parts.
constexpr const char* k_limits =
    "Alone is by virtual schedules in which jobs start in parts on any node: their width, memory and partitions are "
    "ignored. That makes what would have been got alone look better than it is, most of all for one organization or a "
    "few";

// "34 %", "2.5 %", "less than 0.1 %".
std::string percent_text(double percent) {
  const double amount = std::fabs(percent);
  if (amount < 0.1) return "less than 0.1 %";
  std::array<char, 400> buffer{};
  std::snprintf(buffer.data(), buffer.size(), amount < 10 ? "%.1f %%" : "%.0f %%", amount);
  return buffer.data();
}

// An amount that is too small to be worth reading is shown as nothing.
std::string amount_text(double core_hours) {
  return core_hours == 0 ? "nothing" : format_core_hours(core_hours);
}

// " 12.4 core-hours instead of 9.3, on average this period".
std::string instead(double got, double other, const AmountUnit& in) {
  return fmt::format("{}{} instead of {}, on average this period", amount_text(got), got == 0 ? "" : ' ' + in.word(),
                     amount_text(other));
}

int sign_of(Utility utility) {
  return utility.value < 0 ? -1 : (utility.value > 0 ? 1 : 0);
}

class Writer {
 public:
  Writer(const accounting::State& state, const Worth& worth)
      : worth_(worth),
        names_(state.organizations()),
        order_(state.configured_order()),
        in_(unit_of(state.charges(), worth.begin, worth.end)),
        starts_whole_(state.start_whole_since(worth.begin)) {}

  [[nodiscard]] WorthReport make() const {
    WorthReport report{.begin = worth_.begin,
                       .end = worth_.end,
                       .all_coalitions = worth_.is_of_all_coalitions,
                       .provisional = worth_.together().is_provisional,
                       .organizations = {},
                       .pairs = {},
                       .together = together(),
                       .leaving = worth_.leaving ? std::optional(leaving(*worth_.leaving)) : std::nullopt,
                       .limits = starts_whole_ ? "" : k_limits};
    for (const Worth::Row* row : in_order(worth_.rows, &Worth::Row::organization))
      report.organizations.push_back(row_of(*row));
    for (const Worth::Coalition* pair : in_order(worth_.pairs, &Worth::Coalition::members))
      report.pairs.push_back({names_of(pair->members), comparison(pair->is)});
    return report;
  }

 private:
  [[nodiscard]] double average(Utility utility) const {
    return standing_core_hours(utility, worth_.end - worth_.begin);
  }

  [[nodiscard]] std::size_t place_of(OrgId organization) const {
    return static_cast<std::size_t>(std::ranges::find(order_, organization) - order_.begin());
  }
  [[nodiscard]] std::vector<std::size_t> place_of(const std::vector<OrgId>& members) const {
    std::vector<std::size_t> places;
    for (const OrgId member : members) places.push_back(place_of(member));
    std::ranges::sort(places);
    return places;
  }
  template <typename Item, typename Key>
  [[nodiscard]] std::vector<const Item*> in_order(const std::vector<Item>& items, Key key) const {
    std::vector<const Item*> ordered;
    for (const Item& item : items) ordered.push_back(&item);
    std::ranges::sort(ordered, {}, [&](const Item* item) { return place_of(item->*key); });
    return ordered;
  }

  [[nodiscard]] WorthComparison comparison(const Comparison& is) const {
    const double alone = average(is.alone.utility);
    const double gain = average(is.gain());
    return {.psi_core_hours = average(is.got.utility),
            .alone_core_hours = alone,
            .gain_core_hours = gain,
            .gain_percent = alone == 0 ? std::nullopt : std::optional(100 * gain / alone),
            .psi = is.got.utility,
            .alone = is.alone.utility,
            .got = is.got.work,
            .alone_work = is.alone.work,
            .provisional = is.is_provisional,
            .bounds = bounds(is)};
  }

  [[nodiscard]] std::optional<WorthBounds> bounds(const Comparison& is) const {
    if (!is.is_provisional) return std::nullopt;
    return WorthBounds{.never_end_core_hours = average(is.alone.utility),
                       .end_now_core_hours = average(is.alone_if_ended.utility),
                       .never_end = is.alone.utility,
                       .end_now = is.alone_if_ended.utility};
  }

  [[nodiscard]] WorthRow row_of(const Worth::Row& row) const {
    const std::string& name = names_[row.organization.value];
    return {.name = name,
            .title = name,
            .sentence = worth_sentence(
                {average(row.is.got.utility), average(row.is.alone.utility), sign_of(row.is.gain())}, in_),
            .is = comparison(row.is)};
  }

  [[nodiscard]] std::vector<std::string> names_of(const std::vector<OrgId>& members) const {
    std::vector<std::string> names;
    for (const std::size_t place : place_of(members)) names.push_back(names_[order_[place].value]);
    return names;
  }

  [[nodiscard]] WorthTogether together() const {
    const Comparison all = worth_.together();
    const double got = average(all.got.utility);
    const double alone = average(all.alone.utility);
    const int gain = sign_of(all.gain());
    std::string more = gain == 0 ? "as much as" : (gain > 0 ? "more than" : "less than");
    if (gain != 0 && alone != 0) more = fmt::format("{} {}", percent_text(100 * (got - alone) / alone), more);
    return {.sentence = fmt::format("together all have got {} each alone: {}", more, instead(got, alone, in_)),
            .is = comparison(all)};
  }

  [[nodiscard]] std::string nobody_would_gain() const {
    return worth_.is_of_all_coalitions
               ? "no coalition would have got more by leaving"
               : "no coalition of one, two, all but two or all but one would have got more by leaving; others were not "
                 "looked at";
  }

  [[nodiscard]] WorthLeaving leaving(const Worth::Coalition& coalition) const {
    WorthLeaving leaving{.organizations = names_of(coalition.members), .sentence = {}, .is = comparison(coalition.is)};
    const double got = average(coalition.is.got.utility);
    const double alone = average(coalition.is.alone.utility);
    leaving.is.gain_core_hours = average(-coalition.is.gain());
    leaving.is.gain_percent = got == 0 ? std::nullopt : std::optional(100 * (alone - got) / got);
    if (sign_of(coalition.is.gain()) >= 0) {
      leaving.sentence = nobody_would_gain();
      return leaving;
    }
    const std::vector<std::string>& names = leaving.organizations;
    std::string who = names.front();
    for (std::size_t i = 1; i < names.size(); ++i) who += (i + 1 == names.size() ? " and " : ", ") + names[i];
    leaving.sentence =
        fmt::format("{} would have gained most by leaving: alone {}{}", who,
                    got == 0 ? "" : percent_text(100 * (alone - got) / got) + " more, ", instead(alone, got, in_));
    return leaving;
  }

  const Worth& worth_;
  const std::vector<std::string>& names_;
  std::vector<OrgId> order_;
  AmountUnit in_;
  bool starts_whole_;
};

}  // namespace

std::string worth_sentence(const WorthSentence& of, const AmountUnit& in) {
  const std::string average = ", on average this period";
  if (of.got == 0 && of.alone == 0) return "has got nothing, and would have got nothing alone";
  if (of.alone == 0)
    return fmt::format("has got {} {}{}, and would have got nothing alone", format_core_hours(of.got), in.word(),
                       average);
  if (of.gain == 0)
    return fmt::format("has got as much as it would have got alone: {} {}{}", format_core_hours(of.got), in.word(),
                       average);
  if (of.got == 0)
    return fmt::format("has got nothing, and would have got {} {} alone{}", format_core_hours(of.alone), in.word(),
                       average);
  return fmt::format("has got {}{} than it would have got alone: {}",
                     percent_text(100 * (of.got - of.alone) / of.alone), of.gain > 0 ? " more" : " less",
                     instead(of.got, of.alone, in));
}

void keep_only(WorthReport& worth, const std::vector<std::string>& organizations) {
  const auto is_asked = [&](const std::string& name) {
    return std::ranges::find(organizations, name) != organizations.end();
  };
  std::erase_if(worth.organizations, [&](const WorthRow& row) { return !is_asked(row.name); });
  std::erase_if(worth.pairs, [&](const WorthPair& pair) { return std::ranges::none_of(pair.organizations, is_asked); });
}

std::optional<WorthReport> worth_report(const accounting::State& state, const std::optional<Worth>& worth) {
  return worth ? std::optional(Writer(state, *worth).make()) : std::nullopt;
}

}  // namespace shapley::ledger
