#include "ledger/file/files.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/calendar.hpp"

namespace shapley::ledger {

namespace {

// The holder's id as it wrote it; it may be about to.
std::string holder_of(int descriptor) {
  std::array<char, 24> text{};
  const ssize_t length = ::pread(descriptor, text.data(), text.size(), 0);
  std::string digits;
  for (ssize_t i = 0;
       i < length && text[static_cast<std::size_t>(i)] >= '0' && text[static_cast<std::size_t>(i)] <= '9'; ++i) {
    digits.push_back(text[static_cast<std::size_t>(i)]);
  }
  return digits.empty() ? "another process" : "process " + digits;
}

}  // namespace

Expected<WriterLock> WriterLock::acquire(const std::filesystem::path& ledger) {
  // One file may have several names; the lock belongs to the file.
  std::error_code ignored;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(ledger, ignored);
  const std::string path = (ignored ? ledger : resolved).string() + ".lock";
  WriterLock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, k_live_file_mode));
  if (lock.descriptor_ < 0 && errno == ELOOP) {
    return fail(Errc::denied,
                fmt::format("lock file {} is a symbolic link, and must be the file itself; remove it", path));
  }
  if (lock.descriptor_ < 0) {
    auto failed = system_failure("lock file " + path, errno);
    if (failed.value().code == Errc::io)
      failed.value().what += "; the directory must exist and be writable for this user";
    return failed;
  }
  if (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_failure("lock file " + path, errno);
    return fail(
        Errc::conflict,
        fmt::format("{} writes this ledger already (lock file {}); stop it first, or open the ledger for reading only",
                    holder_of(lock.descriptor_), path));
  }
  if (::ftruncate(lock.descriptor_, 0) != 0) return system_failure("lock file " + path, errno);
  const std::string pid = std::to_string(::getpid()) + "\n";
  const bool is_written = ::pwrite(lock.descriptor_, pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size());
  // The pid is information for others; the lock holds without it, even on a full disk.
  if (!is_written && !is_out_of_space(errno)) return system_failure("lock file " + path, errno);
  return lock;
}

WriterLock::WriterLock(WriterLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

WriterLock& WriterLock::operator=(WriterLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

WriterLock::~WriterLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

using std::filesystem::path;

NamedFiles::File NamedFiles::look_at(path name) {
  struct stat status {};
  File file{.name = std::move(name)};
  if (::stat(file.name.c_str(), &status) != 0) return file;
  file.device = status.st_dev;
  file.number = status.st_ino;
  return file;
}

NamedFiles::NamedFiles(path ledger)
    : files_{look_at(ledger), look_at(ledger.string() + "-wal"), look_at(ledger.string() + "-shm")} {}

Expected<void> NamedFiles::check() const {
  for (const File& opened : files_) {
    const File present = look_at(opened.name);
    if (opened.number == 0 || (present.device == opened.device && present.number == opened.number)) continue;
    return fail(
        Errc::conflict,
        fmt::format("{}{} while process {} writes it, so nothing is acknowledged any more; give the file its name back "
                    "(where it was deleted, copy the ledger and its -wal out of /proc/{}/fd while the process runs), "
                    "then start the process again; or stop it and restore a backup: shapleyctl restore",
                    opened.name.string(), present.number == 0 ? ": was removed" : ": was replaced by another file",
                    ::getpid(), ::getpid()));
  }
  return {};
}

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
  SHAPLEY_TRY(create_file(file_, mode));
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

void take_owner_of(const path& like, const path& file) {
  struct stat status {};
  if (::stat(like.c_str(), &status) != 0) return;
  // Only root can do this, and only root needs to.
  if (::lchown(file.c_str(), status.st_uid, status.st_gid) != 0) return;
}

}  // namespace shapley::ledger
