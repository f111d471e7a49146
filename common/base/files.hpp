// The ways to open a file, and checks of its owner and mode. A name in a directory that other users can write may be
// anything when it is opened: a link, a FIFO, a file without end, a name on a mount that does not answer. So no other
// file of the programs opens files by streams or open(2), except those that a test names
// (tests/architecture/file_rooms).
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <optional>
#include <streambuf>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/process.hpp"

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

// ---- reading ----

// Opens a regular file; what else has the name is refused without waiting for it, except a pipe that is
// named below /dev: one of our own descriptors, as /dev/stdin. A mount that does not answer can keep this waiting
// without end. Errors: "FILE: cannot be opened: ...", Errc::not_found, Errc::io.
[[nodiscard]] Expected<Descriptor> open_to_read(const std::filesystem::path& file);
// All that is left of an opened file, at most `most` bytes. `file` is for messages.
[[nodiscard]] Expected<std::string> read_text(const Descriptor& in, const std::filesystem::path& file,
                                              std::size_t most);

// The whole content of a file of at most `most` bytes. Errors name the file; Errc::io when it cannot be read.
[[nodiscard]] Expected<std::string> read_text_file(const std::filesystem::path& file, std::size_t most);

struct Patience {
  std::chrono::milliseconds time;
  int wake_up = -1;  // a descriptor: once it is readable, the reading ends with Errc::unavailable; -1: none
};

// The same of a path whose mount may not answer, as in a folder of others: Errc::not_found when there is no such file,
// Errc::unavailable when it has not been read in time. The thread that
// waits for it is left alone then, and until it has ended no further one is started for this path.
[[nodiscard]] Expected<std::string> read_text_file(const std::filesystem::path& file, std::size_t most,
                                                   const Patience& patience);

// The content of a file as a stream. After an end without bad() it was read to its end.
class InputFile : public std::istream {
 public:
  // Errors: open_to_read().
  [[nodiscard]] static Expected<InputFile> open(const std::filesystem::path& file);
  InputFile(InputFile&& other) noexcept;

 private:
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(Descriptor file) : file_(std::move(file)) {}

   protected:
    int_type underflow() override;

   private:
    Descriptor file_;
    std::array<char, 64 * 1024> part_;
  };
  explicit InputFile(std::unique_ptr<Buffer> buffer);
  std::unique_ptr<Buffer> buffer_;
};

// ---- writing ----

enum class Readers { owner, by_umask };

// Creates the file, empty, and returns it open for writing. A name that exists, also as a link, is not followed:
// Errc::conflict. Errc::io, Errc::no_space.
[[nodiscard]] Expected<Descriptor> create_file(const std::filesystem::path& file, unsigned mode);
// Writes all of it. `file` is for messages. Errc::io, Errc::no_space.
[[nodiscard]] Expected<void> write_all(const Descriptor& out, std::string_view text, const std::filesystem::path& file);
// create_file(), the text, and a sync.
[[nodiscard]] Expected<void> write_new_file(const std::filesystem::path& file, std::string_view text, unsigned mode);

// Replaces or creates the file, completely or not at all; on disk when it returns. It is written beside its place under
// a random name, and renamed: a link of its name is replaced, and what it leads to stays as it is. Errors: Errc::io,
// Errc::no_space; then the former content stays.
[[nodiscard]] Expected<void> replace_file(const std::filesystem::path& file, std::string_view text, Readers readers);
// Overwrites the first bytes of the file, which is created with mode 0600; not synced. A link is refused. REQUIRES: no
// other user can write its directory. Errc::io, Errc::no_space.
[[nodiscard]] Expected<void> overwrite_begin(const std::filesystem::path& file, std::string_view text);

// Syncs the file, or the names in a directory, to disk. Errc::io, Errc::no_space.
[[nodiscard]] Expected<void> sync_file(const std::filesystem::path& file);

// Renames a file over another one in the same directory; on disk when it returns. Errc::conflict: that is a device, a
// pipe or a socket, which stays.
[[nodiscard]] Expected<void> rename_file(const std::filesystem::path& from, const std::filesystem::path& to);

// ---- owners and modes ----

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
