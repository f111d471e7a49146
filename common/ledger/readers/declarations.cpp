#include "ledger/readers/declarations.hpp"

#include <string>
#include <utility>
#include <variant>

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
                           "ranking_declared", "charge_declared"})
    chosen += (chosen.empty() ? "" : " UNION ") + ("SELECT seq FROM events WHERE " + keys_of(kind));
  return "SELECT seq, received, kind, payload FROM events WHERE seq IN (" + chosen + ") ORDER BY seq";
}

Expected<std::vector<Event>> read_events(Statement select) {
  std::vector<Event> events;
  SHAPLEY_TRY(visit_events(select, [&](const StoredEvent& stored) {
    events.push_back(stored.event);
    return Expected<void>{};
  }));
  return events;
}

Expected<std::vector<Event>> read_declarations(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(declared_sql()));
  return read_events(std::move(select));
}

Expected<std::optional<ConfigurationLoaded>> read_configuration(const Database& database, Instant at) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT seq, received, kind, payload FROM events WHERE " +
                                                        keys_of("configuration_loaded") +
                                                        " AND at <= ?1 ORDER BY at DESC, seq DESC LIMIT 1"));
  select.bind(1, at.value);
  SHAPLEY_TRY_ASSIGN(const std::vector<Event> events, read_events(std::move(select)));
  if (events.empty()) return std::nullopt;
  if (const auto* loaded = std::get_if<ConfigurationLoaded>(&events.front())) return *loaded;
  return fail(Errc::corrupt, "a configuration's key stands before another event; shapleyctl audit says more");
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
  auto loaded = read_configuration(impl.database, at);
  if (!loaded) return impl.failed("read the configuration", std::move(loaded).error());
  return loaded;
}

}  // namespace shapley::ledger
