#include "sim/experiments/strategy/strategy_report.hpp"

#include <cstdint>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "base/counted.hpp"

namespace shapley::sim {

namespace {

constexpr int k_name_width = 14;
constexpr int k_remedy_width = 12;
constexpr int k_figure_width = 17;

// "+1.2 (0.3)": the mean with its sign, and its standard error.
std::string figure(const Summary& summary, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << std::showpos << summary.mean + 0.0 << std::noshowpos;
  if (summary.standard_error) text << " (" << *summary.standard_error << ')';
  return text.str();
}

void print_effect(const StrategyEffect& effect, std::ostream& out) {
  out << std::setw(k_figure_width) << figure(effect.work_percent, 2) << std::setw(k_figure_width)
      << (effect.phi_percent ? figure(*effect.phi_percent, 2) : "-") << std::setw(k_figure_width)
      << figure(effect.delay_s, 1);
}

Summary summarize_seeds(const std::vector<double>& values) {
  std::vector<std::int64_t> clusters;
  for (std::size_t i = 0; i < values.size(); ++i) clusters.push_back(static_cast<std::int64_t>(i));
  return summarize(values, clusters);
}

Json to_json(const Summary& summary) {
  return {{"mean", summary.mean},
          {"standard_error", summary.standard_error ? Json(*summary.standard_error) : Json(nullptr)}};
}

Json to_json(const StrategyEffect& effect) {
  return {{"work_percent", to_json(effect.work_percent)},
          {"phi_percent", effect.phi_percent ? to_json(*effect.phi_percent) : Json(nullptr)},
          {"delay_s", to_json(effect.delay_s)}};
}

}  // namespace

StrategyEffect summarize_changes(const std::vector<StrategyChange>& changes) {
  std::vector<double> work;
  std::vector<double> phi;
  std::vector<double> delay;
  for (const StrategyChange& change : changes) {
    work.push_back(change.work_percent);
    if (change.phi_percent) phi.push_back(*change.phi_percent);
    delay.push_back(change.delay_s);
  }
  StrategyEffect effect{summarize_seeds(work), std::nullopt, summarize_seeds(delay)};
  if (phi.size() == changes.size()) effect.phi_percent = summarize_seeds(phi);
  return effect;
}

void print_strategy(const StrategyTable& table, std::ostream& out) {
  out << "## " << table.name << ", " << table.contribution << ": " << table.about << "; "
      << counted(table.seeds, "seed") << "\n\n"
      << std::left << std::setw(k_name_width) << "ATTACK" << std::setw(k_remedy_width) << "REMEDY" << std::right;
  for (const char* when : {"", "before: "}) {
    out << std::setw(k_figure_width) << std::string(when) + "WORK %" << std::setw(k_figure_width)
        << std::string(when) + "PHI %" << std::setw(k_figure_width) << std::string(when) + "DELAY s";
  }
  out << '\n';
  for (const AttackResult& row : table.rows) {
    out << std::left << std::setw(k_name_width) << row.attack << std::setw(k_remedy_width) << row.remedy << std::right;
    print_effect(row.with, out);
    if (row.before) print_effect(*row.before, out);
    out << '\n';
  }
  out << '\n';
}

void print_attacks(const StrategyTable& table, std::ostream& out) {
  out << "Changes of the attacker's work, contribution and mean delay against playing honestly, mean (standard error)\n"
         "over seeds; before: without the remedy.\n\n";
  for (const AttackResult& row : table.rows)
    out << std::left << std::setw(k_name_width) << row.attack << row.about << '\n';
  out << '\n';
}

Json to_json(const StrategyTable& table) {
  Json rows = Json::array();
  for (const AttackResult& row : table.rows) {
    rows.push_back({{"attack", row.attack},
                    {"about", row.about},
                    {"remedy", row.remedy == "-" ? Json(nullptr) : Json(row.remedy)},
                    {"change", to_json(row.with)},
                    {"change_without_remedy", row.before ? to_json(*row.before) : Json(nullptr)}});
  }
  return {{"case", table.name},
          {"about", table.about},
          {"contribution", table.contribution},
          {"seeds", table.seeds},
          {"attacks", rows}};
}

}  // namespace shapley::sim
