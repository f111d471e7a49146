// A disk that fills up and loses power: an SQLite VFS over the ordinary one that knows what was synced and what was
// not.
//
// It follows every file of one directory that SQLite opens, from its own beginning on. At the n-th change (a write,
// truncation, sync, creation or deletion) the power goes: that change and all later ones fail. surviving_image() then
// writes what a real disk might hold: everything that was synced, and of the rest a random part, in pieces of a sector
// (512 bytes), each of them whole, lost, cut short or garbage. A piece of at most 32 bytes at the begin of a file is
// written whole or not at all: that is the log's header, and no disk tears so little. A file that was created or
// deleted without its directory being synced may be there or not. Files that do not go through SQLite are taken as they
// are.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.hpp"

struct sqlite3_vfs;

namespace shapley::daemon {

enum class Change { write, truncate, sync, create, remove };
[[nodiscard]] const char* name_of(Change change);

enum class Fate { whole, lost, cut, garbage };
inline constexpr std::size_t k_fates = 4;
[[nodiscard]] const char* name_of(Fate fate);

class LossyDisk {
 public:
  // REQUIRES: SQLite has no file of this directory open, now and when the disk goes.
  explicit LossyDisk(std::filesystem::path directory);
  LossyDisk(const LossyDisk&) = delete;
  LossyDisk& operator=(const LossyDisk&) = delete;
  ~LossyDisk();
  // The disk that has the file; nullptr: an ordinary one.
  [[nodiscard]] static LossyDisk* of(const std::filesystem::path& file);

  // The power goes at the change that comes as the number `changes` (from 1 on) from now.
  void lose_power_in(std::uint64_t changes);
  // While it is full, no file grows and none is made.
  void fill(bool is_full);
  // A disk that says "synced" and does not: a test that uses it must find that out.
  void lie(bool is_lying) { is_lying_ = is_lying; }

  [[nodiscard]] bool is_dead() const;
  [[nodiscard]] bool is_full() const { return is_full_; }
  [[nodiscard]] std::uint64_t changes() const { return count_; }
  // What was under way when the power went: "write ledger.db-wal".
  [[nodiscard]] std::string last_change() const;

  // Writes what survives the loss of power to `to`, an empty directory. Counts the fates.
  void surviving_image(const std::filesystem::path& to, Rng& rng, std::array<std::uint64_t, k_fates>& fates) const;

  struct Pending {
    bool truncation = false;
    std::int64_t offset = 0;  // or the new size
    std::string bytes;
  };
  struct File {
    bool entry_durable = true;  // its name is in the directory on the disk
    bool removed = false;
    std::optional<std::string> former = std::nullopt;  // a deleted file of this name that the directory may still have
    std::string durable = {};
    std::vector<Pending> pending = {};
  };

  // For the VFS's functions, which several threads call: the daemon rebuilds its books beside its own work.
  [[nodiscard]] std::unique_lock<std::mutex> lock() const { return std::unique_lock(mutex_); }
  // REQUIRES, here and below: locked. False: the power is gone, or the disk is full.
  [[nodiscard]] bool change(Change kind, const std::string& file);
  File& file(const std::string& path, bool created);
  void synced(const std::string& path, bool with_directory);
  void removed(const std::string& path, bool directory_synced);

 private:
  const std::filesystem::path directory_;
  mutable std::mutex mutex_;  // guards everything below
  std::map<std::string, File> files_;
  std::uint64_t count_ = 0;
  std::optional<std::uint64_t> end_;
  bool is_dead_ = false;
  bool is_full_ = false;
  bool is_lying_ = false;
  Change last_change_ = Change::write;
  std::string last_file_;
};

}  // namespace shapley::daemon
