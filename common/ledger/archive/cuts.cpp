#include "ledger/archive/cuts.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/calendar.hpp"
#include "ledger/recovery/replay.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

using accounting::State;
using accounting::StateOptions;

// What a restart remembers, too: late events from so long before the end of an archive are booked.
constexpr Duration k_usual_memory = StateOptions{}.horizon;
// The opening books hold all jobs of this time, in memory at every start and in the file.
constexpr Duration k_longest_memory{14 * k_day_s};

// The first moment at which an event after `sequence` changes the books; a run reaches back to its release, and so does
// its retraction.
std::string first_reach() {
  return "SELECT MIN(CASE WHEN e.kind IN (6, 7) THEN COALESCE((SELECT " + reach_of_segment("o") +
         " FROM main.segment_events s "
         "  JOIN main.event_rows o ON o.seq = s.opened "
         "  WHERE s.job = e.job AND s.anchor = e.anchor AND s.kind = e.kind % 2 AND s.ordinal = e.ordinal), e.anchor) "
         "  ELSE " +
         reach_of_segment("e") +
         " END) "
         "FROM main.event_rows e WHERE e.seq > ?1 AND (e.kind BETWEEN 2 AND 7 OR (e.kind = 0 AND EXISTS ("
         "  SELECT 1 FROM main.event_texts t WHERE t.seq = e.seq AND t.kind IN ('organizations_declared', "
         "  'ownership_stated', 'capacity_changed', 'period_declared', 'placement_resolved'))))";
}

// The number that `sql` answers with for ?1, ?2; nullopt for NULL.
Expected<std::optional<std::int64_t>> number(const Database& database, std::string_view sql, std::int64_t first,
                                             std::optional<std::int64_t> second = std::nullopt) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(sql));
  select.bind(1, first);
  if (second) select.bind(2, *second);
  SHAPLEY_TRY_ASSIGN(const bool row, select.step());
  if (!row || select.is_null(0)) return std::nullopt;
  return select.integer(0);
}

class Planner {
 public:
  Planner(const Database& database, const std::filesystem::path& ledger) : database_(database), ledger_(ledger) {}

  Expected<Cuts> run(const OnProgress& on_progress) {
    SHAPLEY_TRY_ASSIGN(const auto genesis, read_genesis(database_));
    if (genesis) last_ = {.sequence = genesis->sequence, .hash = genesis->hash};
    const Instant archived = genesis ? genesis->until : k_beginning_of_time;
    SHAPLEY_TRY_ASSIGN(const Recovered books, recover_books(database_, k_as_saved));
    const auto& closed = books.state.closed_periods();
    std::optional<Instant> begin;  // of the periods that are not in an archive yet
    for (std::size_t i = 0; i + 1 < closed.size(); ++i) {
      if (closed[i].end <= archived) continue;
      if (!begin) begin = closed[i].begin;
      tell(on_progress, {"periods looked at", static_cast<std::int64_t>(i), static_cast<std::int64_t>(closed.size())});
      SHAPLEY_TRY_ASSIGN(const bool cut, try_cut(*begin, closed[i].end));
      cuts_.uncut = cut ? 0 : cuts_.uncut + 1;
      if (cut) begin.reset();
    }
    return std::move(cuts_);
  }

 private:
  // The last event before the first one whose `time` is the period's end or later; what is archived: there is none.
  Expected<std::int64_t> last_before(const std::string& time, Instant until) {
    SHAPLEY_TRY_ASSIGN(const auto first,
                       number(database_, "SELECT MIN(seq) FROM main.event_rows WHERE seq > ?1 AND " + time + " >= ?2",
                              last_.sequence, until.value));
    return first ? *first - 1 : last_.sequence;
  }

  Expected<bool> try_cut(Instant begin, Instant until) {
    SHAPLEY_TRY_ASSIGN(std::int64_t sequence, last_before("received", until));
    if (sequence <= last_.sequence) {
      SHAPLEY_TRY_ASSIGN(sequence, last_before("at", until));
    }
    if (sequence <= last_.sequence) return false;
    SHAPLEY_TRY_ASSIGN(const auto reach, number(database_, first_reach(), sequence));
    const Instant needed = std::min(until - k_usual_memory, Instant{reach.value_or(until.value)});
    if (needed < until - k_longest_memory) return false;
    SHAPLEY_TRY_ASSIGN(const auto hash, hash_of_event(database_, sequence));
    if (!hash) return fail(Errc::corrupt, "event " + std::to_string(sequence) + " is missing");
    Genesis genesis{.sequence = sequence,
                    .hash = *hash,
                    .events = sequence - last_.sequence,
                    .archive = archive_name(ledger_, until),
                    .begin = begin,
                    .until = until,
                    .horizon = {},
                    .books = {}};
    SHAPLEY_TRY_ASSIGN(BooksAtCut books,
                       books_at_cut(database_, cuts_.made.empty() ? nullptr : &cuts_.made.back(), sequence, needed));
    genesis.books = std::move(books.text);
    genesis.horizon = books.horizon;
    SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
    SHAPLEY_TRY_ASSIGN(genesis.books_hash, hasher.checkpoint(*hash, until.value, genesis.books));
    last_ = {.sequence = sequence, .hash = *hash};
    cuts_.made.push_back(std::move(genesis));
    return true;
  }

  const Database& database_;
  const std::filesystem::path& ledger_;
  Head last_;  // archived, or to be archived
  Cuts cuts_;
};

}  // namespace

std::string archive_name(const std::filesystem::path& ledger, Instant until) {
  constexpr std::size_t k_year_and_month = 7;
  return ledger.stem().string() + '.' + format_instant(until - Duration{1}).substr(0, k_year_and_month) + ".db.xz";
}

Expected<BooksAtCut> books_at_cut(const Database& database, const Genesis* from, std::int64_t sequence, Instant horizon,
                                  const ReplayPace& pace) {
  Recovered books{.state = State(k_remembers_nothing)};
  if (from != nullptr) {
    SHAPLEY_TRY_ASSIGN(books.state, State::load(from->books, k_remembers_nothing));
    books.last_sequence = from->sequence;
  } else {
    SHAPLEY_TRY_ASSIGN(books, opening_books(database, k_remembers_nothing));
  }
  SHAPLEY_TRY(advance_by_time(database, books, sequence, nullptr, horizon, pace));
  books.state.compact(horizon);
  return BooksAtCut{.text = books.state.save(), .horizon = books.state.horizon()};
}

Expected<Cuts> plan_cuts(const Database& database, const std::filesystem::path& ledger, const OnProgress& on_progress) {
  return Planner(database, ledger).run(on_progress);
}

}  // namespace shapley::ledger
