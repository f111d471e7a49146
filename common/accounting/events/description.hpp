// How one kind of event is described: its members once, each with its name and what it is to the event.
//
// The ledger's JSON, the key of an event, its time, what is checked of every kind, the lines of kept facts in a
// checkpoint, the random events of tests and the table in docs/reference/ledger.md all follow the description, so a new
// kind of event is described in one place (event.hpp). Everything here is settled by the compiler.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shapley::accounting {

// What a member is to its event.
enum class Role {
  content,
  identity,           // part of the event's identity (event_key)
  time,               // the instant that the event speaks of (time_of)
  identity_and_time,  // both
  // Content that events of older ledgers do not have. Its default value, which says "not known", is left out of the
  // ledger's JSON, so that those events are written today as they were.
  supplement,
  // Such content that is part of the identity, too: left out of the key as well where it has its default value.
  identity_supplement,
};

constexpr bool is_identity(Role role) {
  return role == Role::identity || role == Role::identity_and_time || role == Role::identity_supplement;
}
constexpr bool is_time(Role role) {
  return role == Role::time || role == Role::identity_and_time;
}

constexpr bool is_supplement(Role role) {
  return role == Role::supplement || role == Role::identity_supplement;
}

// `name` is its name in the ledger's JSON. The members of a member that is a described record itself stand among those
// of the whole, so its own name is not seen.
template <typename Record, typename Type, Role role>
struct Member {
  std::string_view name;
  Type Record::*pointer;
};

template <Role role = Role::content, typename Record, typename Type>
constexpr Member<Record, Type, role> member(std::string_view name, Type Record::*pointer) {
  return {name, pointer};
}

template <typename Record, typename... Members>
struct Description {
  // Of an event: its kind. Of a record in a list of an event: the word of its lines in a checkpoint.
  std::string_view name;
  std::tuple<Members...> members;
  // The word of its line in a checkpoint (checkpoint/fact_text.hpp) if the books keep facts of this kind whole
  // (state/kept_facts.hpp). Empty: they do not; what is remembered of such a fact, and how, is the business of its
  // fold.
  std::string_view kept_as{};

  // The same, kept whole.
  [[nodiscard]] constexpr Description kept(std::string_view word) const { return {name, members, word}; }
};

// Specialized for every record that is described.
template <typename Record>
inline constexpr std::nullptr_t k_description{};

template <typename T>
concept Described = !std::same_as<std::remove_cvref_t<decltype(k_description<T>)>, std::nullptr_t>;

// Whether these are all members of the aggregate, in its own order: an initializer for each is right, and one more is
// too many.
template <typename Record, typename... Types>
concept ConsistsOf = requires(Types... values) {
  Record{values...};
}
&&!requires(Types... values) {
  Record{values..., {}};
};

// A description names every member of its record, in the record's order; what is forgotten does not compile.
template <typename Record, typename... Types, Role... roles>
constexpr Description<Record, Member<Record, Types, roles>...> describe(std::string_view name,
                                                                        Member<Record, Types, roles>... members) {
  static_assert(ConsistsOf<Record, Types...>, "every member is described, in the order of the record");
  return {name, {members...}};
}

// Calls visit(name, value, role) for every member of `record`, in order; `role` is a std::integral_constant.
template <typename Record, typename Visit>
constexpr void for_each_member(Record& record, Visit&& visit) {
  const auto one = [&]<typename Type, Role role>(const Member<std::remove_const_t<Record>, Type, role>& m) {
    visit(m.name, record.*(m.pointer), std::integral_constant<Role, role>{});
  };
  std::apply([&](const auto&... members) { (one(members), ...); }, k_description<std::remove_const_t<Record>>.members);
}

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
  return std::apply([&](const auto&... members) { return std::tuple_cat(tie_identity(fact, members)...); },
                    k_description<Fact>.members);
}

}  // namespace shapley::accounting
