#include "daemon/server/query_scheduler.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

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
  // A user that has rested needs no entry: the table has only users that asked lately.
  std::erase_if(users_rest_until_, [&](const auto& user) { return user.second <= ended; });
  const auto took = ended - began;
  if (!taken.administrator) users_rest_until_[taken.uid] = ended + k_user_rest * took;
  all_rest_until_ = ended + k_common_rest * took;
}

ReadingLane::ReadingLane(boost::asio::io_context& io, std::filesystem::path ledger, Hooks hooks)
    : io_(io), hooks_(std::move(hooks)), timer_(io), thread_(std::move(ledger)) {}

std::size_t ReadingLane::forget(const Session& session) {
  std::size_t dropped = scheduler_.forget(session);
  if (reading_ && reading_->query.session == &session) {
    reading_->query.session = nullptr;
    thread_.end_question();
    ++dropped;
  }
  return dropped;
}

void ReadingLane::schedule() {
  const auto at = reading_ || !open_ ? std::nullopt : scheduler_.next_at(hooks_.may_serve);
  if (!at) return;
  timer_.expires_at(*at);
  timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled && open_) take_next();
  });
}

void ReadingLane::stop() {
  open_ = false;
  timer_.cancel();
  thread_.stop();
}

void ReadingLane::take_next() {
  if (reading_) return;
  const auto began = QueryScheduler::Clock::now();
  auto taken = scheduler_.next(began, hooks_.may_serve);
  if (!taken) {
    schedule();
    return;
  }
  Answer prepared = hooks_.prepare(*taken);
  const ledger::QueryBudget budget = hooks_.budget(*taken);
  reading_ = Reading{*std::move(taken), began};
  auto* question = std::get_if<ReadingThread::Question>(&prepared);
  if (question == nullptr) {
    finish(std::get<std::string>(std::move(prepared)));
    return;
  }
  thread_.ask(std::move(*question), budget, [this](std::string text) {
    boost::asio::post(io_, [this, text = std::move(text)]() mutable {
      if (open_) finish(std::move(text));
    });
  });
}

void ReadingLane::finish(std::string text) {
  const Reading done = *std::exchange(reading_, std::nullopt);
  scheduler_.done(done.query, done.began, QueryScheduler::Clock::now());
  if (done.query.session != nullptr) hooks_.reply(done.query, std::move(text));
  hooks_.done();
}

}  // namespace shapley::daemon
