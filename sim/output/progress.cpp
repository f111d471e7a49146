#include "sim/output/progress.hpp"

#include <iostream>

#include <unistd.h>

#include "base/printable.hpp"
#include "base/printable_stream.hpp"

namespace shapley::sim {

namespace {

constexpr std::size_t k_width = 30;

std::string duration_text(std::chrono::milliseconds duration) {
  const auto seconds = (duration.count() + 999) / 1000;
  if (seconds < 60) return std::to_string(seconds) + " s";
  if (seconds < 3600) return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  return std::to_string(seconds / 3600) + " h " + std::to_string(seconds % 3600 / 60) + " min";
}

}  // namespace

std::string progress_line(const std::string& what, std::size_t done, std::size_t total,
                          std::chrono::milliseconds elapsed) {
  const std::size_t filled = total == 0 ? k_width : k_width * done / total;
  std::string line = what + " [" + std::string(filled, '#') + std::string(k_width - filled, '.') + "] " +
                     std::to_string(done) + "/" + std::to_string(total);
  if (done > 0 && done < total) {
    const auto left = elapsed * static_cast<std::int64_t>(total - done) / static_cast<std::int64_t>(done);
    line += "  " + duration_text(left) + " left";
  }
  return line;
}

Progress::Progress(std::string what, std::size_t total)
    : what_(std::move(what)), total_(total), visible_(isatty(STDERR_FILENO) == 1) {
  draw();
}

Progress::~Progress() {
  if (visible_) std::cerr << TerminalControl::line_begin << TerminalControl::erase_to_line_end << std::flush;
}

void Progress::one_more() {
  const std::lock_guard lock(mutex_);
  ++done_;
  draw();
}

void Progress::draw() {
  if (!visible_) return;
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin_);
  std::cerr << TerminalControl::line_begin << printable(progress_line(what_, done_, total_, elapsed))
            << TerminalControl::erase_to_line_end << std::flush;
}

}  // namespace shapley::sim
