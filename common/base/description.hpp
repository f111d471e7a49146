// The description of a struct: a list of its members, each with its name and its role.
//
// The JSON of events and of reports (json.hpp), the key of an event, the lines of kept facts in a checkpoint, the
// random events of tests and the tables of documentation follow from the description alone, so a new member is named in
// one place. All of this is computed at compile time.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace shapley {

// The role of a member within its record.
enum class Role {
  content,
  // Content that is left out of JSON where it has its default value: it was not asked for, or not known when the text
  // was written.
  supplement,
  // Of events: part of the event's identity (event_key), the instant that it concerns (time_of), or both.
  identity,
  time,
  identity_and_time,
  // A supplement that is part of the identity, too: left out of the key as well where it has its default value.
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

// `name` is its name in JSON. A described record without a name has its members among those of the outer record.
template <typename Record, typename Type, Role role>
struct Member {
  std::string_view name;
  Type Record::*pointer;
};

template <Role role = Role::content, typename Record, typename Type>
constexpr Member<Record, Type, role> member(std::string_view name, Type Record::*pointer) {
  return {name, pointer};
}

template <typename Record, typename Type>
constexpr Member<Record, Type, Role::supplement> supplement(std::string_view name, Type Record::*pointer) {
  return {name, pointer};
}

// A described record whose members are written among those of the outer record.
template <typename Record, typename Type>
constexpr Member<Record, Type, Role::content> flattened(Type Record::*pointer) {
  return {"", pointer};
}

namespace detail {

template <std::size_t index, typename Item>
struct Slot {
  Item item;
};
template <typename Indices, typename... Items>
struct Slots;
template <std::size_t... indices, typename... Items>
struct Slots<std::index_sequence<indices...>, Items...> : Slot<indices, Items>... {
  // As std::apply.
  template <typename Function>
  constexpr auto apply(Function&& function) const {
    return function(static_cast<const Slot<indices, Items>&>(*this).item...);
  }
};

}  // namespace detail

// Members of different types. Not std::tuple: to check its constraints took longer than the rest of a description.
template <typename... Members>
using MemberList = detail::Slots<std::index_sequence_for<Members...>, Members...>;

template <typename Record, typename... Members>
struct Description {
  // Of an event: its kind. Of a record in a list of an event: the word of its lines in a checkpoint.
  std::string_view name;
  MemberList<Members...> members;
  // The word of its line in a checkpoint (checkpoint/fact_text.hpp) if the books keep facts of this kind whole
  // (state/kept_facts.hpp). Empty: they do not; the fold of the kind decides what is remembered of such a fact.
  std::string_view kept_as{};

  // The same description, of facts that are kept whole.
  [[nodiscard]] constexpr Description kept(std::string_view word) const { return {name, members, word}; }
};

// A record is described by a function beside it, which SHAPLEY_DESCRIBE (below) writes for records that are no events:
//   constexpr auto description_of(std::type_identity<Record>) { return describe(...); }
template <typename T>
concept Described = requires {
  description_of(std::type_identity<T>{});
};

template <Described Record>
inline constexpr auto k_description = description_of(std::type_identity<Record>{});

// Whether these are all members of the aggregate, in its order: it can be initialized with one value for each of them,
// and not with one more.
template <typename Record, typename... Types>
concept ConsistsOf = requires(Types... values) {
  Record{values...};
}
&&!requires(Types... values) {
  Record{values..., {}};
};

// A description names every member of its record, in the record's order; one that omits a member does not compile.
template <typename Record, typename... Types, Role... roles>
constexpr Description<Record, Member<Record, Types, roles>...> describe(std::string_view name,
                                                                        Member<Record, Types, roles>... members) {
  static_assert(ConsistsOf<Record, Types...>, "every member is described, in the order of the record");
  return {name, {{members}...}};
}

template <typename Record, typename... Types, Role... roles>
constexpr Description<Record, Member<Record, Types, roles>...> describe(Member<Record, Types, roles>... members) {
  return describe("", members...);
}

// Calls visit(name, value, role) for every member of `record`, in order; `role` is a std::integral_constant.
template <typename Record, typename Visit>
constexpr void for_each_member(Record& record, Visit&& visit) {
  const auto one = [&]<typename Type, Role role>(const Member<std::remove_const_t<Record>, Type, role>& m) {
    visit(m.name, record.*(m.pointer), std::integral_constant<Role, role>{});
  };
  k_description<std::remove_const_t<Record>>.members.apply([&](const auto&... members) { (one(members), ...); });
}

// Every value of an enumeration that described records have members of; its words are those of name_of(), beside it:
//   constexpr std::array values_of(std::type_identity<Word>) { return std::array{...}; }
template <typename Word>
inline constexpr auto k_values = values_of(std::type_identity<Word>{});

// The value whose name_of is `name`.
template <typename Word>
[[nodiscard]] std::optional<Word> parse_word(std::string_view name) {
  for (const Word word : k_values<Word>) {
    if (name == name_of(word)) return word;
  }
  return std::nullopt;
}

}  // namespace shapley

// ---- SHAPLEY_DESCRIBE(Type, member, ...): the description of a struct that has no roles of events, beside it; each
// member is named once, in the order of the struct. A member in parentheses is not written under its own name as
// content:
//   (supplement, at)           left out where it has its default value
//   (named, got, "got_s")      another name in JSON; (supplement, ahead, "ahead_s") likewise
//   (flattened, is)            its members are written among those of the struct
#define SHAPLEY_DESCRIBE(Type, ...)                                                     \
  constexpr auto description_of(std::type_identity<Type>) {                             \
    return ::shapley::describe(SHAPLEY_RESCAN(SHAPLEY_EACH_MEMBER(Type, __VA_ARGS__))); \
  }                                                                                     \
  static_assert(::shapley::Described<Type>)

// Each rescan expands the macros that the one before has left: enough for 85 members.
#define SHAPLEY_RESCAN(...) SHAPLEY_RESCAN3(SHAPLEY_RESCAN3(SHAPLEY_RESCAN3(SHAPLEY_RESCAN3(__VA_ARGS__))))
#define SHAPLEY_RESCAN3(...) SHAPLEY_RESCAN2(SHAPLEY_RESCAN2(SHAPLEY_RESCAN2(SHAPLEY_RESCAN2(__VA_ARGS__))))
#define SHAPLEY_RESCAN2(...) SHAPLEY_RESCAN1(SHAPLEY_RESCAN1(SHAPLEY_RESCAN1(SHAPLEY_RESCAN1(__VA_ARGS__))))
#define SHAPLEY_RESCAN1(...) __VA_ARGS__
#define SHAPLEY_NOTHING
#define SHAPLEY_EACH_MEMBER(Type, item, ...) \
  SHAPLEY_MEMBER(Type, item) __VA_OPT__(, SHAPLEY_MORE_MEMBERS SHAPLEY_NOTHING()(Type, __VA_ARGS__))
#define SHAPLEY_MORE_MEMBERS() SHAPLEY_EACH_MEMBER

// What follows the name of a macro in parentheses is its arguments: SHAPLEY_IS_IN_PARENTHESES(name) is 0, of (a, b) 1.
#define SHAPLEY_IS_IN_PARENTHESES(item) SHAPLEY_SECOND(SHAPLEY_ONE_SECOND item, 0, )
#define SHAPLEY_ONE_SECOND(...) , 1
#define SHAPLEY_SECOND(...) SHAPLEY_SECOND_EXPANDED(__VA_ARGS__)
#define SHAPLEY_SECOND_EXPANDED(first, second, ...) second
#define SHAPLEY_JOIN(a, b) SHAPLEY_JOIN_EXPANDED(a, b)
#define SHAPLEY_JOIN_EXPANDED(a, b) a##b

#define SHAPLEY_MEMBER(Type, item) SHAPLEY_JOIN(SHAPLEY_MEMBER_, SHAPLEY_IS_IN_PARENTHESES(item))(Type, item)
#define SHAPLEY_MEMBER_0(Type, name) ::shapley::member(#name, &Type::name)
#define SHAPLEY_MEMBER_1(Type, item) SHAPLEY_MEMBER_AS(Type, SHAPLEY_WITHOUT_PARENTHESES item)
#define SHAPLEY_WITHOUT_PARENTHESES(...) __VA_ARGS__
#define SHAPLEY_MEMBER_AS(...) SHAPLEY_MEMBER_IN_ROLE(__VA_ARGS__)
#define SHAPLEY_MEMBER_IN_ROLE(Type, role, ...) SHAPLEY_MEMBER_##role(Type, __VA_ARGS__)
#define SHAPLEY_MEMBER_named(Type, name, in_json) ::shapley::member(in_json, &Type::name)
#define SHAPLEY_MEMBER_flattened(Type, name) ::shapley::flattened(&Type::name)
#define SHAPLEY_MEMBER_supplement(Type, name, ...) \
  ::shapley::supplement(SHAPLEY_FIRST(__VA_OPT__(__VA_ARGS__, ) #name, ), &Type::name)
#define SHAPLEY_FIRST(first, ...) first
