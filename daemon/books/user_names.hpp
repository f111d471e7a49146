// Names of the users whose jobs the feeder shows, in the ledger (accounting::UserNamed), so that papers name them as
// this host does, wherever and whenever they are made.
//
// A directory of users may not answer for long, so a thread asks; the ledger has a name some seconds after the first
// job. Each user is asked for once a day, if there are jobs of it. Single-threaded; time is passed in.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/mutex.hpp"
#include "base/types.hpp"
#include "daemon/books/books.hpp"
#include "daemon/task_thread.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

// The names of those of these users that have one. `ended`: it is to return soon.
using UserLookup =
    std::function<accounting::UserNames(const std::vector<std::uint32_t>& users, const std::atomic<bool>& ended)>;

// As this host knows them (getent).
[[nodiscard]] accounting::UserNames host_user_names(const std::vector<std::uint32_t>& users,
                                                    const std::atomic<bool>& ended);

class NamedUsers {
 public:
  // `books` must outlive it. `lookup`: null: users are not named.
  NamedUsers(Books& books, UserLookup lookup);
  ~NamedUsers() { ended_ = true; }
  NamedUsers(const NamedUsers&) = delete;
  NamedUsers& operator=(const NamedUsers&) = delete;

  void note(const protocol::Observations& frame, Instant now);
  // Records the names that came and that the ledger does not have, and asks for the next ones. Call once a second,
  // while this daemon writes the ledger. Errors: the commit failed; call again later.
  [[nodiscard]] Expected<void> record(Instant now);

 private:
  [[nodiscard]] std::optional<accounting::UserNames> take_answer();

  Books& books_;
  std::set<std::uint32_t> waiting_;  // to be asked for
  std::set<std::uint32_t> asked_;    // until then
  Instant ask_again_ = k_beginning_of_time;
  bool is_asking_ = false;
  accounting::UserNames found_;  // and not recorded yet
  std::atomic<bool> ended_ = false;
  Mutex mutex_;
  std::optional<accounting::UserNames> answer_ SHAPLEY_GUARDED_BY(mutex_);
  std::optional<TaskThread<std::vector<std::uint32_t>>> thread_;  // the last member: it uses the others
};

}  // namespace shapley::daemon
