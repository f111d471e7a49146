// A configuration that a test takes to be free of faults.
#pragma once

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "config/configuration.hpp"

namespace shapley::config {

inline Configuration parsed(const std::string& yaml) {
  auto configuration = parse(yaml);
  if (configuration) return *std::move(configuration);
  ADD_FAILURE() << format_faults(configuration.error(), "test");
  return {};
}

}  // namespace shapley::config
