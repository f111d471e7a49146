#include "ctl/output/progress_line.hpp"

#include <algorithm>
#include <cstdint>

#include "base/printable_stream.hpp"
#include "ctl/output/amounts.hpp"

namespace shapley::ctl {

void ProgressLine::show(const ledger::Progress& progress) {
  std::string text(progress.what);
  if (progress.all > 0) {
    text += ": " + std::to_string(std::min<std::int64_t>(100, progress.done * 100 / progress.all)) + " %";
  } else if (progress.done > 0) {
    text += ": " + grouped(progress.done);
  }
  write(text);
}

void ProgressLine::clear() {
  write("");
}

void ProgressLine::write(const std::string& text) {
  if (!environment_.terminal || text == shown_) return;
  environment_.out << TerminalControl::line_begin << text << TerminalControl::erase_to_line_end << std::flush;
  shown_ = text;
}

}  // namespace shapley::ctl
