#include "ledger/readers/declarations.hpp"

#include <string>
#include <utility>
#include <variant>

#include "accounting/state/adjustments.hpp"
#include "ledger/store/event_reader.hpp"
#include "ledger/store/ledger_impl.hpp"

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
                           "ranking_declared", "charge_declared", "residual_measured"})
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

// `chosen`: SQL for which of them comes first; ?1 is `at`.
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

}  // namespace

Expected<std::vector<Event>> declarations(const Ledger& ledger) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto events = read_declarations(impl.database);
  if (!events) return impl.failed("read declarations", std::move(events).error());
  return events;
}

Expected<std::optional<ConfigurationLoaded>> configuration_at(const Ledger& ledger, Instant at) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto loaded = read_configuration(impl.database, at, " AND e.at <= ?1 ORDER BY e.at DESC, e.seq DESC");
  if (!loaded) return impl.failed("read the configuration", std::move(loaded).error());
  return loaded;
}

Expected<accounting::FormerNames> former_names(const Ledger& ledger) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto names = read_former_names(impl.database);
  if (!names) return impl.failed("read adjustments", std::move(names).error());
  return names;
}

Expected<std::optional<ConfigurationLoaded>> configuration_behind(const Ledger& ledger, Instant at) {
  SHAPLEY_TRY_ASSIGN(auto loaded, configuration_at(ledger, at));
  if (loaded) return loaded;
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto first = read_configuration(impl.database, at, " AND e.at > ?1 ORDER BY e.at, e.seq");
  if (!first) return impl.failed("read the first configuration", std::move(first).error());
  return first;
}

}  // namespace shapley::ledger
