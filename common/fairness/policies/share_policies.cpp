#include "fairness/policies/share_policies.hpp"

#include <bit>

namespace shapley::fairness {

std::size_t RoundRobin::choose(std::int64_t /*t*/, Coalition waiting, bool /*scarce*/) {
  const Coalition from_next = waiting & (~Coalition{0} << next_);
  return static_cast<std::size_t>(std::countr_zero(from_next != 0 ? from_next : waiting));
}

std::size_t FirstComeFirstServed::choose(std::int64_t /*t*/, Coalition waiting, bool /*scarce*/) {
  auto best = static_cast<std::size_t>(std::countr_zero(waiting));
  for (Coalition rest = waiting; rest != 0; rest &= rest - 1) {
    const auto u = static_cast<std::size_t>(std::countr_zero(rest));
    if (order_[u].front() < order_[best].front()) best = u;
  }
  return best;
}

std::int64_t FairShare::measure(std::int64_t t, std::size_t organization) {
  Accrual& own = own_[organization];
  if (share_ == Share::running) return own.running;
  own.advance(t);
  return share_ == Share::used_time ? own.done : own.psi;
}

std::size_t FairShare::choose(std::int64_t t, Coalition waiting, bool /*scarce*/) {
  auto best = static_cast<std::size_t>(std::countr_zero(waiting));
  std::int64_t best_measure = measure(t, best);
  for (Coalition rest = waiting & (waiting - 1); rest != 0; rest &= rest - 1) {
    const auto u = static_cast<std::size_t>(std::countr_zero(rest));
    const std::int64_t own = measure(t, u);
    // own / m[u] < best / m[best], with m = 0 as an infinite ratio; ties stay with the lower index.
    const bool less =
        processors_[u] != 0 && (processors_[best] == 0 || static_cast<Int128>(own) * processors_[best] <
                                                              static_cast<Int128>(best_measure) * processors_[u]);
    if (less) {
      best = u;
      best_measure = own;
    }
  }
  return best;
}

}  // namespace shapley::fairness
