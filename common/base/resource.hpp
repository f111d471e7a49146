// An amount of a generic resource (GRES), by Slurm's name without a type ("gres/gpu").
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <type_traits>

#include "base/description.hpp"

namespace shapley {

struct Resource {
  std::string name;
  std::int64_t count = 0;  // >= 0
  friend auto operator<=>(const Resource&, const Resource&) = default;
};
constexpr auto description_of(std::type_identity<Resource>) {
  return describe("resource", member("name", &Resource::name), member("count", &Resource::count));
}

}  // namespace shapley
