#include "daemon/clock/clock_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <sys/stat.h>

namespace shapley::daemon {

namespace fs = std::filesystem;

fs::path clock_file_of(const fs::path& ledger) {
  return fs::path(ledger.string() + ".clock");
}

// One line: the boot, the offset, when the doubt began, by how much the clock was ahead (0: there is no doubt), and
// whether the doubt was witnessed.
std::optional<KeptClock> read_clock_file(const fs::path& file, const std::string& boot) {
  std::ifstream in(file);
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
  const fs::path next(file.string() + ".new");
  const auto failed = [&] { return fail(Errc::io, fmt::format("{}: {}", file.string(), std::strerror(errno))); };
  {
    std::ofstream out(next, std::ios::trunc);
    const TrustedClock::Doubt doubt = kept.doubt.value_or(TrustedClock::Doubt{});
    out << boot << ' ' << kept.offset.value << ' ' << doubt.since.value << ' ' << doubt.ahead.value << ' '
        << doubt.is_witnessed << '\n';
    if (!out.flush()) return failed();
  }
  // Like the ledger's other files.
  if (::chmod(next.c_str(), S_IRUSR | S_IWUSR) != 0) return failed();
  if (::rename(next.c_str(), file.c_str()) != 0) return failed();
  return {};
}

}  // namespace shapley::daemon
