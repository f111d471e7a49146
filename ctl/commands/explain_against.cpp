// `explain --against`: which of two organizations or jobs goes first.
#include <array>

#include <fmt/format.h>

#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "ctl/commands/explain.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/other_clusters.hpp"
#include "ctl/rank_answers.hpp"
#include "ledger/reports/other_clusters.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

namespace {

using ledger::Because;
using ledger::CompareReport;
using ledger::JobTurn;

std::string side_line(const ledger::SideReport& side, Instant at) {
  const std::string name = printable(side.organization);
  std::string text;
  if (side.job) {
    const ledger::JobAt& job = *side.job;
    text = fmt::format("Job {} of {}: ", printable(job.job_id), name);
    if (job.state == JobTurn::blocked) {
      text += "it could not start whatever is free";
    } else {
      text += std::string(name_of(job.state)) + (job.since.is_known() ? " since " + since_text(job.since, at) : "");
    }
    text += fmt::format(", {}.\n", count_of(job.is.processors));
  }
  if (!side.rank) return fmt::format("{}{} has no rank.\n", text, name);
  const auto of = [](const std::optional<ledger::Processors>& processors) {
    return processors.value_or(ledger::Processors{});
  };
  return text + name + ": rank " + std::to_string(*side.rank) + ", it " + printable(side.sentence.value_or("")) +
         "; key " + signed_core_hours(side.key_core_hours.value_or(0)) + "; it owns " + count_of(of(side.owned)) +
         ", uses " + plain(of(side.used)) + ", lends " + plain(of(side.lent)) + " and borrows " +
         plain(of(side.borrowed)) + ".\n";
}

std::string why_line(const CompareReport& report) {
  const std::string first = printable(*report.first);
  const std::string other = printable(report.behind().organization);
  const double difference = report.difference_core_hours.value_or(0);
  std::string text = fmt::format("{} goes before {}: ", first, other);
  if (report.because == Because::guarantee) {
    return fmt::format(
        "{}{} has jobs that could start and runs on fewer than its guaranteed part of its own processors{}.\n", text,
        first, difference < 0 ? fmt::format("; by its key alone {} would go first", other) : std::string());
  }
  if (report.because == Because::guests) {
    return fmt::format("{}jobs of guests go after those of every organization (guests: last){}.\n", text,
                       difference < 0 ? fmt::format("; by its key alone {} would go first", other) : std::string());
  }
  if (report.because == Because::order) return text + "they are even, and the configuration names it first.\n";
  const std::string states =
      report.deciding_clusters.empty() ? "" : printable(ledger::states_text(report.deciding_clusters));
  return text + "its key is greater by " + unsigned_core_hours(difference) + ' ' + report.in.word() +
         (states.empty() ? "" : ", by what " + states) + horizon_text(report.ranking) +
         (report.by_what_runs == true ? fmt::format("; if nothing ran, {} would go first", other) : std::string()) +
         (states.empty() ? "" : fmt::format("; by the books of this cluster alone, {} would go first", other)) + ".\n";
}

std::string history_line(const CompareReport& report) {
  if (!report.since || !report.since->order.is_known()) {
    return report.since_unknown ? fmt::format("Since when is not known: {}.\n", printable(*report.since_unknown))
                                : std::string();
  }
  const Instant at = report.at;
  if (report.because == Because::guests)
    return fmt::format("It has done so since {}.\n", since_text(report.since->order, at));
  std::string text = "It has done so since " + since_text(report.since->order, at);
  if (report.period_begin && report.since->keys <= *report.period_begin) {
    return fmt::format("{}; the difference has grown since the period began, {}.\n", text,
                       since_text(*report.period_begin, at));
  }
  return fmt::format("{}; the difference was zero last at {}.\n", text, since_text(report.since->keys, at));
}

// "35 more processors".
std::string more_processors(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " more processor" : " more processors");
}

std::string turning_lines(const CompareReport& report) {
  const std::string first = printable(*report.first);
  const std::string other = printable(report.behind().organization);
  std::string text;
  if (report.because == Because::guests) return "It stays so as long as the configuration says guests: last.\n";
  if (report.because == Because::guarantee) {
    const auto& lacking = report.ahead().lacking;
    text = fmt::format("It turns when {} runs on its guaranteed part{}, or has nothing more to start.\n", first,
                       lacking ? ", " + more_processors(*lacking) : std::string());
  }
  if (report.because == Because::key && report.turning_processors) {
    const std::int64_t startable = *report.turning_processors;
    text = fmt::format("{} may start {} before {}'s first job.\n", first,
                       startable == 0 ? "one job" : more_processors(startable), other);
  }
  if (report.because == Because::key && report.turning_core_hours) {
    const std::string amount = unsigned_core_hours(*report.turning_core_hours);
    text += fmt::format("It turns at once when {} gets {} {} more than it gives", first, amount, report.in.word());
    // By a rule that brakes another amount would do that on the other side.
    if (report.ranking.rule == accounting::KeyRule::horizon)
      text += fmt::format(", or when {} gives {} {} more than it gets", other, amount, report.in.word());
    text += ".\n";
  }
  if (report.turns.empty())
    return fmt::format("{}If nothing starts or ends it stays so{}.\n", text, until_text(report.limit));
  for (std::size_t i = 0; i < report.turns.size(); ++i) {
    const ledger::PairTurn& turn = report.turns[i];
    text += fmt::format("{}{} goes first from {} on.\n", i == 0 ? "If nothing starts or ends " : "and then ",
                        printable(turn.first), ahead_text(turn.at, report.at));
  }
  return text;
}

// Slurm's own priorities of the two jobs.
std::string slurm_line(const Comparison& comparison) {
  if (!comparison.slurm) return "";
  std::string text;
  for (std::size_t i = 0; i < 2; ++i) {
    const SlurmFacts& slurm = (*comparison.slurm)[i];
    const auto& side = comparison.report.sides[i];
    const std::string job = side.job ? printable(side.job->job_id) : std::string();
    if (!slurm.asked) return fmt::format("Slurm was not asked: {}.\n", printable(slurm.why));
    if (slurm.known_job() == nullptr) {
      text += fmt::format("Slurm does not know job {} any more. ", job);
      continue;
    }
    const SlurmJob& is = *slurm.known_job();
    const std::optional<std::string> reason = is.reported_reason();
    text += fmt::format("Slurm: job {} {}, priority {}{}. ", job, printable(is.state),
                        is.priority ? std::to_string(*is.priority) : std::string(),
                        reason ? ", reason " + printable(*reason) : std::string());
  }
  text.back() = '\n';
  return text;
}

// For a job that has started, the second before its start is more useful.
std::string past_hint(const CompareReport& report) {
  const auto name = [](const ledger::SideReport& side) {
    return printable(side.job ? side.job->job_id : side.organization);
  };
  std::string text;
  for (const ledger::SideReport& side : report.sides) {
    if (!side.job || side.job->state != JobTurn::running || report.past) continue;
    text += fmt::format("Why job {} started when it did: shapleyctl explain {} --against {} --at {}\n", name(side),
                        name(report.sides[0]), name(report.sides[1]), format_instant(side.job->since - Duration{1}));
  }
  return text;
}

}  // namespace

std::string render_comparison(const Comparison& comparison) {
  const CompareReport& report = comparison.report;
  const auto& [a, b] = report.sides;
  const Instant at = report.at;
  std::string text = side_line(a, at);
  if (report.same_organization) {
    const std::string name = printable(a.organization);
    if (!a.job || !b.job) return fmt::format("{}There is nothing to compare: both are {}.\n", text, name);
    const std::string second = side_line(b, at);
    text += second.substr(0, second.find('\n') + 1);
    return fmt::format(
        "{}Both are of {}: their ranks are the same, and Slurm's own factors (age, fairshare, size, QOS, nice) and "
        "levels decide.\n{}",
        text, name, slurm_line(comparison));
  }
  text += side_line(b, at) + "\n";
  if (!report.first) return text;
  text += why_line(report) +
          elsewhere_lines(report.clusters, std::array{a.organization, b.organization}, at, report.in) +
          history_line(report) + turning_lines(report);
  if (report.priorities && report.priorities->observes()) {
    text += "Ranks are not in force (mode observe).\n";
  } else if (report.priorities && !report.priorities->is_strict()) {
    text += "With order weighted a rank is one factor among others: a job's other factors may outweigh it.\n";
  }
  return text + slurm_line(comparison) + past_hint(report);
}

Expected<ExitCode> explain_against(const ExplainArguments& arguments, const Endpoint& endpoint,
                                   const Environment& environment) {
  Comparison comparison;
  SHAPLEY_TRY_ASSIGN(comparison.report, compared(arguments.job, arguments.against, arguments.source, endpoint));
  const auto& [a, b] = comparison.report.sides;
  const bool is_live = arguments.source.ledger.empty() && arguments.source.at.empty();
  if (is_live && a.job && b.job) {
    comparison.slurm = {slurm_facts(slurm_name(arguments.job, a.job->is), environment.run_program),
                        slurm_facts(slurm_name(arguments.against, b.job->is), environment.run_program)};
  }
  environment.out << (arguments.json ? tables::json_text(json_of(comparison)) : render_comparison(comparison));
  return ExitCode::success;
}

}  // namespace shapley::ctl
