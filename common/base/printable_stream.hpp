// Standard streams that show only printable text (printable.hpp), so that nobody who writes to one has to remember it.
//
// main() makes a PrintableStream of std::cout and one of std::cerr; from then on whatever is written to them passes
// printable(text, Newlines::kept). Fields are escaped before, where they become part of a line.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace shapley {

// Passes text on to `target`. A character whose bytes come one by one is passed on when it is whole; one that never
// gets whole is escaped at the end. What `target` does not take is an error of the stream.
class PrintableBuffer : public std::streambuf {
 public:
  explicit PrintableBuffer(std::streambuf& target) : target_(target) {}
  PrintableBuffer(const PrintableBuffer&) = delete;
  PrintableBuffer& operator=(const PrintableBuffer&) = delete;
  ~PrintableBuffer() override;

  // A control sequence that the program itself means.
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
  std::string begun_;  // the bytes of a character that is not whole yet
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

// What programs do to a terminal on purpose. The only way past a PrintableStream; on any other stream the plain
// sequence.
enum class TerminalControl { line_begin, erase_to_line_end, green, red, dim, plain };

[[nodiscard]] std::string_view sequence_of(TerminalControl control);

std::ostream& operator<<(std::ostream& out, TerminalControl control);

}  // namespace shapley
