#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>

#include <unistd.h>

#include "base/printable_stream.hpp"
#include "ctl/app.hpp"

int main(int argc, char** argv) {
  const shapley::PrintableStream out(std::cout);
  const shapley::PrintableStream err(std::cerr);
  const shapley::ctl::Environment environment{
      .out = std::cout,
      .err = std::cerr,
      .terminal = ::isatty(STDOUT_FILENO) == 1,
      .variable = [](const char* name) -> std::optional<std::string> {
        const char* value = std::getenv(name);
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
      },
  };
  return static_cast<int>(shapley::ctl::run(argc, argv, environment));
}
