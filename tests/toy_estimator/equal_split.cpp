#include "equal_split.hpp"

#include "accounting/estimators/period_sums.hpp"

namespace shapley::accounting {

namespace {

// Whole units; what is left over goes to the first, one each.
Int128 part_of(Int128 total, std::size_t place, std::size_t parts) {
  const auto count = static_cast<Int128>(parts);
  return total / count + (static_cast<Int128>(place) < total % count ? 1 : 0);
}

class EqualSplit final : public Estimator {
 public:
  EqualSplit() { all_.resize(1); }

  void set_organizations(const std::vector<OrgId>& by_name) override { by_name_ = by_name; }

  void fold_piece(int sign, const Piece& piece) override {
    all_.fold(sign, {0}, {piece.processors, piece.begin, piece.end});
  }

  void close_period(const std::vector<Instant>& boundaries) override { all_.close_period(boundaries.back()); }
  void set_boundaries(const std::vector<Instant>& boundaries) override { all_.set_boundaries(boundaries); }

  void contributions(const Question& question, std::span<Credit> credits) override {
    const game::UtilitySum& all = all_.periods()[question.period].sums.front();
    const Utility phi = all.utility_at(question.t);
    const CpuTime given = all.work_at(question.t);
    const bool is_open = question.period + 1 == all_.periods().size();
    const ProcessorMillionths rate = is_open ? all.running() : ProcessorMillionths{};
    for (std::size_t place = 0; place < by_name_.size(); ++place) {
      credits[by_name_[place].value] = {{part_of(phi.value, place, by_name_.size())},
                                        {part_of(given.value, place, by_name_.size())},
                                        {static_cast<std::int64_t>(part_of(rate.value, place, by_name_.size()))}};
    }
  }

  void save(TextWriter& out, const Remembered& books) override {
    EqualSplit forgotten = *this;
    books.tell(forgotten, -1);
    forgotten.all_.save(out);
  }
  void load(TextReader& in, const Remembered& /*books*/) override { all_.load(in); }

 private:
  std::vector<OrgId> by_name_;
  PeriodSums all_;  // of one row
};

}  // namespace

std::unique_ptr<Estimator> make_equal_split() {
  return std::make_unique<EqualSplit>();
}

}  // namespace shapley::accounting
