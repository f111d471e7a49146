#include "ctl/commands/jobs.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>
#include <pwd.h>

#include "base/calendar.hpp"
#include "base/text.hpp"
#include "ctl/offline.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/json_text.hpp"
#include "ledger/reports/jobs_report.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

constexpr std::string_view k_jobs_format =
    "job,organization%-16,account%-12,user%-10,partition%-10,state,processors,begin,elapsed,core_hours,segments,name%-"
    "20";

constexpr std::array k_jobs_fields{
    Field{.name = "job", .member = "job_id", .title = "Job", .meaning = "job id; ARRAY_TASK for a task of an array"},
    Field{.name = "job_number", .member = "job", .title = "JobNumber", .meaning = "Slurm's own number of the job"},
    Field{.name = "organization",
          .member = "organization",
          .title = "Organization",
          .meaning = "whose job it is in the books",
          .align = Align::left},
    Field{.name = "account", .member = "account", .title = "Account", .meaning = "Slurm account", .align = Align::left},
    Field{.name = "user",
          .member = "user",
          .title = "User",
          .meaning = "user name, or the number where this machine has no name for it",
          .align = Align::left},
    Field{.name = "user_id", .member = "user_id", .title = "UserId", .meaning = "user number"},
    Field{
        .name = "partition", .member = "partition", .title = "Partition", .meaning = "partition", .align = Align::left},
    Field{.name = "qos", .member = "qos", .title = "Qos", .meaning = "quality of service", .align = Align::left},
    Field{.name = "name", .member = "name", .title = "Name", .meaning = "job name", .align = Align::left},
    Field{.name = "state",
          .member = "state",
          .title = "State",
          .meaning = "pending, running, suspended or ended, by the books",
          .align = Align::left},
    Field{.name = "slurm_state",
          .member = "slurm_state",
          .title = "SlurmState",
          .meaning = "Slurm's word when its last segment ended",
          .align = Align::left},
    Field{.name = "processors",
          .member = "processors",
          .title = "Processors",
          .meaning = "weighted processors that it holds, asks for, or held last"},
    Field{.name = "submit", .member = "submit_utc", .title = "Submit", .meaning = "when it was submitted (UTC)"},
    Field{.name = "begin", .member = "begin_utc", .title = "Begin", .meaning = "when its first run began (UTC)"},
    Field{.name = "end", .member = "end_utc", .title = "End", .meaning = "when its last run ended (UTC)"},
    Field{.name = "elapsed",
          .member = "elapsed",
          .title = "Elapsed",
          .meaning = "seconds that it has run, without pauses"},
    Field{.name = "core_hours",
          .member = "core_hours",
          .title = "CoreHours",
          .meaning = "core-hours that it has got",
          .people = core_hours_or_unknown},
    Field{.name = "processor_seconds",
          .member = "processor_seconds",
          .title = "ProcessorSeconds",
          .meaning = "the same in processor-seconds, exact"},
    Field{.name = "segments", .member = "segment_count", .title = "Segments", .meaning = "how many segments it has"},
    Field{.name = "nodes",
          .member = "nodes",
          .title = "Nodes",
          .meaning = "where its last run holds or held how many processors",
          .align = Align::left},
};

std::optional<std::uint32_t> number_of_32_bits(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

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

// "3", "[1-3,7]", "[1-10%4]" (at most four at once, which Slurm adds). False: it is none of these.
bool add_tasks(std::uint32_t array, std::string_view text, std::vector<ledger::ArrayTask>& tasks) {
  if (text.starts_with('[')) {
    if (!text.ends_with(']')) return false;
    text = text.substr(1, text.size() - 2);
    if (const std::size_t limit = text.find('%'); limit != std::string_view::npos) {
      if (!number_of_32_bits(text.substr(limit + 1))) return false;
      text = text.substr(0, limit);
    }
  } else if (!number_of_32_bits(text)) {
    return false;
  }
  for (const std::string_view range : words_outside_brackets(text)) {
    const std::size_t dash = range.find('-');
    const auto first = number_of_32_bits(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_of_32_bits(range.substr(dash + 1));
    if (!first || !last || *last < *first) return false;
    for (std::uint64_t task = *first; task <= *last && tasks.size() <= ledger::k_max_reported_jobs; ++task) {
      tasks.push_back({array, static_cast<std::uint32_t>(task)});
    }
  }
  return true;
}

Expected<std::uint32_t> user_number(const std::string& user) {
  if (const auto number = number_of_32_bits(user)) return *number;
  const passwd* entry = ::getpwnam(user.c_str());
  if (entry == nullptr) {
    return fail(Errc::invalid_argument, "-u: this machine knows no user '" + user + "'; give the user's number");
  }
  return entry->pw_uid;
}

Expected<ledger::JobsFilter> filter_of(const JobsArguments& arguments) {
  // Who names a job or a time wants to see the ended ones, too.
  ledger::JobsFilter filter{.all = arguments.all || !arguments.jobs.empty() || !arguments.since.empty(),
                            .since = std::nullopt,
                            .organizations = arguments.organizations,
                            .accounts = {},
                            .user_ids = {},
                            .jobs = {}};
  for (const std::string& jobs : arguments.jobs) SHAPLEY_TRY(add_jobs_named(jobs, filter));
  if (!arguments.since.empty()) {
    SHAPLEY_TRY_ASSIGN(filter.since, parse_past_time(arguments.since, "--since"));
  }
  // Slurm keeps account names in lower case and accepts any.
  for (const std::string& account : arguments.accounts) filter.accounts.push_back(lower(account));
  for (const std::string& user : arguments.users) {
    SHAPLEY_TRY_ASSIGN(const std::uint32_t number, user_number(user));
    filter.user_ids.push_back(number);
  }
  return filter;
}

std::string user_name(std::uint32_t number) {
  const passwd* entry = ::getpwuid(number);
  return entry == nullptr ? std::to_string(number) : std::string(entry->pw_name);
}

json instant_or_null(const json& seconds) {
  return seconds.is_number_integer() ? json(format_instant(Instant{seconds.get<std::int64_t>()})) : json(nullptr);
}

// "n1:4,n2:4" of the last run.
json nodes_text(const json& segments) {
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    if (member_text(*segment, "kind") != "run") continue;
    std::string text;
    for (const json& share : segment->value("nodes", json::array())) {
      text += (text.empty() ? "" : ",") + member_text(share, "node") + ':' + member_text(share, "processors");
    }
    return text;
  }
  return nullptr;
}

json elapsed_seconds(const json& segments, std::int64_t at) {
  std::int64_t seconds = 0;
  for (const json& segment : segments) {
    if (member_text(segment, "kind") != "run" || segment.value("retracted", false)) continue;
    if (!segment.contains("begin") || !segment["begin"].is_number_integer()) continue;
    const std::int64_t begin = segment["begin"].get<std::int64_t>();
    const json end = segment.value("end", json(nullptr));
    seconds += std::max<std::int64_t>(0, (end.is_number_integer() ? end.get<std::int64_t>() : at) - begin);
  }
  return seconds;
}

std::string job_id_text(const json& job) {
  const std::string task = member_text(job, "array_task");
  const std::string array = member_text(job, "array_job");
  return task.empty() || array.empty() ? member_text(job, "job") : array + '_' + task;
}

// Adds the members that only people and tables want to a job of the report.
json row_of(json job, std::int64_t at) {
  const json segments = job.value("segments", json::array());
  job["job_id"] = job_id_text(job);
  if (job.contains("user_id") && job["user_id"].is_number_integer()) {
    job["user"] = user_name(job["user_id"].get<std::uint32_t>());
  }
  job["submit_utc"] = instant_or_null(job.value("submit", json(nullptr)));
  job["begin_utc"] = instant_or_null(job.value("begin", json(nullptr)));
  job["end_utc"] = instant_or_null(job.value("end", json(nullptr)));
  job["elapsed"] = elapsed_seconds(segments, at);
  job["core_hours"] = std::strtod(member_text(job, "processor_seconds").c_str(), nullptr) / 3600.0;
  job["segment_count"] = segments.size();
  job["nodes"] = nodes_text(segments);
  return job;
}

Expected<json> fetch(const JobsArguments& arguments, const Endpoint& endpoint) {
  SHAPLEY_TRY_ASSIGN(const ledger::JobsFilter filter, filter_of(arguments));
  if (!arguments.ledger.empty()) return offline_jobs(arguments.ledger, filter);
  SHAPLEY_TRY_ASSIGN(Client client, Client::connect(endpoint));
  return client.ask(ledger::jobs_request(filter));
}

}  // namespace

std::span<const Field> jobs_fields() {
  return k_jobs_fields;
}

void add_jobs(CLI::App& app, JobsArguments& arguments) {
  CLI::App* command = app.add_subcommand("jobs", "List the jobs in the books, with their organization and segments");
  command->add_flag("--json", arguments.json, "Print the whole report, segments included, as JSON");
  command->add_flag("-P,--parsable2", arguments.parsable, "Exact values between '|'");
  command->add_flag("-n,--noheader", arguments.no_header, "No header");
  command->add_flag("-a,--all", arguments.all, "Ended, suspended and blocked jobs of the last 7 days, too");
  command->add_option("-S,--since", arguments.since, "As --all, but those submitted since TIME")->type_name("TIME");
  command->add_option("-A,--account", arguments.accounts, "Only these accounts")->delimiter(',')->type_name("NAMES");
  command->add_option("-O,--organization", arguments.organizations, "Only these organizations")
      ->delimiter(',')
      ->type_name("NAMES");
  command->add_option("-u,--user", arguments.users, "Only these users")->delimiter(',')->type_name("USERS");
  command
      ->add_option("-j,--job", arguments.jobs,
                   "Only these jobs, arrays, tasks (72_3, 72_[1-3]) and parts (72+1), ended ones included")
      ->type_name("JOBS");
  command->add_option("-o,--format", arguments.format, "Columns: name[%width],...; a negative width aligns left")
      ->type_name("FORMAT");
  command->add_flag("--helpformat", arguments.help_format, "List the names for --format");
  command->add_option("--ledger", arguments.ledger, "Read this ledger file, a copy included; no daemon is asked");
}

Expected<void> add_jobs_named(const std::string& text, ledger::JobsFilter& filter) {
  const auto wrong = [&](const std::string& why) {
    return fail(Errc::invalid_argument, "-j: '" + text + "': " + why + "; jobs are 72, 72_3, 72_[1-3,7] or 72+1");
  };
  for (const std::string_view word : words_outside_brackets(text)) {
    const std::size_t mark = word.find_first_of("_+");
    const auto job = number_of_32_bits(word.substr(0, mark));
    if (!job) return wrong("'" + std::string(word) + "' is no job");
    if (mark == std::string_view::npos) {
      filter.jobs.push_back(*job);
    } else if (word[mark] == '+') {
      const auto part = number_of_32_bits(word.substr(mark + 1));
      if (!part) return wrong("'" + std::string(word.substr(mark + 1)) + "' names no part of a heterogeneous job");
      filter.parts.push_back({*job, *part});
    } else if (!add_tasks(*job, word.substr(mark + 1), filter.tasks)) {
      return wrong("'" + std::string(word.substr(mark + 1)) + "' names no tasks");
    }
    if (filter.jobs.size() + filter.tasks.size() + filter.parts.size() <= ledger::k_max_reported_jobs) continue;
    return wrong("these are more than the " + std::to_string(ledger::k_max_reported_jobs) + " jobs of one answer");
  }
  return {};
}

Expected<std::string> render_jobs(const json& report, const JobsView& view) {
  SHAPLEY_TRY_ASSIGN(std::vector<Column> columns,
                     parse_columns(view.format.empty() ? k_jobs_format : std::string_view(view.format), k_jobs_fields));
  const json at = report.value("at", json(0));
  json rows = json::array();
  for (const json& job : report.value("jobs", json::array())) {
    rows.push_back(row_of(job, at.is_number_integer() ? at.get<std::int64_t>() : 0));
  }
  if (view.format.empty() && !view.parsable) fit_names(columns, "organization", rows, view.columns);
  std::string text = render_table(
      columns, rows, {.form = view.parsable ? Form::parsable : Form::people, .header = view.header, .colour = false});
  // Whoever chose the columns wants columns and nothing else.
  if (view.parsable || !view.format.empty()) return text;
  std::vector<std::string> waits;
  for (const json& row : report.value("no_start", json::array())) {
    waits.push_back(no_start_line(member_text(row, "organization"), row.value("since", json(nullptr)), at));
  }
  if (report.value("private", false)) {
    text += "Private: only your own jobs and those of accounts that you coordinate (PrivateData in slurm.conf)\n";
  }
  return text + first_lines(waits, "Waits:   ");
}

Expected<ExitCode> run_jobs(const JobsArguments& arguments, const Endpoint& endpoint, const Environment& environment) {
  if (arguments.help_format) {
    environment.out << render_field_help(k_jobs_fields);
    return ExitCode::success;
  }
  const JobsView view{.format = arguments.format.empty() ? environment.variable("SHAPLEYCTL_JOBS_FORMAT").value_or("")
                                                         : arguments.format,
                      .parsable = arguments.parsable,
                      .header = !arguments.no_header,
                      .columns = environment.terminal ? environment.columns : 0};
  // A typing error is told before anybody is asked.
  SHAPLEY_TRY(render_jobs(json::object(), view));
  SHAPLEY_TRY_ASSIGN(const json report, fetch(arguments, endpoint));
  if (arguments.json) {
    environment.out << json_text(report);
    return ExitCode::success;
  }
  SHAPLEY_TRY_ASSIGN(const std::string text, render_jobs(report, view));
  environment.out << text;
  if (report.value("truncated", false)) {
    environment.err << "shapleyctl: only the newest " << ledger::k_max_reported_jobs
                    << " jobs are listed; choose with -A, -O, -u or -j\n";
  }
  if (!arguments.jobs.empty() && report.value("jobs", json::array()).empty()) {
    environment.err
        << "shapleyctl: the books have no such job; tasks that wait are one job with their array's number\n";
  }
  return ExitCode::success;
}

}  // namespace shapley::ctl
