#include "ledger/store/copies.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/calendar.hpp"
#include "ledger/chain/chain_walk.hpp"
#include "ledger/store/database.hpp"
#include "ledger/store/file_operations.hpp"
#include "ledger/store/genesis.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

using std::filesystem::path;

}  // namespace

std::string stamp_of(Instant instant) {
  std::string stamp;
  for (const char c : format_instant(instant)) {
    if (c != '-' && c != ':') stamp += c;
  }
  return stamp;
}

path directory_of(const path& file) {
  return std::filesystem::absolute(file).parent_path();
}

Expected<void> PartialFile::create(unsigned mode) const {
  const int descriptor = ::open(file_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (descriptor < 0) return system_failure(file_.string() + ": cannot create it", errno);
  ::close(descriptor);
  return {};
}

Expected<void> PartialFile::become(const path& target) const {
  return rename_file(file_, target);
}

void PartialFile::remove() const {
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
  std::filesystem::remove(file_.string() + "-journal", ignored);
}

Expected<void> take_alone(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement mode, database.prepare("PRAGMA main.journal_mode = DELETE"));
  auto answered = mode.step();
  if (answered && *answered && mode.text(0) == "delete") return {};
  return fail(Errc::conflict, "somebody reads it; end what reads it (fuser FILE names the processes) and try again");
}

void take_owner_of(const path& like, const path& file) {
  struct stat status {};
  if (::stat(like.c_str(), &status) != 0) return;
  // Only root can and need do this.
  if (::lchown(file.c_str(), status.st_uid, status.st_gid) != 0) return;
}

Expected<BackupResult> verify_copy(const path& file) {
  SHAPLEY_TRY_ASSIGN(const Database database, open_alone(file));
  SHAPLEY_TRY_ASSIGN(Statement check, database.prepare("PRAGMA integrity_check(1)"));
  SHAPLEY_TRY_ASSIGN(const bool answered, check.step());
  if (!answered || check.text(0) != "ok") {
    return fail(Errc::corrupt, "a page is damaged: " + std::string(answered ? check.text(0) : "no answer"));
  }
  SHAPLEY_TRY_ASSIGN(const auto genesis, read_genesis(database));
  if (genesis) SHAPLEY_TRY(check_genesis(database, *genesis));
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
  SHAPLEY_TRY(check_chain(database, begin.sequence, begin.hash));
  SHAPLEY_TRY_ASSIGN(const Head head, read_head(database));
  return BackupResult{.events = head.sequence, .hash = to_hex(head.hash)};
}

}  // namespace shapley::ledger
