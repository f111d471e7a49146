// `shapleyctl jobs`: lists the jobs in the books with their organizations and processors.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ledger/reports/jobs_report.hpp"
#include "tables/table.hpp"

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
  std::vector<std::string> jobs;   // as Slurm writes them: "72", "72_3", "72_[1-3,5%2]"
};

void add_jobs(CLI::App& app, JobsArguments& arguments);

[[nodiscard]] Expected<ExitCode> run_jobs(const JobsArguments& arguments, const Endpoint& endpoint,
                                          const Environment& environment);

// Adds the jobs and tasks in `text`, which is written as Slurm does, to the filter. Errc::invalid_argument names the
// error in the text.
[[nodiscard]] Expected<void> add_jobs_named(const std::string& text, ledger::JobsFilter& filter);

// A report of ledger::jobs_report as text for people or programs (not --json).
struct JobsView {
  std::string format = {};  // empty: the default columns
  bool parsable = false;
  bool header = true;
  std::size_t columns = 0;  // of the terminal; 0: none
};
[[nodiscard]] Expected<std::string> render_jobs(const ledger::JobsReport& report, const JobsView& view);

// The fields of one job's row.
[[nodiscard]] std::span<const tables::Field> jobs_fields();

}  // namespace shapley::ctl
