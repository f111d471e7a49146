#include "remote/sealed.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/json.hpp"
#include "base/slurm_text.hpp"
#include "base/text.hpp"

namespace shapley::remote {

namespace {

using Clock = TimedStream::Clock;

constexpr std::string_view k_purpose = "shapley-tcp-2 ";
constexpr std::size_t k_most_greeting_bytes = 128;
constexpr std::string_view k_refusal = "shapley-tcp-2 refused";
constexpr std::string_view k_credential = "MUNGE:";
constexpr std::size_t k_part_bytes = 256U << 10U;
// A part in base 64, munge's own bytes and the first line.
constexpr std::size_t k_most_credential_bytes = k_part_bytes * 4 / 3 + 4096;
// More than any answer has.
constexpr std::size_t k_most_answer_parts = 256;

struct FirstLine {
  std::string kind;
  Heading heading;
  std::size_t part = 0;
  std::size_t parts = 0;
};
constexpr auto description_of(std::type_identity<FirstLine>) {
  return describe(member("kind", &FirstLine::kind), member("heading", &FirstLine::heading),
                  member("part", &FirstLine::part), member("parts", &FirstLine::parts));
}

std::string text_of(const FirstLine& line) {
  return std::string(k_purpose) + shapley::text_of(json_of(line)) + '\n';
}

std::string text_of(const Greeting& greeting) {
  return fmt::format("{}{} {}", k_purpose, greeting.challenge, greeting.uid);
}

// nullopt: the text does not begin with such a line exactly as we would write it.
std::optional<FirstLine> first_line_of(std::string_view text, Sealed kind, std::size_t part) {
  if (!text.starts_with(k_purpose)) return std::nullopt;
  auto line = from_json<FirstLine>(parse_json(text.substr(k_purpose.size(), text.find('\n') - k_purpose.size())));
  if (!line || !text.starts_with(text_of(*line)) || line->part != part ||
      line->kind != std::string(1, static_cast<char>(kind)))
    return std::nullopt;
  return *std::move(line);
}

Expected<void> send_block(const TimedStream& stream, std::string_view block, Clock::time_point until) {
  const std::uint32_t length = htonl(static_cast<std::uint32_t>(block.size()));
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return stream.send(bytes.append(block), until);
}

Expected<std::string> receive_block(const TimedStream& stream, std::size_t most, Clock::time_point until) {
  std::uint32_t length = 0;
  SHAPLEY_TRY(stream.receive_all({reinterpret_cast<char*>(&length), sizeof length}, until));
  length = ntohl(length);
  if (length == 0 || length > most) return fail(Errc::protocol, "it does not speak as shapleyd does");
  std::string block(length, '\0');
  SHAPLEY_TRY(stream.receive_all(block, until));
  return block;
}

// Why there is no socket: shapleyd's packaged unit allows those of the host alone.
std::string without_network(int cause) {
  const std::string what = std::strerror(cause);
  return cause == EAFNOSUPPORT ? what + ": systemd's unit gives this program no network (RestrictAddressFamilies)"
                               : what;
}

tl::unexpected<Error> not_answered(const Error& error) {
  return fail(error.code, error.code == Errc::unavailable ? "does not answer: " + error.what : error.what);
}

}  // namespace

Expected<std::string> random_digits() {
  std::array<char, 16> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return system_failure("random numbers", errno, Errc::unavailable);
  }
  return to_hex({random.data(), random.size()});
}

Expected<void> send_greeting(const TimedStream& stream, const Greeting& greeting, Clock::time_point until) {
  return send_block(stream, text_of(greeting), until);
}

Expected<Greeting> receive_greeting(const TimedStream& stream, Clock::time_point until) {
  SHAPLEY_TRY_ASSIGN(const std::string text, receive_block(stream, k_most_greeting_bytes, until));
  const std::size_t last = text.rfind(' ') + 1;
  const auto uid = parse_number<uid_t>(std::string_view(text).substr(last));
  if (!uid || !text.starts_with(k_purpose) || last <= k_purpose.size()) {
    return fail(Errc::denied, "it does not greet as shapleyd of this release does");
  }
  return Greeting{.challenge = text.substr(k_purpose.size(), last - 1 - k_purpose.size()), .uid = *uid};
}

Expected<void> send_sealed(const TimedStream& stream, const Munge& munge, Sealed kind, const Heading& heading,
                           std::string_view text, uid_t reader, Clock::time_point until) {
  FirstLine line{.kind = std::string(1, static_cast<char>(kind)), .heading = heading};
  line.parts = std::max<std::size_t>(1, (text.size() + k_part_bytes - 1) / k_part_bytes);
  for (; line.part < line.parts; ++line.part) {
    const std::string content = text_of(line).append(text.substr(line.part * k_part_bytes, k_part_bytes));
    SHAPLEY_TRY_ASSIGN(const std::string credential, munge.seal(content, reader));
    SHAPLEY_TRY(send_block(stream, credential, until));
  }
  return {};
}

Expected<SealedMessage> receive_sealed(const TimedStream& stream, const Munge& munge, Sealed kind,
                                       std::size_t most_parts, Clock::time_point until) {
  SealedMessage message;
  std::size_t parts = 1;
  for (std::size_t part = 0; part < parts; ++part) {
    SHAPLEY_TRY_ASSIGN(const std::string credential, receive_block(stream, k_most_credential_bytes, until));
    if (credential == k_refusal && kind == Sealed::answer) {
      return fail(Errc::denied,
                  "refuses what it is asked: its munge has another key, or its clock differs by a minute or more; its "
                  "log says which");
    }
    // Other text is not passed to munged.
    if (!credential.starts_with(k_credential)) return fail(Errc::protocol, "it does not speak as shapleyd does");
    SHAPLEY_TRY_ASSIGN(const Munge::Opened opened, munge.open(credential));
    auto line = first_line_of(opened.text, kind, part);
    if (!line) return fail(Errc::protocol, "a credential that is not for shapleyd, or of another release");
    if (line->parts > most_parts) return fail(Errc::limit, "a message of more parts than there may be");
    if (part == 0) {
      parts = line->parts;
      message = {.heading = std::move(line->heading), .text = {}, .uid = opened.uid};
    } else if (line->heading != message.heading || line->parts != parts || opened.uid != message.uid) {
      return fail(Errc::protocol, "parts of different messages");
    }
    message.text += std::string_view(opened.text).substr(opened.text.find('\n') + 1);
  }
  return message;
}

// ---- the asking side ----

// A listener that is not trusted is asked nothing: the user that the greeting names could read the question, which is
// sealed for that user.
Expected<SealedConnection> SealedConnection::meet(TimedStream stream, const Options& options, Clock::time_point until) {
  auto greeting = receive_greeting(stream, until);
  if (!greeting) {
    const bool has_no_place = greeting.error().code == Errc::unavailable;
    return has_no_place ? fail(Errc::limit, "it hangs up; its log may say why")
                        : fail(Errc::unavailable, greeting.error().what);
  }
  const bool is_trusted = options.trusts_any || greeting->uid == 0 ||
                          std::ranges::find(options.trusted, greeting->uid) != options.trusted.end();
  if (!is_trusted) {
    return fail(Errc::unavailable, fmt::format("who answers there has uid {}, which is not trusted to", greeting->uid));
  }
  SHAPLEY_TRY_ASSIGN(std::string nonce, random_digits());
  SHAPLEY_TRY_ASSIGN(std::string there, other_end(stream.descriptor()));
  return SealedConnection(std::move(stream), Munge(options.munge), greeting->uid,
                          {.challenge = std::move(greeting->challenge),
                           .nonce = std::move(nonce),
                           .number = 0,
                           .addressee = std::move(there),
                           .cluster = options.cluster,
                           .ledger = options.ledger});
}

Expected<SealedConnection> SealedConnection::open(const Options& options, Clock::time_point until) {
  constexpr std::chrono::milliseconds k_pause{200};
  const auto connect = [&]() -> Expected<SealedConnection> {
    SHAPLEY_TRY_ASSIGN(const Addresses addresses, resolve(options.endpoint));
    Error last{Errc::unavailable, {}};
    for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
      Descriptor descriptor(
          ::socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->ai_protocol));
      if (!descriptor.is_open()) return fail(Errc::unavailable, without_network(errno));
      const int on = 1;
      ::setsockopt(descriptor.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      TimedStream stream(std::move(descriptor), options.wake_up);
      const auto connected = stream.connect_to(address->ai_addr, address->ai_addrlen, until);
      if (connected) return meet(std::move(stream), options, until);
      last = connected.error();
    }
    return tl::unexpected<Error>(std::move(last));
  };
  while (true) {
    auto connection = connect();
    if (connection) return connection;
    const bool is_late = Clock::now() + k_pause >= until;
    if (connection.error().code != Errc::limit || is_late) {
      return not_answered({Errc::unavailable, connection.error().what});
    }
    if (const auto waited = wait_for(-1, 0, options.wake_up, Clock::now() + k_pause); !waited) {
      return not_answered(waited.error());
    }
  }
}

Expected<std::string> SealedConnection::ask(std::string_view request, Clock::time_point until) {
  ++heading_.number;
  auto answer = [&]() -> Expected<SealedMessage> {
    SHAPLEY_TRY(send_sealed(stream_, munge_, Sealed::question, heading_, request, other_, until));
    return receive_sealed(stream_, munge_, Sealed::answer, k_most_answer_parts, until);
  }();
  if (!answer) return not_answered(answer.error());
  if (answer->heading != heading_) return not_answered({Errc::unavailable, "its answer is to another question"});
  if (answer->uid == other_) return std::move(answer->text);
  return not_answered(
      {Errc::unavailable, fmt::format("who answers there has uid {}, not uid {} who greeted", answer->uid, other_)});
}

// ---- the listening side ----

Expected<SealedGuest> SealedGuest::greet(const TimedStream& stream, Munge munge, Clock::time_point until) {
  Heading heading;
  SHAPLEY_TRY_ASSIGN(heading.challenge, random_digits());
  SHAPLEY_TRY_ASSIGN(heading.addressee, own_end(stream.descriptor()));
  SHAPLEY_TRY(send_greeting(stream, {.challenge = heading.challenge, .uid = ::geteuid()}, until));
  return SealedGuest(stream, std::move(munge), std::move(heading));
}

Expected<SealedMessage> SealedGuest::next(Clock::time_point until) {
  constexpr std::size_t k_parts = 1;  // a part is far more than a question may have
  auto received = receive_sealed(*stream_, munge_, Sealed::question, k_parts, until);
  if (!received) {
    // Whether it arrives does not matter here.
    if (received.error().code == Errc::denied) (void)send_block(*stream_, k_refusal, until);
    return received;
  }
  SealedMessage question = *std::move(received);
  const Heading& asked = question.heading;
  if (asked.challenge != heading_.challenge) return fail(Errc::denied, "a question of another conversation");
  if (asked.addressee != heading_.addressee) {
    return fail(Errc::denied, fmt::format("a question to {}, and this is {}; with translated addresses or forwarded "
                                          "ports between them nothing is answered",
                                          asked.addressee, heading_.addressee));
  }
  if (asked.number != heading_.number + 1) return fail(Errc::denied, "a question out of its turn");
  if (asked.number > 1 && question.uid != uid_) {
    return fail(Errc::denied, "questions of different users over one connection");
  }
  if (asked.number > 1 &&
      (asked.nonce != heading_.nonce || asked.cluster != heading_.cluster || asked.ledger != heading_.ledger)) {
    return fail(Errc::denied, "questions of different askers over one connection");
  }
  heading_ = asked;
  uid_ = question.uid;
  return question;
}

}  // namespace shapley::remote
