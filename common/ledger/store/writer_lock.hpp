// The claim of one process to write a ledger: a lock file beside it, held with flock(2) and naming the holder's process
// id.
//
// The kernel frees the lock with its holder, however it died, so a stale file never stands in the way. The file itself
// stays: removing it would let two processes hold "the" lock on different inodes.
#pragma once

#include <filesystem>

#include "base/error.hpp"

namespace shapley::ledger {

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

}  // namespace shapley::ledger
