#include "daemon/clock/clock_file.hpp"

#include <sstream>

#include <fmt/format.h>

#include "base/bounded_text.hpp"
#include "daemon/small_file.hpp"

namespace shapley::daemon {

namespace fs = std::filesystem;

fs::path clock_file_of(const fs::path& ledger) {
  return fs::path(ledger.string() + ".clock");
}

// One line: the boot, the offset, when the doubt began, by how much the clock was ahead (0: there is no doubt), and
// whether the doubt was witnessed.
std::optional<KeptClock> read_clock_file(const fs::path& file, const std::string& boot) {
  std::istringstream in(read_text_file(file, k_max_notes).value_or(std::string()));
  std::string of_boot;
  KeptClock kept;
  TrustedClock::Doubt doubt;
  if (!(in >> of_boot >> kept.offset.value >> doubt.since.value >> doubt.ahead.value >> doubt.is_witnessed) ||
      of_boot != boot) {
    return std::nullopt;
  }
  if (doubt.ahead != Duration{0}) kept.doubt = doubt;
  return kept;
}

Expected<void> write_clock_file(const fs::path& file, const std::string& boot, const KeptClock& kept) {
  const TrustedClock::Doubt doubt = kept.doubt.value_or(TrustedClock::Doubt{});
  return replace_file(file, fmt::format("{} {} {} {} {}\n", boot, kept.offset.value, doubt.since.value,
                                        doubt.ahead.value, doubt.is_witnessed ? 1 : 0));
}

}  // namespace shapley::daemon
