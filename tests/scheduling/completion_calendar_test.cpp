// The calendar against an ordered map.
#include "scheduling/completion_calendar.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace shapley::scheduling {
namespace {

RC_GTEST_PROP(CompletionCalendar, GivesWhatAnOrderedMapGives, ()) {
  CompletionCalendar calendar;
  std::multimap<std::int64_t, std::uint32_t> witness;
  std::int64_t now = 0;
  std::uint32_t label = 0;
  const auto add_some = [&] {
    const int count = *rc::gen::inRange(0, 4);
    const int alike = *rc::gen::inRange(1, 40);  // more than a chunk holds
    for (int i = 0; i < count; ++i) {
      // Near, about the wheel's turn of 2^14 s, and far.
      const std::int64_t ahead =
          *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(1, 100), rc::gen::inRange<std::int64_t>(16'000, 17'000),
                          rc::gen::inRange<std::int64_t>(1, 1'000'000));
      std::vector<std::uint32_t> together;
      for (int copy = 0; copy < alike; ++copy) {
        together.push_back(label);
        witness.emplace(now + ahead, label++);
      }
      if (alike % 2 == 0) {
        calendar.add(now + ahead, together);
      } else {
        for (const std::uint32_t entry : together) calendar.add(now + ahead, entry);
      }
    }
  };
  for (int step = 0; step < 40; ++step) {
    add_some();
    RC_ASSERT(calendar.next() == (witness.empty() ? CompletionCalendar::k_never : witness.begin()->first));
    if (witness.empty()) continue;
    now = witness.begin()->first;
    std::vector<std::uint32_t> expected;
    for (const auto& [end, one] : witness) {
      if (end == now) expected.push_back(one);
    }
    witness.erase(now);
    std::vector<std::uint32_t> found;
    bool added = false;
    calendar.take(now, [&](std::uint32_t entry) {
      found.push_back(entry);
      if (!added) add_some();  // a completion starts jobs
      added = true;
    });
    std::sort(found.begin(), found.end());
    RC_ASSERT(found == expected);
  }
}

}  // namespace
}  // namespace shapley::scheduling
