// Laws of every kind of event, whatever its description says; a new one has to obey them, too
// (tests/architecture/changes/event_kind.patch).
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "accounting/events/event_check.hpp"
#include "accounting/state/state.hpp"
#include "ledger/encoding/event_json.hpp"
#include "random_events.hpp"

namespace shapley::ledger {
namespace {

using namespace accounting;

// Runs law(fact, other) on two random facts of every kind.
template <std::size_t Index = 0, typename Law>
void for_two_of_every_kind(const Law& law) {
  if constexpr (Index < std::variant_size_v<Event>) {
    const Event event = *testing::any_event_of(Index);
    const Event other = *testing::any_event_of(Index);
    law(std::get<Index>(event), std::get<Index>(other));
    for_two_of_every_kind<Index + 1>(law);
  }
}

// `fact` with one member at a time from `other`, then with all of them; either those of the identity, or the rest.
template <typename Fact>
std::vector<Fact> blends(const Fact& fact, const Fact& other, bool of_identity) {
  std::vector<Fact> all;
  Fact every = fact;
  k_description<Fact>.members.apply(
      [&]<typename... Types, Role... roles>(const Member<Fact, Types, roles>&... members) {
        const auto take = [&](const auto& m, Role role) {
          if (is_identity(role) != of_identity) return;
          every.*(m.pointer) = other.*(m.pointer);
          all.push_back(fact);
          all.back().*(m.pointer) = other.*(m.pointer);
        };
        (take(members, roles), ...);
      });
  all.push_back(every);
  std::erase_if(all, [&](const Fact& blend) { return blend == fact || !check(Event{blend}); });
  return all;
}

RC_GTEST_PROP(EventDescription, the_key_distinguishes_identities_and_nothing_else, ()) {
  for_two_of_every_kind([]<typename Fact>(const Fact& fact, const Fact& other) {
    for (const Fact& same : blends(fact, other, false)) RC_ASSERT(event_key(same) == event_key(fact));
    for (const Fact& another : blends(fact, other, true)) RC_ASSERT(event_key(another) != event_key(fact));
  });
}

RC_GTEST_PROP(EventDescription, every_member_is_stored, ()) {
  for_two_of_every_kind([]<typename Fact>(const Fact& fact, const Fact& other) {
    for (const bool of_identity : {false, true}) {
      for (const Fact& blend : blends(fact, other, of_identity)) {
        RC_ASSERT(encode(blend) != encode(fact));
        const auto decoded = decode(kind_of(blend), encode(blend));
        RC_ASSERT(decoded.has_value());
        RC_ASSERT(*decoded == Event{blend});
      }
    }
  });
}

// The books distinguish a repetition from a contradiction by every member, after a restart as before.
RC_GTEST_PROP(EventDescription, the_books_and_their_checkpoint_remember_every_member, ()) {
  for_two_of_every_kind([]<typename Fact>(const Fact& fact, const Fact& other) {
    State state;
    RC_ASSERT(state.apply(fact) == Applied::changed);
    auto restored = State::load(state.save());
    RC_ASSERT(restored.has_value());
    RC_ASSERT(restored->save() == state.save());
    for (State* books : {&state, &*restored}) {
      RC_ASSERT(books->apply(fact) == Applied::duplicate);
      for (const Fact& blend : blends(fact, other, false)) {
        const auto applied = books->apply(blend);
        RC_ASSERT(!applied.has_value());
        RC_ASSERT(applied.error().code == Errc::conflict);
      }
    }
  });
}

TEST(EventDescription, kinds_have_names_of_their_own) {
  std::set<std::string_view> names;
  [&]<typename... Facts>(std::type_identity<std::variant<Facts...>>) {
    (names.insert(k_description<Facts>.name), ...);
  }(std::type_identity<Event>{});
  EXPECT_EQ(names.size(), std::variant_size_v<Event>);
}

// What a description forgets, or has in another order, does not compile.
static_assert(ConsistsOf<PeriodDeclared, Instant, Period>);
static_assert(!ConsistsOf<PeriodDeclared, Instant>);
static_assert(!ConsistsOf<PeriodDeclared, Period, Instant>);
static_assert(!ConsistsOf<JobDescribed, JobId, Instant, std::string, std::uint32_t>);

}  // namespace
}  // namespace shapley::ledger
