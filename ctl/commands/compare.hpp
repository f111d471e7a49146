// `shapleyctl compare A B` and `shapleyctl forecast`: who goes first and why, since when, and when that turns.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"
#include "ctl/rank_answers.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct CompareArguments {
  std::string a;
  std::string b;
  RankSource source;
  bool json = false;
};

struct ForecastArguments {
  RankSource source;
  bool json = false;
};

void add_compare(CLI::App& app, CompareArguments& arguments);
void add_forecast(CLI::App& app, ForecastArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_compare(const CompareArguments& arguments, const Endpoint& endpoint,
                                             const Environment& environment);
[[nodiscard]] Expected<ExitCode> run_forecast(const ForecastArguments& arguments, const Endpoint& endpoint,
                                              const Environment& environment);

// The screens. Of a comparison of two jobs "slurm" may hold two of slurm_facts(), in the order of the sides.
[[nodiscard]] std::string render_comparison(const nlohmann::json& report);
[[nodiscard]] std::string render_forecast(const nlohmann::json& report);

}  // namespace shapley::ctl
