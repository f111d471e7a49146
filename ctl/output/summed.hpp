// Structs of amounts of work that are added member by member: what a line of a paper has, and what its lines come to.
#pragma once

#include <type_traits>

#include "base/description.hpp"
#include "base/types.hpp"

namespace shapley::ctl {

template <typename Record, typename... Types, Role... roles>
constexpr bool has_only_work(const Description<Record, Member<Record, Types, roles>...>&) {
  return (std::is_same_v<Types, CpuTime> && ...);
}

// SHAPLEY_DESCRIBE names its members: one that is forgotten does not compile.
template <typename Works>
concept SummedWorks = Described<Works> && has_only_work(k_description<Works>);

template <SummedWorks Works>
Works& operator+=(Works& sum, const Works& other) {
  k_description<Works>.members.apply([&](const auto&... of) { ((sum.*of.pointer += other.*of.pointer), ...); });
  return sum;
}

}  // namespace shapley::ctl
