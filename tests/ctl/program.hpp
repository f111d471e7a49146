// Running the real shapleyctl as an operator runs it.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

#include "ctl/exit_code.hpp"
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
};

// Arguments are for /bin/sh; the environment is empty but for `variables` ("NAME=value NAME=value"). What it prints
// goes through files in `directory`.
inline Outcome run_shapleyctl(const std::filesystem::path& directory, const std::string& arguments,
                              const std::string& variables = "") {
  // Without exec the shell might stay, and what it started would outlive it when it is killed.
  const std::string command = "exec env -i " + variables + " " SHAPLEYCTL_BINARY " " + arguments + " > " +
                              (directory / "out").string() + " 2> " + (directory / "err").string();
  test::Child program("shapleyctl " + arguments,
                      [&] { execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr)); });
  return {.exit_code = program.wait(), .out = content_of(directory / "out"), .err = content_of(directory / "err")};
}

}  // namespace shapley::ctl
