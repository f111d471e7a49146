// make_consortium FILE ORGANIZATIONS: a ledger to make pages of (consortium.hpp).
#include <cstdlib>
#include <exception>
#include <iostream>

#include "consortium.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    shapley::ctl::write_consortium(argv[1], shapley::ctl::consortium_names(std::strtoul(argv[2], nullptr, 10)));
  } catch (const std::exception& fault) {
    std::cerr << "make_consortium: " << fault.what() << '\n';
    return 1;
  }
  return 0;
}
