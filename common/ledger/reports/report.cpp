#include "ledger/reports/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "accounting/state/ranking.hpp"
#include "base/calendar.hpp"
#include "base/duration.hpp"
#include "base/int128.hpp"
#include "ledger/reports/open_segments.hpp"

namespace shapley::ledger {

namespace {

using accounting::EstimatorId;
using accounting::EstimatorSet;
using accounting::Standing;
using nlohmann::json;

constexpr double k_seconds_per_hour = 3600.0;

std::string exact(Utility utility) {
  return format_micro(utility.value);
}
std::string exact(CpuTime work) {
  return format_micro(work.value);
}

// What an organization's open segments say.
struct JobCounts {
  std::int64_t running = 0;
  std::int64_t waiting = 0;
  Instant oldest_wait = k_end_of_time;  // begin of the longest present stretch of waiting
};

std::vector<JobCounts> count_jobs(const accounting::State& state) {
  std::vector<JobCounts> counts(state.organizations().size());
  for_each_open_segment(state, [&](const OpenSegment& segment) {
    JobCounts& count = counts[segment.organization.value];
    if (segment.kind == accounting::SegmentKind::run) {
      count.running += 1;
      return;
    }
    count.waiting += 1;
    count.oldest_wait = std::min(count.oldest_wait, segment.since);
  });
  return counts;
}

json no_start_since(const JobCounts& jobs, Instant last_start) {
  return jobs.waiting == 0 ? json(nullptr) : json(std::max(jobs.oldest_wait, last_start).value);
}

// A row of the report. `rank` is 1-based; commons has neither rank nor key.
struct RowContext {
  std::string name;
  std::optional<std::size_t> rank;
  const accounting::Rank* by = nullptr;
  game::KeyTerms terms;
  EstimatorId estimator;
  EstimatorSet able;  // those that can say
  Duration elapsed;   // since the period began
  JobCounts jobs;
  Instant last_start;
};

json organization_row(const Standing& standing, const RowContext& context) {
  const double balance = standing_core_hours(standing.balance(context.estimator), context.elapsed);
  const accounting::Rank* by = context.by;
  const MicroProcessors rate = standing.rate(context.estimator);
  const Utility running{Int128{context.terms.running_factor} * (rate.value - standing.used.value)};
  const auto a_horizon_ahead = [&](Utility amount) {
    return by ? json(standing_core_hours(amount, context.elapsed + context.terms.horizon)) : json(nullptr);
  };
  json row{
      {"name", context.name},
      {"title", context.name},
      {"rank", context.rank ? json(*context.rank) : json(nullptr)},
      {"key_core_hours", by ? a_horizon_ahead(by->key) : json(nullptr)},
      {"key", by ? json(exact(by->key)) : json(nullptr)},
      {"running_core_hours", a_horizon_ahead(running)},
      {"lead", by ? json(by->lead) : json(nullptr)},
      {"lacking", by ? json(std::max<std::int64_t>(0, by->lacking)) : json(nullptr)},
      {"guarantee", by ? json(by->guarantee.millionths / 1e6) : json(nullptr)},
      {"below_guarantee", by ? json(by->below_guarantee) : json(nullptr)},
      {"standing_core_hours", balance},
      {"sentence", standing_sentence(balance)},
      {"psi", exact(standing.psi)},
      {"phi", exact(standing.phi(context.estimator))},
      {"got_core_hours", core_hours(standing.got)},
      {"given_core_hours", core_hours(standing.given(context.estimator))},
      {"got_processor_seconds", exact(standing.got)},
      {"given_processor_seconds", exact(standing.given(context.estimator))},
      {"gives", processor_count(rate)},
      {"owned", processor_count(standing.owned)},
      {"used", processor_count(standing.used)},
      {"lent", processor_count(standing.lent)},
      {"borrowed", processor_count(standing.borrowed)},
      {"waiting", processor_count(standing.waiting)},
      {"running_jobs", context.jobs.running},
      {"waiting_jobs", context.jobs.waiting},
      {"no_start_since", no_start_since(context.jobs, context.last_start)},
  };
  for (const EstimatorId estimator : accounting::estimator_ids()) {
    const bool is_known = context.able.contains(estimator);
    row[accounting::figure_name("phi", estimator)] = is_known ? json(exact(standing.phi(estimator))) : json(nullptr);
  }
  return row;
}

json conservation(const std::vector<Standing>& standings, const EstimatorSet& able) {
  Utility psi;
  for (const Standing& standing : standings) psi += standing.psi;
  bool holds = true;
  json sums{{"sum_psi", exact(psi)}};
  for (const EstimatorId estimator : accounting::estimator_ids()) {
    sums[accounting::figure_name("sum_phi", estimator)] = nullptr;
    if (!able.contains(estimator)) continue;
    Utility phi;
    for (const Standing& standing : standings) phi += standing.phi(estimator);
    sums[accounting::figure_name("sum_phi", estimator)] = exact(phi);
    holds = holds && phi == psi;
  }
  sums["holds"] = holds;
  return sums;
}

// Those of `all` that are not among `some`.
json names_without(const EstimatorSet& some, const EstimatorSet& all) {
  json names = json::array();
  for (const EstimatorId estimator : accounting::estimator_ids()) {
    if (all.contains(estimator) && !some.contains(estimator)) names.push_back(accounting::name_of(estimator));
  }
  return names;
}

std::string stand_in_sentence(EstimatorId wanted, EstimatorId by, bool is_kept) {
  const std::string name(accounting::name_of(wanted));
  const std::string others(accounting::name_of(by));
  if (!is_kept) return name + " is not kept here; these are by " + others;
  return name + " is behind what happened; these are by " + others + " until it has caught up, which it does by itself";
}

// What hindsight keeps where its memory is bounded; null: all.
json bounded_json(const accounting::State& state) {
  const accounting::HindsightBounded* bounded = state.hindsight_bounded();
  if (bounded == nullptr) return nullptr;
  return {{"coalitions", accounting::name_of(bounded->coalitions)},
          {"since", bounded->at.value},
          {"needed_bytes", bounded->needed},
          {"bound_bytes", bounded->bound}};
}

std::string bounded_sentence(const accounting::HindsightBounded& bounded) {
  constexpr unsigned k_mib = 20;
  const bool is_pairs = bounded.coalitions == accounting::Coalitions::pairs;
  return std::string("hindsight keeps ") + (is_pairs ? "pairs of organizations instead of all coalitions" : "nothing") +
         " since " + format_instant(bounded.at) + ", because it took " + std::to_string(bounded.needed >> k_mib) +
         " MiB of memory and may have " + std::to_string(bounded.bound >> k_mib);
}

// Ranked organizations first, then whoever has no rank (commons), by OrgId.
std::vector<OrgId> report_order(const std::vector<accounting::Rank>& ranked, const accounting::State& state) {
  const std::size_t organizations = state.organizations().size();
  std::vector<OrgId> order;
  std::vector<bool> listed(organizations, false);
  for (const accounting::Rank& rank : ranked) {
    order.push_back(rank.organization);
    listed[rank.organization.value] = true;
  }
  for (std::uint32_t i = 0; i < organizations; ++i) {
    if (!listed[i] && state.row_of(OrgId{i}) == OrgId{i}) order.push_back(OrgId{i});
  }
  return order;
}

// "is owed 12.4 core-hours", "owes 3.1 core-hours", "is even".
std::string owed(double core_hours) {
  if (core_hours == 0) return "is even";
  return (core_hours > 0 ? "is owed " : "owes ") + format_core_hours(core_hours) + " core-hours";
}

std::string in_words(Duration duration) {
  const DurationUnit& unit = largest_unit(duration);
  const std::int64_t count = duration.value / unit.seconds;
  return std::to_string(count) + ' ' + std::string(unit.word) + (count == 1 ? "" : "s");
}

std::string percent(double part) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.6g %%", 100 * part);
  return buffer.data();
}

// "uses 3 processors more than it gives"; `row` of an organization.
std::string of_what_runs(const json& row) {
  const double more = row["used"].get<double>() - row["gives"].get<double>();
  if (more == 0) return "uses as many processors as it gives";
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.6g", std::fabs(more));
  const std::string count = std::string(buffer.data()) + (std::fabs(more) == 1 ? " processor" : " processors");
  return more > 0 ? "uses " + count + " more than it gives" : "gives " + count + " more than it uses";
}

// How what runs enters the key: "" if it does not.
std::string counted_text(const json& ranking) {
  if (ranking["running_factor"] == 0) return "";
  std::array<char, 32> weight{};
  std::snprintf(weight.data(), weight.size(), "%.6g", ranking["running_weight"].get<double>());
  return " and what runs now counts for " + in_words(Duration{ranking["residual_s"].get<std::int64_t>()}) +
         " more, with weight " + weight.data();
}

// What may surprise a reader of standings: who goes before one that is owed more, and why. `rows` in rank order.
json ranking_sentences(const json& rows, const json& ranking) {
  json sentences = json::array();
  const auto name = [](const json& row) { return row["name"].get<std::string>(); };
  const auto amount = [](const json& row, const char* member) { return row[member].get<double>(); };
  // The key if nothing ran.
  const auto idle_key = [&](const json& row) {
    return amount(row, "key_core_hours") - amount(row, "running_core_hours");
  };
  const json* most_owed = nullptr;
  const json* best_key = nullptr;
  const json* best_idle = nullptr;
  for (const json& row : rows) {
    if (row["rank"].is_null()) continue;
    if (!most_owed || row["standing_core_hours"] > (*most_owed)["standing_core_hours"]) most_owed = &row;
    if (!best_key || row["key_core_hours"] > (*best_key)["key_core_hours"]) best_key = &row;
    if (!best_idle || idle_key(row) > idle_key(*best_idle)) best_idle = &row;
    if (row["below_guarantee"] == true && row["guarantee"] > 0) {
      sentences.push_back(name(row) + " runs on fewer than its guaranteed part of its own processors (" +
                          percent(row["guarantee"].get<double>()) + ") and goes before those that do not");
    }
  }
  if (!best_key) return sentences;
  const Duration horizon{ranking["horizon_s"].get<std::int64_t>()};
  if (idle_key(*best_idle) > idle_key(*best_key)) {
    sentences.push_back(name(*best_idle) + ' ' + owed(idle_key(*best_idle)) + " in " + in_words(horizon) +
                        " if nothing runs until then, " + name(*best_key) + ' ' + owed(idle_key(*best_key)) + "; but " +
                        name(*best_key) + " goes before it because of what runs now: " + name(*best_idle) + ' ' +
                        of_what_runs(*best_idle) + ", " + name(*best_key) + ' ' + of_what_runs(*best_key));
  } else if ((*most_owed)["standing_core_hours"] > (*best_key)["standing_core_hours"]) {
    sentences.push_back(name(*most_owed) + ' ' + owed(amount(*most_owed, "standing_core_hours")) + " by now, but " +
                        name(*best_key) + " will be owed more within " + in_words(horizon) + " if nothing more starts" +
                        counted_text(ranking) + ": " + name(*best_key) + ' ' +
                        owed(amount(*best_key, "key_core_hours")) + " then, " + name(*most_owed) + ' ' +
                        owed(amount(*most_owed, "key_core_hours")));
  }
  return sentences;
}

// The rule in force, and the mean residual run time that it counts what runs by.
json ranking_json(const accounting::State& state) {
  const accounting::RankingDeclared rule = state.ranking_rule();
  const accounting::ResidualMeasured* measured = state.residual_measured();
  constexpr double k_whole = k_micro;
  return {{"horizon_s", rule.horizon},
          {"guarantee", static_cast<double>(rule.guarantee) / k_whole},
          {"running_weight", static_cast<double>(rule.running_weight) / k_whole},
          {"residual_s", measured == nullptr ? game::k_assumed_residual.value : measured->seconds},
          {"residual_assumed", measured == nullptr},
          {"running_factor", state.key_terms().running_factor}};
}

}  // namespace

json processor_count(MicroProcessors q) {
  if (q.value % k_micro == 0) return q.value / k_micro;
  return static_cast<double>(q.value) / static_cast<double>(k_micro);
}

double core_hours(CpuTime work) {
  return static_cast<double>(work.value) / static_cast<double>(k_micro) / k_seconds_per_hour;
}

double standing_core_hours(Utility balance, Duration elapsed) {
  if (elapsed.value <= 0 || balance.value == 0) return 0.0;
  const double processor_seconds =
      static_cast<double>(balance.value) / static_cast<double>(k_micro) / static_cast<double>(elapsed.value);
  return processor_seconds / k_seconds_per_hour;
}

std::string format_micro(Int128 micro) {
  const bool negative = micro < 0;
  const Int128 whole = micro / k_micro;
  std::string fraction = to_string(micro % k_micro);
  if (negative) fraction.erase(0, fraction.front() == '-' ? 1 : 0);
  std::string text = to_string(whole);
  // -0.5 has a whole part of 0, which has lost the sign.
  if (negative && whole == 0) text.insert(0, "-");
  if (fraction == "0") return text;
  fraction.insert(0, 6 - fraction.size(), '0');
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return text + '.' + fraction;
}

std::string format_core_hours(double core_hours) {
  const double amount = std::fabs(core_hours);
  int decimals = 1;
  if (amount < 1) decimals = 3;
  if (amount < 0.1) decimals = 4;
  if (amount < 0.01) decimals = 5;
  std::array<char, 400> buffer{};  // the largest double has 309 digits before the point
  std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, amount);
  std::string text = buffer.data();
  for (std::size_t point = text.find('.'); point > 3; point -= 3) text.insert(point - 3, ",");
  return text;
}

std::string standing_sentence(double standing_core_hours) {
  if (standing_core_hours == 0) return "is even with the others";
  // 0.001 core-hours are 3.6 core-seconds: a smaller amount is true, but no amount worth reading.
  const std::string amount =
      std::fabs(standing_core_hours) < 0.001 ? "less than 0.001" : format_core_hours(standing_core_hours);
  if (standing_core_hours > 0) return "is owed " + amount + " core-hours by the others, on average this period";
  return "owes the others " + amount + " core-hours, on average this period";
}

json no_start_report(const accounting::State& state, const std::vector<std::string>& only) {
  const std::vector<JobCounts> jobs = count_jobs(state);
  const std::vector<Instant> starts = state.last_starts();
  json rows = json::array();
  for (const OrgId organization : state.configured_order()) {
    const std::size_t id = organization.value;
    const std::string& name = state.organizations()[id];
    const auto is_asked = [&](const std::string& asked) { return state.find_organization(asked) == organization; };
    if (jobs[id].waiting == 0 || (!only.empty() && std::ranges::none_of(only, is_asked))) continue;
    rows.push_back({{"organization", name}, {"since", no_start_since(jobs[id], starts[id])}});
  }
  return rows;
}

std::string listed_names(const std::vector<std::string>& names, std::size_t most) {
  // "and 1 other" would say less than the name does.
  const std::size_t shown = names.size() <= most + 1 ? names.size() : most;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + names[i];
  return shown == names.size() ? text : text + " and " + std::to_string(names.size() - shown) + " others";
}

tl::unexpected<Error> unknown_organization(const std::string& name, const std::vector<std::string>& known) {
  constexpr std::size_t k_named = 30;
  return fail(Errc::invalid_argument,
              "the books know no organization '" + name + "'; they know " + listed_names(known, k_named));
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

void set_titles(json& report, const std::map<std::string, std::string>& titles) {
  for (json& row : report["organizations"]) {
    const auto title = titles.find(row["name"].get<std::string>());
    if (title != titles.end() && !title->second.empty()) row["title"] = title->second;
  }
}

json status_report(accounting::State& state, Instant t, EstimatorId wanted) {
  return status_report(state, t, wanted, state.kept());
}

json status_report(accounting::State& state, Instant t, EstimatorId wanted, const EstimatorSet& able) {
  state.advance(t);
  const Instant at = state.now();
  const EstimatorId estimator = accounting::acting(wanted, able);
  const std::vector<Standing> standings = state.standings(at, able);
  const std::vector<accounting::Rank> ranked = state.ranking(at, estimator);
  const std::vector<JobCounts> jobs = count_jobs(state);
  const std::vector<Instant> starts = state.last_starts();
  const Instant begin = state.period_begin();

  json rows = json::array();
  const std::vector<OrgId> order = report_order(ranked, state);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t id = order[i].value;
    rows.push_back(organization_row(standings[id], {.name = state.organizations()[id],
                                                    .rank = i < ranked.size() ? std::optional(i + 1) : std::nullopt,
                                                    .by = i < ranked.size() ? &ranked[i] : nullptr,
                                                    .terms = state.key_terms(),
                                                    .estimator = estimator,
                                                    .able = able,
                                                    .elapsed = at - begin,
                                                    .jobs = jobs[id],
                                                    .last_start = starts[id]}));
  }
  const bool any_event = begin > k_beginning_of_time;
  json ranking = ranking_json(state);
  json sentences = ranking_sentences(rows, ranking);
  if (const auto* bounded = state.hindsight_bounded();
      bounded != nullptr && wanted == accounting::parse_estimator("hindsight"))
    sentences.insert(sentences.begin(), bounded_sentence(*bounded));
  // First, for a reader may be shown the first few only.
  if (estimator != wanted)
    sentences.insert(sentences.begin(), stand_in_sentence(wanted, estimator, state.kept().contains(wanted)));
  ranking["sentences"] = std::move(sentences);
  return {
      {"report_version", k_report_version},
      {"at", at.value},
      {"at_utc", format_instant(at)},
      {"period",
       {{"name", name_of(state.period())},
        {"begin", any_event ? json(begin.value) : json(nullptr)},
        {"begin_utc", any_event ? json(format_instant(begin)) : json(nullptr)}}},
      {"contribution", accounting::name_of(wanted)},
      {"ranked_by", accounting::name_of(estimator)},
      {"behind", names_without(able, state.kept())},
      {"not_kept", names_without(state.kept(), EstimatorSet::all())},
      {"hindsight_bounded", bounded_json(state)},
      {"ranking", std::move(ranking)},
      {"organizations", std::move(rows)},
      {"conservation", conservation(standings, able)},
  };
}

}  // namespace shapley::ledger
