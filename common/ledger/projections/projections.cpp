#include "ledger/projections/projections.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "ledger/encoding/event_json.hpp"
#include "ledger/encoding/event_store.hpp"

namespace shapley::ledger {

namespace {

using accounting::Event;
using accounting::OwnerPart;
using accounting::OwnershipSpan;
using accounting::OwnershipStated;
using accounting::SegmentKey;

constexpr std::array<std::string_view, 6> k_tables{"segment_events", "organizations", "ownership",
                                                   "capacity",       "periods",       "job_changes"};

// The parts, completed by the rest for commons, ascending by name.
std::vector<OwnerPart> completed(std::vector<OwnerPart> owners) {
  std::int64_t rest = accounting::k_whole_node;
  for (const OwnerPart& part : owners) rest -= part.parts_per_million;
  if (rest > 0) {
    const auto commons = std::find_if(owners.begin(), owners.end(),
                                      [](const OwnerPart& part) { return part.organization == accounting::k_commons; });
    if (commons == owners.end()) {
      owners.push_back({std::string(accounting::k_commons), rest});
    } else {
      commons->parts_per_million += rest;
    }
  }
  std::sort(owners.begin(), owners.end(),
            [](const OwnerPart& a, const OwnerPart& b) { return a.organization < b.organization; });
  return owners;
}

// Adds [begin, end) unless it is empty, joining it to an equal neighbour.
void add_stretch(std::vector<OwnedStretch>& stretches, Instant begin, Instant end, std::vector<OwnerPart> owners) {
  begin = std::max(begin, Instant{0});
  if (end <= begin) return;
  if (!stretches.empty() && stretches.back().owners == owners) {
    stretches.back().end = end;
  } else {
    stretches.push_back({begin, end, std::move(owners)});
  }
}

// Adds one statement's spans for the time in which it is in force: [effective, until).
void add_statement(std::vector<OwnedStretch>& stretches, const OwnershipStated& statement, Instant until) {
  const auto& spans = statement.spans;
  const Instant first = spans.empty() ? until : std::min(spans.front().from, until);
  add_stretch(stretches, statement.effective, first, completed({}));
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Instant next = i + 1 < spans.size() ? spans[i + 1].from : k_end_of_time;
    add_stretch(stretches, std::max(spans[i].from, statement.effective), std::min(next, until),
                completed(spans[i].owners));
  }
}

// Other kinds record a statement, of any age, and no figure depends on them.
bool changes_books(const Event& event) {
  return std::holds_alternative<accounting::SegmentOpened>(event) ||
         std::holds_alternative<accounting::OrganizationsDeclared>(event) ||
         std::holds_alternative<accounting::OwnershipStated>(event) ||
         std::holds_alternative<accounting::CapacityChanged>(event) ||
         std::holds_alternative<accounting::PeriodDeclared>(event) ||
         std::holds_alternative<accounting::PlacementResolved>(event) ||
         std::holds_alternative<accounting::HindsightDefined>(event) ||
         std::holds_alternative<accounting::WorkSettled>(event);
}

}  // namespace

std::span<const std::string_view> projection_tables() {
  return k_tables;
}

std::vector<OwnedStretch> resolve_ownership(std::vector<OwnershipStated> statements) {
  std::sort(statements.begin(), statements.end(), [](const OwnershipStated& a, const OwnershipStated& b) {
    return std::pair(a.effective, a.revision) < std::pair(b.effective, b.revision);
  });
  std::vector<OwnedStretch> stretches;
  if (!statements.empty()) add_stretch(stretches, Instant{0}, statements.front().effective, completed({}));
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const Instant until = i + 1 < statements.size() ? statements[i + 1].effective : k_end_of_time;
    add_statement(stretches, statements[i], until);
  }
  return stretches;
}

Expected<Statement*> Projector::cached(std::string_view sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return &found->second;
  std::string text(sql);
  constexpr std::string_view placeholder = "SCHEMA";
  for (auto at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder)) {
    text.replace(at, placeholder.size(), schema_);
  }
  SHAPLEY_TRY_ASSIGN(Statement statement, database_->prepare(text));
  return &statements_.emplace(sql, std::move(statement)).first->second;
}

Expected<void> Projector::project(const Event& event, std::int64_t sequence) {
  return std::visit([this, sequence](const auto& e) { return fold(e, sequence); }, event);
}

Expected<bool> Projector::contradicts(const Event& event) {
  const auto* opened = std::get_if<accounting::SegmentOpened>(&event);
  const auto* closed = std::get_if<accounting::SegmentClosed>(&event);
  if (opened == nullptr && closed == nullptr) return false;
  const SegmentKey& key = opened != nullptr ? opened->key : closed->key;
  // Reads the other half of the segment, which the event does not have.
  SHAPLEY_TRY_ASSIGN(Statement * select,
                     opened != nullptr ? cached("SELECT e.at FROM SCHEMA.segment_events s JOIN main.event_rows e "
                                                "ON e.seq = s.closed "
                                                "WHERE s.kind = ?1 AND s.job = ?2 AND s.anchor = ?3 AND s.ordinal = ?4")
                                       : cached("SELECT e.at FROM SCHEMA.segment_events s JOIN main.event_rows e "
                                                "ON e.seq = s.opened WHERE s.kind = ?1 AND s.job = ?2 "
                                                "AND s.anchor = ?3 AND s.ordinal = ?4"));
  auto row = bind_key(select->bind(1, number_of(key.kind)), 2, key).step();
  const bool known = row && *row;
  const Instant other{known ? select->integer(0) : 0};
  select->reset();
  if (!row) return tl::unexpected<Error>(std::move(row).error());
  return known && (opened != nullptr ? other < opened->begin : closed->end < other);
}

Expected<std::optional<Instant>> Projector::begin_of(const SegmentKey& key) {
  SHAPLEY_TRY_ASSIGN(Statement * select,
                     cached("SELECT e.at FROM SCHEMA.segment_events s JOIN main.event_rows e ON e.seq = s.opened "
                            "WHERE s.kind = ?1 AND s.job = ?2 AND s.anchor = ?3 AND s.ordinal = ?4"));
  auto row = bind_key(select->bind(1, number_of(key.kind)), 2, key).step();
  std::optional<Instant> begin;
  if (row && *row) begin = Instant{select->integer(0)};
  select->reset();
  if (!row) return tl::unexpected<Error>(std::move(row).error());
  return begin;
}

Expected<bool> Projector::reaches_before(const Event& event, Instant horizon) {
  const auto* closed = std::get_if<accounting::SegmentClosed>(&event);
  const auto* retracted = std::get_if<accounting::SegmentRetracted>(&event);
  if (closed == nullptr && retracted == nullptr) return changes_books(event) && time_of(event) < horizon;
  if (closed != nullptr && closed->end < horizon) return true;
  const SegmentKey& key = closed != nullptr ? closed->key : retracted->key;
  SHAPLEY_TRY_ASSIGN(const std::optional<Instant> begin, begin_of(key));
  if (!begin) return key.anchor < horizon;
  return retracted != nullptr && *begin < horizon;
}

Expected<void> Projector::clear() {
  for (const std::string_view table : k_tables)
    SHAPLEY_TRY(database_->execute("DELETE FROM " + schema_ + "." + std::string(table)));
  return {};
}

Expected<void> Projector::name_event(std::string_view sql, const SegmentKey& key, std::int64_t sequence) {
  SHAPLEY_TRY_ASSIGN(Statement * segment, cached(sql));
  return bind_key(segment->bind(1, number_of(key.kind)), 2, key).bind(5, sequence).run();
}

Expected<void> Projector::fold(const accounting::SegmentOpened& e, std::int64_t sequence) {
  return name_event(
      "INSERT INTO SCHEMA.segment_events(kind, job, anchor, ordinal, opened) VALUES (?1, ?2, ?3, ?4, ?5) "
      "ON CONFLICT (job, anchor, kind, ordinal) DO UPDATE SET opened = excluded.opened",
      e.key, sequence);
}

Expected<void> Projector::fold(const accounting::SegmentClosed& e, std::int64_t sequence) {
  return name_event(
      "INSERT INTO SCHEMA.segment_events(kind, job, anchor, ordinal, closed) VALUES (?1, ?2, ?3, ?4, ?5) "
      "ON CONFLICT (job, anchor, kind, ordinal) DO UPDATE SET closed = excluded.closed",
      e.key, sequence);
}

Expected<void> Projector::fold(const accounting::SegmentRetracted& e, std::int64_t sequence) {
  return name_event(
      "INSERT INTO SCHEMA.segment_events(kind, job, anchor, ordinal, retracted) VALUES (?1, ?2, ?3, ?4, ?5) "
      "ON CONFLICT (job, anchor, kind, ordinal) DO UPDATE SET retracted = excluded.retracted",
      e.key, sequence);
}

Expected<void> Projector::fold(const accounting::OrganizationsDeclared& e, std::int64_t /*sequence*/) {
  SHAPLEY_TRY_ASSIGN(Statement * row,
                     cached("INSERT INTO SCHEMA.organizations(at, position, name) VALUES (?1, ?2, ?3)"));
  for (std::size_t position = 0; position < e.names.size(); ++position) {
    row->bind(1, e.at.value).bind(2, static_cast<std::int64_t>(position)).bind(3, e.names[position]);
    SHAPLEY_TRY(row->run());
  }
  return {};
}

Expected<std::vector<OwnershipStated>> Projector::statements_about(const std::string& node) {
  const std::string prefix = fmt::format("ownership_stated/{}/", node);
  std::string after = prefix;
  after.back() = '0';  // the character after '/'
  SHAPLEY_TRY_ASSIGN(Statement * select, cached("SELECT payload FROM main.event_texts WHERE key >= ?1 AND key < ?2"));
  select->bind(1, prefix).bind(2, after);
  std::vector<OwnershipStated> statements;
  while (true) {
    auto row = select->step();
    if (!row || !*row) {
      select->reset();
      if (!row) return tl::unexpected<Error>(std::move(row).error());
      return statements;
    }
    auto event = decode("ownership_stated", select->text(0));
    if (!event) {
      select->reset();
      return tl::unexpected<Error>(std::move(event).error());
    }
    auto& statement = std::get<OwnershipStated>(*event);
    // A node's name may contain a slash; its neighbours in key order are not about it.
    if (statement.node == node) statements.push_back(std::move(statement));
  }
}

Expected<void> Projector::fold(const OwnershipStated& e, std::int64_t /*sequence*/) {
  SHAPLEY_TRY_ASSIGN(auto statements, statements_about(e.node));
  SHAPLEY_TRY_ASSIGN(Statement * forget, cached("DELETE FROM SCHEMA.ownership WHERE node = ?1"));
  SHAPLEY_TRY(forget->bind(1, e.node).run());
  SHAPLEY_TRY_ASSIGN(Statement * insert,
                     cached("INSERT INTO SCHEMA.ownership(node, begin, organization, end, parts_per_million) "
                            "VALUES (?1, ?2, ?3, ?4, ?5)"));
  for (const OwnedStretch& stretch : resolve_ownership(std::move(statements))) {
    for (const OwnerPart& part : stretch.owners) {
      insert->bind(1, e.node).bind(2, stretch.begin.value).bind(3, part.organization).bind(5, part.parts_per_million);
      if (stretch.end == k_end_of_time) {
        insert->bind_null(4);
      } else {
        insert->bind(4, stretch.end.value);
      }
      SHAPLEY_TRY(insert->run());
    }
  }
  return {};
}

Expected<void> Projector::fold(const accounting::CapacityChanged& e, std::int64_t /*sequence*/) {
  SHAPLEY_TRY_ASSIGN(Statement * row,
                     cached("INSERT INTO SCHEMA.capacity(node, at, ordinal, processors, whole, cpus, memory, gres) "
                            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"));
  const std::string gres = text_of(e.gres);  // bound by reference
  row->bind(1, e.node).bind(2, e.at.value).bind(3, std::int64_t{e.ordinal}).bind(4, e.processors.value);
  return row->bind(5, e.whole.value).bind(6, std::int64_t{e.cpus}).bind(7, e.memory).bind(8, gres).run();
}

Expected<void> Projector::fold(const accounting::PeriodDeclared& e, std::int64_t /*sequence*/) {
  SHAPLEY_TRY_ASSIGN(Statement * row, cached("INSERT INTO SCHEMA.periods(at, period) VALUES (?1, ?2)"));
  return row->bind(1, e.at.value).bind(2, name_of(e.period)).run();
}

Expected<void> Projector::fold(const accounting::JobChanged& e, std::int64_t /*sequence*/) {
  SHAPLEY_TRY_ASSIGN(Statement * row,
                     cached("INSERT INTO SCHEMA.job_changes(job, submit, at, organization, array_task, "
                            "account, partition, qos, name, wckey) "
                            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"));
  row->bind(1, std::int64_t{e.job.value}).bind(2, e.submit.value).bind(3, e.at.value).bind(4, e.organization);
  if (e.array_task) {
    row->bind(5, std::int64_t{*e.array_task});
  } else {
    row->bind_null(5);
  }
  return row->bind(6, e.account).bind(7, e.partition).bind(8, e.qos).bind(9, e.name).bind(10, e.wckey).run();
}

}  // namespace shapley::ledger
