// Facts that the books keep whole, by identity: those whose description says `kept` (events/description.hpp). With
// them a kind of event needs no memory and no checkpoint text of its own: State::load folds them again, before accounts
// and segments are there (a kind that cannot bear that has a restore() in state_text.cpp). Single-threaded; the caller
// owns it.
#pragma once

#include <set>
#include <tuple>
#include <variant>

#include "accounting/events/event.hpp"

namespace shapley::accounting {

// Orders facts of one kind by the identity members of their description.
struct ByIdentity {
  template <typename Fact>
  bool operator()(const Fact& a, const Fact& b) const {
    return identity_of(a) < identity_of(b);
  }
};

class KeptFacts {
 public:
  // The kept fact with the identity of this one; nullptr if there is none.
  template <typename Fact>
  [[nodiscard]] const Fact* find(const Fact& fact) const {
    const auto found = all<Fact>().find(fact);
    return found == all<Fact>().end() ? nullptr : &*found;
  }

  // REQUIRES: find(fact) == nullptr.
  template <typename Fact>
  void keep(const Fact& fact) {
    static_assert(!k_description<Fact>.kept_as.empty(), "only what is `kept` gets into a checkpoint");
    std::get<std::set<Fact, ByIdentity>>(kept_).insert(fact);
  }

  template <typename Fact>
  [[nodiscard]] const std::set<Fact, ByIdentity>& all() const {
    return std::get<std::set<Fact, ByIdentity>>(kept_);
  }

 private:
  template <typename... Facts>
  static std::tuple<std::set<Facts, ByIdentity>...> sets_of(const std::variant<Facts...>& event);

  decltype(sets_of(Event{})) kept_;
};

}  // namespace shapley::accounting
