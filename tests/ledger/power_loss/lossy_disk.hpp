// A disk that loses power: an SQLite VFS over the ordinary one that knows what was synced and what was not.
//
// It follows every file that SQLite opens through it. At the n-th change (a write, truncation, sync, creation or
// deletion) the power goes: that change and all later ones fail. surviving_image() then writes what a real disk might
// hold: everything that was synced, and of the rest a random part, in pieces of a sector (512 bytes), each of them
// whole, lost, cut short or garbage. A piece of at most 32 bytes at the begin of a file is written whole or not at all:
// that is the log's header, and no disk tears so little. A file that was created or deleted without its directory being
// synced may be there or not. Files that do not go through SQLite are taken as they are.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.hpp"

struct sqlite3_vfs;

namespace shapley::ledger::testing {

enum class Change { write, truncate, sync, create, remove };
inline constexpr std::size_t k_changes = 5;
[[nodiscard]] const char* name_of(Change change);

enum class Fate { whole, lost, cut, garbage };
inline constexpr std::size_t k_fates = 4;
[[nodiscard]] const char* name_of(Fate fate);

class LossyDisk {
 public:
  // The one disk of this process; registered with SQLite at the first call, not yet its default.
  static LossyDisk& instance();

  // From now on SQLite works through this disk; the power goes at change number `changes` (from 1 on).
  void power_on(std::uint64_t changes);
  // Instead of failing that change, do this (a process that kills itself). Once.
  void at_the_end(std::function<void()> action) { action_ = std::move(action); }
  // A disk that says "synced" and does not: the harness must find it out.
  void lie(bool lying) { lying_ = lying; }
  // SQLite works on the plain disk again.
  void power_off();

  [[nodiscard]] bool dead() const { return dead_; }
  [[nodiscard]] std::uint64_t changes() const { return count_; }
  // What was under way when the power went, and on which file ("ledger.db-wal").
  [[nodiscard]] Change last_change() const { return last_change_; }
  [[nodiscard]] const std::string& last_file() const { return last_file_; }

  // Writes what survives of `from` (the directory that SQLite worked in) to `to`, an empty directory. Counts the fates.
  void surviving_image(const std::filesystem::path& from, const std::filesystem::path& to, Rng& rng,
                       std::array<std::uint64_t, k_fates>& fates) const;

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
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  // REQUIRES, here and below: locked. False: the power is gone.
  [[nodiscard]] bool change(Change kind, const std::string& file);
  File& file(const std::string& path, bool created);
  void synced(const std::string& path, bool with_directory);
  void removed(const std::string& path, bool directory_synced);
  [[nodiscard]] sqlite3_vfs* plain() const { return plain_; }

 private:
  LossyDisk();

  std::mutex mutex_;  // guards everything below while the disk is on
  sqlite3_vfs* plain_ = nullptr;
  std::map<std::string, File> files_;
  std::function<void()> action_;
  std::uint64_t count_ = 0;
  std::uint64_t end_ = 0;
  bool dead_ = false;
  bool lying_ = false;
  Change last_change_ = Change::write;
  std::string last_file_;
};

}  // namespace shapley::ledger::testing
