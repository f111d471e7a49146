#include "config/faults.hpp"

#include <algorithm>
#include <utility>

namespace shapley::config {

void FaultList::add(int line, std::string what, std::string remedy) {
  if (full()) return;
  faults_.push_back({line, std::move(what), std::move(remedy)});
  if (full()) {
    faults_.back() = {line, "and more faults after " + std::to_string(k_most - 1), "correct these first"};
  }
}

std::vector<Fault> FaultList::take() {
  std::stable_sort(faults_.begin(), faults_.end(), [](const Fault& a, const Fault& b) { return a.line < b.line; });
  return std::exchange(faults_, {});
}

}  // namespace shapley::config
