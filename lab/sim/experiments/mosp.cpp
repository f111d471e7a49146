#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <iomanip>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "planning/generate.hpp"
#include "planning/mocca.hpp"
#include "sim/experiments/experiments.hpp"

namespace shapley::sim {

namespace {

constexpr std::size_t k_instances_of_cell = 50;

using planning::Grid;
using planning::LocalOrder;
using planning::Schedule;
using planning::WorkloadModel;

struct Policy {
  const char* name;
  LocalOrder order;
  int alpha;
};
// The five combinations of Section 7.3; the first is that of Section 7.2.
constexpr Policy k_combinations[] = {{"HF, 3 LB", LocalOrder::hf, 3},
                                     {"HF, 4 LB", LocalOrder::hf, 4},
                                     {"LPT, 4 LB", LocalOrder::lpt, 4},
                                     {"SPT, 4 LB", LocalOrder::spt, 4},
                                     {"random, 4 LB", LocalOrder::random, 4}};

struct Cell {
  WorkloadModel model;
  std::size_t organizations;
  std::size_t jobs;
  std::int64_t processors;  // 0: Pareto, see shape
  double shape = 0;
};

struct Scores {
  double local = 1;
  double mocca = 1;
  std::array<double, std::size(k_combinations)> ilba = {1, 1, 1, 1, 1};
  bool optimal_mocca = true;
  bool optimal_ilba = true;
  std::size_t fell_back = 0;
};
constexpr auto description_of(std::type_identity<Scores>) {
  return describe(member("local", &Scores::local), member("mocca", &Scores::mocca), member("ilba", &Scores::ilba),
                  member("optimal_mocca", &Scores::optimal_mocca), member("optimal_ilba", &Scores::optimal_ilba),
                  member("fell_back", &Scores::fell_back));
}

// One row of instances: of homogeneous grids, those with one kind of jobs, and heterogeneous ones.
struct Instances {
  Units<Scores> scores;
};
constexpr auto description_of(std::type_identity<Instances>) {
  return describe(member("scores", &Instances::scores));
}

struct Result {
  Cell cell;
  Scores scores;
};

double score(const Grid& grid, const Schedule& schedule) {
  const auto bound = grid.lower_bound();
  return bound == 0 ? 1 : static_cast<double>(planning::makespan(grid, schedule)) / static_cast<double>(bound);
}

Expected<Scores> measure(const Grid& grid, std::uint64_t seed) {
  Scores scores;
  scores.local = score(grid, planning::schedule_locally(grid, LocalOrder::hf));
  const std::size_t policies = std::size(k_combinations);
  for (std::size_t i = 0; i < policies; ++i) {
    const auto plan = planning::plan_mocca_experiment(grid, k_combinations[i].order, k_combinations[i].alpha, seed);
    const Schedule balanced = planning::balance(grid, plan.schedule);
    SHAPLEY_TRY(planning::check_schedule(grid, plan.schedule));
    SHAPLEY_TRY(planning::check_schedule(grid, balanced));
    SHAPLEY_TRY(planning::check_no_organization_loses(
        grid, planning::schedule_locally(grid, k_combinations[i].order, seed), balanced));
    scores.ilba[i] = score(grid, balanced);
    scores.fell_back += plan.fell_back ? 1 : 0;
    if (i != 0) continue;
    scores.mocca = score(grid, plan.schedule);
    // Exact: the makespan is the lower bound, so nothing ends earlier.
    scores.optimal_mocca = planning::makespan(grid, plan.schedule) <= grid.lower_bound();
    scores.optimal_ilba = planning::makespan(grid, balanced) <= grid.lower_bound();
  }
  return scores;
}

std::vector<Cell> homogeneous_cells(std::initializer_list<WorkloadModel> models) {
  std::vector<Cell> cells;
  for (const WorkloadModel model : models)
    for (const std::size_t organizations : {2, 5, 10, 20})
      for (const std::size_t jobs : {10, 50, 100, 500})
        for (const std::int64_t processors : {32, 128, 512}) cells.push_back({model, organizations, jobs, processors});
  return cells;
}

std::vector<Cell> heterogeneous_cells() {
  std::vector<Cell> cells;
  for (const WorkloadModel model : {WorkloadModel::uni, WorkloadModel::swf})
    for (int shape = 1; shape <= 10; ++shape)
      for (const std::size_t jobs : {10, 50, 100, 500})
        cells.push_back({model, 10, jobs, 0, static_cast<double>(shape)});
  return cells;
}

using Cells = std::vector<Cell>;

std::array<Cells, 3> all_cells() {
  return {homogeneous_cells({WorkloadModel::uni, WorkloadModel::swf}), homogeneous_cells({WorkloadModel::swf_one_kind}),
          heterogeneous_cells()};
}

std::size_t repetitions_of(const ExperimentArguments& arguments) {
  return arguments.instances.value_or(k_instances_of_cell);
}

// Instance i of these cells: the cells take turns, so that an interrupted experiment has fewer instances of each cell
// and not fewer cells.
Expected<Scores> measure_instance(const Cells& cells, std::size_t i, std::uint64_t seed) {
  const Cell& cell = cells[i % cells.size()];
  Rng rng(seed * 1'000'003 + i);
  auto clusters = cell.processors > 0 ? std::vector<std::int64_t>(cell.organizations, cell.processors)
                                      : planning::pareto_clusters(cell.organizations, cell.shape, rng);
  const Grid grid = planning::generate_grid(cell.model, std::move(clusters), cell.jobs, rng);
  return measure(grid, seed + i);
}

Expected<Instances> measure_mosp(const ExperimentArguments& arguments) {
  const auto cells = all_cells();
  const std::size_t repetitions = repetitions_of(arguments);
  std::size_t count = 0;
  for (const Cells& one : cells) count += one.size() * repetitions;
  Instances measured;
  SHAPLEY_TRY_ASSIGN(measured.scores, run_units<Scores>("instances", count, arguments, [&](std::size_t unit) {
                       std::size_t kind = 0;
                       for (; unit >= cells[kind].size() * repetitions; ++kind)
                         unit -= cells[kind].size() * repetitions;
                       return measure_instance(cells[kind], unit, arguments.seed);
                     }));
  return measured;
}

using Choice = std::function<bool(const Cell&)>;
using Value = std::function<double(const Scores&)>;

// Not a number if no instance was finished.
struct Statistic {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double deviation = std::numeric_limits<double>::quiet_NaN();
  double greatest = std::numeric_limits<double>::quiet_NaN();
};

Statistic statistic(const std::vector<Result>& results, const Choice& choice, const Value& value) {
  Statistic result;
  double sum = 0;
  double squares = 0;
  double count = 0;
  for (const Result& entry : results) {
    if (!choice(entry.cell)) continue;
    const double x = value(entry.scores);
    sum += x;
    squares += x * x;
    count += 1;
    result.greatest = std::fmax(result.greatest, x);  // ignores what is not a number
  }
  if (count == 0) return result;
  result.mean = sum / count;
  result.deviation = std::sqrt(std::max(0.0, squares / count - result.mean * result.mean));
  return result;
}

double local(const Scores& scores) {
  return scores.local;
}
double mocca(const Scores& scores) {
  return scores.mocca;
}
double ilba(const Scores& scores) {
  return scores.ilba[0];
}

Choice only(WorkloadModel model) {
  return [model](const Cell& cell) { return cell.model == model; };
}

class Report {
 public:
  Report(std::ostream& out, const std::vector<Result>& homogeneous) : out_(out), results_(homogeneous) {
    out_ << std::fixed << std::setprecision(2);
  }

  void averages(const std::vector<Result>& one_kind) {
    out_ << "Average score C_max / LB (deviation), homogeneous grids\n"
         << std::setw(26) << ""
         << "PAPER   FOUND\n";
    line("uni  local", "", only(WorkloadModel::uni), local);
    line("uni  MOCCA", "2.40", only(WorkloadModel::uni), mocca);
    line("uni  MOCCA, ILBA", "1.24", only(WorkloadModel::uni), ilba);
    line("swf  local", "", only(WorkloadModel::swf), local);
    line("swf  MOCCA", "1.16", only(WorkloadModel::swf), mocca);
    line("swf  MOCCA, ILBA", "1.03", only(WorkloadModel::swf), ilba);
    out_ << "swf, if the model does not distinguish batch from interactive jobs: ";
    print_triple(one_kind, only(WorkloadModel::swf_one_kind));
    out_ << " (local / MOCCA / MOCCA, ILBA)\n";
  }

  void optimal() {
    const Choice all = [](const Cell&) { return true; };
    out_ << "\nMakespan equal to LB, so certainly optimal, % of instances\n"
         << std::setw(26) << ""
         << "PAPER   FOUND\n";
    share("MOCCA", "26", all, [](const Scores& s) { return s.optimal_mocca ? 100.0 : 0.0; });
    share("MOCCA, ILBA", ">= 40", all, [](const Scores& s) { return s.optimal_ilba ? 100.0 : 0.0; });
  }

  void local_by_organizations() {
    out_ << "\nLocal scheduling, uni, n > 10\n"
         << std::setw(26) << ""
         << "PAPER   FOUND\n";
    const std::pair<std::size_t, const char*> paper[] = {{2, "1.57"}, {5, "3.00"}, {10, "4.93"}, {20, "7.35"}};
    for (const auto& [count, figure] : paper) {
      line(
          "N = " + std::to_string(count), figure,
          [n = count](const Cell& cell) {
            return cell.model == WorkloadModel::uni && cell.jobs > 10 && cell.organizations == n;
          },
          local);
    }
  }

  void by_dimension() {
    out_ << "\nAverage scores by N, by n and by m: local / MOCCA / MOCCA, ILBA (the paper draws them in Figures 8 and "
            "9)\n";
    out_ << std::setw(12) << "" << std::setw(20) << "uni" << std::setw(22) << "swf" << '\n';
    for (const std::size_t n : {2, 5, 10, 20})
      triple("N = " + std::to_string(n), [n](const Cell& cell) { return cell.organizations == n; });
    for (const std::size_t n : {10, 50, 100, 500})
      triple("n = " + std::to_string(n), [n](const Cell& cell) { return cell.jobs == n; });
    for (const std::int64_t m : {32, 128, 512})
      triple("m = " + std::to_string(m), [m](const Cell& cell) { return cell.processors == m; });
  }

  void worst() {
    const Choice all = [](const Cell&) { return true; };
    out_ << "\nWorst score\n"
         << std::setw(26) << ""
         << "PAPER   FOUND\n";
    greatest("local", "12.12", all, local);
    greatest("MOCCA", "", all, mocca);
    greatest("MOCCA, ILBA", "", all, ilba);
  }

  void policies() {
    out_ << "\nMOCCA and ILBA over other local policies, average score (paper: 1.24 - 1.31 in uni, 1.01 - 1.02 in swf, "
            "LPT "
            "best with 1.2422 and 1.0113)\n"
         << std::setw(26) << ""
         << "uni     swf\n"
         << std::setprecision(4);
    for (std::size_t i = 0; i < std::size(k_combinations); ++i) {
      const Value value = [i](const Scores& scores) { return scores.ilba[i]; };
      out_ << std::left << std::setw(26) << k_combinations[i].name << std::right
           << statistic(results_, only(WorkloadModel::uni), value).mean << "  "
           << statistic(results_, only(WorkloadModel::swf), value).mean << '\n';
    }
    out_ << std::setprecision(2);
  }

  void heterogeneous(const std::vector<Result>& results) {
    out_ << "\nHeterogeneous grids, N = 10, Pareto sizes: local / MOCCA / MOCCA, ILBA (the last at n = 500 alone)\n"
            "Paper, ILBA: uni 1.15 for the most heterogeneous to 1.12, swf below 1.0001; it does not state n\n"
         << std::setprecision(4);
    for (int shape = 1; shape <= 10; ++shape) {
      out_ << "shape " << std::setw(2) << shape;
      for (const WorkloadModel model : {WorkloadModel::uni, WorkloadModel::swf}) {
        const Choice choice = [&](const Cell& cell) { return cell.model == model && cell.shape == shape; };
        out_ << (model == WorkloadModel::uni ? "   uni " : "   swf ");
        print_triple(results, choice);
        const Choice many = [&](const Cell& cell) { return choice(cell) && cell.jobs == 500; };
        out_ << " (" << statistic(results, many, ilba).mean << ')';
      }
      out_ << '\n';
    }
  }

 private:
  void head(const std::string& name, const std::string& paper) {
    out_ << std::left << std::setw(26) << name << std::setw(8) << paper << std::right;
  }
  void line(const std::string& name, const std::string& paper, const Choice& choice, const Value& value) {
    const Statistic found = statistic(results_, choice, value);
    head(name, paper);
    out_ << found.mean << " (" << found.deviation << ")\n";
  }
  void share(const std::string& name, const std::string& paper, const Choice& choice, const Value& value) {
    head(name, paper);
    out_ << std::setprecision(1) << statistic(results_, choice, value).mean << std::setprecision(2) << '\n';
  }
  void greatest(const std::string& name, const std::string& paper, const Choice& choice, const Value& value) {
    head(name, paper);
    out_ << statistic(results_, choice, value).greatest << '\n';
  }
  void print_triple(const std::vector<Result>& results, const Choice& choice) {
    out_ << statistic(results, choice, local).mean << " / " << statistic(results, choice, mocca).mean << " / "
         << statistic(results, choice, ilba).mean;
  }
  void triple(const std::string& name, const Choice& choice) {
    out_ << std::left << std::setw(12) << name << std::right;
    for (const WorkloadModel model : {WorkloadModel::uni, WorkloadModel::swf}) {
      out_ << "  ";
      print_triple(results_, [&](const Cell& cell) { return cell.model == model && choice(cell); });
    }
    out_ << '\n';
  }

  std::ostream& out_;
  const std::vector<Result>& results_;
};

Expected<void> report_mosp(const Instances& measured, const ExperimentArguments& arguments, std::ostream& out) {
  std::array<std::vector<Result>, 3> results;
  std::size_t fell_back = 0;
  std::size_t unit = 0;
  const auto cells = all_cells();
  for (std::size_t kind = 0; kind < cells.size(); ++kind) {
    const std::size_t count = cells[kind].size() * repetitions_of(arguments);
    SHAPLEY_TRY(expect_units(std::min(measured.scores.size(), unit + count), unit + count));
    for (std::size_t i = 0; i < count; ++i) {
      const auto& scores = measured.scores[unit++];
      if (!scores) continue;
      results[kind].push_back({cells[kind][i % cells[kind].size()], *scores});
      fell_back += scores->fell_back;
    }
  }
  const auto& [homogeneous, one_kind, heterogeneous] = results;
  out << "Multi-organization scheduling [MO11 Sec. 7], " << counted(repetitions_of(arguments), "instance")
      << " a cell, " << homogeneous.size() << " homogeneous and " << heterogeneous.size() << " heterogeneous, seed "
      << arguments.seed
      << "\nEvery plan was checked: valid, no organization later than alone. Fall-backs to the local schedule: "
      << fell_back << "\n\n";
  Report report(out, homogeneous);
  report.averages(one_kind);
  report.optimal();
  report.local_by_organizations();
  report.by_dimension();
  report.worst();
  report.policies();
  report.heterogeneous(heterogeneous);
  return {};
}

}  // namespace

Experiment mosp_experiment() {
  return experiment_of<measure_mosp, report_mosp>();
}

}  // namespace shapley::sim
