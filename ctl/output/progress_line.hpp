// How far something is that takes minutes: one line of a terminal, written over until it is cleared. Elsewhere nothing.
#pragma once

#include <string>

#include "ctl/environment.hpp"
#include "ledger/store/progress.hpp"

namespace shapley::ctl {

class ProgressLine {
 public:
  explicit ProgressLine(const Environment& environment) : environment_(environment) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const ledger::Progress& progress);
  // Before anything else is written.
  void clear();

 private:
  void write(const std::string& text);

  const Environment& environment_;
  std::string shown_;
};

}  // namespace shapley::ctl
