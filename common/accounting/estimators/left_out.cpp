#include "accounting/estimators/left_out.hpp"

#include <cstddef>

#include "accounting/checkpoint/text_format.hpp"

namespace shapley::accounting {

namespace {

class LeftOut final : public Estimator {
 public:
  void set_organizations(const std::vector<OrgId>& /*by_name*/) override {}
  void close_period(const std::vector<Instant>& /*boundaries*/) override {}
  void set_boundaries(const std::vector<Instant>& /*boundaries*/) override {}
  void contributions(const Question& question, std::span<Credit> credits) override { credit_as_got(question, credits); }
  [[nodiscard]] bool is_off() const override { return true; }
  void save(TextWriter& out, const Remembered& /*books*/) override { out.line(k_left_out); }
  void load(TextReader& in, const Remembered& /*books*/) override { (void)in.next(k_left_out); }
};

}  // namespace

std::unique_ptr<Estimator> make_left_out() {
  return std::make_unique<LeftOut>();
}

void credit_as_got(const Estimator::Question& question, std::span<Credit> credits) {
  for (std::size_t i = 0; i < credits.size(); ++i) {
    const game::UtilitySum& got = question.got[i];
    credits[i] = {.phi = got.utility_at(question.t), .given = got.work_at(question.t), .rate = got.running()};
  }
}

}  // namespace shapley::accounting
