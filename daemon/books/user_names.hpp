// Names of the users whose jobs the feeder shows, in the ledger (accounting::UserNamed), so that papers name them as
// this host does, wherever and whenever they are made.
//
// A directory of users may not answer for long, so a thread asks; the ledger has a name some seconds after the first
// job. Each user is asked for once a day, if there are jobs of it, and, where the directory did not answer in time,
// again after some minutes, fewer at once. Single-threaded; time is passed in.
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

// The names of those users that have one. `is_whole`: each was looked for; otherwise the directory was too slow.
struct FoundUsers {
  accounting::UserNames names;
  bool is_whole = true;
};
// `ended`: it is to return soon.
using UserLookup = std::function<FoundUsers(const std::vector<std::uint32_t>& users, const std::atomic<bool>& ended)>;

// As this host knows them (getent); names longer than accounting::k_most_user_name are left out.
[[nodiscard]] FoundUsers host_user_names(const std::vector<std::uint32_t>& users, const std::atomic<bool>& ended);

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
  [[nodiscard]] std::optional<FoundUsers> take_answer();
  void take_in(FoundUsers answer, Instant now);

  Books& books_;
  std::set<std::uint32_t> waiting_;  // to be asked for
  std::set<std::uint32_t> asked_;    // until then
  Instant ask_again_ = k_beginning_of_time;
  std::vector<std::uint32_t> asking_;         // empty: no question is open
  std::size_t most_asked_;                    // in one question
  Instant not_before_ = k_beginning_of_time;  // no question
  accounting::UserNames found_;               // and not recorded yet
  std::atomic<bool> ended_ = false;
  Mutex mutex_;
  std::optional<FoundUsers> answer_ SHAPLEY_GUARDED_BY(mutex_);
  std::optional<TaskThread<std::vector<std::uint32_t>>> thread_;  // the last member: it uses the others
};

}  // namespace shapley::daemon
