#include "plugin/client/places/ends.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace shapley::client {

namespace {

constexpr std::size_t k_ages = RunsByAge::k_ages;

// In the middle of an element's ages, by magnitude.
double age_of(std::size_t element) {
  return std::sqrt(2.0) * static_cast<double>(std::uint64_t{1} << element);
}

template <typename Blocked>
double ended_after(double time, const Blocked& blocked) {
  double ended = 0;
  for (std::size_t b = 0; b < k_ages; ++b) ended += static_cast<double>(blocked[b]) * time / (age_of(b) + time);
  return ended;
}

}  // namespace

void RunsByAge::add(std::int64_t age_s, std::int64_t blocked) {
  const auto seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(0, age_s)) + 1;
  blocked_[std::min<std::size_t>(k_ages, static_cast<std::size_t>(std::bit_width(seconds))) - 1] += blocked;
  all_ += blocked;
}

std::vector<std::int64_t> expected_ends(std::span<const RunsByAge> organizations, std::int64_t freed) {
  std::array<std::int64_t, k_ages> together{};
  std::int64_t all = 0;
  for (const RunsByAge& u : organizations) {
    for (std::size_t b = 0; b < k_ages; ++b) together[b] += u[b];
    all += u.all();
  }
  std::vector<std::int64_t> ended;
  if (freed >= all) {
    for (const RunsByAge& u : organizations) ended.push_back(u.all());
    return ended;
  }
  // By magnitude: between a millionth of the least age and a million times the greatest, to a part in 2^40.
  double least = std::log2(age_of(0)) - 20, most = std::log2(age_of(k_ages - 1)) + 20;
  for (int halvings = 0; halvings < 46; ++halvings) {
    const double middle = (least + most) / 2;
    (ended_after(std::exp2(middle), together) < static_cast<double>(freed) ? least : most) = middle;
  }
  for (const RunsByAge& u : organizations) {
    ended.push_back(static_cast<std::int64_t>(ended_after(std::exp2(least), u)));
  }
  return ended;
}

}  // namespace shapley::client
