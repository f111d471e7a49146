#include "remote/sealed.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace shapley::remote {

namespace {

constexpr std::string_view k_purpose = "shapley-controllers-1";
// A part in base 64, munge's own bytes and the first line.
constexpr std::size_t k_most_credential_bytes = k_part_bytes * 4 / 3 + 4096;
constexpr unsigned k_bits_a_byte = 8;
constexpr std::uint32_t k_byte = 0xFF;

using Length = std::array<char, 4>;

Length bytes_of(std::uint32_t number) {
  Length bytes{};
  for (std::size_t i = bytes.size(); i > 0; --i) {
    bytes[i - 1] = static_cast<char>(number & k_byte);
    number >>= k_bits_a_byte;
  }
  return bytes;
}

std::uint32_t number_of(const Length& bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes) number = (number << k_bits_a_byte) | static_cast<unsigned char>(byte);
  return number;
}

std::string first_line(Sealed kind, std::string_view nonce, std::size_t part, std::size_t parts) {
  std::string line(k_purpose);
  line += {' ', static_cast<char>(kind), ' '};
  line += nonce;
  return line + ' ' + std::to_string(part) + ' ' + std::to_string(parts) + '\n';
}

struct Part {
  std::string nonce;
  std::size_t parts = 0;
  std::string text;
};

// The line is compared with the one that there would have to be.
Expected<Part> parse_part(const std::string& text, Sealed kind, std::size_t index) {
  const auto wrong = [] { return fail(Errc::denied, "a credential that is not for shapleyd, or of another release"); };
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) return wrong();
  std::array<std::string_view, 5> fields{};
  std::string_view line(text.data(), end);
  for (std::string_view& field : fields) {
    const std::size_t blank = std::min(line.find(' '), line.size());
    field = line.substr(0, blank);
    line.remove_prefix(std::min(blank + 1, line.size()));
  }
  constexpr std::size_t k_most_digits = 4;
  const std::string_view count = fields[4];
  if (count.empty() || count.size() > k_most_digits || count.find_first_not_of("0123456789") != std::string::npos) {
    return wrong();
  }
  Part part{.nonce = std::string(fields[2]), .parts = std::stoul(std::string(count)), .text = text.substr(end + 1)};
  if (text.substr(0, end + 1) != first_line(kind, part.nonce, index, part.parts)) return wrong();
  return part;
}

Expected<std::string> receive_credential(const TimedStream& stream, TimedStream::Clock::time_point until) {
  Length length{};
  SHAPLEY_TRY(stream.receive_all(length, until));
  const std::uint32_t size = number_of(length);
  if (size == 0 || size > k_most_credential_bytes) return fail(Errc::denied, "it does not speak as shapleyd does");
  std::string credential(size, '\0');
  SHAPLEY_TRY(stream.receive_all(credential, until));
  return credential;
}

}  // namespace

Expected<void> send_sealed(const TimedStream& stream, const Munge& munge, Sealed kind, std::string_view nonce,
                           std::string_view text, TimedStream::Clock::time_point until) {
  const std::size_t parts = std::max<std::size_t>(1, (text.size() + k_part_bytes - 1) / k_part_bytes);
  for (std::size_t part = 0; part < parts; ++part) {
    std::string content = first_line(kind, nonce, part, parts);
    content += text.substr(part * k_part_bytes, k_part_bytes);
    SHAPLEY_TRY_ASSIGN(const std::string credential, munge.seal(content));
    const Length length = bytes_of(static_cast<std::uint32_t>(credential.size()));
    SHAPLEY_TRY(stream.send({length.data(), length.size()}, until));
    SHAPLEY_TRY(stream.send(credential, until));
  }
  return {};
}

Expected<SealedMessage> receive_sealed(const TimedStream& stream, const Munge& munge, Sealed kind,
                                       std::size_t most_parts, TimedStream::Clock::time_point until) {
  SealedMessage message;
  std::size_t parts = 1;
  for (std::size_t index = 0; index < parts; ++index) {
    SHAPLEY_TRY_ASSIGN(const std::string credential, receive_credential(stream, until));
    SHAPLEY_TRY_ASSIGN(const Munge::Opened opened, munge.open(credential));
    SHAPLEY_TRY_ASSIGN(Part part, parse_part(opened.text, kind, index));
    if (index == 0) {
      parts = part.parts;
      message = {.nonce = std::move(part.nonce), .text = {}, .uid = opened.uid};
      if (parts > most_parts) return fail(Errc::limit, "a message of more parts than there may be");
    } else if (part.nonce != message.nonce || part.parts != parts || opened.uid != message.uid) {
      return fail(Errc::denied, "parts of different messages");
    }
    message.text += part.text;
  }
  return message;
}

}  // namespace shapley::remote
