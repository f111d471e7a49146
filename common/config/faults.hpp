// Collects the faults of one file, so that all of them are reported at once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/configuration.hpp"

namespace shapley::config {

class FaultList {
 public:
  // Nobody reads more; a file that is one long mistake must not become a report of gigabytes.
  static constexpr std::size_t k_most = 1000;

  // line: 1-based; 0: the file as a whole.
  void add(int line, std::string what, std::string remedy);
  [[nodiscard]] bool empty() const { return faults_.empty(); }
  [[nodiscard]] bool full() const { return faults_.size() >= k_most; }
  // In line order; within a line in the order found. Leaves the list empty.
  [[nodiscard]] std::vector<Fault> take();

 private:
  std::vector<Fault> faults_;
};

}  // namespace shapley::config
