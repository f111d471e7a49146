// What an estimator says is checked by a naive second computation; none goes without.
#include <algorithm>

#include <gtest/gtest.h>

#include "accounting/estimators/table.hpp"
#include "naive_books.hpp"

namespace shapley::accounting {
namespace {

TEST(Witness, ComputesEveryEstimatorASecondTime) {
  for (const EstimatorRow& row : estimators()) {
    EXPECT_NE(std::ranges::find(naive::k_estimators, row.name), std::end(naive::k_estimators))
        << row.name << " has no naive computation in tests/accounting/naive_books.cpp";
  }
}

}  // namespace
}  // namespace shapley::accounting
