// CRC-32 as in IEEE 802.3 (reflected polynomial 0xEDB88320), to tell a torn or flipped spool frame from a whole one.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace shapley::client {

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
