#include "daemon/server/remote_listener.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "base/piece_of_work.hpp"
#include "daemon/requests/queries.hpp"
#include "daemon/version.hpp"

namespace shapley::daemon {

namespace {

using remote::TimedStream;
using remote::wait_for;
using Clock = TimedStream::Clock;

std::chrono::nanoseconds processor_time() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

// Closes without the usual handshake, which would keep state in the kernel for a minute per connection.
void hang_up(Descriptor stream) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(stream.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

// A network of which one host may have all addresses: the single address for IPv4, 64 bits for IPv6.
std::string network_of(const boost::asio::ip::address& address) {
  using boost::asio::ip::address_v6;
  if (address.is_v4()) return address.to_string();
  const address_v6 v6 = address.to_v6();
  if (v6.is_v4_mapped()) return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, v6).to_string();
  constexpr std::size_t k_network_bytes = 8;
  address_v6::bytes_type bytes = v6.to_bytes();
  std::fill(bytes.begin() + k_network_bytes, bytes.end(), static_cast<unsigned char>(0));
  return address_v6(bytes).to_string();
}

std::set<std::string> addresses_of(const config::Endpoint& peer) {
  std::set<std::string> networks;
  const auto addresses = remote::resolve(peer);
  if (!addresses) {
    spdlog::warn("server: no places over TCP are kept for the other controller: {}", addresses.error().what);
    return networks;
  }
  for (const addrinfo* address = addresses->get(); address != nullptr; address = address->ai_next) {
    boost::asio::ip::tcp::endpoint place;
    place.resize(address->ai_addrlen);
    std::memcpy(place.data(), address->ai_addr, address->ai_addrlen);
    networks.insert(network_of(place.address()));
  }
  return networks;
}

Expected<Descriptor> listen_at(const addrinfo& address) {
  Descriptor socket(
      ::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol));
  if (!socket.is_open()) return system_failure("socket", errno);
  const int on = 1;
  constexpr int k_backlog = 256;  // more would only wait longer in a flood
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
  // Only the first address of a name: all of them would be more than was configured.
  auto listening = listen_at(**addresses);
  if (!listening) return with_context(context, std::move(listening).error());
  Descriptor wake_up(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_up.is_open()) return with_context(context, system_failure("eventfd", errno).value());
  if (options.peer) options.places.kept_addresses = addresses_of(*options.peer);
  spdlog::info("{}: for other hosts of the cluster", context);
  return std::unique_ptr<RemoteListener>(
      new RemoteListener(std::move(options), std::move(*listening), std::move(wake_up)));
}

RemoteListener::RemoteListener(Options options, Descriptor listening, Descriptor wake_up)
    : options_(std::move(options)),
      munge_(options_.munge),
      listening_(std::move(listening)),
      wake_up_(std::move(wake_up)),
      places_(options_.places),
      thread_([this] { run(); }) {}

RemoteListener::~RemoteListener() {
  ::eventfd_write(wake_up_.get(), 1);
  thread_.join();
  // No other thread starts or joins one.
  for (auto& [number, guest] : guests_) guest.thread.join();
}

void RemoteListener::run() {
  constexpr std::chrono::hours k_long{1};
  auto before = processor_time();
  while (true) {
    const auto ready = wait_for(listening_.get(), POLLIN, wake_up_.get(), Clock::now() + k_long);
    if (!ready) return;
    if (!*ready) continue;
    const PieceOfWork busy("the listener over TCP");
    boost::asio::ip::tcp::endpoint from;
    auto length = static_cast<socklen_t>(from.capacity());
    Descriptor stream(::accept4(listening_.get(), from.data(), &length, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const int error = errno;
    join_those_who_left();
    if (stream.is_open()) {
      const auto welcomed = welcome(std::move(stream), network_of(from.address()));
      if (!welcomed) say_refused(welcomed.error().what);
    } else if (error == EMFILE || error == ENFILE) {
      // It stays readable.
      if (!wait_for(-1, 0, wake_up_.get(), Clock::now() + std::chrono::seconds(1))) return;
    }
    const auto now = processor_time();
    if (!rest(now - before + std::chrono::nanoseconds(strangers_ns_.exchange(0)))) return;
    before = now;
  }
}

bool RemoteListener::rest(std::chrono::nanoseconds spent) {
  // One of so many seconds: what the kernel does where a thread begins and ends is not in its clock.
  constexpr int k_share = 16;
  constexpr std::chrono::milliseconds k_most{10};  // is saved, of times when less was spent
  const auto now = Clock::now();
  allowance_ = std::min<std::chrono::nanoseconds>(k_most, allowance_ + (now - allowed_at_) / k_share) - spent;
  allowed_at_ = now;
  if (allowance_ >= std::chrono::nanoseconds(0)) return true;
  return wait_for(-1, 0, wake_up_.get(), now - k_share * allowance_).has_value();
}

void RemoteListener::join_those_who_left() {
  const MutexLock lock(mutex_);
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    if (guest->second.descriptor >= 0) {
      ++guest;
      continue;
    }
    guest->second.thread.join();
    guest = guests_.erase(guest);
  }
}

Expected<void> RemoteListener::welcome(Descriptor stream, const std::string& address) {
  const MutexLock lock(mutex_);
  const auto place = places_.come(address, Clock::now());
  if (!place) {
    hang_up(std::move(stream));
    return tl::unexpected<Error>(place.error());
  }
  end(place->gives_way);
  Guest& guest = guests_[place->number];
  guest.descriptor = stream.get();
  try {
    guest.thread = std::thread(
        [this, number = place->number, own = std::move(stream)]() mutable { converse(number, std::move(own)); });
  } catch (const std::system_error& error) {
    places_.leave(place->number);
    guests_.erase(place->number);
    return fail(Errc::limit, error.what());
  }
  return {};
}

// Ends a connection; its thread does the rest.
void RemoteListener::end(std::optional<Number> number) {
  if (!number) return;
  const auto guest = guests_.find(*number);
  if (guest != guests_.end() && guest->second.descriptor >= 0) ::shutdown(guest->second.descriptor, SHUT_RDWR);
}

void RemoteListener::converse(Number number, Descriptor descriptor) {
  const int on = 1;
  ::setsockopt(descriptor.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const TimedStream stream(std::move(descriptor), wake_up_.get());
  const auto ended = answer_questions(number, stream);
  if (!ended && ended.error().code != Errc::unavailable) say_refused(ended.error().what);
  const MutexLock lock(mutex_);
  places_.leave(number);
  guests_[number].descriptor = -1;
}

// The first question, which names its user.
Expected<remote::SealedMessage> RemoteListener::meet(Number number, remote::SealedGuest& guest) {
  SHAPLEY_TRY_ASSIGN(remote::SealedMessage question, guest.next(Clock::now() + options_.first_question));
  const bool is_administrator = question.uid == 0 || question.uid == options_.slurm_uid;
  const auto admitted = [&]() -> Expected<std::optional<Number>> {
    const MutexLock lock(mutex_);
    auto gives_way = places_.admit(number, question.uid, is_administrator, Clock::now());
    if (gives_way) end(*gives_way);
    return gives_way;
  }();
  if (admitted) return question;
  SHAPLEY_TRY(guest.answer(text_of_error(admitted.error()), Clock::now() + options_.first_question));
  return tl::unexpected<Error>(admitted.error());
}

void RemoteListener::note_silence(Number number, bool is_silent) {
  const MutexLock lock(mutex_);
  if (is_silent) {
    places_.end_answer(number, Clock::now());
  } else {
    places_.begin_answer(number);
  }
}

Expected<void> RemoteListener::answer_questions(Number number, const TimedStream& stream) {
  std::optional<PieceOfWork> meeting(std::in_place, "a question over TCP");
  auto guest = remote::SealedGuest::greet(stream, munge_, Clock::now() + options_.first_question);
  auto question = guest ? meet(number, *guest) : tl::unexpected<Error>(guest.error());
  meeting.reset();
  strangers_ns_ += processor_time().count();
  std::unique_ptr<rpc_client::Client::Transport> own;
  while (question) {
    const PieceOfWork busy("a question over TCP");
    const std::string answer = answer_to(*question, own);
    SHAPLEY_TRY(guest->answer(answer, Clock::now() + options_.answer));
    note_silence(number, true);
    question = guest->next(Clock::now() + options_.next_question);
    note_silence(number, false);
  }
  return tl::unexpected<Error>(question.error());
}

std::string RemoteListener::answer_to(const remote::SealedMessage& question,
                                      std::unique_ptr<rpc_client::Client::Transport>& own) const {
  const auto until =
      Clock::now() + (parse_request(question.text).lane == Lane::report ? options_.report : options_.answer);
  const auto ask = [&]() -> Expected<std::string> {
    if (!own) {
      SHAPLEY_TRY_ASSIGN(own, rpc_client::connect({.socket = options_.socket,
                                                   .program = std::string(k_program),
                                                   .trusted = {::geteuid()},
                                                   .cluster = question.heading.cluster,
                                                   .ledger = question.heading.ledger,
                                                   .on_behalf_of = question.uid,
                                                   .wake_up = wake_up_.get()},
                                                  until));
    }
    return own->ask(question.text, until);
  };
  auto answer = ask();
  if (answer) return *std::move(answer);
  own.reset();
  return text_of_error(answer.error());
}

void RemoteListener::say_refused(const std::string& why) {
  constexpr std::chrono::minutes k_between_refusals{1};
  const MutexLock lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (said_ && now < *said_ + k_between_refusals) return;
  said_ = now;
  spdlog::warn("server: a connection over TCP was ended: {}", why);
}

template <typename Which>
std::size_t RemotePlaces::count(Which which) const {
  return static_cast<std::size_t>(
      std::count_if(holders_.begin(), holders_.end(), [&](const auto& holder) { return which(holder.second); }));
}

// The place of the connection that has been silent longest.
template <typename Which>
std::optional<RemotePlaces::Number> RemotePlaces::take_from(Which which, std::chrono::milliseconds silence,
                                                            Clock::time_point now) {
  auto longest = holders_.end();
  for (auto it = holders_.begin(); it != holders_.end(); ++it) {
    const Holder& holder = it->second;
    if (!which(holder) || holder.is_answered || now < holder.silent_since + silence) continue;
    if (longest == holders_.end() || holder.silent_since < longest->second.silent_since) longest = it;
  }
  if (longest == holders_.end()) return std::nullopt;
  const Number number = longest->first;
  holders_.erase(longest);
  return number;
}

bool RemotePlaces::is_too_fast(const std::string& address, Clock::time_point now) {
  const auto left_now = [&](const Rate& rate) {
    const std::chrono::duration<double> rested = now - rate.at;
    return std::min(limits_.burst, rate.left + rested.count() * limits_.a_second);
  };
  if (rates_.size() >= limits_.addresses) {
    std::erase_if(rates_, [&](const auto& rate) { return left_now(rate.second) >= limits_.burst; });
  }
  const auto known = rates_.find(address);
  if (known == rates_.end() && rates_.size() >= limits_.addresses) return true;
  const double left = known == rates_.end() ? limits_.burst : left_now(known->second);
  if (left < 1) return true;
  rates_[address] = {.left = left - 1, .at = now};
  return false;
}

Expected<RemotePlaces::Place> RemotePlaces::come(const std::string& address, Clock::time_point now) {
  if (is_too_fast(address, now)) return fail(Errc::limit, address + " connects too often");
  const bool is_kept = limits_.kept_addresses.contains(address);
  const auto is_stranger = [](const Holder& holder) { return !holder.user; };
  const auto is_from_there = [&](const Holder& holder) { return !holder.user && holder.address == address; };
  std::optional<Number> gives_way;
  if (count(is_from_there) >= limits_.strangers_of_an_address) {
    gives_way = take_from(is_from_there, limits_.strangers_silence, now);
    if (!gives_way) return fail(Errc::limit, "too many connections from " + address);
  } else if (count(is_stranger) >= limits_.strangers + (is_kept ? limits_.kept : 0)) {
    gives_way = take_from(is_stranger, limits_.strangers_silence, now);
    if (!gives_way) return fail(Errc::limit, "too many connections that have not asked anything yet");
  }
  holders_.emplace(++last_, Holder{.address = address, .silent_since = now});
  return Place{.number = last_, .gives_way = gives_way};
}

Expected<std::optional<RemotePlaces::Number>> RemotePlaces::admit(Number number, uid_t user, bool is_administrator,
                                                                  Clock::time_point now) {
  const auto holder = holders_.find(number);
  if (holder == holders_.end()) return fail(Errc::limit, "another connection has its place");
  const auto is_known = [](const Holder& one) { return one.user.has_value(); };
  const auto is_user = [](const Holder& one) { return one.user && !one.is_administrator; };
  const auto is_same = [&](const Holder& one) { return one.user == user; };
  std::optional<Number> gives_way;
  // One that gives way is enough: these kinds contain each other.
  const auto make_room = [&](auto kind, std::size_t most, auto whose) {
    if (count(kind) < most) return true;
    gives_way = take_from(whose, limits_.silence, now);
    return gives_way.has_value();
  };
  const bool has_room = is_administrator ? make_room(is_known, limits_.known, is_known)
                                         : make_room(is_same, limits_.of_a_user, is_same) &&
                                               make_room(is_user, limits_.users, is_user) &&
                                               make_room(is_known, limits_.known, is_user);
  if (!has_room) {
    holders_.erase(holder);
    return fail(Errc::limit, fmt::format("too many connections over TCP, of uid {} or of all; try again later", user));
  }
  holder->second.user = user;
  holder->second.is_administrator = is_administrator;
  holder->second.is_answered = true;
  return gives_way;
}

void RemotePlaces::begin_answer(Number number) {
  if (const auto holder = holders_.find(number); holder != holders_.end()) holder->second.is_answered = true;
}

void RemotePlaces::end_answer(Number number, Clock::time_point now) {
  const auto holder = holders_.find(number);
  if (holder == holders_.end()) return;
  holder->second.is_answered = false;
  holder->second.silent_since = now;
}

}  // namespace shapley::daemon
