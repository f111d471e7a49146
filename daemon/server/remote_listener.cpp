#include "daemon/server/remote_listener.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "daemon/requests/error_answer.hpp"
#include "daemon/requests/queries.hpp"
#include "remote/addresses.hpp"

namespace shapley::daemon {

namespace {

using remote::TimedStream;
using remote::wait_for;
using Clock = TimedStream::Clock;

// Far below a part.
constexpr std::size_t k_question_parts = 1;

Expected<Descriptor> listen_at(const addrinfo& address) {
  Descriptor socket(
      ::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol));
  if (!socket.is_open()) return system_failure("socket", errno);
  const int on = 1;
  constexpr int k_backlog = 8;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket.get(), address.ai_addr, address.ai_addrlen) != 0) return system_failure("bind", errno);
  if (::listen(socket.get(), k_backlog) != 0) return system_failure("listen", errno);
  return socket;
}

}  // namespace

Expected<std::unique_ptr<RemoteListener>> RemoteListener::open(Options options) {
  const std::string context = fmt::format("server: listen on {} port {}", options.at.host, options.at.port);
  auto addresses = remote::resolve(options.at);
  if (!addresses) return with_context(context, std::move(addresses).error());
  // The first is the one that a name stands for; all of them would be more than was asked for.
  auto listening = listen_at(**addresses);
  if (!listening) return with_context(context, std::move(listening).error());
  Descriptor wake_up(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_up.is_open()) return with_context(context, system_failure("eventfd", errno).value());
  spdlog::info("{}: for other hosts of the cluster", context);
  return std::unique_ptr<RemoteListener>(
      new RemoteListener(std::move(options), std::move(*listening), std::move(wake_up)));
}

RemoteListener::RemoteListener(Options options, Descriptor listening, Descriptor wake_up)
    : options_(std::move(options)),
      munge_(options_.munge),
      listening_(std::move(listening)),
      wake_up_(std::move(wake_up)),
      thread_([this] { run(); }) {}

RemoteListener::~RemoteListener() {
  ::eventfd_write(wake_up_.get(), 1);
  thread_.join();
  for (Guest& guest : guests_) guest.thread.join();
}

void RemoteListener::run() {
  constexpr std::chrono::hours k_long{1};
  while (true) {
    const auto ready = wait_for(listening_.get(), POLLIN, wake_up_.get(), Clock::now() + k_long);
    if (!ready) return;
    if (!*ready) continue;
    Descriptor stream(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    {
      const std::lock_guard lock(mutex_);
      guests_.remove_if([](Guest& one) {
        if (!one.gone) return false;
        one.thread.join();
        return true;
      });
    }
    if (stream.is_open()) {
      welcome(std::move(stream));
    } else if (errno == EMFILE || errno == ENFILE) {
      // It stays readable.
      if (!wait_for(-1, 0, wake_up_.get(), Clock::now() + std::chrono::seconds(1))) return;
    }
  }
}

void RemoteListener::welcome(Descriptor stream) {
  if (guests_.size() >= options_.most_connections) return say_refused("too many connections");
  const auto emplace = [this]() -> Guest& {
    const std::lock_guard lock(mutex_);
    return guests_.emplace_back();
  };
  Guest& one = emplace();
  try {
    one.thread = std::thread([this, &one, own = std::move(stream)]() mutable {
      converse(one, std::move(own));
      one.gone = true;
    });
  } catch (const std::system_error& error) {
    {
      const std::lock_guard lock(mutex_);
      guests_.pop_back();
    }
    say_refused(error.what());
  }
}

void RemoteListener::converse(Guest& guest, Descriptor descriptor) {
  const int on = 1;
  ::setsockopt(descriptor.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const TimedStream stream(std::move(descriptor), wake_up_.get());
  std::unique_ptr<PeerConnection> own;
  auto patience = options_.first_question;
  while (true) {
    const auto question = next_question(guest, stream, patience);
    if (!question) {
      if (question.error().code != Errc::unavailable) say_refused(question.error().what);
      return;
    }
    const std::string answer = answer_to(*question, own);
    const auto sent = remote::send_sealed(stream, munge_, remote::Sealed::answer, question->nonce, answer,
                                          Clock::now() + options_.answer);
    if (!sent) return;
    patience = options_.next_question;
  }
}

Expected<remote::SealedMessage> RemoteListener::next_question(Guest& guest, const TimedStream& stream,
                                                              std::chrono::milliseconds patience) {
  SHAPLEY_TRY_ASSIGN(remote::SealedMessage question, remote::receive_sealed(stream, munge_, remote::Sealed::question,
                                                                            k_question_parts, Clock::now() + patience));
  SHAPLEY_TRY(admit(guest, question.uid));
  return question;
}

Expected<void> RemoteListener::admit(Guest& guest, uid_t user) {
  const std::lock_guard lock(mutex_);
  if (guest.user == user) return {};
  if (guest.user) return fail(Errc::denied, "questions of different users over one connection");
  const auto same = static_cast<std::size_t>(
      std::ranges::count_if(guests_, [&](const Guest& one) { return !one.gone && one.user == user; }));
  if (!is_administrator(user) && same >= options_.most_connections_of_a_user) {
    return fail(Errc::limit, fmt::format("uid {} has too many connections", user));
  }
  guest.user = user;
  return {};
}

std::string RemoteListener::answer_to(const remote::SealedMessage& question,
                                      std::unique_ptr<PeerConnection>& own) const {
  const auto until = Clock::now() + (lane_of(question.text) == Lane::report ? options_.report : options_.answer);
  const auto ask = [&]() -> Expected<std::string> {
    if (!own) {
      SHAPLEY_TRY_ASSIGN(own, connect_by_socket(options_.socket, wake_up_.get(), until, question.uid));
    }
    return own->ask(question.text, until);
  };
  auto answer = ask();
  if (answer) return *std::move(answer);
  own.reset();
  return text_of_error(answer.error());
}

void RemoteListener::say_refused(const std::string& why) {
  constexpr std::chrono::minutes k_between{1};
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (said_ && now < *said_ + k_between) return;
  said_ = now;
  spdlog::warn("server: a connection over TCP was ended: {}", why);
}

}  // namespace shapley::daemon
