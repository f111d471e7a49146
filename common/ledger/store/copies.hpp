// What backups and compaction share: a file that is written under another name until it is whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/types.hpp"

namespace shapley::ledger {

class Database;

struct BackupResult {
  std::int64_t events = 0;
  std::string hash;  // of the last event, hexadecimal
};

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

// Takes a ledger's events out of its log, so that they are in the file alone. Errc::conflict while anybody else has the
// ledger open.
[[nodiscard]] Expected<void> take_alone(const Database& database);

// As it belonged to before, so that shapleyd can open what root made.
void take_owner_of(const std::filesystem::path& like, const std::filesystem::path& file);

// An instant as it stands in names of files: 20261121T105000Z.
[[nodiscard]] std::string stamp_of(Instant instant);

[[nodiscard]] std::filesystem::path directory_of(const std::filesystem::path& file);

// Every page by SQLite's own check, every row's hash by ours. REQUIRES: nobody else has the file.
[[nodiscard]] Expected<BackupResult> verify_copy(const std::filesystem::path& file);

}  // namespace shapley::ledger
