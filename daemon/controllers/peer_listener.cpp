#include "daemon/controllers/peer_listener.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "daemon/controllers/addresses.hpp"

namespace shapley::daemon {

namespace {

using Clock = TimedStream::Clock;

// As `follow` and `demote` need them, and far below a part.
constexpr std::size_t k_question_parts = 1;

bool may_be_asked(const std::string& question) {
  const auto request = nlohmann::json::parse(question, nullptr, false);
  if (!request.is_object()) return false;
  const auto name = request.find("request");
  return name != request.end() && (*name == "follow" || *name == "demote");
}

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

Expected<std::unique_ptr<PeerListener>> PeerListener::open(Options options) {
  const std::string context = fmt::format("controllers: listen on {} port {}", options.at.host, options.at.port);
  auto addresses = resolve(options.at);
  if (!addresses) return with_context(context, std::move(addresses).error());
  // The first is the one that a name stands for; all of them would be more than was asked for.
  auto listening = listen_at(**addresses);
  if (!listening) return with_context(context, std::move(listening).error());
  Descriptor wake_up(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_up.is_open()) return with_context(context, system_failure("eventfd", errno).value());
  spdlog::info("{}: for the other controller", context);
  return std::unique_ptr<PeerListener>(new PeerListener(std::move(options), std::move(*listening), std::move(wake_up)));
}

PeerListener::PeerListener(Options options, Descriptor listening, Descriptor wake_up)
    : options_(std::move(options)),
      munge_(options_.munge),
      listening_(std::move(listening)),
      wake_up_(std::move(wake_up)),
      thread_([this] { run(); }) {}

PeerListener::~PeerListener() {
  ::eventfd_write(wake_up_.get(), 1);
  thread_.join();
  for (Guest& guest : guests_) guest.thread.join();
}

void PeerListener::run() {
  constexpr std::chrono::hours k_long{1};
  while (true) {
    const auto ready = wait_for(listening_.get(), POLLIN, wake_up_.get(), Clock::now() + k_long);
    if (!ready) return;
    if (!*ready) continue;
    Descriptor guest(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    guests_.remove_if([](Guest& one) {
      if (!one.gone) return false;
      one.thread.join();
      return true;
    });
    if (guest.is_open()) {
      welcome(std::move(guest));
    } else if (errno == EMFILE || errno == ENFILE) {
      // It stays readable.
      if (!wait_for(-1, 0, wake_up_.get(), Clock::now() + std::chrono::seconds(1))) return;
    }
  }
}

void PeerListener::welcome(Descriptor guest) {
  if (guests_.size() >= options_.most_connections) return say_refused("too many connections");
  Guest& one = guests_.emplace_back();
  try {
    one.thread = std::thread([this, &one, stream = std::move(guest)]() mutable {
      converse(std::move(stream));
      one.gone = true;
    });
  } catch (const std::system_error& error) {
    guests_.pop_back();
    say_refused(error.what());
  }
}

void PeerListener::converse(Descriptor guest) {
  const int on = 1;
  ::setsockopt(guest.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const TimedStream stream(std::move(guest), wake_up_.get());
  std::unique_ptr<PeerConnection> own;
  auto patience = options_.first_question;
  while (true) {
    const auto question = next_question(stream, patience);
    if (!question) {
      if (question.error().code != Errc::unavailable) say_refused(question.error().what);
      return;
    }
    const std::string answer = answer_to(question->text, own);
    const auto sent =
        send_sealed(stream, munge_, Sealed::answer, question->nonce, answer, Clock::now() + options_.answer);
    if (!sent) return;
    patience = options_.next_question;
  }
}

Expected<SealedMessage> PeerListener::next_question(const TimedStream& stream,
                                                    std::chrono::milliseconds patience) const {
  SHAPLEY_TRY_ASSIGN(SealedMessage question,
                     receive_sealed(stream, munge_, Sealed::question, k_question_parts, Clock::now() + patience));
  if (question.uid != 0 && question.uid != options_.slurm_uid) {
    return fail(Errc::denied,
                fmt::format("uid {} may not follow; root and slurm_user ({}) may", question.uid, options_.slurm_uid));
  }
  if (!may_be_asked(question.text)) return fail(Errc::denied, "a question that only the own socket answers");
  return question;
}

std::string PeerListener::answer_to(const std::string& question, std::unique_ptr<PeerConnection>& own) const {
  const auto until = Clock::now() + options_.answer;
  const auto ask = [&]() -> Expected<std::string> {
    if (!own) {
      SHAPLEY_TRY_ASSIGN(own, connect_by_socket(options_.socket, wake_up_.get(), until));
    }
    return own->ask(question, until);
  };
  auto answer = ask();
  if (answer) return *std::move(answer);
  own.reset();
  return nlohmann::json{{"error", {{"code", name_of(answer.error().code)}, {"what", answer.error().what}}}}.dump();
}

void PeerListener::say_refused(const std::string& why) {
  constexpr std::chrono::minutes k_between{1};
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (said_ && now < *said_ + k_between) return;
  said_ = now;
  spdlog::warn("controllers: a connection over TCP was ended: {}", why);
}

}  // namespace shapley::daemon
