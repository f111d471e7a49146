// Whether and how ranks act on Slurm's priorities: the keys `mode` and `order` of the configuration, and their words.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace shapley {

enum class Mode : std::uint8_t { priorities, observe };
enum class Order : std::uint8_t { strict, weighted };

constexpr std::string_view name_of(Mode mode) {
  return mode == Mode::observe ? "observe" : "priorities";
}
constexpr std::string_view name_of(Order order) {
  return order == Order::strict ? "strict" : "weighted";
}
constexpr auto values_of(std::type_identity<Mode>) {
  return std::array{Mode::priorities, Mode::observe};
}
constexpr auto values_of(std::type_identity<Order>) {
  return std::array{Order::strict, Order::weighted};
}

}  // namespace shapley
