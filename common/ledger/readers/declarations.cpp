#include "ledger/readers/declarations.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>
#include <variant>

#include "ledger/encoding/event_reader.hpp"
#include "ledger/store/rows.hpp"

namespace shapley::ledger {

namespace {

using accounting::ConfigurationLoaded;
using accounting::Event;

// SQL for the keys of one kind of event: KIND/ and what follows ('0' follows '/').
std::string keys_of(const std::string& kind) {
  return "key >= '" + kind + "/' AND key < '" + kind + "0'";
}

std::string declared_sql() {
  std::string chosen;
  for (const char* kind : {"organizations_declared", "ownership_stated", "period_declared", "configuration_loaded",
                           "ranking_declared", "charge_declared", "residual_measured", "consortium_declared"})
    chosen += (chosen.empty() ? "" : " UNION ") + ("SELECT seq FROM event_texts WHERE " + keys_of(kind));
  return chosen + " ORDER BY seq";
}

// The events whose numbers `select` gives.
Expected<std::vector<Event>> read_events(const Database& database, Statement select) {
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
  std::vector<Event> events;
  const auto add = [&](const StoredEvent& stored) {
    events.push_back(stored.event);
    return Expected<void>{};
  };
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return events;
    SHAPLEY_TRY(reader.visit(select.integer(0) - 1, select.integer(0), add));
  }
}

Expected<std::vector<Event>> read_declarations(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(declared_sql()));
  return read_events(database, std::move(select));
}

// `chosen`: SQL that selects and orders the candidates; ?1 is `at`.
Expected<std::optional<ConfigurationLoaded>> read_configuration(const Database& database, Instant at,
                                                                const std::string& chosen) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT e.seq FROM event_texts AS t "
                                                        "JOIN event_rows AS e ON e.seq = t.seq WHERE " +
                                                        keys_of("configuration_loaded") + chosen + " LIMIT 1"));
  select.bind(1, at.value);
  SHAPLEY_TRY_ASSIGN(const std::vector<Event> events, read_events(database, std::move(select)));
  if (events.empty()) return std::nullopt;
  if (const auto* loaded = std::get_if<ConfigurationLoaded>(&events.front())) return *loaded;
  return fail(Errc::corrupt, "a configuration's key stands before another event; shapleyctl audit says more");
}

Expected<accounting::FormerNames> read_former_names(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT seq FROM event_texts WHERE " +
                                                        keys_of("adjustment_made") + " ORDER BY seq"));
  SHAPLEY_TRY_ASSIGN(const std::vector<Event> events, read_events(database, std::move(select)));
  std::vector<accounting::AdjustmentMade> all;
  for (const Event& event : events) {
    if (const auto* made = std::get_if<accounting::AdjustmentMade>(&event)) all.push_back(*made);
  }
  return accounting::former_names(all);
}

Expected<std::string> read_cluster_name(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT seq FROM event_texts WHERE " +
                                                        keys_of("cluster_named") + " ORDER BY seq"));
  SHAPLEY_TRY_ASSIGN(const std::vector<Event> events, read_events(database, std::move(select)));
  std::map<Instant, std::string> names;
  for (const Event& event : events) {
    if (const auto* named = std::get_if<accounting::ClusterNamed>(&event)) names[named->at] = named->cluster;
  }
  return names.empty() ? std::string() : names.rbegin()->second;
}

}  // namespace

Expected<std::vector<Event>> declarations(const Ledger& ledger) {
  return ledger.rows().run("read declarations", read_declarations);
}

Expected<std::optional<ConfigurationLoaded>> configuration_at(const Ledger& ledger, Instant at) {
  return ledger.rows().run("read the configuration", read_configuration, at,
                           " AND e.at <= ?1 ORDER BY e.at DESC, e.seq DESC");
}

Expected<accounting::FormerNames> former_names(const Ledger& ledger) {
  return ledger.rows().run("read adjustments", read_former_names);
}

Expected<std::string> cluster_name(const Ledger& ledger) {
  return ledger.rows().run("read the cluster's name", read_cluster_name);
}

Expected<std::optional<ConfigurationLoaded>> configuration_behind(const Ledger& ledger, Instant at) {
  SHAPLEY_TRY_ASSIGN(auto loaded, configuration_at(ledger, at));
  if (loaded) return loaded;
  return ledger.rows().run("read the first configuration", read_configuration, at,
                           " AND e.at > ?1 ORDER BY e.at, e.seq");
}

namespace {

// The sizes of a node, each from an instant on: ascending, growing.
using Sizes = std::vector<std::pair<Instant, ProcessorMillionths>>;

Expected<std::map<std::string, Sizes, std::less<>>> read_sizes(const Database& database, Instant until) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT node, at, processors FROM capacity WHERE at <= ?1 "
                                                        "ORDER BY at, ordinal"));
  select.bind(1, until.value);
  std::map<std::string, Instant, std::less<>> heard_of;
  std::map<std::string, Sizes, std::less<>> sizes;
  std::optional<Instant> first;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return sizes;
    const std::string node(select.text(0));
    const Instant at{select.integer(1)};
    const ProcessorMillionths processors{select.integer(2)};
    if (!first) first = at;
    const Instant since = heard_of.emplace(node, at == *first ? k_beginning_of_time : at).first->second;
    Sizes& of_node = sizes[node];
    if (of_node.empty() && processors.value > 0) of_node.emplace_back(since, processors);
    if (!of_node.empty() && of_node.back().second < processors) of_node.emplace_back(at, processors);
  }
}

Expected<std::vector<OwnedPart>> read_owned_parts(const Database& database, Instant until) {
  SHAPLEY_TRY_ASSIGN(const auto sizes, read_sizes(database, until));
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT organization, node, parts_per_million, begin, end "
                                      "FROM ownership WHERE begin < ?1 ORDER BY organization, node, begin"));
  select.bind(1, until.value);
  std::vector<OwnedPart> all;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return all;
    const std::string node(select.text(1));
    const auto of_node = sizes.find(node);
    if (of_node == sizes.end()) continue;
    // The projection has no times before 0, and its first owners hold from the beginning of time.
    const Instant begin = select.integer(3) == 0 ? k_beginning_of_time : Instant{select.integer(3)};
    const Instant end = select.is_null(4) ? until : std::min(until, Instant{select.integer(4)});
    for (std::size_t i = 0; i < of_node->second.size(); ++i) {
      const Instant from = std::max(begin, of_node->second[i].first);
      const Instant to = i + 1 < of_node->second.size() ? std::min(end, of_node->second[i + 1].first) : end;
      if (to <= from) continue;
      all.push_back({.organization = std::string(select.text(0)),
                     .node = node,
                     .parts_per_million = select.integer(2),
                     .largest = of_node->second[i].second,
                     .begin = from,
                     .end = to});
    }
  }
}

}  // namespace

Expected<std::vector<OwnedPart>> owned_parts(const Ledger& ledger, Instant until) {
  return ledger.rows().run("read ownership", read_owned_parts, until);
}

}  // namespace shapley::ledger
