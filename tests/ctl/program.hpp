// Running the real shapleyctl as an operator runs it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/wait.h>

#include "ctl/exit_code.hpp"

namespace shapley::ctl {

inline int code(ExitCode exit_code) {
  return static_cast<int>(exit_code);
}

inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// Arguments are for /bin/sh; the environment is empty but for `variables` ("NAME=value NAME=value"). What it prints
// goes through files in `directory`.
inline Outcome run_shapleyctl(const std::filesystem::path& directory, const std::string& arguments,
                              const std::string& variables = "") {
  const std::string command = "env -i " + variables + " " SHAPLEYCTL_BINARY " " + arguments + " > " +
                              (directory / "out").string() + " 2> " + (directory / "err").string();
  const int status = std::system(command.c_str());
  return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .out = content_of(directory / "out"),
          .err = content_of(directory / "err")};
}

}  // namespace shapley::ctl
