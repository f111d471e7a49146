// Running the real shapleyctl as an operator runs it.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "ctl/environment.hpp"
#include "tests/support/child.hpp"

namespace shapley::ctl {

inline int code(ExitCode exit_code) {
  return static_cast<int>(exit_code);
}

inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Outcome {
  int exit_code = -1;  // minus the signal, if one ended it
  std::string out;
  std::string err;
  std::string arguments = {};
};

// The same outcome; a failure of the test at the caller's line unless the program ended with this code.
inline Outcome ends(ExitCode expected, Outcome outcome, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  if (outcome.exit_code != code(expected)) {
    ADD_FAILURE_AT(file, line) << outcome.arguments << ": exit code " << outcome.exit_code << ", expected "
                               << code(expected) << '\n'
                               << outcome.out << outcome.err;
  }
  return outcome;
}

// Arguments are for /bin/sh; the environment has only `variables` ("NAME=value NAME=value"). What it prints
// goes through files in `directory`.
inline Outcome run_shapleyctl(const std::filesystem::path& directory, const std::string& arguments,
                              const std::string& variables = "") {
  // Without exec the shell might stay, and what it started would outlive it when it is killed.
  const std::string command = "exec env -i " + variables + " " SHAPLEYCTL_BINARY " " + arguments + " > " +
                              (directory / "out").string() + " 2> " + (directory / "err").string();
  test::Child program("shapleyctl " + arguments,
                      [&] { execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr)); });
  return {.exit_code = program.wait(),
          .out = content_of(directory / "out"),
          .err = content_of(directory / "err"),
          .arguments = arguments};
}

}  // namespace shapley::ctl
