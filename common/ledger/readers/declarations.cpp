#include "ledger/readers/declarations.hpp"

#include <initializer_list>
#include <map>
#include <string_view>
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

std::string sql_of_kinds(std::initializer_list<const char*> kinds) {
  std::string chosen;
  for (const char* kind : kinds)
    chosen += (chosen.empty() ? "" : " UNION ") + ("SELECT seq FROM event_texts WHERE " + keys_of(kind));
  return chosen + " ORDER BY seq";
}

// The events whose numbers `select` gives.
Expected<std::vector<Event>> read_events(const Database& database, Statement select) {
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
  std::vector<Event> events;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return events;
    SHAPLEY_TRY_ASSIGN(StoredEvent stored, reader.read(select.integer(0)));
    events.push_back(std::move(stored.event));
  }
}

Expected<std::vector<Event>> read_declarations(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare(sql_of_kinds({"organizations_declared", "ownership_stated", "period_declared",
                                                    "configuration_loaded", "ranking_declared", "charge_declared",
                                                    "residual_measured", "consortium_declared", "hindsight_defined"})));
  return read_events(database, std::move(select));
}

Expected<std::vector<Event>> read_decisions(const Database& database) {
  SHAPLEY_TRY_ASSIGN(
      Statement select,
      database.prepare(sql_of_kinds({"configuration_loaded", "consortium_declared", "residual_measured",
                                     "adjustment_made", "ledger_replaced", "cluster_named", "history_imported"})));
  return read_events(database, std::move(select));
}

// A key is standing_received/AT/CLUSTER.
constexpr std::string_view k_statements =
    "SELECT seq FROM (SELECT t.seq AS seq, e.at AS at, ROW_NUMBER() OVER (PARTITION BY e.at < ?1, "
    "  substr(t.key, 19 + instr(substr(t.key, 19), '/')) ORDER BY e.at DESC, t.seq DESC) AS newest "
    "  FROM event_texts t JOIN event_rows e ON e.seq = t.seq WHERE t.key >= 'standing_received/' AND "
    "  t.key < 'standing_received0' AND e.at < ?2) WHERE at >= ?1 OR newest = 1 ORDER BY at, seq";

Expected<std::vector<accounting::StandingReceived>> read_statements(const Database& database, Instant since,
                                                                    Instant until) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(std::string(k_statements)));
  select.bind(1, since.value).bind(2, until.value);
  SHAPLEY_TRY_ASSIGN(const std::vector<Event> events, read_events(database, std::move(select)));
  std::vector<accounting::StandingReceived> statements;
  for (const Event& event : events) {
    if (const auto* statement = std::get_if<accounting::StandingReceived>(&event)) statements.push_back(*statement);
  }
  return statements;
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

Expected<accounting::UserNames> read_user_names(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT seq FROM event_texts WHERE " + keys_of("user_named") + " ORDER BY seq"));
  SHAPLEY_TRY_ASSIGN(const std::vector<Event> events, read_events(database, std::move(select)));
  accounting::UserNames names;
  for (const Event& event : events) {
    if (const auto* user = std::get_if<accounting::UserNamed>(&event)) names[user->user_id] = user->name;
  }
  return names;
}

Expected<std::set<std::string>> read_configured_organizations(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT name FROM organizations WHERE at = "
                                                        "(SELECT MAX(at) FROM organizations)"));
  std::set<std::string> names;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return names;
    names.emplace(select.text(0));
  }
}

// Of an event of the ledger's own.
Expected<std::optional<std::int64_t>> read_number(const Database& database, const accounting::AdjustmentMade& made) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT seq FROM event_texts WHERE key = ?1"));
  const std::string key = accounting::event_key(made);
  SHAPLEY_TRY_ASSIGN(const bool row, select.bind(1, key).step());
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
  return row && select.integer(0) > begin.sequence ? std::optional(select.integer(0)) : std::nullopt;
}

}  // namespace

Expected<std::vector<Event>> declarations(const Ledger& ledger) {
  return ledger.rows().run("read declarations", read_declarations);
}

Expected<std::vector<Event>> decisions(const Ledger& ledger) {
  return ledger.rows().run("read decisions", read_decisions);
}

Expected<std::vector<accounting::StandingReceived>> statements_received(const Ledger& ledger, Instant since,
                                                                        Instant until) {
  return ledger.rows().run("read statements", read_statements, since, until);
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

Expected<std::vector<std::uint32_t>> numbers_of_user(const accounting::UserNames& names, const std::string& name,
                                                     std::optional<std::uint32_t> on_host) {
  std::vector<std::uint32_t> numbers;
  for (const auto& [number, called] : names) {
    if (called == name) numbers.push_back(number);
  }
  if (numbers.empty() && on_host) numbers.push_back(*on_host);
  if (!numbers.empty()) return numbers;
  return fail(Errc::invalid_argument,
              "neither the books nor the asker's host know a user '" + name + "'; give the user's number");
}

Expected<accounting::UserNames> user_names(const Ledger& ledger) {
  return ledger.rows().run("read the names of users", read_user_names);
}

Expected<std::set<std::string>> configured_organizations(const Ledger& ledger) {
  return ledger.rows().run("read the organizations", read_configured_organizations);
}

Expected<std::optional<std::int64_t>> adjustment_event(const Ledger& ledger, const accounting::AdjustmentMade& made) {
  return ledger.rows().run("read an adjustment", read_number, made);
}

Expected<std::optional<ConfigurationLoaded>> configuration_behind(const Ledger& ledger, Instant at) {
  SHAPLEY_TRY_ASSIGN(auto loaded, configuration_at(ledger, at));
  if (loaded) return loaded;
  return ledger.rows().run("read the first configuration", read_configuration, at,
                           " AND e.at > ?1 ORDER BY e.at, e.seq");
}

}  // namespace shapley::ledger
