#include "ledger/encoding/event_reader.hpp"

#include <string_view>

#include "ledger/encoding/event_store.hpp"

namespace shapley::ledger {

namespace {

using accounting::Event;
using accounting::SegmentKind;

constexpr std::size_t k_texts_kept = 10'000;

// The columns that `rows` selects, in this order.
enum Column : int {
  k_seq,
  k_received,
  k_kind,
  k_at,
  k_job,
  k_anchor,
  k_ordinal,
  k_organization,
  k_processors,
  k_placement,
  k_reason,
  k_job_state,
  k_released,
  k_waited_as
};

tl::unexpected<Error> unreadable(std::string_view what) {
  return fail(Errc::corrupt, std::string(what));
}

// Resets a statement at the end of its scope.
class Used {
 public:
  explicit Used(Statement& statement) : statement_(statement) {}
  ~Used() { statement_.reset(); }
  Used(const Used&) = delete;
  Used& operator=(const Used&) = delete;

 private:
  Statement& statement_;
};

}  // namespace

Expected<EventReader> EventReader::create(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement rows,
                     database.prepare("SELECT seq, received, kind, at, job, anchor, ordinal, organization, processors, "
                                      "placement, reason, job_state, released, waited_as FROM main.event_rows "
                                      "WHERE seq > ?1 AND seq <= ?2 "
                                      "ORDER BY seq"));
  SHAPLEY_TRY_ASSIGN(
      Statement job,
      database.prepare("SELECT array_job, array_task, het_job, user_id, group_id, organization, account, "
                       "partition, qos, wckey, name, typeof(name) = 'integer' FROM main.event_jobs "
                       "WHERE job = ?1 AND submit = ?2 AND seq = ?3"));
  SHAPLEY_TRY_ASSIGN(Statement nodes, database.prepare("SELECT node, processors, cpus, memory, gres "
                                                       "FROM main.event_nodes WHERE seq = ?1 ORDER BY position"));
  SHAPLEY_TRY_ASSIGN(Statement text, database.prepare("SELECT kind, payload FROM main.event_texts WHERE seq = ?1"));
  SHAPLEY_TRY_ASSIGN(Statement interned, database.prepare("SELECT text, json FROM main.words WHERE word = ?1"));
  return EventReader({std::move(rows), std::move(job), std::move(nodes), std::move(text), std::move(interned)});
}

Expected<void> EventReader::visit(std::int64_t after, std::int64_t upto,
                                  const std::function<Expected<void>(const StoredEvent&)>& visit) {
  Statement& rows = selects_.rows.bind(1, after).bind(2, upto);
  const Used used(rows);
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool there, rows.step());
    if (!there) return {};
    SHAPLEY_TRY_ASSIGN(const StoredEvent event, stored_event());
    SHAPLEY_TRY(visit(event));
  }
}

Expected<StoredEvent> EventReader::read(std::int64_t sequence) {
  Statement& rows = selects_.rows.bind(1, sequence - 1).bind(2, sequence);
  const Used used(rows);
  SHAPLEY_TRY_ASSIGN(const bool there, rows.step());
  if (!there) return fail(Errc::corrupt, "event " + std::to_string(sequence) + " is missing");
  return stored_event();
}

Expected<StoredEvent> EventReader::stored_event() {
  const std::int64_t sequence = selects_.rows.integer(k_seq);
  out_of_range_ = false;
  auto event = read_row();
  if (event && out_of_range_) event = unreadable("a number is missing or out of range");
  if (event) {
    if (auto verdict = well_formed(*event); !verdict) event = unreadable(verdict.error().what);
  }
  if (!event) {
    Error error = std::move(event).error();
    // Only then: reading may also be interrupted, or the disk may fail.
    if (error.code == Errc::corrupt) error.what += "; shapleyctl audit says what else is damaged";
    return with_context("event " + std::to_string(sequence), std::move(error));
  }
  return StoredEvent{.sequence = sequence, .received = {selects_.rows.integer(k_received)}, .event = *std::move(event)};
}

Expected<Event> EventReader::read_row() {
  const std::int64_t number = selects_.rows.integer(k_kind);
  const SegmentKind of = number % 2 == 0 ? SegmentKind::run : SegmentKind::wait;
  switch (number) {
    case 0:
      return other();
    case 1:
      return described();
    case 2:
    case 3:
      return opened(of);
    case 4:
    case 5:
      return closed(of);
    case 6:
    case 7:
      return accounting::SegmentRetracted{key(of), {selects_.rows.integer(k_at)}};
    default:
      return unreadable("unknown kind " + std::to_string(number));
  }
}

accounting::SegmentKey EventReader::key(SegmentKind of) {
  const Statement& row = selects_.rows;
  return {of, {small(row, k_job)}, {row.integer(k_anchor)}, small(row, k_ordinal)};
}

Expected<Event> EventReader::opened(SegmentKind of) {
  const Statement& row = selects_.rows;
  accounting::SegmentOpened event{.key = key(of),
                                  .organization = {},
                                  .begin = {row.integer(k_at)},
                                  .processors = {row.integer(k_processors)},
                                  .nodes = {},
                                  .placement = {}};
  SHAPLEY_TRY_ASSIGN(event.organization, text(row, k_organization));
  if (!row.is_null(k_placement)) {
    SHAPLEY_TRY_ASSIGN(event.placement, text(row, k_placement));
  }
  if (!row.is_null(k_released)) event.released = {row.integer(k_released)};
  if (!row.is_null(k_waited_as)) event.waited_as = {small(row, k_waited_as)};
  SHAPLEY_TRY_ASSIGN(event.nodes, nodes(row.integer(k_seq)));
  return event;
}

Expected<std::vector<accounting::NodeShare>> EventReader::nodes(std::int64_t sequence) {
  Statement& row = selects_.nodes.bind(1, sequence);
  const Used used(row);
  std::vector<accounting::NodeShare> shares;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool there, row.step());
    if (!there) return shares;
    accounting::NodeShare& share = shares.emplace_back();
    SHAPLEY_TRY_ASSIGN(share.node, text(row, 0));
    share.processors = {row.integer(1)};
    if (!row.is_null(2)) share.cpus = small(row, 2);
    share.memory = row.integer(3);
    if (row.is_null(4)) continue;
    SHAPLEY_TRY_ASSIGN(const KnownText* gres, interned(row.integer(4)));
    share.gres = gres->gres;
  }
}

Expected<Event> EventReader::closed(SegmentKind of) {
  const Statement& row = selects_.rows;
  accounting::SegmentClosed event{.key = key(of), .end = {row.integer(k_at)}, .job_state = {}};
  SHAPLEY_TRY_ASSIGN(const std::string why, text(row, k_reason));
  const auto known = parse_word<accounting::CloseReason>(why);
  if (!known) return unreadable("'" + why + "' is no known reason");
  event.reason = *known;
  SHAPLEY_TRY_ASSIGN(event.job_state, text(row, k_job_state));
  return event;
}

Expected<Event> EventReader::described() {
  const Statement& event_row = selects_.rows;
  Statement& row = selects_.job;
  row.bind(1, event_row.integer(k_job)).bind(2, event_row.integer(k_at)).bind(3, event_row.integer(k_seq));
  const Used used(row);
  SHAPLEY_TRY_ASSIGN(const bool there, row.step());
  if (!there) return unreadable("its row in event_jobs is missing");
  accounting::JobDescribed event;
  event.job = {small(event_row, k_job)};
  event.submit = {event_row.integer(k_at)};
  if (!row.is_null(0)) event.array_job = small(row, 0);
  if (!row.is_null(1)) event.array_task = small(row, 1);
  if (!row.is_null(2)) event.het_job = small(row, 2);
  event.user_id = small(row, 3);
  event.group_id = small(row, 4);
  SHAPLEY_TRY_ASSIGN(event.organization, text(row, 5));
  SHAPLEY_TRY_ASSIGN(event.account, text(row, 6));
  SHAPLEY_TRY_ASSIGN(event.partition, text(row, 7));
  SHAPLEY_TRY_ASSIGN(event.qos, text(row, 8));
  SHAPLEY_TRY_ASSIGN(event.wckey, text(row, 9));
  if (row.integer(11) == 0) {
    event.name = row.text(10);
  } else {
    SHAPLEY_TRY_ASSIGN(event.name, text(row, 10));
  }
  return event;
}

Expected<Event> EventReader::other() {
  Statement& row = selects_.text.bind(1, selects_.rows.integer(k_seq));
  const Used used(row);
  SHAPLEY_TRY_ASSIGN(const bool there, row.step());
  if (!there) return unreadable("its row in event_texts is missing");
  return decode(row.text(0), row.text(1));
}

Expected<std::string> EventReader::text(const Statement& row, int column) {
  SHAPLEY_TRY_ASSIGN(const KnownText* known, interned(row.integer(column)));
  return known->text;
}

Expected<const EventReader::KnownText*> EventReader::interned(std::int64_t number) {
  if (const auto known = interned_.find(number); known != interned_.end()) return &known->second;
  Statement& row = selects_.interned.bind(1, number);
  const Used used(row);
  SHAPLEY_TRY_ASSIGN(const bool there, row.step());
  if (!there) return unreadable("word " + std::to_string(number) + " is missing");
  // Only the json is hashed, so the text is compared with it.
  if (meaning_of(row.text(1)) != row.text(0)) {
    return unreadable("the text of word " + std::to_string(number) + " is not what its json means");
  }
  KnownText fresh{.text = std::string(row.text(0)), .gres = {}};
  if (row.text(1).starts_with('[')) {
    fresh.gres = decode_resources(row.text(1)).value_or(fresh.gres);
  }
  if (interned_.size() >= k_texts_kept) interned_.clear();
  return &interned_.emplace(number, std::move(fresh)).first->second;
}

std::uint32_t EventReader::small(const Statement& row, int column) {
  const std::int64_t value = row.integer(column);
  if (row.is_null(column) || !std::in_range<std::uint32_t>(value)) out_of_range_ = true;
  return static_cast<std::uint32_t>(value);
}

}  // namespace shapley::ledger
