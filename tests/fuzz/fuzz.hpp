// What the fuzz targets share. A target is a function of bytes that must hold its laws for all of them; a broken law
// ends the process, which libFuzzer (and the replay of the corpus) reports with the input at fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace shapley::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Takes the first byte; 0 when the text is empty.
inline std::uint8_t take_byte(std::string_view& text) {
  if (text.empty()) return 0;
  const auto byte = static_cast<std::uint8_t>(text.front());
  text.remove_prefix(1);
  return byte;
}

inline void require(bool holds, const char* law) {
  if (holds) return;
  std::fprintf(stderr, "broken law: %s\n", law);
  std::abort();
}

}  // namespace shapley::fuzz
