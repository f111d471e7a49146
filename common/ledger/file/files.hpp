// Small things that the standard library does not do with files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/types.hpp"

namespace shapley::ledger {

// Of every file that a daemon works with. A reader of one of them could hold a lock on it without end.
inline constexpr unsigned k_live_file_mode = 0600;

// Returns when the file, or the names in a directory, are on the disk. Errc::io, Errc::no_space.
[[nodiscard]] Expected<void> sync_file(const std::filesystem::path& file);

// Gives a file the name of another one in the same directory, whose place it takes; on disk when it returns.
[[nodiscard]] Expected<void> rename_file(const std::filesystem::path& from, const std::filesystem::path& to);

enum class Readers { owner, by_umask };

// Replaces the file, or makes it, whole or not at all; on disk when it returns. Errors: Errc::io, Errc::no_space; then
// what was there before stays.
[[nodiscard]] Expected<void> replace_file(const std::filesystem::path& file, std::string_view text, Readers readers);

// The claim of one process to write a ledger: a lock file beside it, held with flock(2) and naming the holder's process
// id.
//
// The kernel frees the lock with its holder, however it died, so a stale file does no harm. The file itself
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

// What backups and compaction share: a file that is written under another name until it is whole.

// Removed at the end of its scope unless it became what it was to be; what a killed process left of it is removed
// first.
class PartialFile {
 public:
  explicit PartialFile(std::filesystem::path file) : file_(std::move(file)) { remove(); }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() { remove(); }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

  // Makes it, empty. Errc::io, Errc::no_space.
  [[nodiscard]] Expected<void> create(unsigned mode) const;
  // Whole, synced, and from now on under its name.
  [[nodiscard]] Expected<void> become(const std::filesystem::path& target) const;

 private:
  void remove() const;
  std::filesystem::path file_;
};

// As it belonged to before, so that shapleyd can open what root made.
void take_owner_of(const std::filesystem::path& like, const std::filesystem::path& file);

// An instant as names of files have it: 20261121T105000Z.
[[nodiscard]] std::string stamp_of(Instant instant);

[[nodiscard]] std::filesystem::path directory_of(const std::filesystem::path& file);

// How far something has come that takes minutes on a large ledger: for logs, supervisors and terminals.
struct Progress {
  std::string_view what;  // "events taken over"
  std::int64_t done = 0;
  std::int64_t all = 0;  // 0: not known
};

// Called a thousand times a second or less often, by the thread that works. Empty: it is not called.
using OnProgress = std::function<void(const Progress&)>;

// Every so many events are worth a call.
inline constexpr std::int64_t k_events_between_calls = 10'000;

inline void tell(const OnProgress& listener, const Progress& progress) {
  if (listener) listener(progress);
}

}  // namespace shapley::ledger
