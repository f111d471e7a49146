#include "accounting/estimators/direct_contr.hpp"

#include "accounting/estimators/period_sums.hpp"

namespace shapley::accounting {

namespace {

class DirectContr final : public Estimator {
 public:
  void set_organizations(const std::vector<OrgId>& by_name) override { given_.resize(by_name.size()); }

  void fold_piece(int sign, const Piece& piece) override {
    given_.fold(sign, piece.owner, {piece.processors, piece.begin, piece.end});
  }

  void close_period(const std::vector<Instant>& boundaries) override { given_.close_period(boundaries.back()); }
  void set_boundaries(const std::vector<Instant>& boundaries) override { given_.set_boundaries(boundaries); }

  void contributions(const Question& question, std::span<Credit> credits) override {
    const std::vector<game::UtilitySum>& sums = given_.periods()[question.period].sums;
    const bool is_open = question.period + 1 == given_.periods().size();
    for (std::size_t i = 0; i < credits.size(); ++i) {
      credits[i] = {.phi = sums[i].utility_at(question.t),
                    .given = sums[i].work_at(question.t),
                    .rate = is_open ? sums[i].running() : ProcessorMillionths{}};
    }
  }

  void save(TextWriter& out, const Remembered& books) override {
    DirectContr forgotten = *this;
    books.pass(forgotten, -1);
    forgotten.given_.save(out);
  }
  void load(TextReader& in, const Remembered& /*books*/) override { given_.load(in); }

 private:
  PeriodSums given_;
};

}  // namespace

std::unique_ptr<Estimator> make_direct_contr() {
  return std::make_unique<DirectContr>();
}

}  // namespace shapley::accounting
