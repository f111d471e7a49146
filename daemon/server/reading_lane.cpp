#include "daemon/server/reading_lane.hpp"

#include <utility>

#include <boost/asio/post.hpp>

namespace shapley::daemon {

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
