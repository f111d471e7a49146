// What an estimator says is checked by a naive second computation; none goes without.
#include <algorithm>

#include <gtest/gtest.h>

#include "accounting/estimators/table.hpp"
#include "naive_books.hpp"

namespace shapley::accounting {
namespace {

TEST(Witness, ComputesEveryEstimatorASecondTime) {
  for (const EstimatorRow& row : estimators()) {
    EXPECT_NE(std::ranges::find(naive::estimators(), row.name), naive::estimators().end())
        << row.name << " has no naive computation in tests/accounting/naive_books.cpp";
  }
}

}  // namespace
}  // namespace shapley::accounting
