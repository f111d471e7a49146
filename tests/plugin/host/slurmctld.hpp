// The life of the imitated slurmctld: one a process, in a directory of its own that is kept when a test fails.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "tests/support/waiting.hpp"

namespace shapley::host {

using test::Deadline;
using test::eventually;

[[nodiscard]] const std::string& directory();
[[nodiscard]] std::string socket_path();

class Slurmctld : public ::testing::Environment {
 public:
  void SetUp() override;
  void TearDown() override;
};

}  // namespace shapley::host
