#include "base/printable_stream.hpp"

#include <algorithm>
#include <utility>

#include "base/printable.hpp"
#include "base/utf8.hpp"

namespace shapley {

namespace {

constexpr std::size_t k_most_bytes = 4;  // of a character

// How many bytes at the end of the text begin a character that more bytes could make whole.
std::size_t unended_bytes(std::string_view text) {
  for (std::size_t bytes = 1; bytes < k_most_bytes && bytes <= text.size(); ++bytes) {
    if (first_character(text.substr(text.size() - bytes)).kind == Utf8Character::Kind::unended) return bytes;
  }
  return 0;
}

}  // namespace

PrintableBuffer::~PrintableBuffer() {
  // A stream that takes nothing any more cannot be told so either.
  static_cast<void>(pass_rest());
}

bool PrintableBuffer::write(std::string_view text) {
  const auto size = static_cast<std::streamsize>(text.size());
  return target_.sputn(text.data(), size) == size;
}

bool PrintableBuffer::pass(std::string_view text) {
  const std::string whole = std::exchange(begun_, {}) + std::string(text);
  const std::size_t unended = unended_bytes(whole);
  begun_ = whole.substr(whole.size() - unended);
  return write(printable(std::string_view(whole).substr(0, whole.size() - unended), Newlines::kept));
}

bool PrintableBuffer::pass_rest() {
  return write(printable(std::exchange(begun_, {}), Newlines::kept));
}

bool PrintableBuffer::pass_control(std::string_view sequence) {
  return pass_rest() && write(sequence);
}

PrintableBuffer::int_type PrintableBuffer::overflow(int_type character) {
  if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
  const char byte = traits_type::to_char_type(character);
  return pass({&byte, 1}) ? character : traits_type::eof();
}

std::streamsize PrintableBuffer::xsputn(const char* data, std::streamsize size) {
  return pass({data, static_cast<std::size_t>(size)}) ? size : 0;
}

int PrintableBuffer::sync() {
  return target_.pubsync();
}

PrintableStream::PrintableStream(std::ostream& stream)
    : stream_(stream), original_(stream.rdbuf()), buffer_(*original_) {
  stream_.rdbuf(&buffer_);
}

PrintableStream::~PrintableStream() {
  stream_.flush();
  stream_.rdbuf(original_);
}

std::string_view sequence_of(TerminalControl control) {
  switch (control) {
    case TerminalControl::line_begin:
      return "\r";
    case TerminalControl::erase_to_line_end:
      return "\033[K";
    case TerminalControl::green:
      return "\033[32m";
    case TerminalControl::red:
      return "\033[31m";
    case TerminalControl::dim:
      return "\033[2m";
    case TerminalControl::plain:
      return "\033[0m";
  }
  return {};
}

std::ostream& operator<<(std::ostream& out, TerminalControl control) {
  auto* buffer = dynamic_cast<PrintableBuffer*>(out.rdbuf());
  if (buffer == nullptr) return out << sequence_of(control);
  if (!buffer->pass_control(sequence_of(control))) out.setstate(std::ios_base::badbit);
  return out;
}

}  // namespace shapley
