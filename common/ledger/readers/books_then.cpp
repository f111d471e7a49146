#include "ledger/readers/books_then.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "ledger/encoding/event_reader.hpp"
#include "ledger/readers/past_books.hpp"
#include "ledger/store/rows.hpp"

namespace shapley::ledger {

namespace {

using accounting::Event;
using accounting::SegmentOpened;
using accounting::State;

using Files = std::vector<const Ledger*>;

// Not forgotten yet: an observer of every instant may have estimators that keep the last hour open.
constexpr Duration k_kept_for_watching{3600};

Expected<void> check_budget(const Files& files, const QueryBudget& budget) {
  if (budget.rows == 0) return {};
  std::int64_t events = 0;
  for (const Ledger* file : files) {
    SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(file->rows().database()));
    events += file->last_sequence() - begin.sequence;
  }
  if (events <= static_cast<std::int64_t>(budget.rows)) return {};
  return fail(Errc::limit, fmt::format("this needs more than {} events, the daemon's limit; read the ledger or a copy "
                                       "of it (shapleyctl backup) with --ledger FILE",
                                       budget.rows));
}

// Visits the events whose numbers `sql` selects until `visit` returns false. Parameters: the number of the last event
// before the file's own ones, and an instant.
Expected<void> visit_selected(const Ledger& file, const std::string& sql, Instant at,
                              const std::function<bool(const Event&)>& visit) {
  const Database& database = file.rows().database();
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(with_kinds(sql)));
  select.bind(1, begin.sequence).bind(2, at.value);
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
  for (bool more = true; more;) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return {};
    SHAPLEY_TRY_ASSIGN(const StoredEvent stored, reader.read(select.integer(0)));
    more = visit(stored.event);
  }
  return {};
}

// The first runs that begin after the instant, except those that were retracted.
Expected<std::vector<SegmentOpened>> next_starts(const Files& files, const PastQuestion& question,
                                                 const std::set<accounting::SegmentKey>& retracted) {
  std::vector<SegmentOpened> starts;
  if (question.next_starts == 0) return starts;
  for (const Ledger* file : files) {
    constexpr const char* k_runs =
        "SELECT seq FROM main.event_rows WHERE seq > ?1 AND at > ?2 AND kind = :opened AND anchor = at ORDER BY at, "
        "job";
    std::size_t found = 0;
    SHAPLEY_TRY(visit_selected(*file, k_runs, question.at, [&](const Event& event) {
      const auto& run = std::get<SegmentOpened>(event);
      if (retracted.contains(run.key)) return true;
      starts.push_back(run);
      return ++found < question.next_starts;
    }));
  }
  std::ranges::sort(starts, [](const SegmentOpened& a, const SegmentOpened& b) {
    return std::pair(a.begin, a.key.job) < std::pair(b.begin, b.key.job);
  });
  if (starts.size() > question.next_starts) starts.resize(question.next_starts);
  return starts;
}

// Estimators that may fall behind are too costly for a question about ranks that were not made by them.
Expected<void> leave_out_costly_ones(State& state, const Files& files, Instant until) {
  std::set<std::string, std::less<>> ranking{state.ranking_rule().contribution};
  for (const Ledger* file : files) {
    constexpr const char* k_rankings =
        "SELECT t.seq FROM main.event_texts t JOIN main.event_rows r ON r.seq = t.seq WHERE t.seq > ?1 AND "
        "t.kind = 'ranking_declared' AND r.at <= ?2";
    SHAPLEY_TRY(visit_selected(*file, k_rankings, until, [&](const Event& event) {
      ranking.insert(std::get<accounting::RankingDeclared>(event).contribution);
      return true;
    }));
  }
  for (const accounting::EstimatorId estimator : accounting::estimator_ids()) {
    const bool may_fall_behind = !accounting::estimators()[estimator.value].stand_in.empty();
    if (may_fall_behind && !ranking.contains(accounting::name_of(estimator))) state.leave_out(estimator);
  }
  return {};
}

Expected<void> follow(Fold& fold, const PastQuestion& question, const OnInstant& on_instant) {
  std::optional<Instant> last;
  const auto moved_to = [&](Instant next) {
    if (on_instant && last && next > *last) on_instant(fold.books().state, next);
  };
  while (true) {
    if (question.budget.is_ended()) return fail(Errc::limit, "request cancelled");
    SHAPLEY_TRY_ASSIGN(const StoredEvent* stored, fold.next(question.at));
    if (stored == nullptr) break;
    const Instant t = time_of(stored->event);
    moved_to(t);
    SHAPLEY_TRY(fold.apply(*stored));
    last = t;
    if (on_instant) fold.keep(t - k_kept_for_watching);
  }
  if (last) SHAPLEY_TRY(fold.forget());
  moved_to(question.at);
  return {};
}

Expected<BooksThen> books_of(const Files& files, const PastQuestion& question, const OnInstant& on_instant) {
  SHAPLEY_TRY(check_budget(files, question.budget));
  SHAPLEY_TRY_ASSIGN(const PastEvents events, PastEvents::open(files));
  SHAPLEY_TRY_ASSIGN(Recovered opening, files.front()->opening(k_remembers_nothing));
  SHAPLEY_TRY(leave_out_costly_ones(opening.state, files, question.at));
  SHAPLEY_TRY(begin_of_books(opening.state, events.begin(), question.at));
  SHAPLEY_TRY_ASSIGN(Fold fold, events.fold(std::move(opening), question.at, question.at, question.pace));
  SHAPLEY_TRY(follow(fold, question, on_instant));
  SHAPLEY_TRY_ASSIGN(std::vector<SegmentOpened> later, next_starts(files, question, events.retracted()));
  return BooksThen{std::move(fold.books().state), std::move(later)};
}

}  // namespace

Expected<BooksThen> books_then(const Ledger& ledger, const PastQuestion& question, const OnInstant& on_instant) {
  SHAPLEY_TRY_ASSIGN(const PastFiles past, PastFiles::open(ledger, question.archives, question.at, question.at));
  return books_of(past.files(), question, on_instant);
}

}  // namespace shapley::ledger
