#include "ledger/reports/worth_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "ledger/reports/report.hpp"

namespace shapley::ledger {

namespace {

using accounting::Comparison;
using Worth = accounting::CooperationWorth;
using nlohmann::json;

constexpr const char* k_limits =
    "Alone is by virtual schedules, which know processors and jobs only: memory, topology, partitions and the width of "
    "jobs are ignored. That makes what would have been got alone look better than it is, most of all for one "
    "organization or a few";

// "34 %", "2.5 %", "less than 0.1 %".
std::string percent_text(double percent) {
  const double amount = std::fabs(percent);
  if (amount < 0.1) return "less than 0.1 %";
  std::array<char, 400> buffer{};
  std::snprintf(buffer.data(), buffer.size(), amount < 10 ? "%.1f %%" : "%.0f %%", amount);
  return buffer.data();
}

// What is true, but no amount worth reading, is nothing.
std::string amount_text(double core_hours) {
  return core_hours == 0 ? "nothing" : format_core_hours(core_hours);
}

// " 12.4 core-hours instead of 9.3, on average this period".
std::string instead(double got, double other) {
  return amount_text(got) + (got == 0 ? "" : " core-hours") + " instead of " + amount_text(other) +
         ", on average this period";
}

int sign_of(Utility utility) {
  return utility.value < 0 ? -1 : (utility.value > 0 ? 1 : 0);
}

class Writer {
 public:
  Writer(const accounting::State& state, const Worth& worth)
      : worth_(worth), names_(state.organizations()), order_(state.configured_order()) {}

  [[nodiscard]] json make() const {
    json rows = json::array();
    for (const Worth::Row* row : in_order(worth_.rows, &Worth::Row::organization)) rows.push_back(row_of(*row));
    json pairs = json::array();
    for (const Worth::Coalition* pair : in_order(worth_.pairs, &Worth::Coalition::members))
      pairs.push_back(coalition_of(*pair));
    return {{"begin", worth_.begin.value},
            {"begin_utc", format_instant(worth_.begin)},
            {"end", worth_.end.value},
            {"end_utc", format_instant(worth_.end)},
            {"all_coalitions", worth_.is_of_all_coalitions},
            {"provisional", worth_.together().is_provisional},
            {"organizations", std::move(rows)},
            {"pairs", std::move(pairs)},
            {"together", together()},
            {"leaving", worth_.leaving ? leaving(*worth_.leaving) : json(nullptr)},
            {"limits", k_limits}};
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

  // Amounts on average in core-hours and exact, and the gain of cooperating; without anything alone it has no per cent.
  [[nodiscard]] json comparison(const Comparison& is) const {
    const double got = average(is.got.utility);
    const double alone = average(is.alone.utility);
    return {{"psi_core_hours", got},
            {"alone_core_hours", alone},
            {"gain_core_hours", average(is.gain())},
            {"gain_percent", alone == 0 ? json(nullptr) : json(100 * average(is.gain()) / alone)},
            {"psi", format_micro(is.got.utility.value)},
            {"alone", format_micro(is.alone.utility.value)},
            {"got_processor_seconds", format_micro(is.got.work.value)},
            {"alone_processor_seconds", format_micro(is.alone.work.value)},
            {"provisional", is.is_provisional},
            {"bounds", bounds(is)}};
  }

  // Between which amounts it may end; null: nothing can change it.
  [[nodiscard]] json bounds(const Comparison& is) const {
    if (!is.is_provisional) return nullptr;
    return {{"never_end_core_hours", average(is.alone.utility)},
            {"end_now_core_hours", average(is.alone_if_ended.utility)},
            {"never_end", format_micro(is.alone.utility.value)},
            {"end_now", format_micro(is.alone_if_ended.utility.value)}};
  }

  [[nodiscard]] json row_of(const Worth::Row& row) const {
    json object = comparison(row.is);
    object["name"] = names_[row.organization.value];
    object["title"] = names_[row.organization.value];
    object["sentence"] =
        worth_sentence({average(row.is.got.utility), average(row.is.alone.utility), sign_of(row.is.gain())});
    return object;
  }

  [[nodiscard]] json names_of(const std::vector<OrgId>& members) const {
    json names = json::array();
    for (const std::size_t place : place_of(members)) names.push_back(names_[order_[place].value]);
    return names;
  }

  [[nodiscard]] json coalition_of(const Worth::Coalition& coalition) const {
    json object = comparison(coalition.is);
    object["organizations"] = names_of(coalition.members);
    return object;
  }

  [[nodiscard]] json together() const {
    const Comparison all = worth_.together();
    json object = comparison(all);
    const double got = average(all.got.utility);
    const double alone = average(all.alone.utility);
    const int gain = sign_of(all.gain());
    std::string more = gain == 0 ? "as much as" : (gain > 0 ? "more than" : "less than");
    if (gain != 0 && alone != 0) more = percent_text(100 * (got - alone) / alone) + ' ' + more;
    object["sentence"] = "together all have got " + more + " each alone: " + instead(got, alone);
    return object;
  }

  [[nodiscard]] std::string nobody_would_gain() const {
    return worth_.is_of_all_coalitions
               ? "no coalition would have got more by leaving"
               : "no coalition of one, two, all but two or all but one would have got more by leaving; others were not "
                 "looked at";
  }

  // The gain is that of leaving.
  [[nodiscard]] json leaving(const Worth::Coalition& coalition) const {
    json object = coalition_of(coalition);
    const double got = average(coalition.is.got.utility);
    const double alone = average(coalition.is.alone.utility);
    object["gain_core_hours"] = average(-coalition.is.gain());
    object["gain_percent"] = got == 0 ? json(nullptr) : json(100 * (alone - got) / got);
    if (sign_of(coalition.is.gain()) >= 0) {
      object["sentence"] = nobody_would_gain();
      return object;
    }
    std::vector<std::string> names;
    for (const json& name : object["organizations"]) names.push_back(name.get<std::string>());
    std::string who = names.front();
    for (std::size_t i = 1; i < names.size(); ++i) who += (i + 1 == names.size() ? " and " : ", ") + names[i];
    object["sentence"] = who + " would have gained most by leaving: alone " +
                         (got == 0 ? "" : percent_text(100 * (alone - got) / got) + " more, ") + instead(alone, got);
    return object;
  }

  const Worth& worth_;
  const std::vector<std::string>& names_;
  std::vector<OrgId> order_;
};

}  // namespace

std::string worth_sentence(const WorthSentence& of) {
  const std::string average = ", on average this period";
  if (of.got == 0 && of.alone == 0) return "has got nothing, and would have got nothing alone";
  if (of.alone == 0)
    return "has got " + format_core_hours(of.got) + " core-hours" + average + ", and would have got nothing alone";
  if (of.gain == 0)
    return "has got as much as it would have got alone: " + format_core_hours(of.got) + " core-hours" + average;
  if (of.got == 0)
    return "has got nothing, and would have got " + format_core_hours(of.alone) + " core-hours alone" + average;
  return "has got " + percent_text(100 * (of.got - of.alone) / of.alone) + (of.gain > 0 ? " more" : " less") +
         " than it would have got alone: " + instead(of.got, of.alone);
}

void keep_only(json& worth, const std::vector<std::string>& organizations) {
  if (worth.is_null()) return;
  const auto is_asked = [&](const json& name) {
    return std::ranges::find(organizations, name.get<std::string>()) != organizations.end();
  };
  const auto keep = [](json& rows, const auto& keeps) {
    json kept = json::array();
    for (json& row : rows) {
      if (keeps(row)) kept.push_back(std::move(row));
    }
    rows = std::move(kept);
  };
  keep(worth["organizations"], [&](const json& row) { return is_asked(row["name"]); });
  keep(worth["pairs"], [&](const json& pair) { return std::ranges::any_of(pair["organizations"], is_asked); });
}

json worth_report(const accounting::State& state, const std::optional<Worth>& worth) {
  return worth ? Writer(state, *worth).make() : json(nullptr);
}

}  // namespace shapley::ledger
