#include "ledger/encoding/event_reader.hpp"

#include <algorithm>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include "ledger/encoding/event_columns.hpp"
#include "ledger/encoding/event_store.hpp"
#include "ledger/file/typed_rows.hpp"

namespace shapley::ledger {

namespace {

using accounting::Event;
using accounting::JobDescribed;
using accounting::NodeShare;
using accounting::SegmentKind;

constexpr std::size_t k_texts_kept = 10'000;

// The columns that `rows` selects first; then come those of the members.
enum Column : int { k_seq, k_received, k_kind, k_at, k_first_member };

// The members of all events of segments that are columns, those of each in its order.
std::vector<std::string_view> segment_columns() {
  std::vector<std::string_view> columns = column_names<accounting::SegmentOpened>();
  for (const std::string_view name : column_names<accounting::SegmentClosed>()) {
    if (std::ranges::find(columns, name) == columns.end()) columns.push_back(name);
  }
  return columns;
}

template <typename Value>
constexpr bool is_word = std::is_same_v<Value, std::string> ||
                         std::is_same_v<Value, std::vector<accounting::Resource>> || std::is_enum_v<Value>;

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
  std::vector<std::string_view> columns = segment_columns();
  SHAPLEY_TRY_ASSIGN(Statement rows,
                     database.prepare("SELECT seq, received, kind, at, " + listed_columns(columns) +
                                      " FROM main.event_rows WHERE seq > ?1 AND seq <= ?2 ORDER BY seq"));
  SHAPLEY_TRY_ASSIGN(Statement job, database.prepare("SELECT " + listed_columns(column_names<JobDescribed>()) +
                                                     " FROM main.event_jobs WHERE job = ?1 AND submit = ?2 AND "
                                                     "seq = ?3"));
  SHAPLEY_TRY_ASSIGN(Statement nodes, database.prepare("SELECT " + listed_columns(column_names<NodeShare>()) +
                                                       " FROM main.event_nodes WHERE seq = ?1 ORDER BY position"));
  SHAPLEY_TRY_ASSIGN(Statement text, database.prepare("SELECT kind, payload FROM main.event_texts WHERE seq = ?1"));
  SHAPLEY_TRY_ASSIGN(Statement interned, database.prepare("SELECT text, json FROM main.words WHERE word = ?1"));
  return EventReader({std::move(rows), std::move(job), std::move(nodes), std::move(text), std::move(interned)},
                     std::move(columns));
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
  if (!there) return fail(Errc::corrupt, fmt::format("event {} is missing", sequence));
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
  if (number == RowKind::k_text) return other();
  if (number == RowKind::k_described) return described();
  switch (number - number_of(of)) {
    case RowKind::k_opened:
      return opened(of);
    case RowKind::k_closed:
      return of_segment<accounting::SegmentClosed>(of);
    case RowKind::k_retracted:
      return of_segment<accounting::SegmentRetracted>(of);
    default:
      return unreadable("unknown kind " + std::to_string(number));
  }
}

template <typename Fact>
Expected<Fact> EventReader::of_segment(SegmentKind of) {
  const Statement& row = selects_.rows;
  Fact fact;
  fact.key.kind = of;
  std::size_t column = 0;
  Expected<void> taken;
  for_each_column(fact, [&](std::string_view name, auto& value, auto role) {
    while (columns_[column] != name) ++column;
    if (taken) taken = take<decltype(role)::value>(row, k_first_member + static_cast<int>(column), name, value);
  });
  SHAPLEY_TRY(std::move(taken));
  for_each_member(fact, [&](std::string_view, auto& value, auto role) {
    if constexpr (is_time(decltype(role)::value)) value = {row.integer(k_at)};
  });
  return fact;
}

template <typename Record>
Expected<Record> EventReader::whole_row(const Statement& row) {
  Record record;
  int column = 0;
  Expected<void> taken;
  for_each_column(record, [&](std::string_view name, auto& value, auto role) {
    if (taken) taken = take<decltype(role)::value>(row, column++, name, value);
  });
  SHAPLEY_TRY(std::move(taken));
  return record;
}

template <Role role, typename Value>
Expected<void> EventReader::take(const Statement& row, int column, std::string_view name, Value& value) {
  if (is_null_for_default<role>(name) && row.is_null(column)) return {};
  if constexpr (is_word<Value>) {
    if constexpr (std::is_same_v<Value, std::string>) {
      if (may_be_plain_text(name) && !row.is_integer(column)) {
        value = row.text(column);
        return {};
      }
    }
    SHAPLEY_TRY_ASSIGN(const KnownText* word, interned(row.integer(column)));
    if constexpr (std::is_same_v<Value, std::string>) {
      value = word->text;
    } else if constexpr (std::is_enum_v<Value>) {
      const auto known = parse_word<Value>(word->text);
      if (!known) return unreadable(fmt::format("'{}' is no known {}", word->text, name));
      value = *known;
    } else {
      value = word->gres;
    }
  } else if (!take_column(row, column, value)) {
    out_of_range_ = true;
  }
  return {};
}

Expected<Event> EventReader::opened(SegmentKind of) {
  SHAPLEY_TRY_ASSIGN(accounting::SegmentOpened event, of_segment<accounting::SegmentOpened>(of));
  Statement& row = selects_.nodes.bind(1, selects_.rows.integer(k_seq));
  const Used used(row);
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool there, row.step());
    if (!there) return event;
    SHAPLEY_TRY_ASSIGN(NodeShare share, whole_row<NodeShare>(row));
    event.nodes.push_back(std::move(share));
  }
}

Expected<Event> EventReader::described() {
  const Statement& event_row = selects_.rows;
  Statement& row = selects_.job;
  // The number of a job is the first column of the members.
  row.bind(1, event_row.integer(k_first_member)).bind(2, event_row.integer(k_at)).bind(3, event_row.integer(k_seq));
  const Used used(row);
  SHAPLEY_TRY_ASSIGN(const bool there, row.step());
  if (!there) return unreadable("its row in event_jobs is missing");
  return whole_row<JobDescribed>(row);
}

Expected<Event> EventReader::other() {
  Statement& row = selects_.text.bind(1, selects_.rows.integer(k_seq));
  const Used used(row);
  SHAPLEY_TRY_ASSIGN(const bool there, row.step());
  if (!there) return unreadable("its row in event_texts is missing");
  return decode(row.text(0), row.text(1));
}

Expected<const EventReader::KnownText*> EventReader::interned(std::int64_t number) {
  if (const auto known = interned_.find(number); known != interned_.end()) return &known->second;
  Statement& row = selects_.interned.bind(1, number);
  const Used used(row);
  SHAPLEY_TRY_ASSIGN(const bool there, row.step());
  if (!there) return unreadable(fmt::format("word {} is missing", number));
  // Only the json is hashed, so the text is compared with it.
  if (meaning_of(row.text(1)) != row.text(0)) {
    return unreadable(fmt::format("the text of word {} is not what its json means", number));
  }
  KnownText fresh{.text = std::string(row.text(0)), .gres = {}};
  if (row.text(1).starts_with('[')) {
    fresh.gres = decode_resources(row.text(1)).value_or(fresh.gres);
  }
  if (interned_.size() >= k_texts_kept) interned_.clear();
  return &interned_.emplace(number, std::move(fresh)).first->second;
}

}  // namespace shapley::ledger
