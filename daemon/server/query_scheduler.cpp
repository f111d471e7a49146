#include "daemon/server/query_scheduler.hpp"

#include <algorithm>
#include <utility>

namespace shapley::daemon {

void QueryScheduler::forget(const Session& session) {
  std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.session == &session; });
}

QueryScheduler::Clock::time_point QueryScheduler::rested_at(std::uint32_t uid) const {
  const auto user = users_rest_until_.find(uid);
  return user == users_rest_until_.end() ? all_rest_until_ : std::max(all_rest_until_, user->second);
}

std::optional<QueryScheduler::Waiting> QueryScheduler::next(Clock::time_point now, const MayServe& may_serve) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    return rested_at(waiting.uid) <= now && may_serve(waiting.uid);
  });
  if (found == waiting_.end()) return std::nullopt;
  Waiting taken = std::move(*found);
  waiting_.erase(found);
  return taken;
}

std::optional<QueryScheduler::Clock::time_point> QueryScheduler::next_at(const MayServe& may_serve) const {
  std::optional<Clock::time_point> earliest;
  for (const Waiting& waiting : waiting_) {
    if (!may_serve(waiting.uid)) continue;
    const Clock::time_point at = rested_at(waiting.uid);
    earliest = earliest ? std::min(*earliest, at) : at;
  }
  return earliest;
}

void QueryScheduler::done(std::uint32_t uid, Clock::time_point began, Clock::time_point ended) {
  // Who has rested needs no entry: the table is as long as the list of users that asked lately.
  std::erase_if(users_rest_until_, [&](const auto& user) { return user.second <= ended; });
  const auto took = ended - began;
  users_rest_until_[uid] = ended + k_user_rest * took;
  all_rest_until_ = ended + k_common_rest * took;
}

}  // namespace shapley::daemon
