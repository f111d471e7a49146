// Who may hold a connection over TCP, so that neither strangers nor ordinary users keep others out. Pure: time is
// passed in, sockets are the listener's.
//
// Whoever connects is a stranger until his first question says who he is. Strangers, and ordinary users, have a number
// of places each; what is left besides is root's and slurm_user's, who may take what users leave free, too. Where no
// place is left, the connection of the same kind that has been silent longest gives way, if it has been for long
// enough. Connections from one address that come faster than a limit are refused.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <sys/types.h>

#include "base/error.hpp"

namespace shapley::daemon {

class RemotePlaces {
 public:
  using Clock = std::chrono::steady_clock;
  using Number = std::uint64_t;

  struct Limits {
    std::size_t strangers = 12;
    std::size_t strangers_of_an_address = 6;
    std::size_t known = 20;  // ordinary users, root and slurm_user together
    std::size_t users = 12;  // of these ordinary users
    std::size_t of_a_user = 4;
    // The other controller's addresses, for which there are some strangers' places more.
    std::set<std::string> kept_addresses = {};
    std::size_t kept = 2;
    std::chrono::milliseconds strangers_silence{500};  // so long a connection keeps a place that another one wants
    std::chrono::milliseconds silence{1000};
    // New connections of one address: so many at once, then so many a second.
    double burst = 40;
    double a_second = 20;
    std::size_t addresses = 1024;  // of which the rate is known; connections from further ones are refused
  };

  explicit RemotePlaces(Limits limits) : limits_(std::move(limits)) {}

  struct Place {
    Number number = 0;
    std::optional<Number> gives_way;  // whose place it is: that connection is to be ended
  };
  // Somebody connects. Errc::limit: there is no place.
  [[nodiscard]] Expected<Place> come(const std::string& address, Clock::time_point now);
  // He is this user. The number of who gives way for him. Errc::limit: there is no place, and he loses his stranger's.
  [[nodiscard]] Expected<std::optional<Number>> admit(Number number, uid_t user, bool is_administrator,
                                                      Clock::time_point now);
  // He is being answered; he was, and is silent from now on. Nothing happens for who has no place any more.
  void begin_answer(Number number);
  void end_answer(Number number, Clock::time_point now);
  void leave(Number number) { holders_.erase(number); }

  [[nodiscard]] std::size_t taken() const { return holders_.size(); }

 private:
  struct Holder {
    std::string address;
    std::optional<uid_t> user = {};
    bool is_administrator = false;
    bool is_answered = false;
    Clock::time_point silent_since;
  };
  struct Rate {
    double left = 0;
    Clock::time_point at;
  };
  [[nodiscard]] bool is_too_fast(const std::string& address, Clock::time_point now);
  template <typename Which>
  [[nodiscard]] std::size_t count(Which which) const;
  template <typename Which>
  [[nodiscard]] std::optional<Number> take_from(Which which, std::chrono::milliseconds silence, Clock::time_point now);

  Limits limits_;
  Number last_ = 0;
  std::map<Number, Holder> holders_;
  std::map<std::string, Rate> rates_;  // of addresses that did not rest long enough for a whole burst
};

}  // namespace shapley::daemon
