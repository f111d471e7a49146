#include "ctl/output/paint.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/text.hpp"

namespace shapley::ctl {

namespace {

constexpr std::array k_colours{TerminalControl::green, TerminalControl::red, TerminalControl::dim,
                               TerminalControl::plain};

}  // namespace

void print_painted(std::ostream& out, std::string_view text) {
  while (true) {
    const std::size_t escape = std::min(text.find('\033'), text.size());
    out << text.substr(0, escape);
    text.remove_prefix(escape);
    if (text.empty()) return;
    const auto* const colour = std::find_if(k_colours.begin(), k_colours.end(), [=](TerminalControl control) {
      return text.starts_with(sequence_of(control));
    });
    if (colour == k_colours.end()) {
      out << text.substr(0, 1);  // not one of these sequences
      text.remove_prefix(1);
    } else {
      out << *colour;
      text.remove_prefix(sequence_of(*colour).size());
    }
  }
}

void ProgressLine::show(const ledger::Progress& progress) {
  std::string text(progress.what);
  if (progress.all > 0) {
    text += fmt::format(": {} %", std::min<std::int64_t>(100, progress.done * 100 / progress.all));
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
