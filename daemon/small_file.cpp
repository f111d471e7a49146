#include "daemon/small_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <sys/stat.h>

#include "ledger/store/file_operations.hpp"

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
  SHAPLEY_TRY(ledger::sync_file(next));
  return ledger::rename_file(next, file);
}

}  // namespace shapley::daemon
