#include "accounting/estimators/shapley_rate.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "accounting/checkpoint/text_format.hpp"
#include "accounting/estimators/rate_history.hpp"
#include "accounting/events/event_check.hpp"

namespace shapley::accounting {

namespace {

template <typename Rows, typename SumOf>
void write_rates(TextWriter& out, const Rows& rows, const SumOf& sum_of) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const game::UtilitySum& sum = sum_of(rows[i]);
    if (sum == game::UtilitySum{}) continue;
    out.line("rate").number(static_cast<Int128>(i));
    write_sum(out, sum);
  }
}

void write_snapshot(TextWriter& out, std::string_view keyword, const RateSnapshot& snapshot) {
  out.line(keyword).instant(snapshot.upto).number(Int128{snapshot.number});
  write_rates(out, snapshot.rows, [](const RateRow& row) -> const game::UtilitySum& { return row.given; });
}

class ShapleyRate final : public Estimator {
 public:
  void set_organizations(const std::vector<OrgId>& by_name) override { history_.set_players(by_name); }

  void change_levels(Instant t, OrgId organization, const LevelChange& change) override {
    history_.change(t, organization, change);
  }
  void change_placed(Instant t, OrgId organization, const PlacedChange& change) override {
    history_.change(t, organization, change);
  }
  void forget_placement(PlacementId placement) override { history_.forget(placement); }

  void close_period(const std::vector<Instant>& boundaries) override { history_.set_boundaries(boundaries); }
  void set_boundaries(const std::vector<Instant>& boundaries) override { history_.set_boundaries(boundaries); }

  void contributions(const Question& question, std::span<Credit> credits) override {
    const RateSnapshot& present = history_.evaluate(question.t);
    const auto& closed = history_.closed_periods();
    const bool is_open = question.period >= closed.size();
    const auto credit = [&](const game::UtilitySum& sum) {
      return Credit{.phi = sum.utility_at(question.t),
                    .given = sum.work_at(question.t),
                    .rate = is_open ? sum.running() : ProcessorMillionths{}};
    };
    // An organization that joined after the rows were made has no row.
    std::fill(credits.begin(), credits.end(), Credit{});
    if (!is_open) {
      std::ranges::transform(closed[question.period], credits.begin(), credit);
    } else {
      std::ranges::transform(present.rows, credits.begin(), credit, &RateRow::given);
    }
  }

  void forget_before(Instant horizon) override { history_.forget_before(horizon); }

  void save(TextWriter& out, const Remembered& books) override {
    (void)history_.evaluate(books.now);
    write_snapshot(out, "rates", history_.base());
    for (const RateSnapshot* landmark : history_.landmarks()) write_snapshot(out, "landmark", *landmark);
    for (std::size_t i = 0; i < history_.closed_periods().size(); ++i) {
      out.line("closed_rates").number(static_cast<Int128>(i));
      write_rates(out, history_.closed_periods()[i],
                  [](const game::UtilitySum& sum) -> const game::UtilitySum& { return sum; });
    }
  }

  void load(TextReader& in, const Remembered& books) override {
    if (!in.next("rates")) return in.fault("the rates are missing");
    RateSnapshot base = read_snapshot(in, books.now);
    const Instant horizon = books.horizon;
    if (base.upto != (horizon == k_beginning_of_time ? horizon : Instant{horizon.value - 1})) {
      return in.fault("the rates do not begin at the horizon");
    }
    std::vector<RateSnapshot> landmarks;
    while (in.next("landmark")) {
      landmarks.push_back(read_snapshot(in, books.now));
      const Instant previous = landmarks.size() == 1 ? base.upto : (landmarks.end() - 2)->upto;
      if (landmarks.back().upto <= previous) return in.fault("landmarks out of order");
    }
    const std::size_t periods = landmarks.empty() ? base.periods_closed : landmarks.back().periods_closed;
    auto closed = read_closed(in, periods);
    if (closed.size() != periods) return in.fault("rates of a closed period are missing");
    if (!in.ok()) return;
    if (!history_.restore(std::move(base), std::move(landmarks), std::move(closed))) {
      in.fault("the rates do not sum to what runs");
    }
  }

 private:
  std::vector<game::UtilitySum> read_rates(TextReader& in) const {
    std::vector<game::UtilitySum> rates;
    while (in.next("rate")) {
      const auto i = static_cast<std::size_t>(in.small(0, std::numeric_limits<std::uint32_t>::max()));
      if (i < rates.size() || i >= history_.players().size()) {
        in.fault("rates out of order");
        break;
      }
      rates.resize(i + 1);
      rates.back() = read_sum(in, k_max_wanted);
    }
    return rates;
  }

  RateSnapshot read_snapshot(TextReader& in, Instant now) const {
    RateSnapshot snapshot;
    snapshot.upto = in.instant(k_beginning_of_time, now);
    snapshot.number = static_cast<std::uint64_t>(in.small(0, std::numeric_limits<std::int64_t>::max()));
    const std::vector<Instant>& boundaries = history_.boundaries();
    const auto after = std::upper_bound(boundaries.begin(), boundaries.end(), snapshot.upto);
    snapshot.periods_closed = static_cast<std::size_t>(after - boundaries.begin());
    const std::vector<game::UtilitySum> rates = read_rates(in);
    snapshot.rows.resize(rates.size());
    for (std::size_t i = 0; i < rates.size(); ++i) snapshot.rows[i].given = rates[i];
    return snapshot;
  }

  std::vector<std::vector<game::UtilitySum>> read_closed(TextReader& in, std::size_t periods) const {
    std::vector<std::vector<game::UtilitySum>> closed;
    while (closed.size() < periods && in.next("closed_rates")) {
      if (static_cast<std::size_t>(in.small(0, std::numeric_limits<std::int64_t>::max())) != closed.size()) {
        in.fault("periods out of order");
        break;
      }
      closed.push_back(read_rates(in));
    }
    return closed;
  }

  RateHistory history_;
};

}  // namespace

std::unique_ptr<Estimator> make_shapley_rate() {
  return std::make_unique<ShapleyRate>();
}

}  // namespace shapley::accounting
