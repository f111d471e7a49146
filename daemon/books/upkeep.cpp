#include "daemon/books/upkeep.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <sys/stat.h>

namespace shapley::daemon {

namespace fs = std::filesystem;

fs::path upkeep_file_of(const fs::path& ledger) {
  return fs::path(ledger.string() + ".upkeep");
}

// One line for each kind: "backup AT SEQUENCE", "audit AT SEQUENCE CLEAN".
Upkeep read_upkeep_file(const fs::path& file) {
  Upkeep upkeep;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "backup") {
      Upkeep::Backup backup;
      if (words >> backup.at.value >> backup.sequence) upkeep.backup = backup;
    } else if (kind == "audit") {
      Upkeep::Audit audit;
      if (words >> audit.at.value >> audit.sequence >> audit.clean) upkeep.audit = audit;
    }
  }
  return upkeep;
}

Expected<void> write_upkeep_file(const fs::path& file, const Upkeep& upkeep) {
  const fs::path next(file.string() + ".new");
  const auto failed = [&] { return fail(Errc::io, fmt::format("{}: {}", file.string(), std::strerror(errno))); };
  {
    std::ofstream out(next, std::ios::trunc);
    if (upkeep.backup) out << "backup " << upkeep.backup->at.value << ' ' << upkeep.backup->sequence << '\n';
    if (upkeep.audit) {
      out << "audit " << upkeep.audit->at.value << ' ' << upkeep.audit->sequence << ' ' << upkeep.audit->clean << '\n';
    }
    if (!out.flush()) return failed();
  }
  // Like the ledger's other files.
  if (::chmod(next.c_str(), S_IRUSR | S_IWUSR) != 0) return failed();
  if (::rename(next.c_str(), file.c_str()) != 0) return failed();
  return {};
}

}  // namespace shapley::daemon
