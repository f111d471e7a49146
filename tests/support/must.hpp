// The value of an Expected, or an exception with the error's text, which ends a test as a failure.
#pragma once

#include <stdexcept>
#include <type_traits>
#include <utility>

#include "base/error.hpp"

namespace shapley {

template <typename T>
T must(Expected<T> result) {
  if (!result) throw std::runtime_error(result.error().what);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace shapley
