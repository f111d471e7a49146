// Adjustments of a ledger's books, planned and made as shapleyd does.
#pragma once

#include <utility>

#include <gtest/gtest.h>

#include "ledger/adjustments/adjustment.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger::testing {

inline constexpr const char* k_reason = "agreed on 3 November";

inline Expected<AdjustmentPlan> plan(const Ledger& ledger, decltype(AdjustmentAsked::what) what, Instant now) {
  const Recovered books = must(ledger.recover());
  return plan_adjustment(ledger, books.state, {std::move(what), "uid 0 (root)", k_reason}, now);
}

inline accounting::AdjustmentMade make(Ledger& ledger, decltype(AdjustmentAsked::what) what, Instant now) {
  const AdjustmentPlan planned = must(plan(ledger, std::move(what), now));
  const AppendResult appended = must(ledger.append(planned.events(), now));
  EXPECT_EQ(appended.appended, planned.events().size());
  EXPECT_TRUE(appended.conflicts.empty());
  EXPECT_TRUE(appended.archived.empty());
  return planned.made;
}

}  // namespace shapley::ledger::testing
