// Facts that the books keep whole, by identity: those whose description says `kept` (base/description.hpp). A kind of
// event that is kept needs no memory and no checkpoint text of its own: State::load folds its facts again, before
// accounts and segments exist (a kind for which that is too early has a restore() in state_text.cpp). Single-threaded;
// the caller owns it.
#pragma once

#include <set>
#include <tuple>
#include <variant>

#include "accounting/events/event.hpp"
#include "base/contract.hpp"

namespace shapley::accounting {

template <typename Record, typename Type, Role role>
constexpr auto tie_identity(const Record& record, const Member<Record, Type, role>& m) {
  if constexpr (is_identity(role)) {
    return std::tie(record.*(m.pointer));
  } else {
    return std::tuple<>{};
  }
}

// References to the members that are the identity of `fact`, in order.
template <Described Fact>
constexpr auto identity_of(const Fact& fact) {
  return k_description<Fact>.members.apply(
      [&](const auto&... members) { return std::tuple_cat(tie_identity(fact, members)...); });
}

// Orders facts of one kind by the identity members of their description.
struct ByIdentity {
  template <typename Fact>
  bool operator()(const Fact& a, const Fact& b) const {
    return identity_of(a) < identity_of(b);
  }
};

class KeptFacts {
 public:
  // The kept fact with the identity of this one; nullptr if no such fact is kept.
  template <typename Fact>
  [[nodiscard]] const Fact* find(const Fact& fact) const {
    const auto found = all<Fact>().find(fact);
    return found == all<Fact>().end() ? nullptr : &*found;
  }

  // REQUIRES: find(fact) == nullptr.
  template <typename Fact>
  void keep(const Fact& fact) {
    static_assert(!k_description<Fact>.kept_as.empty(), "only what is `kept` gets into a checkpoint");
    SHAPLEY_REQUIRE(find(fact) == nullptr);
    std::get<std::set<Fact, ByIdentity>>(kept_).insert(fact);
  }

  // REQUIRES: find(fact) != nullptr.
  template <typename Fact>
  void forget(const Fact& fact) {
    SHAPLEY_REQUIRE(find(fact) != nullptr);
    auto& facts = std::get<std::set<Fact, ByIdentity>>(kept_);
    facts.erase(facts.find(fact));
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
