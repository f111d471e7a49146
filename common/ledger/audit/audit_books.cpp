// psi and phi: the books rebuilt from events against naive sums, against conservation, and against what shapleyd has.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/calendar.hpp"
#include "ledger/audit/audit_parts.hpp"
#include "ledger/audit/naive_books.hpp"
#include "ledger/recovery/replay.hpp"
#include "ledger/store/genesis.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

using accounting::estimator_ids;
using accounting::EstimatorId;
using accounting::figure_name;
using accounting::Standing;
using accounting::State;

constexpr std::int64_t k_instants = 16;

// The figures of a standing by name, as text.
using Figures = std::vector<std::pair<std::string, std::string>>;

Figures figures_of(const Standing& row) {
  Figures figures{{"psi", to_string(row.psi.value)}};
  for (const EstimatorId estimator : estimator_ids()) {
    figures.emplace_back(figure_name("phi", estimator), to_string(row.phi(estimator).value));
  }
  figures.emplace_back("got", to_string(row.got.value));
  for (const EstimatorId estimator : estimator_ids()) {
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
  BooksAudit(const Ledger& ledger, const Facts& facts, AuditReport& report)
      : ledger_(ledger),
        database_(LedgerAccess::impl(ledger).database),
        naive_(facts),
        facts_(facts),
        report_(report) {}

  Expected<void> run() {
    SHAPLEY_TRY_ASSIGN(const std::optional<Genesis> genesis, read_genesis(database_));
    if (genesis) begin_ = genesis->until;
    SHAPLEY_TRY_ASSIGN(Recovered opening, opening_books(database_, {}));
    State state = std::move(opening.state);
    // A moment may be known already that lies after what was archived.
    choose_instants(std::max(begin_, state.now()));
    std::size_t next = 0;
    SHAPLEY_TRY_ASSIGN(const Head head, read_head(database_));
    SHAPLEY_TRY(visit_by_time(database_, opening.last_sequence, head.sequence,
                              [&](const StoredEvent& stored) -> Expected<void> {
                                for (; next < instants_.size() && instants_[next] < time_of(stored.event); ++next)
                                  check_at(state, instants_[next]);
                                apply(state, stored);
                                return {};
                              }));
    for (; next < instants_.size(); ++next) check_at(state, instants_[next]);
    check_closed_periods(state);
    SHAPLEY_TRY(compare_with_recovered(state));
    write_notes();
    return {};
  }

 private:
  void find(const char* check, std::string what) { report_.findings.push_back({check, std::move(what)}); }

  // Evenly spaced from the first run's begin, but not before `from`, to the last event.
  void choose_instants(Instant from) {
    Instant first = k_end_of_time;
    Instant last = k_beginning_of_time;
    for (const auto& [key, segment] : facts_.segments) {
      first = std::min(first, segment.begin.value_or(first));
      last = std::max({last, segment.begin.value_or(last), segment.end.value_or(last)});
    }
    first = std::max(first, from);
    if (first > last) return;
    for (std::int64_t i = 1; i <= k_instants; ++i) {
      instants_.push_back(first + Duration{(last - first).value * i / k_instants});
    }
    instants_.erase(std::unique(instants_.begin(), instants_.end()), instants_.end());
  }

  void apply(State& state, const StoredEvent& stored) {
    const auto applied = state.apply(stored.event);
    if (!applied) {
      find("rebuild", "event " + std::to_string(stored.sequence) + " is refused by the books: " + applied.error().what);
    } else if (*applied != accounting::Applied::changed) {
      find("rebuild", "event " + std::to_string(stored.sequence) + " tells the books nothing new");
    }
  }

  void check_at(State& state, Instant t) {
    const auto rows = state.standings(t);
    const std::string when = format_instant(t);
    check_conservation(rows, when);
    compare(state, rows, naive_.at(t), when);
    ++checked_;
  }

  void check_conservation(const std::vector<Standing>& rows, const std::string& when) {
    sum_ = {};
    for (const Standing& row : rows) sum_ += row.psi;
    for (const EstimatorId estimator : estimator_ids()) {
      Utility phi;
      for (const Standing& row : rows) phi += row.phi(estimator);
      if (phi == sum_) continue;
      find("conservation", when + ": Sum(psi) is " + to_string(sum_.value) + ", Sum(" + figure_name("phi", estimator) +
                               ") is " + to_string(phi.value));
    }
  }

  void compare(const State& state, const std::vector<Standing>& rows, std::map<std::string, NaiveRow> naive,
               const std::string& when) {
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
      find("rebuild", name + " at " + when + ": " + figure + " is " + to_string(books) + " in the books, " +
                          to_string(summed) + " summed over unit parts");
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
    for (const accounting::ClosedPeriod& period : state.closed_periods()) {
      if (period.end <= begin_) continue;  // its events are in an archive
      const std::string when = "the end of the period, " + format_instant(period.end);
      check_conservation(period.standings, when);
      compare(state, period.standings, naive_.of_period({period.begin, period.end, state.now()}), when);
      ++checked_;
    }
  }

  // What shapleyd would know after a restart, checkpoint included, must be what all events say.
  Expected<void> compare_with_recovered(State& state) {
    SHAPLEY_TRY_ASSIGN(Recovered recovered, ledger_.recover());
    const Instant t = std::max(state.now(), recovered.state.now());
    const auto rebuilt = rows_by_name(state, t);
    auto theirs = rows_by_name(recovered.state, t);
    for (const auto& [name, row] : rebuilt) {
      compare_recovered(name, figures_of(theirs[name]), figures_of(row));
      theirs.erase(name);
    }
    for (const auto& [name, row] : theirs) compare_recovered(name, figures_of(row), figures_of({}));
    return {};
  }

  static std::map<std::string, Standing> rows_by_name(State& state, Instant t) {
    std::map<std::string, Standing> rows;
    for (const Standing& row : state.standings(t)) rows.emplace(state.organizations().at(row.organization.value), row);
    return rows;
  }

  void compare_recovered(const std::string& name, const Figures& theirs, const Figures& rebuilt) {
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      if (theirs[i].second == rebuilt[i].second) continue;
      find("rebuild", name + ": " + theirs[i].first + " is " + theirs[i].second +
                          " in the books as shapleyd recovers them, " + rebuilt[i].second +
                          " in those rebuilt from all events");
    }
  }

  void write_notes() {
    if (checked_ == 0) return;
    report_.notes.push_back("psi, phi and Sum(psi) = Sum(phi) checked at " + std::to_string(checked_) +
                            " instants; the last sum is " + to_string(sum_.value) + " micro-processor seconds squared");
  }

  const Ledger& ledger_;
  const Database& database_;
  NaiveBooks naive_;
  const Facts& facts_;
  AuditReport& report_;
  Instant begin_ = k_beginning_of_time;  // what was before is in an archive
  std::vector<Instant> instants_;
  std::int64_t checked_ = 0;
  Utility sum_;
};

}  // namespace

Expected<void> audit_books(const Ledger& ledger, const Facts& facts, AuditReport& report) {
  return BooksAudit(ledger, facts, report).run();
}

}  // namespace shapley::ledger
