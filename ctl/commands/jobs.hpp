// `shapleyctl jobs`: the jobs that the books know, with their organization and what they hold or ask for.
#pragma once

#include <cstddef>
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
#include "ledger/reports/jobs_report.hpp"

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

// Adds what `text` names, as Slurm writes it, to the jobs and tasks of the filter. Errc::invalid_argument says what is
// wrong with it.
[[nodiscard]] Expected<void> add_jobs_named(const std::string& text, ledger::JobsFilter& filter);

// The text for people or programs (not --json) of a report of ledger::jobs_report.
struct JobsView {
  std::string format = {};  // empty: the default columns
  bool parsable = false;
  bool header = true;
  std::size_t columns = 0;  // of the terminal; 0: none
};
[[nodiscard]] Expected<std::string> render_jobs(const nlohmann::json& report, const JobsView& view);

// The fields of one job's row.
[[nodiscard]] std::span<const Field> jobs_fields();

}  // namespace shapley::ctl
