#include "ctl/commands/explain.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "ctl/commands/explain_own.hpp"
#include "ctl/commands/explain_slurm.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/other_clusters.hpp"
#include "ctl/slurm/submission.hpp"
#include "ledger/reports/other_clusters.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

namespace {

using ledger::ExplainReport;
using ledger::JobTurn;

// "astro 12 jobs with 35 processors, bio 1 job with 2 and chem 1 job with 1".
std::string demands_text(const std::vector<ledger::Demand>& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ledger::Demand& row = rows[i];
    text += i == 0 ? "" : i + 1 == rows.size() ? " and " : ", ";
    text += fmt::format("{} {} with {}", printable(row.organization), count_of(row.jobs, "job"),
                        i == 0 ? count_of(row.processors) : plain(row.processors));
  }
  return text;
}

// Starts that the user may not see; "" for none.
std::string hidden_lines(const std::optional<ledger::HiddenStarts>& hidden) {
  std::string text;
  if (!hidden) return text;
  for (const auto& [organization, jobs] : *hidden) {
    text += fmt::format("  {} of {}, not yours to see (PrivateData)\n", count_of(std::int64_t{jobs}, "job"),
                        printable(organization));
  }
  return text;
}

std::string rule_words(const ledger::RuleMatched& rule) {
  return fmt::format("the rule {} {}", printable(rule.kind), printable(rule.name));
}

// For a job that the rules in force would give to another organization.
std::string today(const ExplainReport& report) {
  if (!report.rule) return report.job.is.organization == "guests" ? "" : "; no rule in force has it so";
  return fmt::format("; by {} it would be of {} now", rule_words(*report.rule), printable(report.rule->organization));
}

// "by the rule account bio", or another reason.
std::string rule_text(const ExplainReport& report) {
  const ledger::BookedBy& booked = report.booked_by;
  switch (booked.by) {
    case ledger::BookedWay::rule:
      if (report.rule) return "by " + rule_words(*report.rule);
      break;
    case ledger::BookedWay::adjustment:
      return fmt::format("by adjustment {} of {} ({}){}", booked.number, booked.at.utc(), printable(booked.reason),
                         today(report));
    case ledger::BookedWay::rule_of_then:
      if (!booked.rule) break;
      return fmt::format("by {} of the configuration of {}{}", rule_words(*booked.rule), booked.loaded.utc(),
                         today(report));
    case ledger::BookedWay::no_rule:
      return report.rule ? "no rule matched it then" + today(report) : "no rule matches";
    case ledger::BookedWay::account_above:
      return "by an account above " + printable(report.job.is.account);
    case ledger::BookedWay::unknown:
      break;
  }
  return "as it was booked" + today(report);
}

// "user ada", or "uid 1000" where no name is known.
std::string user_words(const ledger::JobIdentity& job) {
  const std::string name = printable(user_name_of(job.user_id, job.user));
  return name.starts_with("uid ") ? name : "user " + name;
}

// "account astro, partition main"
std::string traits_text(const ledger::JobIdentity& job) {
  return (job.account.empty() ? "no account" : "account " + printable(job.account)) +
         (job.partition.empty() ? "" : ", partition " + printable(job.partition)) +
         (job.qos.empty() ? "" : ", QOS " + printable(job.qos));
}

std::string whose_line(const ExplainReport& report) {
  const ledger::JobIdentity& job = report.job.is;
  if (report.job.state == JobTurn::hypothetical) {
    return fmt::format("A job submitted now ({}, {}) would be of {}: {}.\n", user_words(job), traits_text(job),
                       printable(job.organization), rule_text(report));
  }
  return fmt::format("Job {} ({}, {}, submitted {}) is of {}: {}.\n", printable(report.job.job_id), user_words(job),
                     traits_text(job), report.job.submit.utc(), printable(job.organization), rule_text(report));
}

// "It ran on 2 processors from ... to ... (1 h 2 min; COMPLETED)."
std::string ran_line(const ExplainReport& report, const ledger::JobHistory& history) {
  const std::int64_t length = (history.end - history.begin).value;
  const std::string suspended =
      history.held_s < length ? fmt::format(", suspended for {} of it", short_duration(length - history.held_s)) : "";
  const std::string state = printable(report.job.is.slurm_state);
  return "It ran on " + count_of(history.processors) + " from " + history.begin.utc() + " to " + history.end.utc() +
         " (" + short_duration(length) + suspended + (state.empty() ? "" : "; " + state) + ").\n";
}

std::string ended_line(const ExplainReport& report) {
  if (report.history && report.history->end.is_known()) return ran_line(report, *report.history);
  const std::string word = printable(report.job.is.slurm_state);
  const std::string ended = word.empty() ? "It has ended" : fmt::format("It has ended ({})", word);
  return report.past || report.job.is.begin ? ended + ".\n" : ended + " without having started.\n";
}

// Of a federated job: "It ran on the cluster south of its federation (COMPLETED)."
std::string federated_line(const RanElsewhere& elsewhere) {
  const bool is_running = elsewhere.state == "RUNNING" || elsewhere.state == "SUSPENDED";
  return fmt::format("{} on the cluster {} of its federation ({}), whose books have it; it is no demand here.\n",
                     is_running ? "It runs" : "It ran", printable(elsewhere.cluster), printable(elsewhere.state));
}

std::string state_line(const Explanation& explanation) {
  if (explanation.elsewhere) return federated_line(*explanation.elsewhere);
  const ExplainReport& report = explanation.report;
  const std::string processors = count_of(report.job.is.processors);
  const std::string since = report.job.since.is_known() ? since_text(report.job.since, report.at) : std::string();
  switch (report.job.state) {
    case JobTurn::waiting:
      return fmt::format("It has waited for {} since {}.\n", processors, since);
    case JobTurn::running:
      if (!explanation.slurm.is_configuring()) return fmt::format("It runs on {} since {}.\n", processors, since);
      return fmt::format(
          "It has {} since {} and has not begun: its nodes boot, or PrologSlurmctld runs. Slurm counts its time from "
          "the beginning when nodes that boot are up.\n",
          processors, since);
    case JobTurn::blocked:
      if (report.waits_for == "nice") {
        return "It does not wait for its turn: its --nice is above 10000, so it goes behind jobs of other "
               "organizations by its own wish and is no demand in the books.\n";
      }
      return "It does not wait for its turn: Slurm would not start it now whatever is free, so it is no demand in the "
             "books.\n";
    case JobTurn::hypothetical:
      return fmt::format("It would wait for {}.\n", processors);
    case JobTurn::suspended:
      return "It is suspended.\n";
    case JobTurn::not_submitted:
      return "It had not been submitted.\n";
    case JobTurn::ended:
      break;
  }
  return ended_line(report);
}

// The time for which the job had waited, and the jobs that started meanwhile.
std::string history_lines(const ExplainReport& report) {
  if (!report.history || !report.history->waited_s) return "";
  const ledger::JobHistory& history = *report.history;
  if (*history.waited_s == 0) return "It started as soon as it could.\n";
  std::string text = fmt::format("Before it started it had waited for {}, since {}", short_duration(*history.waited_s),
                                 history.waited_since.utc());
  if (!history.meanwhile) return text + ". So much started meanwhile that it is not listed.\n";
  const ledger::Meanwhile& meanwhile = *history.meanwhile;
  if (meanwhile.organizations.empty()) return text + ", and nothing else started meanwhile.\n";
  text += fmt::format(". Meanwhile started: {}. The last of them:\n", demands_text(meanwhile.organizations));
  for (auto start = meanwhile.last.rbegin(); start != meanwhile.last.rend(); ++start) {
    text += fmt::format("  {}  job {} of {} on {}\n", start->begin.utc(), start->job, printable(start->organization),
                        count_of(start->processors));
  }
  return text + hidden_lines(meanwhile.hidden);
}

std::string job_lines(const Explanation& explanation) {
  return whose_line(explanation.report) + state_line(explanation) + history_lines(explanation.report);
}

std::string accounts_line(const std::string& no_accounts) {
  if (no_accounts.empty()) return {};
  return fmt::format(
      "Slurm's accounts are not known ({}): its default account, or a rule of an account above, may make it another\n"
      "organization's.\n",
      printable(no_accounts));
}

// What each of the two terms of a key that brakes says.
std::string braking_text(const ledger::RankedRow& row, const ledger::AmountUnit& in) {
  if (!row.braking) return "";
  const ledger::BrakingRow& braking = *row.braking;
  const double owed = braking.owed_core_hours;
  const double stopping = braking.stopping_core_hours;
  std::string text = fmt::format(" In {}, when what runs now has ended, it will {}", short_duration(braking.residual_s),
                                 owed == 0 ? "be even"
                                           : fmt::format("{}{} {}", owed < 0 ? "owe " : "be owed ",
                                                         unsigned_core_hours(std::fabs(owed)), in.word()));
  if (stopping != 0) {
    text += fmt::format(", and {}{} more until it has {}", stopping > 0 ? "be owed " : "owe ",
                        unsigned_core_hours(std::fabs(stopping)),
                        stopping > 0 ? "got as much as it gave" : "given as much as it got");
  }
  if (row.settled_in_s.value_or(0) > 0)
    text += fmt::format("; it is even in about {} if work waits on all sides", about(Duration{*row.settled_in_s}));
  return text + ".";
}

std::string standing_line(const ExplainReport& report) {
  const ledger::RankedRow& row = report.organization;
  const std::string name = printable(row.name);
  if (!row.rank) return name + " has no rank.\n";
  std::string text =
      fmt::format("{} has rank {} of {}: it {}; key {}{}.", name, *row.rank, report.ranked, printable(row.sentence),
                  signed_core_hours(row.key_core_hours.value_or(0)), horizon_text(report.ranking));
  text += braking_text(row, report.in);
  if (row.below_guarantee == true) {
    text += " It runs on fewer than its guaranteed part of its own processors, so it goes before those that do not.";
  }
  if (row.last == true) text += " Its jobs go after those of every organization (guests: last).";
  text += fmt::format(" It owns {} and uses {}.", count_of(row.owned), plain(row.used));
  if (std::ranges::any_of(report.ahead.organizations, &ledger::AheadRow::by_what_runs)) {
    const double running = row.running_core_hours.value_or(0);
    text += fmt::format(" It gives {} now", plain(row.gives));
    if (running != 0) {
      text += fmt::format(", and what runs now {} its key by {}", running < 0 ? "lowers" : "raises",
                          unsigned_core_hours(running));
    }
    text += "; if nothing ran it would have a better rank.";
  }
  return text + "\n";
}

// What other clusters contribute to its organization's rank and, while it waits, to the better ones.
std::string elsewhere_lines(const ExplainReport& report, bool waits) {
  std::vector<std::string> organizations{report.organization.name};
  if (waits) {
    for (const ledger::AheadRow& row : report.ahead.organizations) organizations.push_back(row.waits.organization);
  }
  return ctl::elsewhere_lines(report.clusters, organizations, report.at, report.in);
}

// "1st", "2nd", "3rd", "4th", "11th".
std::string ordinal(std::int64_t n) {
  const std::int64_t last = n / 10 % 10 == 1 ? 0 : n % 10;
  const char* ending = last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
  return std::to_string(n) + ending;
}

// "By leads astro may start 35 more processors, bio 2 and chem all that the cluster has before it."
std::string leads_line(const std::vector<LeadBefore>& leads) {
  std::string text;
  for (std::size_t i = 0; i < leads.size(); ++i) {
    const auto& count = leads[i].processors;
    text += i == 0 ? "By leads " : i + 1 == leads.size() ? " and " : ", ";
    text += printable(leads[i].organization) + (i == 0 ? " may start " : " ");
    text += count ? std::to_string(*count) : "all that the cluster has";
    if (i == 0 && count) text += *count == 1 ? " more processor" : " more processors";
  }
  return text.empty() ? "" : text + " before it.\n";
}

// Order strict: the jobs that slurmctld tries before this one.
std::string place_lines(const std::optional<Place>& place, const std::string& organization) {
  if (!place) return "";
  if (!place->known) return fmt::format("Place: not known: {}.\n", printable(place->why));
  std::string text = fmt::format("Place: {} of {} that wait", ordinal(place->position), place->of);
  const std::vector<ledger::Demand> before = place->before.value_or(std::vector<ledger::Demand>{});
  const auto own = std::ranges::find(before, organization, &ledger::Demand::organization);
  text += fmt::format(", {} of {}", ordinal(own == before.end() ? 1 : own->jobs + 1), printable(organization));
  if (before.empty()) {
    text += ": no job goes before it";
  } else {
    const bool is_one = before.size() == 1 && before[0].jobs == 1;
    text += fmt::format(": {}{} before it", demands_text(before), is_one ? " goes" : " go");
  }
  if (place->truncated == true) text += ", as far as the 20,000 jobs of the lowest numbers show";
  return text + ".\n" + leads_line(place->leads.value_or(std::vector<LeadBefore>{}));
}

// The jobs that have waited since before this one.
std::string longer_text(const ledger::OwnJobs& own) {
  if (own.jobs == 1) return own.longer == 0 ? "but not for longer than this one" : "and for longer than this one";
  return std::to_string(own.longer) + " of them for longer";
}

std::string ahead_lines(const Explanation& explanation) {
  const ledger::Ahead& ahead = explanation.report.ahead;
  // If jobs have places, ranks only say which organization is served next.
  std::string text = explanation.place && explanation.place->known ? "Better ranks: " : "Before it: ";
  if (ahead.jobs == 0) {
    text += "no job of another organization.\n";
  } else {
    std::string of;
    for (const ledger::AheadRow& row : ahead.organizations) {
      if (row.waits.jobs == 0) continue;
      of +=
          (of.empty() ? "" : ", ") + printable(row.waits.organization) + " (rank " + std::to_string(row.rank) + ": " +
          count_of(row.waits.jobs, "job") + ", " + count_of(row.waits.processors) +
          (row.because == ledger::Because::guarantee ? ", below its guarantee" : "") +
          (row.by_what_runs ? ", by what runs now" : "") +
          (row.deciding_clusters.empty() ? "" : ", by what " + printable(ledger::states_text(row.deciding_clusters))) +
          ")";
    }
    text += count_of(ahead.jobs, "job") + (ahead.jobs == 1 ? " that asks for " : " that ask for ") +
            count_of(ahead.processors, "processor") + ", of " + of + ".\n";
  }
  const ledger::OwnJobs& own = explanation.report.own;
  if (own.jobs != 0) {
    text += fmt::format("Within {}: {}{} for {}, {}; which of these goes first is up to Slurm's own factors.\n",
                        printable(explanation.report.organization.name), count_of(own.jobs, "other job"),
                        own.jobs == 1 ? " waits" : " wait", count_of(own.processors), longer_text(own));
  }
  return text;
}

std::string turns_lines(const ExplainReport& report) {
  const ledger::Turns& turns = report.turns;
  const std::string name = printable(report.organization.name);
  if (turns.next.empty())
    return fmt::format("If nothing starts or ends {} keeps its rank{}.\n", name, until_text(turns.limit));
  std::string text;
  constexpr std::size_t k_told = 3;
  for (std::size_t i = 0; i < turns.next.size() && i < k_told; ++i) {
    const ledger::Turn& turn = turns.next[i];
    const std::string other = printable(turn.organization);
    text += fmt::format("{}{} passes {} at {}", text.empty() ? "If nothing starts or ends " : "; ",
                        turn.ahead ? name : other, turn.ahead ? other : name, ahead_text(turn.at, report.at));
  }
  return text + ".\n";
}

// The ranks do not order the jobs at present.
std::string mode_line(const ExplainReport& report) {
  if (!report.priorities || !report.priorities->observes()) return "";
  return "Ranks are not in force (mode observe): Slurm's own priorities order the jobs, the above is what ranks would "
         "say.\n";
}

// nullopt: jobs have no places here.
std::optional<Place> place_in(const Explanation& explanation, const Endpoint& endpoint,
                              const Environment& environment) {
  const ExplainReport& report = explanation.report;
  if (!report.priorities || !report.priorities->is_strict() || report.priorities->observes()) return std::nullopt;
  if (report.job.state != JobTurn::waiting || !explanation.slurm.asked) return std::nullopt;
  const auto queue = ask_for<ledger::QueueReport>(endpoint, {{"request", "queue"}});
  if (!queue && queue.error().code == Errc::denied)
    return place_not_known("jobs of others are private here (PrivateData)");
  if (!queue) return place_not_known(queue.error().what);
  const auto priorities = pending_priorities(environment.run_program);
  if (!priorities) return place_not_known(priorities.error().what);
  return place_of(report.job.is.job, report.job.is.organization, *queue, *priorities, report.organizations);
}

// `no_accounts`: as of Explanation.
Expected<ledger::ExplainRequest> request_from(const ExplainArguments& arguments, const Environment& environment,
                                              std::string& no_accounts) {
  if (!arguments.submit) {
    if (arguments.job.empty()) return fail(Errc::invalid_argument, "explain needs a JOB, --me, or --submit");
    if (const auto name = ledger::checked_job_name(arguments.job); !name)
      return fail(Errc::invalid_argument,
                  name.error().what + "; an organization is explained --against another one or a job");
    return ledger::ExplainRequest{.job = arguments.job};
  }
  const passwd* user = ::getpwuid(::geteuid());
  ledger::SubmissionAsked asked =
      completed(arguments.asked, user == nullptr ? std::string() : user->pw_name, environment.run_program);
  AccountsAbove above = accounts_above(asked.account, environment.run_program);
  asked.accounts_above = std::move(above.names);
  no_accounts = std::move(above.unknown);
  asked.user_id = ::geteuid();
  asked.group_id = ::getegid();
  return ledger::ExplainRequest{.submit = std::move(asked)};
}

// Whether a federated job may have started on another cluster.
bool may_be_elsewhere(const ExplainReport& report) {
  const bool waits_or_is_over = report.job.state == JobTurn::blocked || report.job.state == JobTurn::ended;
  return waits_or_is_over && !report.history;
}

// For the past: the jobs of that time, and the jobs that started next.
std::string past_lines(const ExplainReport& report) {
  std::string text = fmt::format("\nAt {}:\n{}\n", report.at.utc(), standings_table(report.organizations));
  const std::string hidden = hidden_lines(report.hidden_starts);
  if (report.next_starts.empty() && hidden.empty()) return text + "Nothing has started since.\n";
  text += "Started next:\n";
  for (const ledger::NextStart& start : report.next_starts) {
    text += fmt::format("  {}  job {} of {}{} on {}\n", start.is.begin.utc(), printable(start.job_id),
                        printable(start.is.organization), start.rank ? fmt::format(" (rank {})", *start.rank) : "",
                        count_of(start.is.processors));
  }
  return text + hidden;
}

}  // namespace

void add_explain(CLI::App& app, ExplainArguments& arguments) {
  CLI::App* command = app.add_subcommand("explain",
                                         "Explain why a job waits: its organization and rule, the jobs before it, its "
                                         "place, and the parts of its priority");
  CLI::Option* job = command
                         ->add_option("JOB", arguments.job,
                                      "Explain this job: its number, ARRAY_TASK, or JOB+PART of a heterogeneous job; "
                                      "with --against, this may be an organization")
                         ->type_name("");
  CLI::Option* submit = command
                            ->add_flag("--submit", arguments.submit,
                                       "Show where a job would stand that is submitted now, and submit none")
                            ->excludes(job);
  command
      ->add_option("--against", arguments.against,
                   "Show instead which goes first, JOB or this organization or job, why, since when, and what would "
                   "reverse that")
      ->excludes(submit)
      ->type_name("NAME");
  CLI::Option* me = command
                        ->add_flag("--me", arguments.me,
                                   "Show all of your own jobs that wait in one table: places, what goes before each, "
                                   "when they start, and what would let them start now")
                        ->excludes(job)
                        ->excludes(submit)
                        ->excludes(command->get_option("--against"));
  command->add_flag("-P,--parsable2", arguments.parsable, "Print exact values separated by |")->needs(me);
  command->add_option("-A,--account", arguments.asked.account, "Use this account")->needs(submit)->type_name("ACCOUNT");
  command->add_option("-n,--ntasks", arguments.asked.processors, "Let it ask for so many processors")
      ->needs(submit)
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, ledger::k_most_processors_asked))
      ->type_name("N");
  command->add_option("-p,--partition", arguments.asked.partition, "Use this partition")
      ->needs(submit)
      ->type_name("NAME");
  command->add_option("-q,--qos", arguments.asked.qos, "Use this QOS")->needs(submit)->type_name("NAME");
  command
      ->add_option("-t,--time", arguments.time,
                   "Use this time limit, as sbatch takes it, for sbatch's estimate of its start")
      ->needs(submit)
      ->type_name("TIME");
  RankSource& source = arguments.source;
  command->add_option("--ledger", source.ledger, "Read this ledger file or a copy of it, without asking a daemon")
      ->type_name("FILE");
  command->add_option("--at", source.at, "Report as of this instant")->type_name("TIME")->excludes(me);
  me->excludes(command->get_option("--ledger"));
  command
      ->add_option(
          "--archives", source.archives,
          "Look for a named ledger's archives here, for --at (default: the directory archives beside the ledger)")
      ->type_name("DIRECTORY");
  command->add_flag("--json", arguments.json, "Print the report as JSON");
}

std::string slurm_name(const std::string& asked, const ledger::JobIdentity& job) {
  const bool is_part = asked.find('+') != std::string::npos;
  return is_part || job.array_task ? std::to_string(job.job) : asked;
}

std::string render_explanation(const Explanation& explanation) {
  const ExplainReport& report = explanation.report;
  const bool is_hypothetical = report.job.state == JobTurn::hypothetical;
  const bool waits = is_hypothetical || report.job.state == JobTurn::waiting || report.job.state == JobTurn::blocked;
  std::string text = job_lines(explanation) + accounts_line(explanation.no_accounts) + "\n" + standing_line(report) +
                     elsewhere_lines(report, waits);
  if (waits)
    text += place_lines(explanation.place, report.organization.name) + ahead_lines(explanation) + turns_lines(report) +
            mode_line(report);
  if (report.past) return text + past_lines(report);
  if (is_hypothetical) return text + test_only_line(explanation.test_only);
  return text + "\n" + slurm_lines(explanation) + priority_lines(explanation);
}

Expected<ExitCode> run_explain(const ExplainArguments& arguments, const Endpoint& endpoint,
                               const Environment& environment) {
  if (arguments.me) return explain_own_jobs(arguments, endpoint, environment);
  if (!arguments.against.empty()) {
    if (arguments.job.empty())
      return fail(Errc::invalid_argument, "explain --against needs the JOB or organization that is compared, too");
    return explain_against(arguments, endpoint, environment);
  }
  Explanation explanation;
  SHAPLEY_TRY_ASSIGN(const ledger::ExplainRequest asked, request_from(arguments, environment, explanation.no_accounts));
  SHAPLEY_TRY_ASSIGN(explanation.report, explained(asked, arguments.source, endpoint));
  const ledger::JobIdentity& is = explanation.report.job.is;
  const bool is_live = arguments.source.ledger.empty() && arguments.source.at.empty();
  if (arguments.submit) {
    explanation.slurm = slurm_not_asked("the job was not submitted");
    if (is_live) explanation.test_only = test_only(arguments.asked, arguments.time, environment.run_program);
  } else {
    explanation.slurm = is_live
                            ? slurm_facts(slurm_name(arguments.job, is), environment.run_program)
                            : slurm_not_asked("this is of a ledger or of the past, and Slurm knows the present only");
    explanation.place = place_in(explanation, endpoint, environment);
    if (is_live && may_be_elsewhere(explanation.report))
      explanation.elsewhere = ran_elsewhere(is.job, environment.run_program);
  }
  explanation.priority = compare_priority(explanation.report.priorities, explanation.slurm, is.organization);
  environment.out << (arguments.json ? tables::json_text(json_of(explanation)) : render_explanation(explanation));
  return ExitCode::success;
}

}  // namespace shapley::ctl
