// Text from files that anybody may have written, read within bounds: a compressed file of a megabyte can hold a line of
// gigabytes. Beyond a bound reading ends with Errc::invalid_argument, which says the line, the bound and the remedy.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace shapley {

// A row of Slurm's, with a node list and resources, is some kilobytes; the exports of a year are some gigabytes.
inline constexpr std::size_t k_max_line = std::size_t{1} << 20;
inline constexpr std::size_t k_max_text = std::size_t{4} << 30;
// What is read as one document, as JSON is.
inline constexpr std::size_t k_max_document = std::size_t{64} << 20;
// The daemon's own notes beside the ledger.
inline constexpr std::size_t k_max_notes = std::size_t{1} << 20;

// The lines of a text, one after the other:
//   Lines lines(text);
//   while (lines.next(line)) ...
//   SHAPLEY_TRY(lines.end());
class Lines {
 public:
  enum class Long {
    refuse,
    cut,  // such a line comes with k_max_line + 1 bytes, the rest of it is passed over
  };
  explicit Lines(std::istream& text, Long longer = Long::refuse, std::size_t most = k_max_text)
      : text_(text), longer_(longer), left_(most), most_(most) {}

  // The next line, without its end and a carriage return before that. False: there is none, or it is too long.
  bool next(std::string& line);
  [[nodiscard]] std::int64_t number() const { return number_; }  // of the last line, from 1
  // Why there was no further line: nothing if the text ended.
  [[nodiscard]] Expected<void> end() const;

 private:
  // Of the line, as far as it fits; true when its end was met.
  bool take_part(std::string& line);

  std::istream& text_;
  Long longer_;
  std::size_t left_;  // bytes that may still be read
  std::size_t most_;
  std::int64_t number_ = 0;
  std::optional<Error> fault_;
  std::array<char, 16 * 1024> part_{};
};

// All of a file of at most so many bytes. Errors name it; Errc::io when it cannot be read.
[[nodiscard]] Expected<std::string> read_text_file(const std::filesystem::path& file, std::size_t most);

}  // namespace shapley
