// shapley-sim: the simulator.
#include "sim/commands/command_line.hpp"

int main(int argc, char** argv) {
  return shapley::sim::run_command_line(argc, argv);
}
