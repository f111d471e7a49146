#include "daemon/small_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <sys/stat.h>

namespace shapley::daemon {

Expected<void> replace_file(const std::filesystem::path& file, std::string_view text) {
  const std::filesystem::path next(file.string() + ".new");
  const auto failed = [&] { return fail(Errc::io, fmt::format("{}: {}", file.string(), std::strerror(errno))); };
  {
    std::ofstream out(next, std::ios::trunc);
    out << text;
    if (!out.flush()) return failed();
  }
  if (::chmod(next.c_str(), S_IRUSR | S_IWUSR) != 0) return failed();
  if (::rename(next.c_str(), file.c_str()) != 0) return failed();
  return {};
}

}  // namespace shapley::daemon
