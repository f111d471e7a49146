#include "sim/experiments/consortium.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "base/calendar.hpp"
#include "base/contract.hpp"
#include "base/rng.hpp"
#include "base/text.hpp"
#include "charts/plot.hpp"
#include "sim/experiments/stability.hpp"
#include "sim/registry.hpp"
#include "sim/results.hpp"

namespace shapley::sim {

namespace {

using scheduling::Instance;

constexpr Duration k_one_week{7 * k_day_s};
constexpr Duration k_made_length{40 * k_one_week.value};
constexpr std::uint32_t k_part = 16;  // processors of one organization on one cluster
constexpr std::size_t k_members = 3;
constexpr std::array<std::string_view, 3> k_case_names{"cross", "repay", "symmetric"};

// Adds the jobs that organizations send on one cluster in [begin, end), by the processors that these keep busy.
void send(Instance& cluster, Instant begin, Instant end, const std::array<double, k_members>& busy, Rng& rng) {
  for (std::uint32_t u = 0; u < k_members; ++u)
    add_made_jobs(cluster, u, begin, end, busy[u] * static_cast<double>((end - begin).value), rng);
}

using Busy = std::array<double, k_members>;

ConsortiumCase steady_case(std::string name, std::string about, Duration length, const std::array<Busy, 2>& busy,
                           Rng& rng) {
  ConsortiumCase made{std::move(name), std::move(about), {}};
  for (const Busy& on_one : busy) {
    Instance& cluster = made.clusters.emplace_back();
    cluster.processors.assign(k_members, k_part);
    cluster.end = Instant{} + length;
    send(cluster, Instant{}, cluster.end, on_one, rng);
  }
  return made;
}

ConsortiumCase repay_case(Duration length, Rng& rng) {
  const Duration lent{std::min(30 * k_day_s, length.value / 8)};
  ConsortiumCase made = steady_case(
      "repay", "A lends on 1 for " + std::to_string(lent.value / k_day_s) + " days, then wants twice its part of 2",
      length, {}, rng);
  constexpr double k_usual = 1.05 * k_part;
  const Instant from = Instant{} + lent;
  send(made.clusters[0], Instant{}, from, {0, 1.5 * k_usual, 1.5 * k_usual}, rng);
  send(made.clusters[0], from, made.clusters[0].end, {k_part, k_usual, k_usual}, rng);
  send(made.clusters[1], Instant{}, from, {k_usual, k_usual, k_usual}, rng);
  send(made.clusters[1], from, made.clusters[1].end, {2 * k_usual, k_usual, k_usual}, rng);
  return made;
}

Expected<std::vector<ConsortiumCase>> cases_of_seed(const ExperimentArguments& arguments, std::uint64_t seed) {
  const Duration length{arguments.length.value_or(k_made_length.value)};
  std::vector<ConsortiumCase> cases = consortium_cases(length, seed);
  std::erase_if(cases, [&](const ConsortiumCase& made) {
    return !arguments.cases.empty() &&
           std::find(arguments.cases.begin(), arguments.cases.end(), made.name) == arguments.cases.end();
  });
  for (const ConsortiumCase& one : cases)
    for (const Instance& cluster : one.clusters) SHAPLEY_TRY(scheduling::validate(cluster));
  return cases;
}

constexpr std::array<std::string_view, 3> k_rankings{"direct_contr", "shapley_rate", "hindsight"};

// A policy, and the settings under which it ranks.
struct RankedBy {
  std::string estimator;
  std::vector<ConsortiumSetting> settings;
};

Expected<std::vector<RankedBy>> estimators_of(const ExperimentArguments& arguments) {
  std::vector<std::string> names = arguments.policies;
  if (names.empty()) names.assign(k_rankings.begin(), k_rankings.end());
  std::vector<RankedBy> ranked;
  for (const std::string& name : names) {
    SHAPLEY_TRY_ASSIGN(const NamedPolicy named, parse_policy(name, game::k_horizon_rule));
    if (std::ranges::find(k_rankings, named.name) == k_rankings.end() || named.once) {
      return fail(Errc::invalid_argument,
                  "--policies: \"" + name +
                      "\" cannot rank a consortium; name direct_contr, shapley_rate or hindsight, with a rule as in "
                      "direct_contr@7d/0.5/0.1 where the default is not wanted, and without \"/once\"");
    }
    ranked.push_back({named.name, consortium_settings(named.rule)});
  }
  return ranked;
}

MeasuredConsortiumCase measured_case(const ConsortiumCase& one) {
  MeasuredConsortiumCase measured{one.name, one.about, {}, mean_residual(one).value, 0};
  for (const Instance& cluster : one.clusters) {
    measured.jobs.push_back(digest_of(cluster));
    measured.processors += cluster.total_processors();
  }
  return measured;
}

// A row of a table: one case under one setting of one estimator.
struct RankedCase {
  std::size_t one;
  const RankedBy* ranked;
  const ConsortiumSetting* setting;
};
std::vector<RankedCase> rows_of(std::size_t cases, const std::vector<RankedBy>& ranked) {
  std::vector<RankedCase> rows;
  for (std::size_t one = 0; one < cases; ++one)
    for (const RankedBy& by : ranked)
      for (const ConsortiumSetting& setting : by.settings) rows.push_back({one, &by, &setting});
  return rows;
}

std::size_t seeds_of(const ExperimentArguments& arguments) {
  return arguments.instances.value_or(1);
}

Expected<MeasuredConsortium> measure_consortium(const ExperimentArguments& arguments) {
  for (const std::string& name : arguments.cases) {
    if (std::find(k_case_names.begin(), k_case_names.end(), name) != k_case_names.end()) continue;
    return fail(Errc::invalid_argument, "--cases: \"" + name + "\" is unknown; known are cross, repay and symmetric");
  }
  SHAPLEY_TRY_ASSIGN(const auto ranked, estimators_of(arguments));
  const std::size_t seeds = seeds_of(arguments);
  std::vector<std::vector<ConsortiumCase>> cases;  // by seed
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    SHAPLEY_TRY_ASSIGN(auto of_seed, cases_of_seed(arguments, arguments.seed + seed));
    cases.push_back(std::move(of_seed));
  }
  MeasuredConsortium measured;
  for (const ConsortiumCase& one : cases.front()) measured.cases.push_back(measured_case(one));
  const auto rows = rows_of(measured.cases.size(), ranked);
  const auto run = [&](std::size_t i) {
    const RankedCase& row = rows[i / seeds];
    const std::size_t seed = i % seeds;
    return run_consortium(cases[seed][row.one], row.ranked->estimator, *row.setting, arguments.seed + seed);
  };
  SHAPLEY_TRY_ASSIGN(measured.runs, run_units<ConsortiumMeasures>("runs", rows.size() * seeds, arguments, run));
  return measured;
}

// Rows that lack a seed because of Ctrl-C are not in the tables.
Expected<std::vector<ConsortiumTable>> tables_of(const MeasuredConsortium& measured,
                                                 const std::vector<RankedBy>& ranked, std::size_t seeds) {
  const auto rows = rows_of(measured.cases.size(), ranked);
  SHAPLEY_TRY(expect_units(measured.runs.size(), rows.size() * seeds));
  std::vector<ConsortiumTable> tables;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RankedCase& row = rows[i];
    const MeasuredConsortiumCase& one = measured.cases[row.one];
    if (row.setting == row.ranked->settings.data())
      tables.push_back({one.name, one.about, row.ranked->estimator, seeds, one.residual_s, {}});
    std::vector<ConsortiumMeasures> runs;
    for (std::size_t seed = 0; seed < seeds; ++seed)
      if (const auto& run = measured.runs[i * seeds + seed]) runs.push_back(*run);
    if (runs.size() < seeds) continue;
    const ConsortiumMeasures mean = mean_of(runs);
    tables.back().rows.push_back({*row.setting, mean, mean.weeks_to_settle(static_cast<double>(one.processors))});
  }
  std::erase_if(tables, [](const ConsortiumTable& table) { return table.rows.empty(); });
  return tables;
}

std::string_view name_of(Extrapolation extrapolation) {
  constexpr std::array<std::string_view, 2> k_names{"always", "residual"};
  return k_names[static_cast<std::size_t>(extrapolation)];
}

// "own 30d", "sum braking, every 1h", "sum 30d, every 7d, residual".
std::string label_of(const ConsortiumSetting& setting) {
  const bool brakes = setting.serving.pace != game::Pace{};
  std::string text = setting.by_sum ? "sum " : "own ";
  text += brakes ? "braking" : game::format_horizon(setting.serving.horizon);
  if (!setting.by_sum || setting.every == ConsortiumSetting{}.every) return text;
  text += ", every " + game::format_horizon(setting.every);
  if (setting.extrapolation != Extrapolation::always) text.append(", ").append(name_of(setting.extrapolation));
  return text;
}

double greatest_amount(const std::vector<double>& values) {
  double greatest = 0;
  for (const double value : values) greatest = std::max(greatest, std::abs(value));
  return greatest;
}

// The organization whose values are greatest by `amount`.
template <typename Amount>
std::size_t most_by(const std::vector<std::vector<double>>& of_all, Amount&& amount) {
  std::size_t most = 0;
  for (std::size_t u = 1; u < of_all.size(); ++u)
    if (amount(of_all[u]) > amount(of_all[most])) most = u;
  return most;
}

Expected<void> plot_weeks(const std::filesystem::path& file, const std::string& title, const std::string& y,
                          const ConsortiumTable& table,
                          std::vector<double> (*values)(const ConsortiumRow&, std::size_t), std::size_t organization,
                          bool (*shown)(const ConsortiumSetting&)) {
  std::vector<charts::PlotLine> lines;
  for (const ConsortiumRow& row : table.rows) {
    if (!shown(row.setting)) continue;
    charts::PlotLine line{.label = label_of(row.setting),
                          .x = {},
                          .y = values(row, organization),
                          .dashed = !row.setting.by_sum,
                          .color = lines.size()};
    for (std::size_t week = 0; week < line.y.size(); ++week) line.x.push_back(static_cast<double>(week + 1));
    lines.push_back(std::move(line));
  }
  if (lines.empty() || lines.front().x.empty()) return {};
  return charts::plot_lines(file, {.title = title, .x = "week", .y = y}, lines);
}

struct ConsortiumReport {
  std::string experiment;
  std::vector<ConsortiumTable> tables;
};
constexpr auto description_of(std::type_identity<ConsortiumReport>) {
  return describe(member("experiment", &ConsortiumReport::experiment), member("tables", &ConsortiumReport::tables));
}

Expected<void> report_consortium(const MeasuredConsortium& measured, const ExperimentArguments& arguments,
                                 std::ostream& out) {
  SHAPLEY_TRY_ASSIGN(const auto ranked, estimators_of(arguments));
  SHAPLEY_TRY_ASSIGN(const auto tables, tables_of(measured, ranked, seeds_of(arguments)));
  if (arguments.json) {
    out << text_of(json_of<Json>(ConsortiumReport{arguments.name, tables}), 1) << '\n';
  } else {
    for (const ConsortiumTable& table : tables) print_consortium(table, out);
  }
  if (arguments.plot.empty()) return {};
  for (const ConsortiumTable& table : tables)
    if (table.estimator == ranked.front().estimator) SHAPLEY_TRY(plot_consortium(arguments.plot, table));
  return {};
}

}  // namespace

Experiment consortium_experiment() {
  return experiment_of<measure_consortium, report_consortium>();
}

std::vector<ConsortiumCase> consortium_cases(Duration length, std::uint64_t seed) {
  Rng rng(seed);
  constexpr double k_usual = 1.05 * k_part;
  std::vector<ConsortiumCase> cases;
  cases.push_back(steady_case("cross", "C lends on 1 to A, A on 2 to C", length,
                              {Busy{2 * k_usual, k_usual, 0}, Busy{0, k_usual, 2 * k_usual}}, rng));
  cases.push_back(repay_case(length, rng));
  constexpr Busy k_all{k_usual, k_usual, k_usual};
  cases.push_back(steady_case("symmetric", "all send 1.05 of their part on each", length, {k_all, k_all}, rng));
  return cases;
}

Duration mean_residual(const ConsortiumCase& one) {
  double work = 0;
  double squares = 0;
  for (const Instance& cluster : one.clusters) {
    for (const scheduling::Job& job : cluster.jobs) {
      const auto seconds = static_cast<double>(job.duration.value);
      work += seconds;
      squares += seconds * seconds;
    }
  }
  return {std::max<std::int64_t>(3600, work > 0 ? static_cast<std::int64_t>(squares / (2 * work)) : 0)};
}

std::vector<ConsortiumSetting> consortium_settings(const game::ServingRule& rule) {
  std::vector<ConsortiumSetting> settings{{.by_sum = false, .serving = rule}, {.serving = rule}};
  settings.push_back({.serving = rule, .every = {3600}});
  for (const Duration every : {Duration{k_day_s}, k_one_week})
    for (const Extrapolation e : {Extrapolation::always, Extrapolation::residual})
      settings.push_back({.serving = rule, .every = every, .extrapolation = e});
  return settings;
}

std::optional<std::int64_t> ConsortiumMeasures::weeks_to_settle(double processors) const {
  std::size_t above = 0;  // weeks up to the last one that ends above
  for (const std::vector<double>& of_one : standing)
    for (std::size_t week = 0; week < of_one.size(); ++week)
      if (std::abs(of_one[week]) > processors) above = std::max(above, week + 1);
  if (above == standing.front().size()) return std::nullopt;
  return static_cast<std::int64_t>(above);
}

Expected<ConsortiumMeasures> run_consortium(const ConsortiumCase& one, const std::string& estimator,
                                            const ConsortiumSetting& setting, std::uint64_t seed) {
  std::vector<std::unique_ptr<scheduling::Policy>> policies;
  std::vector<scheduling::ConsortiumCluster> clusters;
  for (std::size_t c = 0; c < one.clusters.size(); ++c) {
    PolicyOptions options;
    options.seed = seed + c;
    SHAPLEY_TRY_ASSIGN(auto policy, make_policy(estimator, one.clusters[c], options));
    clusters.push_back({&one.clusters[c], policy.get()});
    policies.push_back(std::move(policy));
  }
  scheduling::ConsortiumRule rule{.serving = setting.serving, .by_sum = setting.by_sum, .every = setting.every};
  if (setting.extrapolation == Extrapolation::residual) rule.stale_after = mean_residual(one);
  std::vector<Instant> samples;
  const Instant end = one.clusters.front().end;
  for (Instant week = Instant{} + k_one_week; week < end; week = week + k_one_week) samples.push_back(week);
  samples.push_back(end);
  const scheduling::ConsortiumResult result = scheduling::simulate_consortium(clusters, rule, samples);

  ConsortiumMeasures measures;
  const std::size_t organizations = one.clusters.front().organizations();
  measures.standing.assign(organizations, std::vector<double>(samples.size()));
  double processors = 0;
  for (const Instance& cluster : one.clusters) processors += static_cast<double>(cluster.total_processors());
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    const StabilityMeasures of_one = measure_stability(one.clusters[c], result.clusters[c].schedule, k_one_week);
    measures.mean_wait_s.push_back(of_one.mean_wait_s);
    measures.deviation_of_cluster = std::max(measures.deviation_of_cluster, of_one.deviation_late);
    const double part = static_cast<double>(one.clusters[c].total_processors()) / processors;
    if (c == 0) measures.share.assign(organizations, std::vector<double>(of_one.shares.front().size()));
    for (std::size_t u = 0; u < organizations; ++u) {
      for (std::size_t week = 0; week < of_one.shares[u].size(); ++week)
        measures.share[u][week] += part * of_one.shares[u][week];
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const scheduling::Standings& books = result.standings[i][c];
        measures.standing[u][i] += static_cast<double>(books.figures[u].balance) / static_cast<double>(books.scale) /
                                   static_cast<double>(samples[i].value) / 3600;
      }
    }
  }
  for (const std::vector<double>& of_one : measures.share)
    measures.deviation = std::max(measures.deviation, deviation_of(std::span(of_one).last(of_one.size() / 3)));
  return measures;
}

ConsortiumMeasures mean_of(std::span<const ConsortiumMeasures> runs) {
  SHAPLEY_REQUIRE(!runs.empty());
  ConsortiumMeasures mean = runs.front();
  const auto n = static_cast<double>(runs.size());
  const auto average = [&](auto&& value) {
    double sum = 0;
    for (const ConsortiumMeasures& run : runs) sum += value(run);
    return sum / n;
  };
  for (auto table : {&ConsortiumMeasures::mean_wait_s, &ConsortiumMeasures::standing, &ConsortiumMeasures::share})
    for (std::size_t i = 0; i < (mean.*table).size(); ++i)
      for (std::size_t j = 0; j < (mean.*table)[i].size(); ++j)
        (mean.*table)[i][j] = average([&](const ConsortiumMeasures& run) { return (run.*table)[i][j]; });
  mean.deviation = average([](const ConsortiumMeasures& run) { return run.deviation; });
  mean.deviation_of_cluster = average([](const ConsortiumMeasures& run) { return run.deviation_of_cluster; });
  return mean;
}

Json json_value(const ConsortiumRow& row) {
  Json json = {{"ranks_by", row.setting.by_sum ? "sum" : "own"}};
  game::for_each_json_member("", row.setting.serving,
                             [&](const std::string& name, const std::string& value) { json[name] = value; });
  if (row.setting.by_sum) {
    json["exchange_s"] = row.setting.every.value;
    json["extrapolated"] = name_of(row.setting.extrapolation);
  }
  json["settled_weeks"] = json_of<Json>(row.settled);
  json.update(json_of<Json>(row.measures));
  return json;
}

void print_consortium(const ConsortiumTable& table, std::ostream& out) {
  constexpr int k_rule = 32;
  constexpr int k_figure = 7;
  constexpr int k_standing = 9;
  out << "## " << table.name << ", " << table.estimator << ": " << table.about << "; " << counted(table.seeds, "seed")
      << "; mean residual run time " << fixed(static_cast<double>(table.residual_s) / 3600, 1) << " h\n\n";
  const ConsortiumMeasures& first = table.rows.front().measures;
  const auto members = static_cast<int>(first.standing.size());
  out << std::left << std::setw(k_rule) << "RANKS BY";
  for (std::size_t c = 0; c < first.mean_wait_s.size(); ++c)
    out << "  " << std::setw(k_figure * members) << "WAIT h, " + std::to_string(c + 1);
  out << "  " << std::setw(k_standing * members) << "STANDING core-h" << std::right << std::setw(k_figure) << "SD"
      << std::setw(k_figure) << "SD ONE" << std::setw(9) << "SETTLED" << '\n';
  for (const ConsortiumRow& row : table.rows) {
    out << std::left << std::setw(k_rule) << label_of(row.setting) << std::right;
    for (const std::vector<double>& waits : row.measures.mean_wait_s) {
      out << "  ";
      for (const double wait : waits) out << std::setw(k_figure) << fixed(wait / 3600, wait < 36'000 ? 1 : 0);
    }
    out << "  ";
    for (const std::vector<double>& standing : row.measures.standing)
      out << std::setw(k_standing) << fixed(std::round(standing.back()), 0);
    out << std::setw(k_figure) << fixed(100 * row.measures.deviation, 1) << std::setw(k_figure)
        << fixed(100 * row.measures.deviation_of_cluster, 1) << std::setw(9)
        << (row.settled ? std::to_string(*row.settled) : "-") << '\n';
  }
  out << '\n';
}

Expected<void> plot_consortium(const std::filesystem::path& folder, const ConsortiumTable& table) {
  const ConsortiumMeasures& first = table.rows.front().measures;
  const auto name_of_member = [](std::size_t u) { return std::string(1, static_cast<char>('A' + u)); };
  const std::size_t owed = most_by(first.standing, greatest_amount);
  SHAPLEY_TRY(plot_weeks(
      folder / ("consortium-" + table.name + "-standing.svg"),
      name_of_member(owed) + "'s standing, " + table.name + ": " + table.about, "core-hours", table,
      [](const ConsortiumRow& row, std::size_t u) { return row.measures.standing[u]; }, owed,
      [](const ConsortiumSetting& setting) { return setting.every == ConsortiumSetting{}.every; }));
  const auto worst = std::max_element(
      table.rows.begin(), table.rows.end(),
      [](const ConsortiumRow& a, const ConsortiumRow& b) { return a.measures.deviation < b.measures.deviation; });
  const std::size_t varies =
      most_by(worst->measures.share, [](const std::vector<double>& shares) { return deviation_of(shares); });
  return plot_weeks(
      folder / ("consortium-" + table.name + "-exchange.svg"),
      name_of_member(varies) + "'s share of both clusters, " + table.name + ": " + table.about, "per cent", table,
      [](const ConsortiumRow& row, std::size_t u) {
        std::vector<double> percent = row.measures.share[u];
        for (double& share : percent) share *= 100;
        return percent;
      },
      varies, [](const ConsortiumSetting& setting) { return setting.by_sum; });
}

}  // namespace shapley::sim
