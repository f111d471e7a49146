// The files of a ledger: what a daemon works with, who writes it, and copies that are made.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/types.hpp"

namespace shapley::ledger {

// The mode of every file that a daemon works with: a reader of one of them could hold a lock on it without end.
inline constexpr unsigned k_live_file_mode = 0600;

// The claim of one process to write a ledger: a lock file beside it, held with flock(2) and naming the holder's process
// id.
//
// The kernel frees the lock when the holder's process ends in any way, so a stale file does no harm. The file itself
// stays: removing it would let two processes hold "the" lock on different inodes.
class WriterLock {
 public:
  // Errc::conflict when another process (or another Ledger of this one) holds it; Errc::io when the file cannot be
  // made.
  [[nodiscard]] static Expected<WriterLock> acquire(const std::filesystem::path& ledger);
  WriterLock(WriterLock&& other) noexcept;
  WriterLock& operator=(WriterLock&& other) noexcept;
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;
  ~WriterLock();

 private:
  explicit WriterLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;  // -1: moved from
};

// Which files the names of an open ledger and of its log and index belong to. A process that writes goes on with the
// files that it opened, also when another user's hand removed or replaced them; what it commits then is lost.
class NamedFiles {
 public:
  // REQUIRES: the ledger is open, and no other process writes it.
  explicit NamedFiles(std::filesystem::path ledger);
  // Errc::conflict when a name belongs to another file by now, or to none.
  [[nodiscard]] Expected<void> check() const;

 private:
  struct File {
    std::filesystem::path name;
    std::uint64_t device = 0;
    std::uint64_t number = 0;  // 0: there was none
  };
  [[nodiscard]] static File look_at(std::filesystem::path name);
  std::array<File, 3> files_;
};

// Common to backups and compaction: a file that is written under another name until it is complete.

// It is removed at the end of its scope unless become() was called; what a killed process left of it is removed first.
class PartialFile {
 public:
  explicit PartialFile(std::filesystem::path file) : file_(std::move(file)) { remove(); }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() { remove(); }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

  // Creates it, empty. Errc::io, Errc::no_space.
  [[nodiscard]] Expected<void> create(unsigned mode) const;
  // Syncs the complete file and gives it the name `target`.
  [[nodiscard]] Expected<void> become(const std::filesystem::path& target) const;

 private:
  void remove() const;
  std::filesystem::path file_;
};

// Gives `file` the owner and group of `like`, so that shapleyd can open what root created.
void take_owner_of(const std::filesystem::path& like, const std::filesystem::path& file);

// An instant in the form of file names: 20261121T105000Z.
[[nodiscard]] std::string stamp_of(Instant instant);

[[nodiscard]] std::filesystem::path directory_of(const std::filesystem::path& file);

// The progress of work that takes minutes on a large ledger: for logs, supervisors and terminals.
struct Progress {
  std::string_view what;  // "events taken over"
  std::int64_t done = 0;
  std::int64_t all = 0;  // 0: not known
};

// Called at most a thousand times a second, by the working thread. Empty: it is not called.
using OnProgress = std::function<void(const Progress&)>;

// The number of events between two calls.
inline constexpr std::int64_t k_events_between_calls = 10'000;

inline void report_progress(const OnProgress& listener, const Progress& progress) {
  if (listener) listener(progress);
}

}  // namespace shapley::ledger
