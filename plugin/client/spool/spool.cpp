#include "plugin/client/spool/spool.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/codec.hpp"

namespace shapley::client {

namespace {

constexpr std::string_view k_header = "shapley-spool 1 protocol 1\n";
static_assert(protocol::k_version == 1, "a new protocol version needs a new header: old bodies cannot be decoded");

// Before each frame: the magic to find the next one after damage, the body's length and CRC-32, both big endian.
constexpr std::string_view k_magic = "SHPL";
constexpr std::size_t k_prefix_bytes = 12;

void put_u32(char* at, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<char>(value >> (24 - 8 * i));
}

std::uint32_t get_u32(const char* at) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = (value << 8U) | static_cast<std::uint8_t>(at[i]);
  return value;
}

// The whole range or an errno; short reads mean that the file is shorter than we know it to be.
int read_fully(int fd, char* to, std::size_t bytes, std::uint64_t offset) {
  while (bytes > 0) {
    const ssize_t got = ::pread(fd, to, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return ENODATA;
    to += got;
    bytes -= static_cast<std::size_t>(got);
    offset += static_cast<std::uint64_t>(got);
  }
  return 0;
}

int write_fully(int fd, std::string_view bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return 0;
}

// Makes a new or renamed file's name durable.
void sync_directory_of(const std::string& path) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  const Descriptor folder(::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open()) ::fsync(folder.get());
}

}  // namespace

Expected<void> Spool::create(const std::string& path, Descriptor& file) const {
  file = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return system_failure("open " + path, errno);
  return {};
}

Expected<std::string> Spool::open(const Visit& visit) {
  file_.reset();
  Expected<std::string> damage = open_and_visit(visit);
  if (!damage) file_.reset();  // its content is not known, so nothing may be written over it
  return damage;
}

Expected<std::string> Spool::open_and_visit(const Visit& visit) {
  SHAPLEY_TRY(create(path_, file_));
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) return system_failure("stat " + path_, errno);
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  SHAPLEY_TRY_ASSIGN(const bool ours, has_our_header(file_bytes));
  std::string damage;
  if (!ours) {
    SHAPLEY_TRY(set_aside());
    damage = "it has another format or version; moved to " + path_ + ".rejected";
  }
  if (!ours || file_bytes <= k_header.size()) {
    SHAPLEY_TRY(clear());
    sync_directory_of(path_);
    return damage;
  }
  return visit_frames(file_bytes, visit);
}

Expected<bool> Spool::has_our_header(std::uint64_t file_bytes) const {
  std::array<char, k_header.size()> header{};
  // A file shorter than the header can only be one whose creation was cut short.
  const std::size_t bytes = std::min<std::uint64_t>(file_bytes, header.size());
  if (const int error = read_fully(file_.get(), header.data(), bytes, 0)) return system_failure("read " + path_, error);
  return std::string_view(header.data(), bytes) == k_header.substr(0, bytes);
}

Expected<void> Spool::set_aside() {
  const std::string aside = path_ + ".rejected";
  if (::rename(path_.c_str(), aside.c_str()) != 0) return system_failure("rename " + path_, errno);
  return create(path_, file_);
}

Expected<std::string> Spool::visit_frames(std::uint64_t file_bytes, const Visit& visit) {
  std::uint64_t offset = k_header.size();
  std::uint64_t damaged_bytes = 0;
  std::optional<std::uint64_t> first_damage;
  end_ = offset;
  while (offset < file_bytes) {
    std::array<char, k_prefix_bytes> prefix{};
    const std::uint64_t left = file_bytes - offset;
    bool intact = left > k_prefix_bytes && read_fully(file_.get(), prefix.data(), prefix.size(), offset) == 0 &&
                  std::string_view(prefix.data(), k_magic.size()) == k_magic;
    const std::uint32_t length = intact ? get_u32(&prefix[4]) : 0;
    intact = length > 0 && length <= protocol::k_max_frame_bytes && length <= left - k_prefix_bytes;
    if (intact) {
      const Place place{offset + k_prefix_bytes, length};
      const Expected<std::string> body = read(place);
      intact = body.has_value() && visit(place, *body);
    }
    if (intact) {
      offset += k_prefix_bytes + length;
      end_ = offset;
      continue;
    }
    if (!first_damage) first_damage = offset;
    SHAPLEY_TRY_ASSIGN(const std::uint64_t next, next_magic(offset + 1, file_bytes));
    damaged_bytes += next - offset;
    offset = next;
  }
  if (!first_damage) return std::string();
  // New frames follow the last intact one, so a torn tail does not outlive this.
  if (::ftruncate(file_.get(), static_cast<off_t>(end_)) != 0) return system_failure("truncate " + path_, errno);
  return std::to_string(damaged_bytes) + " bytes from offset " + std::to_string(*first_damage) +
         " on are damaged (a torn write or a disk fault) and were left out";
}

Expected<std::uint64_t> Spool::next_magic(std::uint64_t from, std::uint64_t file_bytes) const {
  std::string window;
  while (from + k_magic.size() <= file_bytes) {
    window.resize(std::min<std::uint64_t>(64U << 10U, file_bytes - from));
    if (const int error = read_fully(file_.get(), window.data(), window.size(), from)) {
      return system_failure("read " + path_, error);
    }
    const std::size_t found = window.find(k_magic);
    if (found != std::string::npos) return from + found;
    from += window.size() - (k_magic.size() - 1);  // a magic may lie across two windows
  }
  return file_bytes;
}

Expected<Spool::Place> Spool::append(std::string_view body) {
  if (!file_.is_open()) return fail(Errc::unavailable, "write " + path_ + ": the file is not open");
  std::string frame(k_prefix_bytes, '\0');
  frame.replace(0, k_magic.size(), k_magic);
  put_u32(&frame[4], static_cast<std::uint32_t>(body.size()));
  put_u32(&frame[8], crc32(body));
  frame += body;
  if (const int error = write_fully(file_.get(), frame, end_)) {
    [[maybe_unused]] const int cut = ::ftruncate(file_.get(), static_cast<off_t>(end_));
    return system_failure("write " + path_, error);
  }
  const Place place{end_ + k_prefix_bytes, static_cast<std::uint32_t>(body.size())};
  end_ += frame.size();
  return place;
}

Expected<void> Spool::sync() {
  if (file_.is_open() && ::fdatasync(file_.get()) != 0) return system_failure("fdatasync " + path_, errno);
  return {};
}

Expected<std::string> Spool::read(Place place) const {
  std::array<char, k_prefix_bytes> prefix{};
  std::string body(place.length, '\0');
  int error = read_fully(file_.get(), prefix.data(), prefix.size(), place.offset - k_prefix_bytes);
  if (error == 0) error = read_fully(file_.get(), body.data(), body.size(), place.offset);
  if (error != 0) return system_failure("read " + path_, error);
  if (get_u32(&prefix[4]) != place.length || get_u32(&prefix[8]) != crc32(body)) {
    return fail(Errc::corrupt, "read " + path_ + ": the frame at offset " +
                                   std::to_string(place.offset - k_prefix_bytes) + " does not match its checksum");
  }
  return body;
}

Expected<void> Spool::clear() {
  if (!file_.is_open()) return {};
  if (::ftruncate(file_.get(), 0) != 0) return system_failure("truncate " + path_, errno);
  end_ = 0;
  if (const int error = write_fully(file_.get(), k_header, 0)) {
    file_.reset();
    return system_failure("write " + path_, error);
  }
  end_ = k_header.size();
  return {};
}

Expected<std::uint64_t> Spool::compact(Place first) {
  const std::uint64_t from = first.offset - k_prefix_bytes;
  const std::string next_path = path_ + ".new";
  Spool next(next_path);
  SHAPLEY_TRY(create(next_path, next.file_));
  SHAPLEY_TRY(next.clear());
  std::string window;
  for (std::uint64_t at = from; at < end_; at += window.size()) {
    window.resize(std::min<std::uint64_t>(1U << 20U, end_ - at));
    int error = read_fully(file_.get(), window.data(), window.size(), at);
    if (error == 0) error = write_fully(next.file_.get(), window, next.end_);
    if (error != 0) {
      ::unlink(next_path.c_str());
      return system_failure("compact " + path_, error);
    }
    next.end_ += window.size();
  }
  if (::fdatasync(next.file_.get()) != 0 || ::rename(next_path.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(next_path.c_str());
    return system_failure("compact " + path_, error);
  }
  sync_directory_of(path_);
  file_ = std::move(next.file_);
  const std::uint64_t shift = end_ - next.end_;
  end_ = next.end_;
  return shift;
}

std::uint64_t Spool::bytes() const {
  return !file_.is_open() || end_ <= k_header.size() ? 0 : end_ - k_header.size();
}

std::uint64_t Spool::bytes_before(Place first) {
  return first.offset - k_prefix_bytes - k_header.size();
}

}  // namespace shapley::client
