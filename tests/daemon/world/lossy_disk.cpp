#include "lossy_disk.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include <sqlite3.h>

namespace shapley::daemon {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_sector = 512;
constexpr std::size_t k_atomic_header = 32;

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The plain VFS, and the disks of this process.
sqlite3_vfs* plain_vfs() {
  static sqlite3_vfs* const plain = sqlite3_vfs_find("unix");
  return plain;
}
struct Disks {
  std::mutex mutex;
  std::vector<LossyDisk*> all;
  std::vector<fs::path> directories;
};
Disks& disks() {
  static Disks all;
  return all;
}

// An open file: SQLite's part first, then the plain VFS's own file right behind it.
struct OpenFile {
  sqlite3_file base;
  std::string* path;  // null: it is on an ordinary disk, or a temporary file without a name
  LossyDisk* disk;    // null: likewise
  bool directory_sync_due;
  sqlite3_file* plain;
};

OpenFile& of(sqlite3_file* file) {
  return *reinterpret_cast<OpenFile*>(file);
}

sqlite3_file* plain_of(sqlite3_file* file) {
  return of(file).plain;
}

int failure(const LossyDisk& disk, int without_power) {
  return disk.is_full() ? SQLITE_FULL : without_power;
}

int on_close(sqlite3_file* file) {
  OpenFile& open = of(file);
  delete open.path;
  open.path = nullptr;
  return open.plain->pMethods != nullptr ? open.plain->pMethods->xClose(open.plain) : SQLITE_OK;
}

int on_read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  return plain_of(file)->pMethods->xRead(plain_of(file), to, size, offset);
}

int on_write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  if (LossyDisk* disk = of(file).disk) {
    const std::string& path = *of(file).path;
    const auto locked = disk->lock();
    if (!disk->change(Change::write, path)) return failure(*disk, SQLITE_IOERR_WRITE);
    disk->file(path, false)
        .pending.push_back({false, offset, {static_cast<const char*>(from), static_cast<std::size_t>(size)}});
    return plain_of(file)->pMethods->xWrite(plain_of(file), from, size, offset);
  }
  return plain_of(file)->pMethods->xWrite(plain_of(file), from, size, offset);
}

int on_truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (LossyDisk* disk = of(file).disk) {
    const std::string& path = *of(file).path;
    const auto locked = disk->lock();
    if (!disk->change(Change::truncate, path)) return failure(*disk, SQLITE_IOERR_TRUNCATE);
    disk->file(path, false).pending.push_back({true, size, {}});
    return plain_of(file)->pMethods->xTruncate(plain_of(file), size);
  }
  return plain_of(file)->pMethods->xTruncate(plain_of(file), size);
}

int on_sync(sqlite3_file* file, int flags) {
  if (LossyDisk* disk = of(file).disk) {
    const std::string& path = *of(file).path;
    const auto locked = disk->lock();
    if (!disk->change(Change::sync, path)) return failure(*disk, SQLITE_IOERR_FSYNC);
    disk->synced(path, std::exchange(of(file).directory_sync_due, false));
    // The plain disk need not sync: nothing of it survives but by our own account.
    return SQLITE_OK;
  }
  return plain_of(file)->pMethods->xSync(plain_of(file), flags);
}

int on_size(sqlite3_file* file, sqlite3_int64* size) {
  return plain_of(file)->pMethods->xFileSize(plain_of(file), size);
}
int on_lock(sqlite3_file* file, int level) {
  return plain_of(file)->pMethods->xLock(plain_of(file), level);
}
int on_unlock(sqlite3_file* file, int level) {
  return plain_of(file)->pMethods->xUnlock(plain_of(file), level);
}
int on_check_reserved(sqlite3_file* file, int* result) {
  return plain_of(file)->pMethods->xCheckReservedLock(plain_of(file), result);
}
int on_control(sqlite3_file* file, int operation, void* argument) {
  return plain_of(file)->pMethods->xFileControl(plain_of(file), operation, argument);
}
int on_sector_size(sqlite3_file* file) {
  return plain_of(file)->pMethods->xSectorSize(plain_of(file));
}
int on_characteristics(sqlite3_file* file) {
  return plain_of(file)->pMethods->xDeviceCharacteristics(plain_of(file));
}
// Shared memory does not outlive the machine: it passes through.
int on_shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** memory) {
  return plain_of(file)->pMethods->xShmMap(plain_of(file), page, size, extend, memory);
}
int on_shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return plain_of(file)->pMethods->xShmLock(plain_of(file), offset, count, flags);
}
void on_shm_barrier(sqlite3_file* file) {
  plain_of(file)->pMethods->xShmBarrier(plain_of(file));
}
int on_shm_unmap(sqlite3_file* file, int remove) {
  return plain_of(file)->pMethods->xShmUnmap(plain_of(file), remove);
}

// Version 2: without memory-mapped pages, which would pass us by.
const sqlite3_io_methods k_methods{2,
                                   on_close,
                                   on_read,
                                   on_write,
                                   on_truncate,
                                   on_sync,
                                   on_size,
                                   on_lock,
                                   on_unlock,
                                   on_check_reserved,
                                   on_control,
                                   on_sector_size,
                                   on_characteristics,
                                   on_shm_map,
                                   on_shm_lock,
                                   on_shm_barrier,
                                   on_shm_unmap,
                                   nullptr,
                                   nullptr};

// SQLite's VFS for Unix syncs the directory along with the first sync of every journal or log that it opened so that it
// would be created, whether it was there already or not. A deleted journal relies on it: it is gone permanently only
// when the log that takes its place is synced.
bool syncs_directory(int flags) {
  constexpr int k_logs = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
  return (flags & SQLITE_OPEN_CREATE) != 0 && (flags & k_logs) != 0;
}

int on_open(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  LossyDisk* disk = name != nullptr ? LossyDisk::of(name) : nullptr;
  OpenFile& open = of(file);
  open.base.pMethods = nullptr;
  open.path = nullptr;
  open.disk = disk;
  open.directory_sync_due = syncs_directory(flags);
  open.plain = reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + sizeof(OpenFile));
  open.plain->pMethods = nullptr;
  const auto locked = disk != nullptr ? disk->lock() : std::unique_lock<std::mutex>();
  const bool created = disk != nullptr && (flags & SQLITE_OPEN_CREATE) != 0 && !fs::exists(name);
  if (created && !disk->change(Change::create, name)) return failure(*disk, SQLITE_CANTOPEN);
  const int result = plain_vfs()->xOpen(plain_vfs(), name, open.plain, flags, out_flags);
  if (result != SQLITE_OK) return result;
  if (disk != nullptr) {
    open.path = new std::string(name);
    disk->file(*open.path, created);
  }
  open.base.pMethods = &k_methods;
  return SQLITE_OK;
}

int on_delete(sqlite3_vfs* /*vfs*/, const char* name, int sync_directory) {
  LossyDisk* disk = LossyDisk::of(name);
  if (disk == nullptr) return plain_vfs()->xDelete(plain_vfs(), name, sync_directory);
  const auto locked = disk->lock();
  if (!disk->change(Change::remove, name)) return SQLITE_IOERR_DELETE;
  const int result = plain_vfs()->xDelete(plain_vfs(), name, 0);
  if (result == SQLITE_OK) disk->removed(name, sync_directory != 0);
  return result;
}

void put(std::string& content, std::size_t offset, std::string_view bytes) {
  if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size(), '\0');
  content.replace(offset, bytes.size(), bytes);
}

Fate draw(Rng& rng, bool atomic) {
  const auto die = rng.below(atomic ? 2 : 10);
  if (atomic) return die == 0 ? Fate::whole : Fate::lost;
  if (die < 4) return Fate::whole;
  if (die < 8) return Fate::lost;
  return die == 8 ? Fate::cut : Fate::garbage;
}

// One write that was not synced, sector by sector.
void survive(std::string& content, const LossyDisk::Pending& write, Rng& rng,
             std::array<std::uint64_t, k_fates>& fates) {
  const auto begin = static_cast<std::size_t>(write.offset);
  for (std::size_t done = 0; done < write.bytes.size();) {
    const std::size_t at = begin + done;
    const std::size_t size = std::min(k_sector - at % k_sector, write.bytes.size() - done);
    const Fate fate = draw(rng, at == 0 && size <= k_atomic_header);
    ++fates.at(static_cast<std::size_t>(fate));
    std::string piece = write.bytes.substr(done, size);
    if (fate == Fate::cut) piece.resize(rng.below(size));
    if (fate == Fate::garbage) {
      for (char& c : piece) c = static_cast<char>(rng.below(256));
    }
    if (fate != Fate::lost) put(content, at, piece);
    done += size;
  }
}

std::string surviving_content(const LossyDisk::File& file, Rng& rng, std::array<std::uint64_t, k_fates>& fates) {
  std::string content = file.durable;
  for (const LossyDisk::Pending& change : file.pending) {
    if (!change.truncation) {
      survive(content, change, rng, fates);
    } else if (rng.below(2) == 0) {
      content.resize(static_cast<std::size_t>(change.offset), '\0');
    }
  }
  return content;
}

}  // namespace

const char* name_of(Change change) {
  constexpr std::array k_names{"write", "truncate", "sync", "create", "delete"};
  return k_names.at(static_cast<std::size_t>(change));
}

const char* name_of(Fate fate) {
  constexpr std::array<const char*, k_fates> k_names{"whole", "lost", "cut short", "garbage"};
  return k_names.at(static_cast<std::size_t>(fate));
}

LossyDisk::LossyDisk(fs::path directory) : directory_(std::move(directory)) {
  static sqlite3_vfs vfs = [] {
    sqlite3_vfs copy = *plain_vfs();
    copy.zName = "lossy";
    copy.szOsFile = static_cast<int>(sizeof(OpenFile)) + plain_vfs()->szOsFile;
    copy.pNext = nullptr;
    copy.xOpen = on_open;
    copy.xDelete = on_delete;
    return copy;
  }();
  const std::scoped_lock locked(disks().mutex);
  disks().all.push_back(this);
  disks().directories.push_back(directory_);
  sqlite3_vfs_register(&vfs, 1);
}

LossyDisk::~LossyDisk() {
  const std::scoped_lock locked(disks().mutex);
  std::erase(disks().all, this);
  std::erase(disks().directories, directory_);
  if (disks().all.empty()) sqlite3_vfs_register(plain_vfs(), 1);
}

LossyDisk* LossyDisk::of(const fs::path& file) {
  const std::scoped_lock locked(disks().mutex);
  const auto found = std::ranges::find(disks().directories, file.parent_path());
  if (found == disks().directories.end()) return nullptr;
  return disks().all[static_cast<std::size_t>(found - disks().directories.begin())];
}

void LossyDisk::lose_power_in(std::uint64_t changes) {
  const auto locked = lock();
  end_ = count_ + changes;
}

void LossyDisk::fill(bool is_full) {
  const auto locked = lock();
  is_full_ = is_full;
}

bool LossyDisk::is_dead() const {
  const auto locked = lock();
  return is_dead_;
}

std::string LossyDisk::last_change() const {
  return name_of(last_change_) + (" " + last_file_);
}

bool LossyDisk::change(Change kind, const std::string& file) {
  if (is_dead_) return false;
  last_change_ = kind;
  last_file_ = fs::path(file).filename().string();
  ++count_;
  if (end_ && count_ >= *end_) is_dead_ = true;
  return !is_dead_ && (!is_full_ || (kind != Change::write && kind != Change::create));
}

LossyDisk::File& LossyDisk::file(const std::string& path, bool created) {
  const auto [known, added] = files_.try_emplace(path);
  if (added && !created) known->second.durable = content_of(path);
  if (created) {
    // The old file of this name may be what the disk still has: another file, no part of it mixes with the new one.
    std::optional<std::string> former;
    if (known->second.removed) former = known->second.entry_durable ? known->second.durable : known->second.former;
    known->second = File{.entry_durable = false, .former = std::move(former)};
  }
  return known->second;
}

void LossyDisk::synced(const std::string& path, bool with_directory) {
  if (is_lying_) return;
  File& file = files_[path];
  for (const Pending& change : file.pending) {
    if (change.truncation) {
      file.durable.resize(static_cast<std::size_t>(change.offset), '\0');
    } else {
      put(file.durable, static_cast<std::size_t>(change.offset), change.bytes);
    }
  }
  file.pending.clear();
  if (!with_directory) return;
  // All names in it.
  for (auto& [name, other] : files_) {
    other.entry_durable = true;
    other.former.reset();
  }
  std::erase_if(files_, [](const auto& entry) { return entry.second.removed; });
}

void LossyDisk::removed(const std::string& path, bool directory_synced) {
  const auto known = files_.find(path);
  if (known == files_.end()) return;
  known->second.removed = true;
  if (directory_synced && !is_lying_) files_.erase(known);
}

void LossyDisk::surviving_image(const fs::path& to, Rng& rng, std::array<std::uint64_t, k_fates>& fates) const {
  for (const auto& entry : fs::directory_iterator(directory_)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().filename().string();
    const bool volatile_memory = name.ends_with("-shm");
    if (!volatile_memory && !files_.contains(entry.path().string())) fs::copy_file(entry.path(), to / name);
  }
  for (const auto& [path, file] : files_) {
    const bool gone = !file.removed && !fs::exists(path);  // renamed by other means than SQLite's
    if (gone || path.ends_with("-shm")) continue;
    const bool as_it_is = (file.entry_durable && !file.removed) || rng.below(2) == 0;
    if (!as_it_is && !file.former) continue;
    std::ofstream(to / fs::path(path).filename(), std::ios::binary)
        << (as_it_is ? surviving_content(file, rng, fates) : *file.former);
  }
}

}  // namespace shapley::daemon
