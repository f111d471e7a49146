// Values as bytes for temporary files of this process only: numbers in the machine's own representation.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/types.hpp"
#include "protocol/messages.hpp"

namespace shapley::sacct {

// Appends a number so that bytes compare as numbers do.
inline void add_ordered(std::int64_t number, std::string& bytes) {
  const std::uint64_t raised = static_cast<std::uint64_t>(number) ^ (std::uint64_t{1} << 63U);
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(raised >> shift & 0xffU);
}

class Packer {
 public:
  explicit Packer(std::string& bytes) : bytes_(bytes) {}

  template <typename T>
  requires std::is_arithmetic_v<T>
  void operator()(T value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes_.append(raw, sizeof raw);
  }
  void operator()(const std::string& text) {
    (*this)(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
  }
  void operator()(Instant at) { (*this)(at.value); }
  void operator()(Duration time) { (*this)(time.value); }
  void operator()(const protocol::Tres& tres) { (*this)(tres.name), (*this)(tres.count); }
  template <typename T>
  void operator()(const std::optional<T>& value) {
    (*this)(value.has_value());
    if (value) (*this)(*value);
  }
  template <typename T>
  void operator()(const std::vector<T>& values) {
    (*this)(static_cast<std::uint32_t>(values.size()));
    for (const T& value : values) (*this)(value);
  }

 private:
  std::string& bytes_;
};

// Removes from the front what a Packer appended.
class Unpacker {
 public:
  explicit Unpacker(std::string_view& bytes) : bytes_(bytes) {}

  template <typename T>
  requires std::is_arithmetic_v<T>
  void operator()(T& value) {
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
  }
  void operator()(std::string& text) {
    std::uint32_t size = 0;
    (*this)(size);
    text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
  }
  void operator()(Instant& at) { (*this)(at.value); }
  void operator()(Duration& time) { (*this)(time.value); }
  void operator()(protocol::Tres& tres) { (*this)(tres.name), (*this)(tres.count); }
  template <typename T>
  void operator()(std::optional<T>& value) {
    bool is_there = false;
    (*this)(is_there);
    if (is_there) (*this)(value.emplace());
  }
  template <typename T>
  void operator()(std::vector<T>& values) {
    std::uint32_t size = 0;
    (*this)(size);
    values.resize(size);
    for (T& value : values) (*this)(value);
  }

 private:
  std::string_view& bytes_;
};

}  // namespace shapley::sacct
