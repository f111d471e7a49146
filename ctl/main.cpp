#include <array>
#include <climits>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/printable.hpp"
#include "ctl/app.hpp"
#include "ctl/slurm/run_program.hpp"

namespace {

std::size_t columns_of_terminal() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string name_of_host() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

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
      .host_name = name_of_host(),
      .columns = columns_of_terminal(),
      .run_program = [](const std::vector<std::string>& words) { return shapley::ctl::run_program(words); },
  };
  return static_cast<int>(shapley::ctl::run(argc, argv, environment));
}
