// Summaries of many windows. Their distributions are heavy-tailed, hence medians beside means; windows overlap, hence
// standard errors that do not assume independence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace shapley::sim {

struct Summary {
  double mean = 0;
  double median = 0;
  double deviation = 0;                  // of one window, with n - 1; 0 for a single window
  std::optional<double> standard_error;  // of the mean; none with fewer than two clusters
};

// Cluster-robust: with clusters g of observations that share a cluster number, G of them, n observations,
//     SE^2 = G / (G - 1) * sum over g of ( sum over i in g of (x_i - mean) )^2 / n^2.
// REQUIRES: values and clusters have one positive size.
[[nodiscard]] Summary summarize(const std::vector<double>& values, const std::vector<std::int64_t>& clusters);

}  // namespace shapley::sim
