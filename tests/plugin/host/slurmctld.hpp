// The life of the imitated slurmctld: one a process, in a directory of its own that is kept when a test fails.
#pragma once

#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace shapley::host {

// True as soon as the condition holds, false after a minute.
[[nodiscard]] bool eventually(const std::function<bool()>& condition);

[[nodiscard]] const std::string& directory();
[[nodiscard]] std::string socket_path();

class Slurmctld : public ::testing::Environment {
 public:
  void SetUp() override;
  void TearDown() override;
};

}  // namespace shapley::host
