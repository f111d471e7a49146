#include "accounting/checkpoint/sum_text.hpp"

namespace shapley::accounting {

namespace {

// Beyond these a coefficient cannot come from real segments (utility.hpp), and evaluating it might overflow.
const Int128 k_max_work = Int128{1} << 80;
const Int128 k_max_constant = Int128{1} << 120;

}  // namespace

void write_sum(TextWriter& out, const game::UtilitySum& sum) {
  const game::UtilitySum::Coefficients c = sum.coefficients();
  out.number(c.running.value).number(c.slope).number(c.constant).number(c.work_constant);
}

game::UtilitySum read_sum(TextReader& in, MicroProcessors most_running) {
  game::UtilitySum::Coefficients c;
  c.running = {in.small(0, most_running.value)};
  c.slope = in.number(-k_max_work, k_max_work);
  c.constant = in.number(-k_max_constant, k_max_constant);
  c.work_slope = c.running.value;
  c.work_constant = in.number(-k_max_work, k_max_work);
  return game::UtilitySum::from(c);
}

}  // namespace shapley::accounting
