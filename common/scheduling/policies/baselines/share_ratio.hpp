// What the fair-share policies have in common: serve the smallest  measure[u] / m[u].
//
// Ratios are compared by cross-multiplication, exactly. m[u] = 0 makes a ratio infinite (served last). Ties go to the
// lowest organization. `Measure` says which of an Accrual's numbers is shared out.
#pragma once

#include <bit>
#include <vector>

#include "game/accrual.hpp"
#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

template <typename Measure>
class ShareRatio final : public Policy {
 public:
  explicit ShareRatio(const Instance& instance) : processors_(instance.processors), own_(instance.organizations()) {}
  void released(std::int64_t, const Job&) override {}
  std::int32_t started(std::int64_t t, std::size_t organization) override {
    own_[organization].change(t, 1);
    return k_any_owner;
  }
  void completed(std::int64_t t, std::size_t organization, std::int32_t) override { own_[organization].change(t, -1); }

  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool /*scarce*/) override {
    auto best = static_cast<std::size_t>(std::countr_zero(waiting));
    std::int64_t best_measure = Measure::at(own_[best], t);
    for (Coalition rest = waiting & (waiting - 1); rest != 0; rest &= rest - 1) {
      const auto u = static_cast<std::size_t>(std::countr_zero(rest));
      const std::int64_t own = Measure::at(own_[u], t);
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
  [[nodiscard]] bool endowed(std::int64_t, const std::vector<std::uint32_t>& processors) override {
    processors_ = processors;
    return true;
  }

 private:
  std::vector<std::uint32_t> processors_;
  std::vector<game::Accrual> own_;
};

}  // namespace shapley::scheduling
