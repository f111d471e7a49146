// `explain --against`: which of two organizations or jobs goes first.
#include <array>

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
    text = "Job " + printable(job.job_id) + " of " + name + ": ";
    if (job.state == JobTurn::blocked) {
      text += "it could not start whatever is free";
    } else {
      text += std::string(name_of(job.state)) + (job.since.is_known() ? " since " + since_text(job.since, at) : "");
    }
    text += ", " + count_of(job.is.processors) + ".\n";
  }
  if (!side.rank) return text + name + " has no rank.\n";
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
  std::string text = first + " goes before " + other + ": ";
  if (report.because == Because::guarantee) {
    return text + first +
           " has jobs that could start and runs on fewer than its guaranteed part of its own processors" +
           (difference < 0 ? "; by its key alone " + other + " would go first" : std::string()) + ".\n";
  }
  if (report.because == Because::guests) {
    return text + "jobs of guests go after those of every organization (guests: last)" +
           (difference < 0 ? "; by its key alone " + other + " would go first" : std::string()) + ".\n";
  }
  if (report.because == Because::order) return text + "they are even, and the configuration names it first.\n";
  const std::string states =
      report.deciding_clusters.empty() ? "" : printable(ledger::states_text(report.deciding_clusters));
  return text + "its key is greater by " + unsigned_core_hours(difference) + ' ' + report.in.word() +
         (states.empty() ? "" : ", by what " + states) + horizon_text(report.ranking) +
         (report.by_what_runs == true ? "; if nothing ran, " + other + " would go first" : std::string()) +
         (states.empty() ? "" : "; by the books of this cluster alone, " + other + " would go first") + ".\n";
}

std::string history_line(const CompareReport& report) {
  if (!report.since || !report.since->order.is_known()) {
    return report.since_unknown ? "Since when is not known: " + printable(*report.since_unknown) + ".\n"
                                : std::string();
  }
  const Instant at = report.at;
  if (report.because == Because::guests) return "It has done so since " + since_text(report.since->order, at) + ".\n";
  std::string text = "It has done so since " + since_text(report.since->order, at);
  if (report.period_begin && report.since->keys <= *report.period_begin) {
    return text + "; the difference has grown since the period began, " + since_text(*report.period_begin, at) + ".\n";
  }
  return text + "; the difference was zero last at " + since_text(report.since->keys, at) + ".\n";
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
    text = "It turns when " + first + " runs on its guaranteed part" +
           (lacking ? ", " + more_processors(*lacking) : std::string()) + ", or has nothing more to start.\n";
  }
  if (report.because == Because::key && report.turning_processors) {
    const std::int64_t startable = *report.turning_processors;
    text = first + " may start " + (startable == 0 ? "one job" : more_processors(startable)) + " before " + other +
           "'s first job.\n";
  }
  if (report.because == Because::key && report.turning_core_hours) {
    const std::string amount = unsigned_core_hours(*report.turning_core_hours);
    text += "It turns at once when " + first + " gets " + amount + ' ' + report.in.word() + " more than it gives";
    // By a rule that brakes another amount would do that on the other side.
    if (report.ranking.rule == accounting::KeyRule::horizon)
      text += ", or when " + other + " gives " + amount + ' ' + report.in.word() + " more than it gets";
    text += ".\n";
  }
  if (report.turns.empty()) return text + "If nothing starts or ends it stays so" + until_text(report.limit) + ".\n";
  for (std::size_t i = 0; i < report.turns.size(); ++i) {
    const ledger::PairTurn& turn = report.turns[i];
    text += std::string(i == 0 ? "If nothing starts or ends " : "and then ") + printable(turn.first) +
            " goes first from " + ahead_text(turn.at, report.at) + " on.\n";
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
    if (!slurm.asked) return "Slurm was not asked: " + printable(slurm.why) + ".\n";
    if (slurm.known_job() == nullptr) {
      text += "Slurm does not know job " + job + " any more. ";
      continue;
    }
    const SlurmJob& is = *slurm.known_job();
    const std::optional<std::string> reason = is.told_reason();
    text += "Slurm: job " + job + " " + printable(is.state) + ", priority " +
            (is.priority ? std::to_string(*is.priority) : std::string()) +
            (reason ? ", reason " + printable(*reason) : std::string()) + ". ";
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
    text += "Why job " + name(side) + " started when it did: shapleyctl explain " + name(report.sides[0]) +
            " --against " + name(report.sides[1]) + " --at " + format_instant(side.job->since - Duration{1}) + "\n";
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
    if (!a.job || !b.job) return text + "There is nothing to compare: both are " + name + ".\n";
    const std::string second = side_line(b, at);
    text += second.substr(0, second.find('\n') + 1);
    return text + "Both are of " + name +
           ": their ranks are the same, and Slurm's own factors (age, fairshare, size, QOS, nice) and levels "
           "decide.\n" +
           slurm_line(comparison);
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
