// `shapleyctl jobs`: the jobs that the books know, with their organization and what they hold or ask for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"
#include "ctl/output/table.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct JobsArguments {
  bool json = false;
  bool parsable = false;
  bool no_header = false;
  bool help_format = false;
  bool all = false;
  std::string format;
  std::string since;
  std::string ledger;
  std::vector<std::string> accounts;
  std::vector<std::string> organizations;
  std::vector<std::string> users;  // names or numbers
  std::vector<std::uint32_t> jobs;
};

void add_jobs(CLI::App& app, JobsArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_jobs(const JobsArguments& arguments, const Endpoint& endpoint,
                                          const Environment& environment);

// The text for people or programs (not --json) of a report of ledger::jobs_report.
struct JobsView {
  std::string format = {};  // empty: the default columns
  bool parsable = false;
  bool header = true;
};
[[nodiscard]] Expected<std::string> render_jobs(const nlohmann::json& report, const JobsView& view);

// The fields of one job's row.
[[nodiscard]] std::span<const Field> jobs_fields();

}  // namespace shapley::ctl
