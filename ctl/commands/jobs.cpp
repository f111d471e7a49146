#include "ctl/commands/jobs.hpp"

#include <algorithm>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/calendar.hpp"
#include "base/text.hpp"
#include "ctl/offline.hpp"
#include "ctl/output/amounts.hpp"
#include "reports/requests.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using tables::Field;
using tables::left;

constexpr std::string_view k_jobs_format =
    "job,organization%-16,account%-12,user%-10,partition%-10,state,processors,begin,elapsed,core_hours,segments,name%-"
    "20";

constexpr Field k_jobs_fields[] = {
    {"job", "Job", "job id; ARRAY_TASK for a task of an array", "job_id"},
    {"job_number", "JobNumber", "Slurm's own number of the job", "job"},
    left({"organization", "Organization", "whose job it is in the books"}),
    left({"account", "Account", "Slurm account"}),
    left({"user", "User", "user name by the ledger, or by this machine; uid and the number where neither has one"}),
    {"user_id", "UserId", "user number"},
    left({"partition", "Partition", "partition"}),
    left({"qos", "Qos", "quality of service"}),
    left({"name", "Name", "job name"}),
    left({"state", "State", "pending, running, suspended or ended, by the books"}),
    left({"slurm_state", "SlurmState", "Slurm's state when its last segment ended"}),
    {"processors", "Processors", "weighted processors that it holds, asks for, or held last"},
    {"submit", "Submit", "when it was submitted (UTC)", "submit_utc"},
    {"begin", "Begin", "when its first run began (UTC)", "begin_utc"},
    {"end", "End", "when its last run ended (UTC)", "end_utc"},
    {"elapsed", "Elapsed", "seconds that it has run, without pauses"},
    {"core_hours", "CoreHours", "core-hours that it was charged", {}, core_hours_or_unknown},
    {"processor_seconds", "ProcessorSeconds", "the same in processor-seconds, exact"},
    {"segments", "Segments", "how many segments it has", "segment_count"},
    left({"nodes", "Nodes", "where its last run holds or held how many processors"}),
};

// "72,73_[1,4-5]" is "72" and "73_[1,4-5]".
std::vector<std::string_view> words_outside_brackets(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != ',') {
      inside = text[i] == '[' || (inside && text[i] != ']');
    } else if (i == text.size() || !inside) {
      words.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return words;
}

// "3", "[1-3,7]", "[1-10%4]" ("%4", which Slurm adds, means at most four at once). False: the text is none of these.
bool add_tasks(std::uint32_t array, std::string_view text, std::vector<ledger::ArrayTask>& tasks) {
  if (text.starts_with('[')) {
    if (!text.ends_with(']')) return false;
    text = text.substr(1, text.size() - 2);
    if (const std::size_t limit = text.find('%'); limit != std::string_view::npos) {
      if (!parse_number<std::uint32_t>(text.substr(limit + 1))) return false;
      text = text.substr(0, limit);
    }
  } else if (!parse_number<std::uint32_t>(text)) {
    return false;
  }
  for (const std::string_view range : words_outside_brackets(text)) {
    const std::size_t dash = range.find('-');
    const auto first = parse_number<std::uint32_t>(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number<std::uint32_t>(range.substr(dash + 1));
    if (!first || !last || *last < *first) return false;
    for (std::uint64_t task = *first; task <= *last && tasks.size() <= ledger::k_max_reported_jobs; ++task) {
      tasks.push_back({array, static_cast<std::uint32_t>(task)});
    }
  }
  return true;
}

Expected<ledger::JobsFilter> filter_of(const JobsArguments& arguments) {
  // If a job or a time is named, ended jobs are shown, too.
  ledger::JobsFilter filter{.all = arguments.all || !arguments.jobs.empty() || !arguments.since.empty(),
                            .organizations = arguments.organizations};
  for (const std::string& jobs : arguments.jobs) SHAPLEY_TRY(add_jobs_named(jobs, filter));
  if (!arguments.since.empty()) {
    SHAPLEY_TRY_ASSIGN(filter.since, parse_past_time(arguments.since, "--since"));
  }
  // Slurm keeps account names in lower case and accepts them in any case.
  for (const std::string& account : arguments.accounts) filter.accounts.push_back(lower(account));
  for (const std::string& user : arguments.users) {
    filter.user_ids.push_back(user_number_of(user).value_or(ledger::k_no_user));
    if (!parse_number<std::uint32_t>(user)) filter.users.push_back({user, filter.user_ids.back()});
  }
  return filter;
}

json utc_or_null(const std::optional<Instant>& t) {
  return t ? json(format_instant(*t)) : json(nullptr);
}

bool is_run(const ledger::JobSegment& segment) {
  return segment.kind == "run";
}

// "n1:4,n2:4" of the last run.
json nodes_text(const std::vector<ledger::JobSegment>& segments) {
  const auto last = std::find_if(segments.rbegin(), segments.rend(), is_run);
  if (last == segments.rend()) return nullptr;
  std::string text;
  for (const ledger::NodeProcessors& share : last->nodes) {
    text += (text.empty() ? "" : ",") + share.node + ':' +
            (share.processors ? tables::plain_number(json_of(*share.processors)) : std::string());
  }
  return text;
}

std::int64_t elapsed_seconds(const std::vector<ledger::JobSegment>& segments, Instant at) {
  std::int64_t seconds = 0;
  for (const ledger::JobSegment& segment : segments) {
    if (!is_run(segment) || segment.retracted || !segment.begin) continue;
    seconds += std::max<std::int64_t>(0, (segment.end.value_or(at) - *segment.begin).value);
  }
  return seconds;
}

// A job as a row of the table.
json row_of(const ledger::JobRow& job, Instant at) {
  const ledger::JobIdentity& is = job.is;
  json row = json_of(job);
  row.update({{"job_id", ledger::job_id_of(is.job, is.array_job, is.array_task)},
              {"user", user_name_of(is.user_id, is.user)},
              {"submit_utc", format_instant(job.submit)},
              {"begin_utc", utc_or_null(is.begin)},
              {"end_utc", utc_or_null(job.end)},
              {"elapsed", elapsed_seconds(job.segments, at)},
              {"core_hours", ledger::core_hours(job.work)},
              {"segment_count", job.segments.size()},
              {"nodes", nodes_text(job.segments)}});
  return row;
}

Expected<ledger::JobsReport> fetch(const JobsArguments& arguments, const Endpoint& endpoint) {
  SHAPLEY_TRY_ASSIGN(const ledger::JobsFilter filter, filter_of(arguments));
  return answer_to(filter, {.path = arguments.ledger}, endpoint);
}

}  // namespace

std::span<const tables::Field> jobs_fields() {
  return k_jobs_fields;
}

void add_jobs(CLI::App& app, JobsArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("jobs", "List the running and the startable pending jobs with their organizations");
  command->add_flag("--json", arguments.json, "Print the whole report, segments included, as JSON");
  command->add_flag("-P,--parsable2", arguments.parsable,
                    "Print exact values between '|', below a header of the fields' names");
  command->add_flag("-n,--noheader", arguments.no_header, "Print no header");
  command->add_flag("-a,--all", arguments.all, "List ended, suspended and blocked jobs of the last 7 days, too");
  command
      ->add_option("-S,--since", arguments.since,
                   "List ended, suspended and blocked jobs submitted since this instant, too")
      ->type_name("TIME");
  command->add_option("-A,--account", arguments.accounts, "List only jobs of these accounts")
      ->delimiter(',')
      ->type_name("NAMES");
  command->add_option("-O,--organization", arguments.organizations, "List only jobs of these organizations")
      ->delimiter(',')
      ->type_name("NAMES");
  command->add_option("-u,--user", arguments.users, "List only jobs of these users")
      ->delimiter(',')
      ->type_name("USERS");
  command
      ->add_option("-j,--job", arguments.jobs,
                   "List only these jobs, arrays, tasks (72_3, 72_[1-3]) and parts (72+1), ended ones included")
      ->type_name("JOBS");
  command
      ->add_option("-o,--format", arguments.format,
                   "Print these columns: name[%width],...; a negative width aligns left")
      ->type_name("FORMAT");
  command->add_flag("--helpformat", arguments.help_format, "List the columns for --format, with their meanings");
  command->add_option("--ledger", arguments.ledger, "Read this ledger file or a copy of it, without asking a daemon")
      ->type_name("FILE");
}

Expected<void> add_jobs_named(const std::string& text, ledger::JobsFilter& filter) {
  const auto wrong = [&](const std::string& why) {
    return fail(Errc::invalid_argument, fmt::format("-j: '{}': {}; jobs are 72, 72_3, 72_[1-3,7] or 72+1", text, why));
  };
  for (const std::string_view word : words_outside_brackets(text)) {
    const std::size_t mark = word.find_first_of("_+");
    const auto job = parse_number<std::uint32_t>(word.substr(0, mark));
    if (!job) return wrong(fmt::format("'{}' is no job", word));
    if (mark == std::string_view::npos) {
      filter.jobs.push_back(*job);
    } else if (word[mark] == '+') {
      const auto part = parse_number<std::uint32_t>(word.substr(mark + 1));
      if (!part) return wrong(fmt::format("'{}' names no part of a heterogeneous job", word.substr(mark + 1)));
      filter.parts.push_back({*job, *part});
    } else if (!add_tasks(*job, word.substr(mark + 1), filter.tasks)) {
      return wrong(fmt::format("'{}' names no tasks", word.substr(mark + 1)));
    }
    if (filter.jobs.size() + filter.tasks.size() + filter.parts.size() <= ledger::k_max_reported_jobs) continue;
    return wrong(fmt::format("these are more than the {} jobs of one answer", ledger::k_max_reported_jobs));
  }
  return {};
}

Expected<std::string> render_jobs(const ledger::JobsReport& report, const JobsView& view) {
  tables::Table table;
  SHAPLEY_TRY_ASSIGN(table.columns,
                     parse_columns(view.format.empty() ? k_jobs_format : std::string_view(view.format), k_jobs_fields));
  name_unit(table, report.in);
  for (const ledger::JobRow& job : report.jobs) table.rows.push_back(row_of(job, report.at));
  if (view.format.empty() && !view.parsable) fit_names(table, "organization", view.columns);
  std::string text = view.parsable ? parsable_text(table, view.header) : people_text(table, {.header = view.header});
  // If the user chose the columns, only the table is printed.
  if (view.parsable || !view.format.empty()) return text;
  std::vector<std::string> waits;
  for (const ledger::NoStart& row : report.no_start.value_or(std::vector<ledger::NoStart>{})) {
    if (row.since && is_worth_a_line(*row.since, report.at))
      waits.push_back(no_start_line(row.organization, *row.since, report.at));
  }
  if (report.is_private == true) {
    text += "Private: only your own jobs and those of accounts that you coordinate (PrivateData in slurm.conf)\n";
  }
  return text + first_lines(waits, "Waits:   ");
}

Expected<ExitCode> run_jobs(const JobsArguments& arguments, const Endpoint& endpoint, const Environment& environment) {
  if (arguments.help_format) {
    environment.out << amounts_help(k_jobs_fields);
    return ExitCode::success;
  }
  const JobsView view{.format = arguments.format.empty() ? environment.variable("SHAPLEYCTL_JOBS_FORMAT").value_or("")
                                                         : arguments.format,
                      .parsable = arguments.parsable,
                      .header = !arguments.no_header,
                      .columns = environment.terminal ? environment.columns : 0};
  // Errors in the command line are reported before the daemon is asked.
  SHAPLEY_TRY(render_jobs({}, view));
  SHAPLEY_TRY_ASSIGN(const ledger::JobsReport report, fetch(arguments, endpoint));
  if (arguments.json) {
    environment.out << tables::json_text(json_of(report));
    return ExitCode::success;
  }
  SHAPLEY_TRY_ASSIGN(const std::string text, render_jobs(report, view));
  environment.out << text;
  if (report.truncated) {
    environment.err << "shapleyctl: only the newest " << ledger::k_max_reported_jobs
                    << " jobs are listed; choose with -A, -O, -u or -j\n";
  }
  if (!arguments.jobs.empty() && report.jobs.empty()) {
    environment.err
        << "shapleyctl: the books have no such job; tasks that wait are one job with their array's number\n";
  }
  return ExitCode::success;
}

}  // namespace shapley::ctl
