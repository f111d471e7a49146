#include "base/printable.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/text.hpp"

namespace shapley {

namespace {

struct CodePoints {
  char32_t first;
  char32_t last;
};

// In order. The noncharacters at the end of each plane are not listed: is_escaped() knows them by their last 16 bits.
constexpr std::array k_escaped{
    CodePoints{0x00, 0x1f},        // C0
    CodePoints{0x7f, 0x9f},        // DEL, C1
    CodePoints{0x061c, 0x061c},    // Arabic letter mark
    CodePoints{0x200b, 0x200f},    // without width; marks of direction
    CodePoints{0x2028, 0x202e},    // separators of lines and paragraphs; embeddings and overrides of direction
    CodePoints{0x2060, 0x206f},    // without width; isolates of direction
    CodePoints{0xfdd0, 0xfdef},    // noncharacters
    CodePoints{0xfeff, 0xfeff},    // byte order mark, without width
    CodePoints{0xfff9, 0xfffb},    // marks of annotations
    CodePoints{0xe0000, 0xe007f},  // tags
};

bool is_escaped(char32_t code_point) {
  if ((code_point & 0xfffeU) == 0xfffeU) return true;
  return std::any_of(k_escaped.begin(), k_escaped.end(),
                     [=](CodePoints range) { return range.first <= code_point && code_point <= range.last; });
}

void append_hex(std::string& out, std::string_view mark, unsigned value, unsigned digits) {
  out += mark;
  while (digits > 0) out += "0123456789abcdef"[(value >> (4U * --digits)) & 15U];
}

void append_byte(std::string& out, char byte) {
  append_hex(out, "\\x", static_cast<unsigned char>(byte), 2);
}

void append_escape(std::string& out, char32_t code_point) {
  if (code_point < 0x20) return append_hex(out, "\\x", code_point, 2);
  if (code_point <= 0xffff) return append_hex(out, "\\u", code_point, 4);
  const char32_t beyond = code_point - 0x10000;
  append_hex(out, "\\u", 0xd800U | (beyond >> 10U), 4);
  append_hex(out, "\\u", 0xdc00U | (beyond & 0x3ffU), 4);
}

bool is_plain(char c) {
  return c >= ' ' && c <= '~';
}

constexpr std::size_t k_most_bytes = 4;  // of a character

// The number of bytes at the end of the text that begin a character which more bytes could complete.
std::size_t unended_bytes(std::string_view text) {
  for (std::size_t bytes = 1; bytes < k_most_bytes && bytes <= text.size(); ++bytes) {
    if (first_character(text.substr(text.size() - bytes)).kind == Utf8Character::Kind::unended) return bytes;
  }
  return 0;
}

}  // namespace

std::string printable(std::string_view text, Newlines newlines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    // Most text is plain throughout.
    const auto plain = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Utf8Character character = first_character(text);
    if (character.kind != Utf8Character::Kind::whole) {
      for (const char byte : text.substr(0, character.bytes)) append_byte(out, byte);
    } else if (is_escaped(character.code_point) && !(newlines == Newlines::kept && text.front() == '\n')) {
      append_escape(out, character.code_point);
    } else {
      out += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return out;
}

std::string printable_lines(const Error& error) {
  std::string lines = printable(error.what) + '\n';
  for (const std::string& line : error.more) lines += printable(line) + '\n';
  return lines;
}

PrintableBuffer::~PrintableBuffer() {
  // Write errors cannot be reported from a destructor.
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
