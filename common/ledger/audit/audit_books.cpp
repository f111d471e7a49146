// psi and phi: the books rebuilt from events, compared with naive sums, with conservation, and with shapleyd's books.
#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/calendar.hpp"
#include "ledger/audit/audit_parts.hpp"
#include "ledger/audit/naive_books.hpp"
#include "ledger/encoding/chain_walk.hpp"
#include "ledger/recovery/fold.hpp"
#include "ledger/recovery/standings.hpp"
#include "ledger/store/rows.hpp"

namespace shapley::ledger {

namespace {

using accounting::estimator_ids;
using accounting::EstimatorId;
using accounting::EstimatorSet;
using accounting::figure_name;
using accounting::Standing;
using accounting::State;

constexpr std::int64_t k_instants = 16;

// The figures of a standing by name, as text.
using Figures = std::vector<std::pair<std::string, std::string>>;

Figures figures_of(const Standing& row, const EstimatorSet& kept) {
  Figures figures{{"psi", to_string(row.psi.value)}};
  for (const EstimatorId estimator : estimator_ids()) {
    if (!kept.contains(estimator)) continue;
    figures.emplace_back(figure_name("phi", estimator), to_string(row.phi(estimator).value));
  }
  figures.emplace_back("got", to_string(row.got.value));
  for (const EstimatorId estimator : estimator_ids()) {
    if (!kept.contains(estimator)) continue;
    figures.emplace_back(figure_name("given", estimator), to_string(row.given(estimator).value));
  }
  for (const auto& [name, level] :
       {std::pair{"owned", row.owned}, std::pair{"used", row.used}, std::pair{"waiting", row.waiting},
        std::pair{"lent", row.lent}, std::pair{"borrowed", row.borrowed}}) {
    figures.emplace_back(name, std::to_string(level.value));
  }
  return figures;
}

class BooksAudit {
 public:
  BooksAudit(const Ledger& ledger, const Facts& facts, AuditReport& report, const AuditOptions& options)
      : ledger_(ledger),
        database_(ledger.rows().database()),
        facts_(facts.surveyed()),
        report_(report),
        options_(options) {}

  Expected<void> run() {
    SHAPLEY_TRY_ASSIGN(const std::optional<Genesis> genesis, read_genesis(database_));
    if (genesis) begin_ = genesis->until;
    SHAPLEY_TRY_ASSIGN(kept_, estimators_of_last_day(database_));
    SHAPLEY_TRY(recover_rows());
    SHAPLEY_TRY(audit_projections(database_, report_, options_, days_watch()));
    // Estimators without naive sums take most of the time; the books of days have checked them already.
    const EstimatorSet followed = rebuilt_ ? with_naive_sums(kept_) : kept_;
    SHAPLEY_TRY_ASSIGN(Recovered opening, opening_books(database_, remembers_nothing(followed)));
    // The books may know an instant already that lies after what was archived.
    SHAPLEY_TRY(choose_instants(std::max(begin_, opening.state.now())));
    naive_.emplace(facts_, instants_);
    SHAPLEY_TRY_ASSIGN(const Head head, read_head(database_));
    const std::int64_t archived = opening.last_sequence;
    const EventRange events{.database = &database_, .upto = head.sequence};
    SHAPLEY_TRY_ASSIGN(Fold fold, Fold::by_time({events}, std::move(opening), {.pace = options_.pace}));
    SHAPLEY_TRY(follow_events(fold, archived, head.sequence));
    State& state = fold.books().state;
    check_closed_periods(state);
    if (!rebuilt_) {
      state.compact();
      rebuilt_ = rows_by_name(state, recovered_at_);
    }
    compare_with_recovered();
    write_notes();
    return {};
  }

 private:
  void find(const char* check, std::string what) { report_.findings.push_back({check, std::move(what)}); }

  static EstimatorSet with_naive_sums(const EstimatorSet& kept) {
    EstimatorSet some;
    for (const EstimatorId estimator : estimator_ids()) {
      if (kept.contains(estimator) && credit_of({}, estimator)) some.insert(estimator);
    }
    return some;
  }

  // Days are made from the books of all events, in the order in which these were appended.
  DaysWatch days_watch() {
    return {
        .on_day = [this](Instant at, std::span<const Standing> rows) { check_conservation(rows, format_instant(at)); },
        .at_end =
            [this](State& books) {
              for (const accounting::ClosedPeriod& period : books.closed_periods()) {
                if (period.end > begin_) check_conservation(period.standings, end_of_period(period.end));
              }
              rebuilt_ = rows_by_name(books, recovered_at_);
              check_conservation(books.advance(recovered_at_).standings(), format_instant(recovered_at_));
            },
        .end = recovered_at_};
  }

  static std::string end_of_period(Instant end) { return "the end of the period, " + format_instant(end); }

  // Instants evenly spaced from the first segment's begin, but not before `from`, to the last event of a segment.
  Expected<void> choose_instants(Instant from) {
    SHAPLEY_TRY_ASSIGN(Statement select,
                       database_.prepare("SELECT MIN(at) FILTER (WHERE kind IN (2, 3)), MAX(at) FROM main.event_rows "
                                         "WHERE kind BETWEEN 2 AND 5"));
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row || select.is_null(0)) return {};
    const Instant first = std::max(Instant{select.integer(0)}, from);
    const Instant last{select.integer(1)};
    if (first > last) return {};
    for (std::int64_t i = 1; i <= k_instants; ++i) {
      instants_.push_back(first + Duration{(last - first).value * i / k_instants});
    }
    instants_.erase(std::unique(instants_.begin(), instants_.end()), instants_.end());
    return {};
  }

  // Advances both books in the order of time; both forget on the way. The copies of archived events, up to `after`, are
  // facts that the books begin with.
  Expected<void> follow_events(Fold& fold, std::int64_t after, std::int64_t last) {
    State& state = fold.books().state;
    std::int64_t done = 0;
    const auto follow_to = [&](Instant t) -> Expected<void> {
      while (true) {
        SHAPLEY_TRY_ASSIGN(const StoredEvent* stored, fold.next(t));
        if (stored == nullptr) return {};
        if (fold.has_just_forgotten()) forget_before(time_of(stored->event));
        if (stored->sequence > after) apply(state, *stored);
        facts_.follow(stored->event);
        note_remembered(state);
        if (++done % k_events_between_calls == 0) {
          report_progress(options_.on_progress, {.what = "psi and phi", .done = done, .all = last});
        }
      }
    };
    for (const Instant instant : instants_) {
      SHAPLEY_TRY(follow_to(instant));
      SHAPLEY_TRY(fold.forget());
      check_at(state, instant);
      forget_before(instant);
    }
    SHAPLEY_TRY(follow_to(k_end_of_time));
    forget_before(state.now());
    return {};
  }

  // REQUIRES: all events before t were followed.
  void forget_before(Instant t) {
    naive_->settle(t);
    facts_.forget_before(t);
  }

  void note_remembered(const State& state) {
    const std::size_t most = std::max(facts_.segments.size(), state.remembered_jobs());
    report_.most_remembered = std::max(report_.most_remembered, static_cast<std::int64_t>(most));
  }

  void apply(State& state, const StoredEvent& stored) {
    const auto applied = state.apply(stored.event);
    if (!applied) {
      find("rebuild", fmt::format("event {} is refused by the books: {}", stored.sequence, applied.error().what));
    } else if (*applied != accounting::Applied::changed) {
      find("rebuild", fmt::format("event {} does not change the books", stored.sequence));
    }
  }

  void check_at(State& state, Instant t) {
    const auto rows = state.advance(t).standings();
    const std::string when = format_instant(t);
    check_conservation(rows, when);
    naive_->settle(t);
    compare(state, rows, as_rows(naive_->at(t), t), when);
    ++checked_;
  }

  void check_conservation(std::span<const Standing> rows, const std::string& when) {
    sum_ = {};
    for (const Standing& row : rows) sum_ += row.psi;
    for (const EstimatorId estimator : estimator_ids()) {
      Utility phi;
      for (const Standing& row : rows) phi += row.phi(estimator);
      if (phi == sum_) continue;
      find("conservation", fmt::format("{}: Sum(psi) is {}, Sum({}) is {}", when, to_string(sum_.value),
                                       figure_name("phi", estimator), to_string(phi.value)));
    }
  }

  // The sums, with those of renamed and merged organizations added to their rows by the adjustments until t.
  [[nodiscard]] NaiveRows as_rows(const NaiveRows& booked, Instant t) const {
    const auto is_reversed = [&](std::uint32_t number) {
      const auto reversed = [&](const auto& again, std::uint32_t n) -> bool {
        return std::any_of(facts_.adjustments.upper_bound(n), facts_.adjustments.end(), [&](const auto& later) {
          return later.second.reverses == n && later.second.at <= t && !again(again, later.first);
        });
      };
      return reversed(reversed, number);
    };
    std::map<std::string, std::string> part_of;
    for (const auto& [number, made] : facts_.adjustments) {
      const bool joins =
          (made.kind == accounting::AdjustmentKind::rename || made.kind == accounting::AdjustmentKind::merge) &&
          made.at <= t;
      if (joins && !is_reversed(number)) part_of[made.organization] = made.into;
    }
    NaiveRows rows;
    for (const auto& [name, sums] : booked) {
      std::string row = name;
      for (std::size_t step = 0; step < part_of.size() && part_of.contains(row); ++step) row = part_of[row];
      NaiveRow& whole = rows[row];
      whole.psi += sums.psi;
      whole.got += sums.got;
      whole.by_owner.phi += sums.by_owner.phi;
      whole.by_owner.given += sums.by_owner.given;
    }
    return rows;
  }

  void compare(const State& state, const std::vector<Standing>& rows, NaiveRows naive, const std::string& when) {
    for (const Standing& row : rows) {
      const std::string& name = state.organizations().at(row.organization.value);
      const NaiveRow sums = naive[name];
      naive.erase(name);
      compare_row(name, row, sums, when);
    }
    // Organizations that only the naive sums know may hold nothing.
    for (const auto& [name, sums] : naive) compare_row(name, {}, sums, when);
  }

  void compare_row(const std::string& name, const Standing& row, const NaiveRow& sums, const std::string& when) {
    const auto check = [&](const std::string& figure, Int128 books, Int128 summed) {
      if (books == summed) return;
      find("rebuild", fmt::format("{} at {}: {} is {} in the books, {} summed over unit parts", name, when, figure,
                                  to_string(books), to_string(summed)));
    };
    check("psi", row.psi.value, sums.psi.value);
    for (const EstimatorId estimator : estimator_ids()) {
      const auto credit = credit_of(sums, estimator);
      if (credit) check(figure_name("phi", estimator), row.phi(estimator).value, credit->phi.value);
    }
    check("got", row.got.value, sums.got.value);
    for (const EstimatorId estimator : estimator_ids()) {
      const auto credit = credit_of(sums, estimator);
      if (credit) check(figure_name("given", estimator), row.given(estimator).value, credit->given.value);
    }
  }

  void check_closed_periods(const State& state) {
    std::map<Instant, NaiveRows> naive = naive_->closed_periods();
    // Of archived periods only some copies are here.
    std::erase_if(naive, [&](const auto& period) { return period.first <= begin_; });
    for (const accounting::ClosedPeriod& period : state.closed_periods()) {
      if (period.end <= begin_) continue;
      const std::string when = end_of_period(period.end);
      check_conservation(period.standings, when);
      compare(state, period.standings, as_rows(naive[period.end], k_end_of_time), when);
      naive.erase(period.end);
      ++checked_;
    }
    for (const auto& [end, rows] : naive) {
      find("rebuild", "the books did not close the period that ended at " + format_instant(end));
    }
  }

  // What shapleyd would have after a restart, checkpoint included, must follow from all events.
  void compare_with_recovered() {
    // The estimators that shapleyd keeps may have changed since the day that was recorded last.
    for (const EstimatorId estimator : estimator_ids()) {
      if (!recovered_kept_.contains(estimator)) kept_.erase(estimator);
    }
    for (const auto& [name, row] : *rebuilt_) {
      compare_recovered(name, figures_of(recovered_[name], kept_), figures_of(row, kept_));
      recovered_.erase(name);
    }
    for (const auto& [name, row] : recovered_) compare_recovered(name, figures_of(row, kept_), figures_of({}, kept_));
  }

  using RowsByName = std::map<std::string, Standing>;

  // The rows at the last event, or at the recovered books' present if that is later, or at a later day recorded before
  // that event. These books come from a checkpoint that remembers days: they forget before they are asked, and are
  // destroyed before others are made.
  Expected<void> recover_rows() {
    report_progress(options_.on_progress, {.what = "books as shapleyd recovers them"});
    accounting::StateOptions options = k_remembers_nothing;
    options.as_saved = true;
    SHAPLEY_TRY_ASSIGN(Recovered recovered, ledger_.recover(options));
    SHAPLEY_TRY_ASSIGN(const std::int64_t last,
                       database_.integer("SELECT MAX((SELECT COALESCE(MAX(at), 0) FROM main.event_rows), "
                                         "(SELECT COALESCE(MAX(at), 0) FROM main.books_by_day "
                                         "WHERE sequence < (SELECT MAX(seq) FROM main.event_rows)))"));
    forget_in_steps(recovered.state);
    recovered_at_ = std::max(Instant{last}, recovered.state.now());
    recovered_kept_ = recovered.state.kept();
    recovered_ = rows_by_name(recovered.state, recovered_at_);
    return {};
  }

  static RowsByName rows_by_name(State& state, Instant t) {
    RowsByName rows;
    for (const Standing& row : state.advance(t).standings())
      rows.emplace(state.organizations().at(row.organization.value), row);
    return rows;
  }

  void compare_recovered(const std::string& name, const Figures& theirs, const Figures& rebuilt) {
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      if (theirs[i].second == rebuilt[i].second) continue;
      find("rebuild",
           fmt::format("{}: {} is {} in the books as shapleyd recovers them, {} in those rebuilt from all events", name,
                       theirs[i].first, theirs[i].second, rebuilt[i].second));
    }
  }

  void write_notes() {
    if (checked_ == 0) return;
    report_.notes.push_back(fmt::format(
        "psi, phi and Sum(psi) = Sum(phi) checked at {} instants; the last sum is {} micro-processor seconds squared",
        checked_, to_string(sum_.value)));
  }

  const Ledger& ledger_;
  const Database& database_;
  Facts facts_;
  std::optional<NaiveBooks> naive_;
  AuditReport& report_;
  const AuditOptions& options_;
  Instant begin_ = k_beginning_of_time;  // earlier events are in an archive
  EstimatorSet kept_;                    // by shapleyd
  RowsByName recovered_;                 // as shapleyd recovers them
  Instant recovered_at_;
  EstimatorSet recovered_kept_;
  std::optional<RowsByName> rebuilt_;  // at the same instant, from all events
  std::vector<Instant> instants_;
  std::int64_t checked_ = 0;
  Utility sum_;
};

}  // namespace

Expected<void> audit_books(const Ledger& ledger, const Facts& facts, AuditReport& report, const AuditOptions& options) {
  return BooksAudit(ledger, facts, report, options).run();
}

}  // namespace shapley::ledger
