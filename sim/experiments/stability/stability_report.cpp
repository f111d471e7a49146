#include "sim/experiments/stability/stability_report.hpp"

#include <algorithm>
#include <array>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "base/calendar.hpp"
#include "base/counted.hpp"
#include "charts/plot.hpp"
#include "game/serving_order.hpp"
#include "sim/experiments/stability/stability_rules.hpp"
#include "sim/registry.hpp"

namespace shapley::sim {

namespace {

constexpr int k_rule_width = 32;

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

double days(Duration duration) {
  return static_cast<double>(duration.value) / static_cast<double>(k_day_s);
}

// Null where the case was not run under this rule.
const StabilityMeasures* measures_of(const CaseResult& result, const std::string& rule) {
  const auto place =
      std::find_if(result.rules.begin(), result.rules.end(), [&](const RuleMeasures& m) { return m.rule == rule; });
  return place == result.rules.end() ? nullptr : &place->measures;
}

const PolicySummary* summary_of(const WindowsResult& result, const std::string& rule) {
  const auto place = std::find_if(result.summaries.begin(), result.summaries.end(),
                                  [&](const PolicySummary& s) { return s.policy == rule; });
  return place == result.summaries.end() ? nullptr : &*place;
}

std::string place_of(const WindowsResult& result) {
  return result.trace + ", windows of " + short_number(static_cast<double>(result.settings.length.value)) + " s";
}

void judge_case(const CaseResult& result, const std::string& rule, std::vector<Criterion>& criteria) {
  const StabilityMeasures* found = measures_of(result, rule);
  const StabilityMeasures* fair = measures_of(result, k_fair_share);
  if (found == nullptr || fair == nullptr) return;
  criteria.push_back({k_wait, result.name, rule, days(found->longest_wait), k_wait_factor * days(fair->longest_wait)});
  criteria.push_back({k_deviation, result.name, rule, 100 * found->deviation_late,
                      100 * (k_deviation_factor * fair->deviation_late + k_deviation_margin)});
}

bool is_default(const std::string& rule) {
  const auto parsed = parse_policy(rule, {});
  return parsed && parsed->rule == game::k_default_rule && !parsed->once;
}

// Of every rule: "broken / asked" by criterion. REQUIRES: the criteria of a rule lie together.
void print_broken(const std::vector<Criterion>& criteria, std::ostream& out) {
  constexpr std::array k_kinds{k_wait, k_deviation, k_unfairness};
  out << "## Criteria broken, of those asked\n\n" << std::left << std::setw(k_rule_width) << "RULE" << std::right;
  for (const char* kind : k_kinds) out << std::setw(30) << kind;
  out << '\n';
  for (auto first = criteria.begin(); first != criteria.end();) {
    const auto last =
        std::find_if(first, criteria.end(), [&](const Criterion& criterion) { return criterion.rule != first->rule; });
    out << std::left << std::setw(k_rule_width) << first->rule << std::right;
    for (const char* kind : k_kinds) {
      const auto of_kind = [&](const Criterion& criterion) { return criterion.what == kind; };
      const auto asked = std::count_if(first, last, of_kind);
      const auto broken = std::count_if(first, last, [&](const Criterion& c) { return of_kind(c) && !c.holds(); });
      out << std::setw(30) << std::to_string(broken) + " / " + std::to_string(asked);
    }
    out << '\n';
    first = last;
  }
}

std::size_t most_varying(const StabilityMeasures& measures) {
  std::size_t most = 0;
  for (std::size_t u = 1; u < measures.shares.size(); ++u)
    if (deviation_of(measures.shares[u]) > deviation_of(measures.shares[most])) most = u;
  return most;
}

}  // namespace

std::vector<Criterion> judge(const std::vector<std::string>& rules, const std::vector<CaseResult>& cases,
                             const std::vector<WindowsResult>& windows) {
  std::vector<Criterion> criteria;
  for (const std::string& rule : rules) {
    for (const CaseResult& result : cases) judge_case(result, rule, criteria);
    for (const WindowsResult& result : windows) {
      const PolicySummary* found = summary_of(result, rule);
      const PolicySummary* measure = summary_of(result, k_measure);
      if (result.settings.reference != "ref" || found == nullptr || measure == nullptr) continue;
      criteria.push_back({k_unfairness, place_of(result), rule, found->unfairness.mean,
                          k_unfairness_factor * measure->unfairness.mean});
    }
  }
  return criteria;
}

void print_case(const CaseResult& result, std::ostream& out) {
  out << "## " << result.name << ": " << result.about << "\n\n"
      << std::left << std::setw(k_rule_width) << "RULE" << std::right << std::setw(10) << "LONGEST" << std::setw(10)
      << "NO START" << std::setw(9) << "SD LATE" << std::setw(9) << "SD ALL" << std::setw(9) << "SD HOUR"
      << "  MEAN WAIT OF EACH ORGANIZATION\n"
      << std::left << std::setw(k_rule_width) << "" << std::right << std::setw(10) << "days" << std::setw(10) << "days"
      << std::setw(9) << "points" << std::setw(9) << "points" << std::setw(9) << "points"
      << "  hours\n";
  for (const auto& [rule, measures, hourly] : result.rules) {
    out << std::left << std::setw(k_rule_width) << rule << std::right << std::setw(10)
        << fixed(days(measures.longest_wait), 1) << std::setw(10) << fixed(days(measures.longest_without_start), 1)
        << std::setw(9) << fixed(100 * measures.deviation_late, 1) << std::setw(9) << fixed(100 * measures.deviation, 1)
        << std::setw(9) << fixed(100 * hourly, 1) << ' ';
    for (const double wait : measures.mean_wait_s) out << std::setw(7) << fixed(wait / 3600, 0);
    out << '\n';
  }
  out << '\n';
}

void print_windows(const WindowsResult& result, std::ostream& out) {
  out << "## " << place_of(result) << ": unfairness of " << counted(result.windows, "window") << " against "
      << result.settings.reference << "\n\n"
      << std::left << std::setw(k_rule_width) << "RULE" << std::right << std::setw(11) << "MEAN, s" << std::setw(11)
      << "STD.ERR" << std::setw(9) << "RATIO" << std::setw(9) << "STD.ERR" << '\n';
  for (const PolicySummary& summary : result.summaries) {
    const auto& error = summary.unfairness.standard_error;
    out << std::left << std::setw(k_rule_width) << summary.policy << std::right << std::setw(11)
        << short_number(summary.unfairness.mean) << std::setw(11) << (error ? short_number(*error) : "-")
        << std::setw(9) << fixed(summary.ratio, 2) << std::setw(9)
        << (summary.ratio_error ? fixed(*summary.ratio_error, 2) : "-") << '\n';
  }
  out << "\nRATIO is to the first rule.\n\n";
}

void print_criteria(const std::vector<Criterion>& criteria, std::ostream& out) {
  if (criteria.empty()) return;
  out << "## Does the default hold (horizon " << game::format_horizon(game::k_default_rule.horizon) << ", guarantee "
      << game::format_guarantee(game::k_default_rule.guarantee) << ", weight of what runs "
      << game::format_running_weight(game::k_default_rule.running) << ")?\n\n"
      << std::left << std::setw(k_rule_width) << "RULE" << std::setw(34) << "WHERE" << std::setw(30) << "WHAT"
      << std::right << std::setw(10) << "FOUND" << std::setw(10) << "ALLOWED"
      << "\n";
  std::size_t kept = 0;
  std::size_t asked = 0;
  for (const Criterion& criterion : criteria) {
    if (!is_default(criterion.rule)) continue;
    ++asked;
    kept += criterion.holds() ? 1U : 0U;
    out << std::left << std::setw(k_rule_width) << criterion.rule << std::setw(34) << criterion.where << std::setw(30)
        << criterion.what << std::right << std::setw(10) << fixed(criterion.found, 2) << std::setw(10)
        << fixed(criterion.allowed, 2) << (criterion.holds() ? "  holds" : "  BROKEN") << '\n';
  }
  out << '\n' << kept << " of " << asked << " hold.\n\n";
  print_broken(criteria, out);
}

Json to_json(const CaseResult& result) {
  Json rules = Json::array();
  for (const auto& [rule, measures, hourly] : result.rules) {
    rules.push_back({{"rule", rule},
                     {"longest_wait_s", measures.longest_wait.value},
                     {"longest_without_start_s", measures.longest_without_start.value},
                     {"deviation_late", measures.deviation_late},
                     {"deviation", measures.deviation},
                     {"deviation_hourly", hourly},
                     {"mean_wait_s", measures.mean_wait_s},
                     {"weekly_shares", measures.shares}});
  }
  return {{"case", result.name}, {"about", result.about}, {"rules", rules}};
}

Json to_json(const WindowsResult& result) {
  Json rules = Json::array();
  for (const PolicySummary& summary : result.summaries) {
    const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
    rules.push_back({{"rule", summary.policy},
                     {"mean", summary.unfairness.mean},
                     {"standard_error", or_null(summary.unfairness.standard_error)},
                     {"ratio", summary.ratio},
                     {"ratio_standard_error", or_null(summary.ratio_error)}});
  }
  return {{"trace", result.trace},
          {"length", result.settings.length.value},
          {"reference", result.settings.reference},
          {"windows", result.windows},
          {"rules", rules}};
}

Json to_json(const Criterion& criterion) {
  return {{"rule", criterion.rule},   {"where", criterion.where},     {"what", criterion.what},
          {"found", criterion.found}, {"allowed", criterion.allowed}, {"holds", criterion.holds()}};
}

Expected<void> plot_case(const std::filesystem::path& file, const CaseResult& result,
                         const std::vector<std::string>& rules) {
  std::vector<charts::PlotLine> lines;
  std::size_t organization = 0;
  for (const std::string& rule : rules) {
    const StabilityMeasures* measures = measures_of(result, rule);
    if (measures == nullptr) continue;
    if (lines.empty()) organization = most_varying(*measures);
    charts::PlotLine line{.label = rule, .x = {}, .y = {}, .dashed = rule == k_fair_share, .color = lines.size()};
    for (std::size_t week = 0; week < measures->shares[organization].size(); ++week) {
      line.x.push_back(static_cast<double>(week + 1));
      line.y.push_back(100 * measures->shares[organization][week]);
    }
    lines.push_back(std::move(line));
  }
  if (lines.empty()) return {};
  return charts::plot_lines(
      file,
      {.title = "Organization " + std::to_string(organization) + "'s share of the machine: " + result.about,
       .x = "week",
       .y = "per cent"},
      lines);
}

}  // namespace shapley::sim
