#include "remote/sealed.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include <sys/random.h>

namespace shapley::remote {

namespace {

constexpr std::string_view k_purpose = "shapley-tcp-2";
constexpr std::size_t k_most_greeting_bytes = 128;
constexpr std::string_view k_credential = "MUNGE:";
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

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t blank = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, blank));
    line.remove_prefix(std::min(blank + 1, line.size()));
  }
  return words;
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// A name as a word; "-" stands for none.
std::string word_of(std::string_view name) {
  return name.empty() ? "-" : std::string(name);
}
std::string name_in(std::string_view word) {
  return word == "-" ? std::string() : std::string(word);
}

std::string first_line(Sealed kind, const Heading& heading, std::size_t part, std::size_t parts) {
  std::string line(k_purpose);
  line += {' ', static_cast<char>(kind), ' '};
  line += heading.challenge + ' ' + heading.nonce + ' ' + std::to_string(heading.number) + ' ' + heading.addressee;
  line += ' ' + word_of(heading.cluster) + ' ' + word_of(heading.ledger);
  return line + ' ' + std::to_string(part) + ' ' + std::to_string(parts) + '\n';
}

struct Part {
  Heading heading;
  std::size_t parts = 0;
  std::string text;
};

// The line is compared with the one that there would have to be.
Expected<Part> parse_part(const std::string& text, Sealed kind, std::size_t index) {
  const auto wrong = [] { return fail(Errc::denied, "a credential that is not for shapleyd, or of another release"); };
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) return wrong();
  const auto words = words_of(std::string_view(text).substr(0, end));
  constexpr std::size_t k_words = 10;
  if (words.size() != k_words) return wrong();
  const auto number = parse_number<std::uint64_t>(words[4]);
  const auto parts = parse_number<std::size_t>(words[9]);
  if (!number || !parts) return wrong();
  Part part{.heading = {.challenge = std::string(words[2]),
                        .nonce = std::string(words[3]),
                        .number = *number,
                        .addressee = std::string(words[5]),
                        .cluster = name_in(words[6]),
                        .ledger = name_in(words[7])},
            .parts = *parts,
            .text = text.substr(end + 1)};
  if (text.substr(0, end + 1) != first_line(kind, part.heading, index, part.parts)) return wrong();
  return part;
}

Expected<void> send_block(const TimedStream& stream, std::string_view block, TimedStream::Clock::time_point until) {
  const Length length = bytes_of(static_cast<std::uint32_t>(block.size()));
  std::string bytes(length.data(), length.size());
  bytes += block;
  return stream.send(bytes, until);
}

Expected<std::string> receive_block(const TimedStream& stream, std::size_t most, TimedStream::Clock::time_point until) {
  Length length{};
  SHAPLEY_TRY(stream.receive_all(length, until));
  const std::uint32_t size = number_of(length);
  if (size == 0 || size > most) return fail(Errc::denied, "it does not speak as shapleyd does");
  std::string block(size, '\0');
  SHAPLEY_TRY(stream.receive_all(block, until));
  return block;
}

// Anything else is not worth a question to munged.
Expected<std::string> receive_credential(const TimedStream& stream, TimedStream::Clock::time_point until) {
  SHAPLEY_TRY_ASSIGN(std::string credential, receive_block(stream, k_most_credential_bytes, until));
  if (!credential.starts_with(k_credential)) return fail(Errc::denied, "it does not speak as shapleyd does");
  return credential;
}

}  // namespace

Expected<std::string> random_digits() {
  constexpr std::string_view k_digits = "0123456789abcdef";
  constexpr unsigned k_bits = 4;
  constexpr unsigned k_low = 0xF;
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return system_failure("random numbers", errno, Errc::unavailable);
  }
  std::string digits;
  for (const unsigned char byte : bytes) digits += {k_digits[byte >> k_bits], k_digits[byte & k_low]};
  return digits;
}

Expected<void> send_greeting(const TimedStream& stream, const Greeting& greeting,
                             TimedStream::Clock::time_point until) {
  return send_block(stream, std::string(k_purpose) + ' ' + greeting.challenge + ' ' + std::to_string(greeting.uid),
                    until);
}

Expected<Greeting> receive_greeting(const TimedStream& stream, TimedStream::Clock::time_point until) {
  SHAPLEY_TRY_ASSIGN(const std::string text, receive_block(stream, k_most_greeting_bytes, until));
  const auto words = words_of(text);
  const auto uid = words.size() == 3 && words[0] == k_purpose ? parse_number<uid_t>(words[2]) : std::nullopt;
  if (!uid) return fail(Errc::denied, "it does not greet as shapleyd of this release does");
  return Greeting{.challenge = std::string(words[1]), .uid = *uid};
}

Expected<void> send_sealed(const TimedStream& stream, const Munge& munge, Sealed kind, const Heading& heading,
                           std::string_view text, uid_t reader, TimedStream::Clock::time_point until) {
  for (const std::string* name : {&heading.cluster, &heading.ledger}) {
    if (name->find_first_of(" \n") != std::string::npos || *name == "-") {
      return fail(Errc::invalid_argument, "'" + *name + "' is no name of a cluster or ledger");
    }
  }
  const std::size_t parts = std::max<std::size_t>(1, (text.size() + k_part_bytes - 1) / k_part_bytes);
  for (std::size_t part = 0; part < parts; ++part) {
    std::string content = first_line(kind, heading, part, parts);
    content += text.substr(part * k_part_bytes, k_part_bytes);
    SHAPLEY_TRY_ASSIGN(const std::string credential, munge.seal(content, reader));
    SHAPLEY_TRY(send_block(stream, credential, until));
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
      message = {.heading = std::move(part.heading), .text = {}, .uid = opened.uid};
      if (parts > most_parts) return fail(Errc::limit, "a message of more parts than there may be");
    } else if (part.heading != message.heading || part.parts != parts || opened.uid != message.uid) {
      return fail(Errc::denied, "parts of different messages");
    }
    message.text += part.text;
  }
  return message;
}

}  // namespace shapley::remote
