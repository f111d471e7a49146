// Text that may be shown. Names of jobs, files, tables and programs are chosen by others; written to a terminal
// unchanged, they could clear its screen, show another text than they have, or imitate a line of ours.
//
// printable() is the one function that every byte of text output goes through, and its table (printable.cpp) the one
// list:
//   - C0 (U+0000..U+001F) and DEL: begin escape sequences, move the cursor, erase, end the line;
//   - C1 (U+0080..U+009F): the same to terminals that take them for ESC and a letter; as bytes 0x80..0x9f they are
//     invalid UTF-8;
//   - marks of direction (U+061C, U+200E, U+200F, U+202A..U+202E, U+2066..U+2069): show text in another order than it
//     has, so that "ab" reads "ba";
//   - U+2028 and U+2029: end the line where C0 does not;
//   - characters without width (U+200B..U+200D, U+2060..U+206F, U+FEFF, U+FFF9..U+FFFB, the tags U+E0000..U+E007F): two
//     names that differ would look the same;
//   - noncharacters (U+FDD0..U+FDEF, U+FFFE and U+FFFF of each plane): never text, and terminals differ about them;
//   - what is not UTF-8 (overlong forms, surrogates, beyond U+10FFFF, cut short): terminals differ about where it ends.
// All other text stays as it is. Terminals are taken to speak UTF-8.
//
// An escape is \x1b for a byte below 0x20 or one that is not UTF-8, and else what JSON writes for the character:
// \u202e, \udb40\udc01 beyond U+FFFF. So JSON that is written in UTF-8 stays JSON, of the same value. A backslash stays
// as it is: names with one are plain text, and printable(printable(t)) == printable(t). A reader who must distinguish a
// name `\x1b` from an escape uses --json.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace shapley {

enum class Newlines {
  escaped,  // a value: it stays within its line
  kept,     // a text of several lines that a program wrote, its values escaped before
};

[[nodiscard]] std::string printable(std::string_view text, Newlines newlines = Newlines::escaped);

// The error's lines, each ended, and printable within itself.
[[nodiscard]] std::string printable_lines(const Error& error);

// Standard streams that show only printable text, so that the code that writes to them need not escape it.
//
// main() makes a PrintableStream of std::cout and one of std::cerr; from then on whatever is written to them passes
// printable(text, Newlines::kept). Fields are escaped before, where they become part of a line.
//
// Passes text on to `target`. A character whose bytes come one by one is passed on when it is complete; one that stays
// incomplete is escaped at the end. If `target` fails, the stream fails.
class PrintableBuffer : public std::streambuf {
 public:
  explicit PrintableBuffer(std::streambuf& target) : target_(target) {}
  PrintableBuffer(const PrintableBuffer&) = delete;
  PrintableBuffer& operator=(const PrintableBuffer&) = delete;
  ~PrintableBuffer() override;

  // Passes a control sequence that the program itself intends.
  [[nodiscard]] bool pass_control(std::string_view sequence);

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* data, std::streamsize size) override;
  int sync() override;

 private:
  [[nodiscard]] bool pass(std::string_view text);
  [[nodiscard]] bool pass_rest();
  [[nodiscard]] bool write(std::string_view text);

  std::streambuf& target_;
  std::string begun_;  // the bytes of a character that is not complete yet
};

// REQUIRES: the stream outlives it.
class PrintableStream {
 public:
  explicit PrintableStream(std::ostream& stream);
  PrintableStream(const PrintableStream&) = delete;
  PrintableStream& operator=(const PrintableStream&) = delete;
  ~PrintableStream();

 private:
  std::ostream& stream_;
  std::streambuf* original_;
  PrintableBuffer buffer_;
};

// Control sequences that programs send to a terminal on purpose, and the only way to write one through a
// PrintableStream; any other stream gets the plain sequence.
enum class TerminalControl { line_begin, erase_to_line_end, green, red, dim, plain };

[[nodiscard]] std::string_view sequence_of(TerminalControl control);

std::ostream& operator<<(std::ostream& out, TerminalControl control);

}  // namespace shapley
