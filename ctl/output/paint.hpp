// Colours in text for people. The text contains them as escape sequences; its other parts were made printable before,
// so it contains no other sequences.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "ctl/environment.hpp"
#include "ledger/file/files.hpp"

namespace shapley::ctl {

// Colours only emphasize; every fact is also in the text.
enum class Paint { none, good, bad, dim };

// `text` in the escape sequence of `paint`; unchanged when colour is off, or with Paint::none.
[[nodiscard]] std::string painted(std::string_view text, Paint paint, bool colour);

// Writes a text with painted parts. A PrintableStream lets only these sequences pass.
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
