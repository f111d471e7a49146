#include "sim/output/comparison_report.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "base/counted.hpp"
#include "sim/json.hpp"

namespace shapley::sim {

namespace {

std::vector<double> unfairness_of(const std::vector<WindowResult>& results, std::size_t policy) {
  std::vector<double> values;
  for (const WindowResult& result : results)
    values.push_back(static_cast<double>(result.delta_psi[policy]) / static_cast<double>(result.work));
  return values;
}

std::vector<std::int64_t> clusters_of(const ComparisonSettings& settings, const std::vector<WindowResult>& results) {
  std::vector<std::int64_t> clusters;
  for (const WindowResult& result : results) clusters.push_back(result.begin.value / settings.length.value);
  return clusters;
}

std::string error_text(const std::optional<double>& error) {
  return error ? short_number(*error) : "-";
}

std::string hundredths(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << value;
  return text.str();
}

// Delta method: the error of mean(x) / mean(y) is that of the mean of x - ratio * y, divided by mean(y).
std::optional<double> error_of_ratio(const std::vector<double>& values, const std::vector<double>& base, double ratio,
                                     double base_mean, const std::vector<std::int64_t>& clusters) {
  std::vector<double> residuals;
  for (std::size_t i = 0; i < values.size(); ++i) residuals.push_back(values[i] - ratio * base[i]);
  const auto error = summarize(residuals, clusters).standard_error;
  return error ? std::optional(*error / base_mean) : std::nullopt;
}

Json json_of(const Summary& summary) {
  return {{"mean", summary.mean},
          {"median", summary.median},
          {"standard_error", summary.standard_error ? Json(*summary.standard_error) : Json(nullptr)},
          {"standard_deviation", summary.deviation}};
}

}  // namespace

std::string short_number(double value) {
  std::ostringstream text;
  text << std::setprecision(4) << value;
  return text.str();
}

std::vector<PolicySummary> summarize_policies(const ComparisonSettings& settings,
                                              const std::vector<WindowResult>& results, const std::string& baseline) {
  const auto clusters = clusters_of(settings, results);
  const auto place = std::find(settings.policies.begin(), settings.policies.end(), baseline);
  const auto base = unfairness_of(results, static_cast<std::size_t>(place - settings.policies.begin()));
  const double base_mean = summarize(base, clusters).mean;
  std::vector<PolicySummary> summaries;
  for (std::size_t p = 0; p < settings.policies.size(); ++p) {
    const auto values = unfairness_of(results, p);
    std::vector<double> differences;
    for (std::size_t i = 0; i < values.size(); ++i) differences.push_back(values[i] - base[i]);
    PolicySummary summary{.policy = settings.policies[p],
                          .unfairness = summarize(values, clusters),
                          .difference = summarize(differences, clusters),
                          .ratio = 0,
                          .ratio_error = std::nullopt};
    if (base_mean > 0) {
      summary.ratio = summary.unfairness.mean / base_mean;
      summary.ratio_error = error_of_ratio(values, base, summary.ratio, base_mean, clusters);
    }
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

void print_table(const ComparisonSettings& settings, const std::vector<WindowResult>& results,
                 const std::vector<PolicySummary>& summaries, const std::string& baseline, std::ostream& out) {
  out << counted(results.size(), "window") << " of " << settings.length.value << " s, "
      << counted(settings.organizations, "organization") << ", " << counted(settings.processors, "processor") << " ("
      << name_of(settings.endowment) << "), seed " << settings.seed
      << (settings.parallel == workload::ParallelJobs::rigid ? ", rigid parallel jobs" : "")
      << "; unfairness = delta-psi / p_tot against " << settings.reference << ", in seconds\n\n";
  std::size_t width = 22;
  for (const PolicySummary& summary : summaries) width = std::max(width, summary.policy.size() + 1);
  const int name_width = static_cast<int>(width);
  out << std::left << std::setw(name_width) << "POLICY" << std::right << std::setw(10) << "MEAN" << std::setw(10)
      << "STD.ERR" << std::setw(10) << "MEDIAN" << std::setw(10) << "STD.DEV" << std::setw(8) << "RATIO" << std::setw(9)
      << "STD.ERR" << std::setw(12) << "DIFFERENCE" << std::setw(10) << "STD.ERR" << '\n';
  for (const PolicySummary& summary : summaries) {
    out << std::left << std::setw(name_width) << summary.policy << std::right << std::setw(10)
        << short_number(summary.unfairness.mean) << std::setw(10) << error_text(summary.unfairness.standard_error)
        << std::setw(10) << short_number(summary.unfairness.median) << std::setw(10)
        << short_number(summary.unfairness.deviation) << std::setw(8) << hundredths(summary.ratio) << std::setw(9)
        << (summary.ratio_error ? hundredths(*summary.ratio_error) : "-") << std::setw(12)
        << short_number(summary.difference.mean) << std::setw(10) << error_text(summary.difference.standard_error)
        << '\n';
  }
  out << "\nRATIO and DIFFERENCE are to " << baseline << ", window by window; standard errors are cluster-robust.\n";
}

Json report_json(const ComparisonSettings& settings, const std::vector<WindowResult>& results,
                 const std::vector<PolicySummary>& summaries, const std::string& baseline) {
  Json json = {{"settings", to_json(settings)}, {"baseline", baseline}, {"windows_done", results.size()}};
  json["summary"] = Json::array();
  for (const PolicySummary& summary : summaries) {
    Json entry = {{"policy", summary.policy}};
    entry.update(json_of(summary.unfairness));
    entry["ratio"] = summary.ratio;
    entry["ratio_standard_error"] = summary.ratio_error ? Json(*summary.ratio_error) : Json(nullptr);
    entry["difference"] = json_of(summary.difference);
    json["summary"].push_back(std::move(entry));
  }
  json["windows"] = Json::array();
  for (const WindowResult& result : results) json["windows"].push_back(to_json(settings, result));
  return json;
}

}  // namespace shapley::sim
