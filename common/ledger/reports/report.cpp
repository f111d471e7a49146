#include "ledger/reports/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "accounting/state/ranking.hpp"
#include "base/calendar.hpp"
#include "base/nearest.hpp"
#include "ledger/reports/other_clusters.hpp"
#include "ledger/reports/stretches.hpp"

namespace shapley::ledger {

namespace {

using accounting::EstimatorId;
using accounting::EstimatorSet;
using accounting::Standing;

// Counts from an organization's open segments.
struct JobCounts {
  std::int64_t running = 0;
  std::int64_t waiting = 0;
  Instant oldest_wait = k_end_of_time;  // begin of the longest present stretch of waiting
};

std::vector<JobCounts> count_jobs(const accounting::State& state, const StartableTasks& tasks = {}) {
  std::vector<JobCounts> counts(state.organizations().size());
  for_each_open_segment(state, [&](const OpenSegment& segment) {
    JobCounts& count = counts[segment.organization.value];
    if (segment.kind == accounting::SegmentKind::run) {
      count.running += 1;
      return;
    }
    count.waiting += segment.jobs(tasks);
    count.oldest_wait = std::min(count.oldest_wait, segment.since);
  });
  return counts;
}

std::optional<Instant> no_start_since(const JobCounts& jobs, Instant last_start) {
  if (jobs.waiting == 0) return std::nullopt;
  return std::max(jobs.oldest_wait, last_start);
}

// A row of the report. `rank` is 1-based; commons has neither rank nor key.
struct RowContext {
  std::string name;
  std::optional<std::size_t> rank;
  const accounting::Rank* by = nullptr;
  game::KeyTerms terms;
  EstimatorId estimator;
  EstimatorSet able;  // those that have figures
  Duration elapsed;   // since the period began
  JobCounts jobs;
  Instant last_start;
  ProcessorMillionths idle_wanted, down;
  const AmountUnit& in;
};

// What is idle of each owner's processors and asked for (stretches.hpp, IdleSweep), by OrgId.
std::vector<ProcessorMillionths> idle_wanted(const std::vector<Standing>& standings) {
  IdleSweep sweep;
  for (const Standing& row : standings) {
    sweep.idle(row.organization, row.owned - (row.used - row.borrowed) - row.lent, Instant{0}, Instant{1});
    sweep.waits(row.waiting, Instant{0}, Instant{1});
  }
  std::vector<CpuTime> wanted(standings.size());
  std::move(sweep).add_wanted(wanted);
  std::vector<ProcessorMillionths> processors;
  for (const CpuTime& second : wanted) processors.push_back({static_cast<std::int64_t>(second.value)});
  return processors;
}

// commons has neither rank nor key.
void add_rank(OrganizationRow& row, const Utility& running, const RowContext& context) {
  const accounting::Rank& by = *context.by;
  const auto a_horizon_ahead = [&](Utility amount) {
    return standing_core_hours(amount, context.elapsed + context.terms.horizon);
  };
  row.key = by.key;
  row.is.rank = context.rank;
  row.is.key_core_hours = a_horizon_ahead(by.key);
  row.is.running_core_hours = a_horizon_ahead(running);
  if (context.terms.brakes) {
    row.is.braking = BrakingRow{.balance_ahead = {by.falling.balance},
                                .work_ahead = {by.falling.work},
                                .doubled_turn = {by.falling.doubled_turn},
                                .residual_s = by.falling.residual,
                                .owed_core_hours = a_horizon_ahead({by.falling.balance}),
                                .stopping_core_hours = a_horizon_ahead({by.key.value - by.falling.balance})};
    // Jobs that go after all others' are served by no key.
    if (!by.last) row.is.settled_in_s = static_cast<std::int64_t>(game::settling_seconds(by.falling));
  }
  row.is.lead = by.lead;
  row.is.lacking = std::max<std::int64_t>(0, by.lacking);
  row.is.guarantee = by.guarantee.millionths / 1e6;
  row.is.below_guarantee = by.below_guarantee;
  if (by.last) row.is.last = true;
}

// The part of a key that comes from what runs here now.
Utility by_what_runs(const accounting::Rank& by, ProcessorMillionths rate_less_used, const game::KeyTerms& terms) {
  if (!terms.brakes) return {Int128{terms.running_factor} * rate_less_used.value};
  // If it did not run, as many processors more could start.
  return {by.key.value - game::key_after(by.falling, rate_less_used.value)};
}

OrganizationRow organization_row(const Standing& standing, const RowContext& context) {
  const double balance = standing_core_hours(standing.balance(context.estimator), context.elapsed);
  const ProcessorMillionths rate = standing.rate(context.estimator);
  OrganizationRow row;
  row.is.name = row.title = context.name;
  if (context.by != nullptr) add_rank(row, by_what_runs(*context.by, rate - standing.charged, context.terms), context);
  row.is.standing_core_hours = balance;
  row.is.sentence = standing_sentence(balance, context.in);
  row.is.gives = rate;
  if (standing.charged != standing.used) row.is.charged = standing.charged;
  row.is.owned = standing.owned;
  row.is.used = standing.used;
  row.is.lent = standing.lent;
  row.is.borrowed = standing.borrowed;
  row.is.waiting = standing.waiting;
  row.is.idle_wanted = context.idle_wanted;
  row.is.down = context.down;
  row.is.running_jobs = context.jobs.running;
  row.is.waiting_jobs = context.jobs.waiting;
  row.is.no_start_since = no_start_since(context.jobs, context.last_start);
  row.psi = standing.psi;
  row.phi = standing.phi(context.estimator);
  for (const EstimatorId estimator : accounting::estimator_ids()) {
    if (context.able.contains(estimator)) row.phi_by[estimator] = standing.phi(estimator);
  }
  set_work(row, standing, context.estimator);
  return row;
}

Conservation conservation(const std::vector<Standing>& standings, const EstimatorSet& able) {
  Conservation sums;
  for (const Standing& standing : standings) sums.sum_psi += standing.psi;
  for (const EstimatorId estimator : accounting::estimator_ids()) {
    if (!able.contains(estimator)) continue;
    Utility phi;
    for (const Standing& standing : standings) phi += standing.phi(estimator);
    sums.sum_phi[estimator] = phi;
    sums.holds = sums.holds && phi == sums.sum_psi;
  }
  return sums;
}

// The names of those of `all` that are not in `some`.
std::vector<std::string> names_without(const EstimatorSet& some, const EstimatorSet& all) {
  std::vector<std::string> names;
  for (const EstimatorId estimator : accounting::estimator_ids()) {
    if (all.contains(estimator) && !some.contains(estimator)) names.emplace_back(accounting::name_of(estimator));
  }
  return names;
}

std::string stand_in_sentence(std::string_view name, EstimatorId by, bool is_kept) {
  const std::string_view others = accounting::name_of(by);
  if (!is_kept) return fmt::format("{} is not kept here; these are by {}", name, others);
  return fmt::format("{} is behind what happened; these are by {} until it has caught up, which it does by itself",
                     name, others);
}

// nullopt: hindsight keeps all.
std::optional<HindsightBound> hindsight_bound(const accounting::State& state) {
  const accounting::HindsightBounded* bounded = state.hindsight_bounded();
  if (bounded == nullptr) return std::nullopt;
  return HindsightBound{bounded->coalitions, bounded->at, bounded->needed, bounded->bound};
}

std::string bounded_sentence(const accounting::HindsightBounded& bounded) {
  constexpr unsigned k_mib = 20;
  const bool is_pairs = bounded.coalitions == accounting::Coalitions::pairs;
  return fmt::format("hindsight keeps {} since {}, because it took {} MiB of memory and may have {}",
                     is_pairs ? "pairs of organizations instead of all coalitions" : "nothing",
                     format_instant(bounded.at), bounded.needed >> k_mib, bounded.bound >> k_mib);
}

// Ranked organizations first, then those without a rank (commons), by OrgId.
std::vector<OrgId> report_order(const std::vector<accounting::Rank>& ranked, const accounting::State& state) {
  const std::size_t organizations = state.organizations().size();
  std::vector<OrgId> order;
  std::vector<bool> listed(organizations, false);
  for (const accounting::Rank& rank : ranked) {
    order.push_back(*state.find_organization(rank.organization));
    listed[order.back().value] = true;
  }
  for (std::uint32_t i = 0; i < organizations; ++i) {
    if (!listed[i] && state.row_of(OrgId{i}) == OrgId{i}) order.push_back(OrgId{i});
  }
  return order;
}

// "is owed 12.4 core-hours", "owes 3.1 core-hours", "is even".
std::string owed_text(double core_hours, const AmountUnit& in) {
  if (core_hours == 0) return "is even";
  return fmt::format("{}{} {}", core_hours > 0 ? "is owed " : "owes ", format_core_hours(core_hours), in.word());
}

std::string in_words(Duration duration) {
  const DurationUnit& unit = largest_unit(duration);
  const std::int64_t count = duration.value / unit.seconds;
  return fmt::format("{} {}{}", count, unit.word, count == 1 ? "" : "s");
}

std::string percent(double part) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.6g %%", 100 * part);
  return buffer.data();
}

// "uses 3 processors more than it gives", by the rule of charge.
std::string of_what_runs(const RankedRow& row) {
  const double more = row.charged.value_or(row.used).number() - row.gives.number();
  if (more == 0) return "uses as many processors as it gives";
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.6g", std::fabs(more));
  const std::string count = std::string(buffer.data()) + (std::fabs(more) == 1 ? " processor" : " processors");
  return more > 0 ? fmt::format("uses {} more than it gives", count) : fmt::format("gives {} more than it uses", count);
}

// How what runs enters the key: "" if it does not.
std::string counted_text(const RankingReport& ranking) {
  if (ranking.running_factor == 0) return "";
  std::array<char, 32> weight{};
  std::snprintf(weight.data(), weight.size(), "%.6g", ranking.running_weight);
  return fmt::format(" and what runs now counts for {} more, with weight {}", in_words(Duration{ranking.residual_s}),
                     weight.data());
}

// Sentences about surprises: which organizations go before one that is owed more, and why. `rows` in rank order.
// `by_clusters`: of sentence_of_clusters().
std::vector<std::string> ranking_sentences(const std::vector<OrganizationRow>& rows, const RankingReport& ranking,
                                           const std::string& by_clusters, const AmountUnit& in) {
  std::vector<std::string> sentences;
  const auto owed = [&in](double core_hours) { return owed_text(core_hours, in); };
  const auto key = [](const RankedRow& row) { return *row.key_core_hours; };
  // The key if nothing ran.
  const auto idle_key = [](const RankedRow& row) { return *row.key_core_hours - *row.running_core_hours; };
  const RankedRow* most_owed = nullptr;
  const RankedRow* best_key = nullptr;
  const RankedRow* best_idle = nullptr;
  const RankedRow* guests = nullptr;
  const RankedRow* least_key = nullptr;
  for (const OrganizationRow& each : rows) {
    const RankedRow& row = each.is;
    if (!row.rank) continue;
    if (row.last == true) {
      guests = &row;
      continue;
    }
    if (!most_owed || row.standing_core_hours > most_owed->standing_core_hours) most_owed = &row;
    if (!best_key || key(row) > key(*best_key)) best_key = &row;
    if (!least_key || key(row) < key(*least_key)) least_key = &row;
    if (!best_idle || idle_key(row) > idle_key(*best_idle)) best_idle = &row;
    if (row.below_guarantee == true && *row.guarantee > 0) {
      sentences.push_back(fmt::format(
          "{} runs on fewer than its guaranteed part of its own processors ({}) and goes before those that do not",
          row.name, percent(*row.guarantee)));
    }
  }
  if (!best_key) return sentences;
  const bool have_jobs = guests != nullptr && guests->waiting_jobs + guests->running_jobs > 0;
  if (have_jobs && key(*guests) > key(*least_key)) {
    sentences.push_back(fmt::format(
        "jobs of guests go after those of every organization (guests: last), also after those of {}, whose key is less",
        least_key->name));
  }
  const Duration horizon{ranking.horizon_s};
  const std::string& best = best_key->name;
  const bool brakes = ranking.rule == accounting::KeyRule::braking;
  if (!by_clusters.empty()) sentences.push_back(by_clusters);
  // A standing is of this cluster alone: where other clusters decide against it, nothing else has to be said.
  const bool is_behind = by_clusters.empty() && most_owed->standing_core_hours > best_key->standing_core_hours;
  if (idle_key(*best_idle) > idle_key(*best_key)) {
    const std::string then = brakes ? " by its key if nothing ran now, "
                                    : fmt::format(" in {} if nothing runs until then, ", in_words(horizon));
    sentences.push_back(best_idle->name + ' ' + owed(idle_key(*best_idle)) + then + best + ' ' +
                        owed(idle_key(*best_key)) + "; but " + best + " goes before it because of what runs now: " +
                        best_idle->name + ' ' + of_what_runs(*best_idle) + ", " + best + ' ' + of_what_runs(*best_key));
  } else if (brakes && is_behind) {
    sentences.push_back(
        fmt::format("{} {} by now, but {} goes before it, because ranks go by how far there is to brake: by their keys "
                    "{} {}, {} {}",
                    most_owed->name, owed(most_owed->standing_core_hours), best, best, owed(key(*best_key)),
                    most_owed->name, owed(key(*most_owed))));
  } else if (is_behind) {
    sentences.push_back(most_owed->name + ' ' + owed(most_owed->standing_core_hours) + " by now, but " + best +
                        " will be owed more within " + in_words(horizon) + " if nothing more starts" +
                        counted_text(ranking) + ": " + best + ' ' + owed(key(*best_key)) + " then, " + most_owed->name +
                        ' ' + owed(key(*most_owed)));
  }
  return sentences;
}

// The rule in force, and the mean residual run time by which it counts what runs.
RankingReport ranking_report(const accounting::State& state) {
  const accounting::RankingDeclared rule = state.ranking_rule();
  constexpr double k_whole = k_micro;
  return {.rule = rule.rule,
          .horizon_s = rule.horizon,
          .guarantee = static_cast<double>(rule.guarantee) / k_whole,
          .running_weight = static_cast<double>(rule.running_weight) / k_whole,
          .residual_s = state.residual().value,
          .residual_assumed = state.residual_measured() == nullptr,
          .running_factor = state.key_terms().running_factor,
          .guests = rule.guests,
          .sentences = {}};
}

}  // namespace

std::vector<NoStart> no_start_report(const accounting::State& state, const std::vector<std::string>& only) {
  const std::vector<JobCounts> jobs = count_jobs(state);
  const std::vector<Instant> starts = state.last_starts();
  std::vector<NoStart> rows;
  for (const OrgId organization : state.configured_order()) {
    const std::size_t id = organization.value;
    const auto is_asked = [&](const std::string& asked) { return state.find_organization(asked) == organization; };
    if (jobs[id].waiting == 0 || (!only.empty() && std::ranges::none_of(only, is_asked))) continue;
    rows.push_back({state.organizations()[id], no_start_since(jobs[id], starts[id])});
  }
  return rows;
}

std::int64_t startable_before(const RankedRow& other, const RankedRow& own, std::int64_t cum) {
  if (!other.braking || !own.braking || other.last == true || own.last == true)
    return std::max<std::int64_t>(0, other.lead.value_or(0) - own.lead.value_or(0) + cum);
  const auto falling = [](const BrakingRow& row) {
    return game::braking_key_of(row.balance_ahead.value, row.work_ahead.value, row.doubled_turn.value,
                                {row.residual_s});
  };
  const Int128 level = game::key_after(falling(*own.braking), cum * k_micro);
  return std::max<std::int64_t>(0, game::startable_until(falling(*other.braking), level) / k_micro);
}

tl::unexpected<Error> unknown_organization(const std::string& name, const std::vector<std::string>& known) {
  constexpr std::size_t k_named = 30;
  return fail(Errc::invalid_argument, fmt::format("the books know no organization '{}'{}; they know {}", name,
                                                  did_you_mean(name, known), listed_names(known, k_named)));
}

Expected<void> check_organizations(const accounting::State& state, const std::vector<std::string>& names) {
  const std::vector<std::string>& known = state.organizations();
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    std::vector<std::string> listed;
    for (const OrgId organization : state.configured_order()) listed.push_back(known[organization.value]);
    return unknown_organization(name, listed);
  }
  return {};
}

void set_titles(StatusReport& report, const std::map<std::string, std::string>& titles) {
  const auto set = [&](const std::string& name, std::string& title) {
    const auto found = titles.find(name);
    if (found != titles.end() && !found->second.empty()) title = found->second;
  };
  for (OrganizationRow& row : report.organizations) set(row.is.name, row.title);
  if (!report.worth || !*report.worth) return;
  for (WorthRow& row : (*report.worth)->organizations) set(row.name, row.title);
}

void set_work(OrganizationRow& row, const Standing& standing, EstimatorId estimator) {
  row.got = standing.got;
  row.given = standing.given(estimator);
  row.got_core_hours = core_hours(row.got);
  row.given_core_hours = core_hours(row.given);
}

StatusReport status_report(accounting::State& state, Instant t, EstimatorId wanted) {
  return status_report(state, t, wanted, state.kept());
}

StatusReport status_report(accounting::State& state, Instant t, EstimatorId wanted, const EstimatorSet& able,
                           const StartableTasks& tasks) {
  state.advance(t);
  const Instant at = state.now();
  const EstimatorId estimator = accounting::acting(wanted, able);
  const std::vector<Standing> standings = state.standings(able);
  const std::vector<accounting::Rank> ranked = state.ranking(estimator);
  const std::vector<JobCounts> jobs = count_jobs(state, tasks);
  const std::vector<Instant> starts = state.last_starts();
  const Instant begin = state.period_begin();
  const AmountUnit in = unit_of(state.charges(), begin, at);

  StatusReport report{.at = at,
                      .period = {state.period(), begin},
                      .contribution = std::string(accounting::name_of(wanted)),
                      .ranked_by = std::string(accounting::name_of(estimator)),
                      .behind = names_without(able, state.kept()),
                      .not_kept = names_without(state.kept(), EstimatorSet::all()),
                      .hindsight_bounded = hindsight_bound(state),
                      .ranking = ranking_report(state),
                      .organizations = {},
                      .conservation = conservation(standings, able),
                      .worth = {},
                      .forecast = {},
                      .clusters = other_clusters(state),
                      .ranks_act = {},
                      .daemon = {},
                      .plugin = {},
                      .in = in};
  const std::vector<OrgId> order = report_order(ranked, state);
  const std::vector<ProcessorMillionths> asked_for = idle_wanted(standings);
  const std::vector<ProcessorMillionths> down = state.down();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t id = order[i].value;
    report.organizations.push_back(
        organization_row(standings[id], {.name = state.organizations()[id],
                                         .rank = i < ranked.size() ? std::optional(i + 1) : std::nullopt,
                                         .by = i < ranked.size() ? &ranked[i] : nullptr,
                                         .terms = state.key_terms(),
                                         .estimator = estimator,
                                         .able = able,
                                         .elapsed = at - begin,
                                         .jobs = jobs[id],
                                         .last_start = starts[id],
                                         .idle_wanted = asked_for[id],
                                         .down = down[id],
                                         .in = in}));
  }
  std::vector<std::string>& sentences = report.ranking.sentences;
  sentences = ranking_sentences(report.organizations, report.ranking, sentence_of_clusters(state, estimator), in);
  if (const auto* bounded = state.hindsight_bounded();
      bounded != nullptr && accounting::estimators()[wanted.value].of_coalitions)
    sentences.insert(sentences.begin(), bounded_sentence(*bounded));
  // This note comes first, because a reader may be shown only the first few.
  if (estimator != wanted)
    sentences.insert(sentences.begin(),
                     stand_in_sentence(accounting::name_of(wanted), estimator, state.kept().contains(wanted)));
  if (const std::string rule = state.ranking_rule().contribution; accounting::is_former_estimator(rule))
    sentences.insert(sentences.begin(), stand_in_sentence(rule, estimator, false));
  return report;
}

}  // namespace shapley::ledger
