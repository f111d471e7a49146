#include "daemon/configuration/declarations.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "game/serving_order.hpp"

namespace shapley::daemon {

using accounting::OwnerPart;
using accounting::OwnershipSpan;
using accounting::OwnershipStated;

namespace {

// The first statements are effective from before any job record, so all dates of the file count.
constexpr Instant k_first_statement{0};

// The owners of a node over time, as one list of changes: spans ascending, the last one open, no two neighbours equal.
using Timeline = std::vector<OwnershipSpan>;

std::vector<OwnerPart> sorted(std::vector<OwnerPart> owners) {
  std::sort(owners.begin(), owners.end(),
            [](const OwnerPart& a, const OwnerPart& b) { return a.organization < b.organization; });
  return owners;
}

const std::vector<OwnerPart>& owners_at(const Timeline& timeline, Instant t) {
  static const std::vector<OwnerPart> k_nobody;
  const auto after = std::upper_bound(timeline.begin(), timeline.end(), t,
                                      [](Instant x, const OwnershipSpan& s) { return x < s.from; });
  return after == timeline.begin() ? k_nobody : std::prev(after)->owners;
}

void extend(Timeline& timeline, Instant from, const std::vector<OwnerPart>& owners) {
  while (!timeline.empty() && timeline.back().from >= from) timeline.pop_back();
  if (owners_at(timeline, from) != owners) timeline.push_back({from, owners});
}

// `statement` replaces the part of the timeline from its `effective` on.
void overlay(Timeline& timeline, const OwnershipStated& statement) {
  Timeline stated;
  for (const OwnershipSpan& span : statement.spans) extend(stated, span.from, sorted(span.owners));
  extend(timeline, statement.effective, owners_at(stated, statement.effective));
  for (const OwnershipSpan& span : stated) {
    if (span.from > statement.effective) extend(timeline, span.from, span.owners);
  }
}

Timeline timeline_of(const std::vector<OwnershipStated>& statements) {
  Timeline timeline;
  for (const OwnershipStated& s : statements) overlay(timeline, s);
  return timeline;
}

bool equal_from(const Timeline& a, const Timeline& b, Instant from) {
  if (owners_at(a, from) != owners_at(b, from)) return false;
  const auto later = [&](const Timeline& t) {
    return std::upper_bound(t.begin(), t.end(), from, [](Instant x, const OwnershipSpan& s) { return x < s.from; });
  };
  return std::equal(later(a), a.end(), later(b), b.end());
}

// The first date before `now` at which the file changes an owner, but neither the ledger nor the previously loaded file
// does: that file was booked, with its warning, when it was loaded.
std::optional<Instant> backdated(const Timeline& file, const Timeline& ledger, const Timeline& before, Instant now) {
  const auto is_in = [](const OwnershipSpan& span, const Timeline& timeline) {
    return std::find(timeline.begin(), timeline.end(), span) != timeline.end();
  };
  for (const OwnershipSpan& span : file) {
    if (span.from <= k_beginning_of_time || span.from >= now) continue;
    if (!is_in(span, ledger) && !is_in(span, before)) return span.from;
  }
  return std::nullopt;
}

// A node's owners according to a file.
using Timelines = std::map<std::string, Timeline>;

// Those of the file that was loaded last; none if this release does not accept that file any more.
Timelines loaded_before(const Declared& declared) {
  Timelines timelines;
  if (!declared.configuration) return timelines;
  const auto before = config::parse_recorded(declared.configuration->text);
  if (!before) return timelines;
  for (const OwnershipStated& s : config::ownership_statements(before->configuration, k_beginning_of_time)) {
    timelines[s.node] = timeline_of({s});
  }
  return timelines;
}

std::vector<std::string> names_of(const config::Configuration& configuration) {
  std::vector<std::string> names;
  for (const config::OrganizationConfig& o : configuration.organizations) names.push_back(o.name);
  return names;
}

Instant after(Instant now, const std::optional<Instant>& last) {
  return last ? std::max(now, *last + Duration{1}) : now;
}

template <typename Declaration>
Instant after_last(Instant now, const std::optional<Declaration>& last) {
  return last ? after(now, last->at) : now;
}

// The file's statement for every node that it or the ledger names; a node that no organization claims goes to commons.
std::map<std::string, OwnershipStated> statements_of(const config::Configuration& configuration,
                                                     const Declared& declared, Instant effective) {
  std::map<std::string, OwnershipStated> statements;
  for (const auto& [node, past] : declared.ownership) {
    statements[node] = OwnershipStated{node, effective, {OwnershipSpan{k_beginning_of_time, {}}}};
  }
  for (OwnershipStated& s : config::ownership_statements(configuration, effective)) statements[s.node] = std::move(s);
  return statements;
}

void declare_ownership(const config::Configuration& configuration, const Declared& declared, Instant now,
                       bool first_start, Declarations& out) {
  const Instant effective = first_start ? k_first_statement : now;
  const Timelines before = loaded_before(declared);
  for (auto& [node, statement] : statements_of(configuration, declared, effective)) {
    const auto past = declared.ownership.find(node);
    const Timeline ledger = past == declared.ownership.end() ? Timeline{} : timeline_of(past->second);
    const Timeline file = timeline_of({OwnershipStated{node, k_beginning_of_time, statement.spans}});
    if (!first_start) {
      const auto loaded = before.find(node);
      if (const auto date = backdated(file, ledger, loaded == before.end() ? Timeline{} : loaded->second, now)) {
        out.warnings.push_back(
            fmt::format("configuration: node {}: the change of owner dated {} lies in the past; it is applied from "
                        "now on, the books up to now stay as they are",
                        node, format_instant(*date)));
      }
      if (equal_from(file, ledger, now)) continue;
    }
    if (past != declared.ownership.end()) statement.effective = after(effective, past->second.back().effective);
    out.events.emplace_back(statement);
  }
}

template <typename Rule>
bool same_rule(Rule a, const Rule& b) {
  a.at = b.at;
  return a == b;
}

// The same clusters and weights; what earlier weights make of figures is not the file's.
bool same_consortium(const accounting::ConsortiumDeclared& file, accounting::ConsortiumDeclared declared) {
  for (accounting::OtherCluster& other : declared.clusters) other.earlier.clear();
  return same_rule(file, declared);
}

}  // namespace

Declarations declare(const config::Configuration& configuration, const std::string& text, const Declared& declared,
                     Instant now, const std::vector<std::string>& keys) {
  Declarations out;
  const bool first_start = !declared.organizations;
  const std::vector<std::string> names = names_of(configuration);
  if (first_start || declared.organizations->names != names) {
    out.events.emplace_back(accounting::OrganizationsDeclared{after_last(now, declared.organizations), names});
  }
  declare_ownership(configuration, declared, now, first_start, out);
  const Period period = declared.period ? declared.period->period : Period::none;
  if (period != configuration.period) {
    out.events.emplace_back(accounting::PeriodDeclared{after_last(now, declared.period), configuration.period});
  }
  const accounting::RankingDeclared ranking =
      config::ranking_statement(configuration, after_last(now, declared.ranking));
  if (!declared.ranking || !same_rule(ranking, *declared.ranking)) out.events.emplace_back(ranking);
  const accounting::ChargeDeclared charge = config::charge_statement(configuration, after_last(now, declared.charge));
  if (!declared.charge || !same_rule(charge, *declared.charge)) out.events.emplace_back(charge);
  // A new ledger has one definition from the first job record on.
  const auto* hindsight = declared.hindsight ? &*declared.hindsight : nullptr;
  const Instant defined = first_start ? k_first_statement : after_last(now, declared.hindsight);
  if (auto statement = config::hindsight_statement(configuration, defined, first_start, hindsight))
    out.events.emplace_back(std::move(*statement));
  const accounting::ConsortiumDeclared consortium =
      config::consortium_statement(configuration, keys, after_last(now, declared.consortium));
  if (!same_consortium(consortium, declared.consortium.value_or(accounting::ConsortiumDeclared{}))) {
    out.events.emplace_back(consortium);
  }
  if (!declared.configuration || declared.configuration->text != text) {
    out.events.emplace_back(accounting::ConfigurationLoaded{after_last(now, declared.configuration), text});
  }
  return out;
}

namespace {

constexpr Duration k_minute{60};
constexpr Duration k_day{std::int64_t{24} * 3600};

bool has_moved(std::int64_t from_s, std::int64_t to_s) {
  constexpr std::int64_t k_parts = 5;
  return std::max(from_s - to_s, to_s - from_s) * k_parts > from_s;
}

}  // namespace

std::optional<MeasuredResidual> measured_residual(std::span<const ledger::EndedRun> runs) {
  const std::int64_t ended = std::ranges::count_if(runs, [](const ledger::EndedRun& run) { return run.ended; });
  if (ended < k_fewest_measured_runs) return std::nullopt;
  const auto mean = mean_residual_run_time(runs);
  if (!mean) return std::nullopt;
  return MeasuredResidual{std::clamp(*mean, k_shortest_residual, game::k_longest_horizon), ended};
}

std::optional<accounting::ResidualMeasured> residual_statement(Instant now, const accounting::ResidualMeasured* last,
                                                               const MeasuredResidual& measured) {
  if (last != nullptr && !has_moved(last->seconds, measured.residual.value)) return std::nullopt;
  const Instant at = last == nullptr ? now : std::max(now, last->at + Duration{1});
  return accounting::ResidualMeasured{at, measured.residual.value, measured.runs};
}

bool ResidualWatch::is_due(Instant now, const accounting::ResidualMeasured* last) const {
  if (last == nullptr) return !last_look_ || now >= *last_look_ + k_minute;
  return now >= std::max(last->at, last_look_.value_or(last->at)) + k_day;
}

std::optional<Duration> mean_residual_run_time(std::span<const ledger::EndedRun> runs) {
  Int128 squares = 0;
  Int128 work = 0;
  for (const ledger::EndedRun& run : runs) {
    if (!run.ended) continue;
    const Int128 length = run.length.value;
    squares += length * length * run.processors.value;
    work += length * run.processors.value;
  }
  if (work <= 0) return std::nullopt;
  return Duration{static_cast<std::int64_t>(squares / (2 * work))};
}

}  // namespace shapley::daemon
