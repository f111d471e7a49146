// Reading files that other users may have written: within bounds, and with checks of their owners and modes.
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

// Text from files that any user may have written, read within bounds: a compressed file of a megabyte can hold a line
// of gigabytes. Beyond a bound reading ends with Errc::invalid_argument, which says the line, the bound and the remedy.

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
    cut,  // a longer line is returned cut to k_max_line + 1 bytes; the rest of it is skipped
  };
  explicit Lines(std::istream& text, Long longer = Long::refuse, std::size_t most = k_max_text)
      : text_(text), longer_(longer), left_(most), most_(most) {}

  // The next line, without its end and a carriage return before that. False: there is no further one, or it is too
  // long.
  bool next(std::string& line);
  [[nodiscard]] std::int64_t number() const { return number_; }  // of the last line, from 1
  // Why there was no further line: nothing if the text ended.
  [[nodiscard]] Expected<void> end() const;

 private:
  // Appends to `line` as much of it as fits; true when its end was reached.
  bool take_part(std::string& line);

  std::istream& text_;
  Long longer_;
  std::size_t left_;  // bytes that may still be read
  std::size_t most_;
  std::int64_t number_ = 0;
  std::optional<Error> fault_;
  std::array<char, 16 * 1024> part_{};
};

// The whole content of a file of at most `most` bytes. Errors name the file; Errc::io when it cannot be read.
[[nodiscard]] Expected<std::string> read_text_file(const std::filesystem::path& file, std::size_t most);

// Checks of a file that we are about to trust: which other users could have changed or could read it. They look at
// modes and owners only; POSIX ACLs show in the group's bits (as their mask), so they are seen too.
//
// A refusal is Errc::denied; its text names the path, what was found and the command that corrects it. Errc::io,
// Errc::not_found: the path cannot be examined.
//
// The file is owned by root or by us, and no other user can write it. `what` names it in messages ("the
// configuration").
[[nodiscard]] Expected<void> check_unwritable(const std::filesystem::path& file, std::string_view what);

// Takes the rights of other users from a file that belongs to root or to us: mode 0600 at most. Returns the former
// mode, as chmod takes it, if others had rights. A symbolic link, and what check_unwritable() refuses, is refused and
// not changed; anything but a file is ignored. REQUIRES: no other user can replace it (check_directory).
[[nodiscard]] Expected<std::optional<std::string>> make_private(const std::filesystem::path& file,
                                                                std::string_view what);

enum class Sticky { refused, allowed };

// Only root and we can replace a file in `directory`: it belongs to root or to us and no other user can write it.
// The directories above it must not be open to all, unless they are like /tmp (sticky: all users may write, but each
// may remove only its own files); with Sticky::allowed `directory` itself may be such a one.
[[nodiscard]] Expected<void> check_directory(const std::filesystem::path& directory, std::string_view what,
                                             Sticky sticky = Sticky::refused);

}  // namespace shapley
