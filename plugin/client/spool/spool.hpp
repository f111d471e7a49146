// The file in StateSaveLocation that holds observations shapleyd has not acknowledged, so that a killed slurmctld loses
// none of them. Format: docs/internals/plugin-client.md.
//
// Used by the feeder thread only. A frame is appended completely or not at all: after a failed write (full disk) the
// file is cut back to its last complete frame. Frames that a crash or a disk damaged are skipped on opening and
// reported, never used.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/process.hpp"

namespace shapley::client {

class Spool {
 public:
  // The place of a frame's body in the file.
  struct Place {
    std::uint64_t offset = 0;
    std::uint32_t length = 0;  // 0: not in the file
  };
  using Visit = std::function<bool(Place, std::string_view body)>;

  explicit Spool(std::string path) : path_(std::move(path)) {}

  // Opens or creates the file and visits each intact frame in order; a visitor that returns false declares the frame
  // damaged. Returns a sentence about what was damaged and left out, empty if nothing was. A file of another format or
  // version is moved to PATH.rejected. After an error the file stays closed.
  [[nodiscard]] Expected<std::string> open(const Visit& visit);
  [[nodiscard]] bool is_open() const { return file_.is_open(); }

  // Durable after sync(). REQUIRES for a value: is_open().
  [[nodiscard]] Expected<Place> append(std::string_view body);
  [[nodiscard]] Expected<void> sync();
  // The body at a place, checked against its CRC (Errc::corrupt).
  [[nodiscard]] Expected<std::string> read(Place place) const;

  // Forgets every frame.
  [[nodiscard]] Expected<void> clear();
  // Forgets the frames before `first`, by writing the others to a new file that replaces this one at once. Returns how
  // far the remaining frames moved towards the beginning.
  [[nodiscard]] Expected<std::uint64_t> compact(Place first);

  // Bytes of frames in the file, forgotten ones included; 0 when it is closed.
  [[nodiscard]] std::uint64_t bytes() const;
  // The bytes of the frames before this one.
  [[nodiscard]] static std::uint64_t bytes_before(Place first);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[nodiscard]] Expected<void> create(const std::string& path, Descriptor& file) const;
  [[nodiscard]] Expected<std::string> open_and_visit(const Visit& visit);
  [[nodiscard]] Expected<bool> has_our_header(std::uint64_t file_bytes) const;
  [[nodiscard]] Expected<void> set_aside();
  [[nodiscard]] Expected<std::string> visit_frames(std::uint64_t file_bytes, const Visit& visit);
  [[nodiscard]] Expected<std::uint64_t> next_magic(std::uint64_t from, std::uint64_t file_bytes) const;

  std::string path_;
  Descriptor file_;
  std::uint64_t end_ = 0;  // where the next frame is written
};

// CRC-32 as in IEEE 802.3 (reflected polynomial 0xEDB88320), to detect a torn or flipped spool frame.

namespace detail {
constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1U) != 0 ? (value >> 1U) ^ 0xEDB88320U : value >> 1U;
    table[i] = value;
  }
  return table;
}
inline constexpr auto k_crc_table = make_crc_table();
}  // namespace detail

[[nodiscard]] constexpr std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char byte : bytes) {
    crc = detail::k_crc_table[(crc ^ static_cast<std::uint8_t>(byte)) & 0xFFU] ^ (crc >> 8U);
  }
  return ~crc;
}

static_assert(crc32("123456789") == 0xCBF43926U);  // the check value that every description of this CRC gives

}  // namespace shapley::client
