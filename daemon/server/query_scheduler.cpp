#include "daemon/server/query_scheduler.hpp"

#include <algorithm>
#include <utility>

namespace shapley::daemon {

std::size_t QueryScheduler::forget(const Session& session) {
  return std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.session == &session; });
}

QueryScheduler::Clock::time_point QueryScheduler::rested_at(const Waiting& waiting) const {
  const auto user = users_rest_until_.find(waiting.uid);
  const bool rests = !waiting.administrator && user != users_rest_until_.end();
  return rests ? std::max(all_rest_until_, user->second) : all_rest_until_;
}

std::optional<QueryScheduler::Waiting> QueryScheduler::next(Clock::time_point now, const MayServe& may_serve) {
  const auto ready = [&](const Waiting& waiting) { return rested_at(waiting) <= now && may_serve(waiting); };
  auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    return waiting.administrator != administrator_was_last_ && ready(waiting);
  });
  if (found == waiting_.end()) found = std::find_if(waiting_.begin(), waiting_.end(), ready);
  if (found == waiting_.end()) return std::nullopt;
  Waiting taken = std::move(*found);
  waiting_.erase(found);
  administrator_was_last_ = taken.administrator;
  return taken;
}

std::optional<QueryScheduler::Clock::time_point> QueryScheduler::next_at(const MayServe& may_serve) const {
  std::optional<Clock::time_point> earliest;
  for (const Waiting& waiting : waiting_) {
    if (!may_serve(waiting)) continue;
    const Clock::time_point at = rested_at(waiting);
    earliest = earliest ? std::min(*earliest, at) : at;
  }
  return earliest;
}

void QueryScheduler::done(const Waiting& taken, Clock::time_point began, Clock::time_point ended) {
  // Who has rested needs no entry: the table is as long as the list of users that asked lately.
  std::erase_if(users_rest_until_, [&](const auto& user) { return user.second <= ended; });
  const auto took = ended - began;
  if (!taken.administrator) users_rest_until_[taken.uid] = ended + k_user_rest * took;
  all_rest_until_ = ended + k_common_rest * took;
}

}  // namespace shapley::daemon
