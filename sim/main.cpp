// shapley-sim: the simulator.
#include <iostream>

#include "base/printable_stream.hpp"
#include "sim/commands/command_line.hpp"

int main(int argc, char** argv) {
  const shapley::PrintableStream out(std::cout);
  const shapley::PrintableStream err(std::cerr);
  return shapley::sim::run_command_line(argc, argv);
}
