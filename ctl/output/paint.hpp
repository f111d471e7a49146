// Text for people that is not only lines: with colours, or overwritten as time passes.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "ctl/environment.hpp"
#include "ledger/file/files.hpp"

namespace shapley::ctl {

// Writes a text with painted parts (tables::painted); its other parts were made printable before. A PrintableStream
// lets only these sequences pass.
void print_painted(std::ostream& out, std::string_view text);

// The progress of an operation that takes minutes: one line of a terminal, which is overwritten until it is cleared.
// Without a terminal, no output.

class ProgressLine {
 public:
  explicit ProgressLine(const Environment& environment) : environment_(environment) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const ledger::Progress& progress);
  // Call this before other output is written.
  void clear();

 private:
  void write(const std::string& text);

  const Environment& environment_;
  std::string shown_;
};

}  // namespace shapley::ctl
