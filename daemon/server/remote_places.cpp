#include "daemon/server/remote_places.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace shapley::daemon {

template <typename Which>
std::size_t RemotePlaces::count(Which which) const {
  return static_cast<std::size_t>(
      std::count_if(holders_.begin(), holders_.end(), [&](const auto& holder) { return which(holder.second); }));
}

// The place of the one who has been silent longest.
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
    if (!gives_way) return fail(Errc::limit, "too many connections of whom nothing is known yet");
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
