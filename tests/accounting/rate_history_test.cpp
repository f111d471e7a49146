// Long histories of rates: late events at any depth, snapshots dense and thinned out, restarts. The properties of State
// use short scenarios, in which no snapshot is ever dropped.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "accounting/state/state.hpp"
#include "base/rng.hpp"
#include "state_fixture.hpp"

namespace shapley::accounting {
namespace {

constexpr std::int64_t k_busy_seconds = 700;

// Short jobs of three organizations on three nodes, one begin and one end nearly every second.
std::vector<Event> busy_history(std::uint64_t seed) {
  Rng rng(seed);
  const std::vector<std::string> organizations{"ann", "bob", "cid"};
  std::vector<Event> events;
  for (std::size_t i = 0; i < organizations.size(); ++i) {
    const std::string node = "n" + std::to_string(i);
    events.push_back(OwnershipStated{node, k_start, {{k_beginning_of_time, {{organizations[i], 1'000'000}}}}});
    events.push_back(CapacityChanged{node, k_start, 0, {k_micro * static_cast<std::int64_t>(2 + 3 * i)}});
  }
  for (std::uint32_t job = 1; job <= k_busy_seconds; ++job) {
    const Instant begin = k_start + Duration{static_cast<std::int64_t>(rng.below(k_busy_seconds))};
    const Instant end = begin + Duration{static_cast<std::int64_t>(rng.below(30))};
    const SegmentKey key{SegmentKind::run, {job}, begin, 0};
    const ProcessorMillionths cores{k_micro * static_cast<std::int64_t>(1 + rng.below(3))};
    events.push_back(
        SegmentOpened{key, organizations[rng.below(3)], begin, cores, {{"n" + std::to_string(rng.below(3)), cores}}});
    if (end <= k_start + Duration{k_busy_seconds}) events.push_back(SegmentClosed{key, end, CloseReason::ended, ""});
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return time_of(a) < time_of(b); });
  return events;
}

void apply_all(State& state, const std::vector<Event>& events) {
  for (const Event& event : events) RC_ASSERT(state.apply(event).has_value());
}

std::map<std::string, std::string> rates_of(State& state) {
  const EstimatorId rate = parse_estimator("shapley_rate").value();
  std::map<std::string, std::string> rates;  // by name: ids depend on who was met first
  for (const Standing& s : state.advance(k_start + Duration{k_busy_seconds + 10}).standings()) {
    rates[state.organizations()[s.organization.value]] =
        to_string(s.phi(rate).value) + ' ' + to_string(s.given(rate).value);
  }
  return rates;
}

RC_GTEST_PROP(RateHistory, TakesLateNewsOfAnyAge, ()) {
  auto events = busy_history(*rc::gen::arbitrary<std::uint64_t>());
  State prompt;
  apply_all(prompt, events);
  // One fact in a hundred comes late, by any amount; the levels are asked for now and then.
  std::vector<Event> late;
  State delayed({Duration{k_busy_seconds * 2}});
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  for (const Event& event : events) {
    if (rng.below(100) == 0) {
      late.push_back(event);
      continue;
    }
    apply_all(delayed, {event});
    if (rng.below(5) == 0) (void)delayed.standings();
    if (rng.below(100) == 0 && !late.empty()) {
      apply_all(delayed, {late.back()});
      late.pop_back();
    }
    if (rng.below(500) == 0) delayed = std::move(State::load(delayed.save(), {Duration{k_busy_seconds * 2}}).value());
  }
  apply_all(delayed, late);
  RC_ASSERT(rates_of(delayed) == rates_of(prompt));
}

RC_GTEST_PROP(RateHistory, ForgetsWithoutChange, ()) {
  const auto events = busy_history(*rc::gen::arbitrary<std::uint64_t>());
  State remembering;
  apply_all(remembering, events);
  State forgetful({Duration{300}});
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<Event> late;
  for (const Event& event : events) {
    // At most 200 seconds late, so that nothing is too old.
    while (!late.empty() && time_of(event) - time_of(late.front()) > Duration{200}) {
      apply_all(forgetful, {late.front()});
      late.erase(late.begin());
    }
    if (rng.below(50) == 0) {
      late.push_back(event);
      continue;
    }
    apply_all(forgetful, {event});
    if (rng.below(5) == 0) (void)forgetful.standings();
    if (rng.below(100) == 0) forgetful.compact();
  }
  apply_all(forgetful, late);
  RC_ASSERT(rates_of(forgetful) == rates_of(remembering));
}

TEST(RateHistory, SaysLittleMoreInACheckpointAfterMoreSeconds) {
  // Snapshots in a checkpoint grow with the logarithm of the history, not with the history.
  const auto landmarks_in = [](const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = text.find("\nlandmark "); at != std::string::npos; at = text.find("\nlandmark ", at + 1))
      ++count;
    return count;
  };
  State state;
  const auto events = busy_history(7);
  for (const Event& event : events) {
    ASSERT_TRUE(state.apply(event).has_value());
    (void)state.standings();
  }
  EXPECT_GE(landmarks_in(state.save()), 5U);
  EXPECT_LE(landmarks_in(state.save()), 13U);
}

}  // namespace
}  // namespace shapley::accounting
