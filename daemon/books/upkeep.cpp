#include "daemon/books/upkeep.hpp"

#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "base/bounded_text.hpp"
#include "daemon/small_file.hpp"

namespace shapley::daemon {

namespace fs = std::filesystem;

fs::path upkeep_file_of(const fs::path& ledger) {
  return fs::path(ledger.string() + ".upkeep");
}

// One line for each kind: "backup AT SEQUENCE", "audit AT SEQUENCE CLEAN".
Upkeep read_upkeep_file(const fs::path& file) {
  Upkeep upkeep;
  std::istringstream in(read_text_file(file, k_max_notes).value_or(std::string()));
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
  std::string text;
  if (upkeep.backup) text += fmt::format("backup {} {}\n", upkeep.backup->at.value, upkeep.backup->sequence);
  if (upkeep.audit) {
    const Upkeep::Audit& audit = *upkeep.audit;
    text += fmt::format("audit {} {} {}\n", audit.at.value, audit.sequence, audit.clean ? 1 : 0);
  }
  return replace_file(file, text);
}

}  // namespace shapley::daemon
