#include "sim/comparison/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace shapley::sim {

Summary summarize(const std::vector<double>& values, const std::vector<std::int64_t>& clusters) {
  const auto n = static_cast<double>(values.size());
  Summary summary;
  summary.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;

  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  summary.median = sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;

  double squares = 0;
  std::map<std::int64_t, double> sums;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double residual = values[i] - summary.mean;
    squares += residual * residual;
    sums[clusters[i]] += residual;
  }
  if (values.size() > 1) summary.deviation = std::sqrt(squares / (n - 1));
  if (sums.size() > 1) {
    double between = 0;
    for (const auto& [cluster, sum] : sums) between += sum * sum;
    const auto groups = static_cast<double>(sums.size());
    summary.standard_error = std::sqrt(groups / (groups - 1) * between) / n;
  }
  return summary;
}

}  // namespace shapley::sim
