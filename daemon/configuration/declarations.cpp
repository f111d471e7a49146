#include "daemon/configuration/declarations.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace shapley::daemon {

using accounting::OwnerPart;
using accounting::OwnershipSpan;
using accounting::OwnershipStated;

namespace {

// The first statements hold from before any job record: all dates of the file count.
constexpr Instant k_first_statement{0};

// Who owns a node when, as one list of changes: spans ascending, the last one open, no two neighbours alike.
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

// `statement` replaces what the timeline says about instants from its `effective` on.
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

// The first date before `now` at which the file changes an owner, and neither the ledger does nor the file as it was
// loaded before: what that said was booked, and the warning given, then.
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

// A node's owners as a file says.
using Timelines = std::map<std::string, Timeline>;

// Of the file that was loaded last; none where this release does not accept it any more.
Timelines loaded_before(const Declared& declared) {
  Timelines timelines;
  if (!declared.configuration) return timelines;
  const auto before = config::parse(declared.configuration->text);
  if (!before) return timelines;
  for (const OwnershipStated& s : config::ownership_statements(*before, k_beginning_of_time)) {
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

// The file's statement for every node that it or the ledger names; a node that is in nobody's claim goes to commons.
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

}  // namespace

Declarations declare(const config::Configuration& configuration, const std::string& text, const Declared& declared,
                     Instant now) {
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
  if (!declared.configuration || declared.configuration->text != text) {
    out.events.emplace_back(accounting::ConfigurationLoaded{after_last(now, declared.configuration), text});
  }
  return out;
}

}  // namespace shapley::daemon
