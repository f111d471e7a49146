#include <iostream>

#include "base/printable_stream.hpp"
#include "exporter/application.hpp"

int main(int argc, char** argv) {
  const shapley::PrintableStream out(std::cout);
  const shapley::PrintableStream err(std::cerr);
  return static_cast<int>(shapley::exporter::run(argc, argv, std::cout, std::cerr));
}
