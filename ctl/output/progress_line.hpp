// One line of a terminal that says how far something is; elsewhere nothing.
#pragma once

#include <string>

#include "ctl/environment.hpp"
#include "ledger/store/progress.hpp"

namespace shapley::ctl {

class ProgressLine {
 public:
  // REQUIRES: the environment outlives it.
  explicit ProgressLine(const Environment& environment) : environment_(environment) {}

  void show(const ledger::Progress& progress);
  void clear();

 private:
  void write(const std::string& text);

  const Environment& environment_;
  std::string shown_;
};

}  // namespace shapley::ctl
