// shapley-sim: the simulator.
#include <iostream>
#include <string>

#include "base/guarded_main.hpp"
#include "base/printable_stream.hpp"
#include "sim/commands/command_line.hpp"
#include "sim/exit_code.hpp"

int main(int argc, char** argv) {
  const shapley::PrintableStream out(std::cout);
  const shapley::PrintableStream err(std::cerr);
  return shapley::run_guarded(
      "shapley-sim", shapley::sim::k_exit_internal, [](const std::string& text) { std::cerr << text << std::endl; },
      [&] { return shapley::sim::run_command_line(argc, argv); });
}
