// Since when two organizations stand as they do, against books that are asked every second.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "accounting/state/ranking.hpp"
#include "ledger/reports/compare_report.hpp"
#include "tests/accounting/scenario.hpp"

namespace shapley::ledger {
namespace {

using namespace accounting;

struct Seen {
  bool order = false;
  bool keys = false;
};

// Which of the two the books put first at t, of all events up to then.
std::optional<Seen> seen_at(const std::vector<Event>& events, Instant t, const std::string& a, const std::string& b) {
  State state;
  for (const Event& event : events) {
    if (time_of(event) <= t) RC_ASSERT(state.apply(event).has_value());
  }
  const std::vector<Rank> ranks = state.advance(t).ranking();
  const auto place_of = [&](const std::string& name) { return std::ranges::find(ranks, name, &Rank::organization); };
  const auto one = place_of(a);
  const auto two = place_of(b);
  if (one == ranks.end() || two == ranks.end() || state.period_begin() == k_beginning_of_time) return std::nullopt;
  const std::vector<OrgId> configured = state.configured_order();
  const bool a_is_named_first = std::ranges::find(configured, *state.find_organization(a)) <
                                std::ranges::find(configured, *state.find_organization(b));
  return Seen{.order = one < two, .keys = one->key == two->key ? a_is_named_first : one->key > two->key};
}

RC_GTEST_PROP(PairHistory, IsTheSecondInWhichTheBooksTurnedLast, ()) {
  std::vector<Event> events = (*scenario::arbitrary()).events;
  const auto horizon = *rc::gen::element<std::int64_t>(0, 5, 1'000);
  const auto guarantee = *rc::gen::element<std::int64_t>(0, 500'000, 1'000'000);
  events.emplace_back(RankingDeclared{scenario::k_begin, "direct_contr", horizon, guarantee, {}});
  std::ranges::stable_sort(events, {}, [](const Event& event) { return time_of(event); });
  const Instant end = scenario::Shape{}.end();
  State all;
  scenario::apply_all(all, events);
  std::vector<std::string> names = all.organizations();
  std::erase(names, std::string(k_commons));
  const std::string a = *rc::gen::elementOf(names);
  const std::string b = *rc::gen::elementOf(names);
  RC_PRE(a != b);

  // As books_then() computes it.
  State state;
  PairWatch watch(a, b);
  for (std::size_t i = 0; i < events.size(); ++i) {
    RC_ASSERT(state.apply(events[i]).has_value());
    const Instant next = i + 1 < events.size() ? time_of(events[i + 1]) : end;
    if (next > time_of(events[i])) watch.watch(state, next);
  }

  std::optional<PairHistory> naive;
  std::optional<Seen> last;
  for (Instant t = scenario::k_begin; t < end; t = t + Duration{1}) {
    const std::optional<Seen> seen = seen_at(events, t, a, b);
    if (!seen) continue;
    if (!naive) naive = PairHistory{t, t};
    if (last && last->order != seen->order) naive->order = t;
    if (last && last->keys != seen->keys) naive->keys = t;
    last = seen;
  }
  const auto told = watch.history();
  RC_ASSERT(told.has_value() == naive.has_value());
  if (!told) return;
  RC_ASSERT(told->order == naive->order);
  RC_ASSERT(told->keys == naive->keys);
  RC_TAG(naive->keys > scenario::k_begin ? "a turn" : "no turn");
}

}  // namespace
}  // namespace shapley::ledger
