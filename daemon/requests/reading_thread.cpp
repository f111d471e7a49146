#include "daemon/requests/reading_thread.hpp"

#include <utility>

namespace shapley::daemon {

const Expected<ledger::Ledger>& ReadingThread::Connection::ledger() {
  if (!ledger_ || !*ledger_) ledger_.emplace(ledger::Ledger::open(file_, ledger::OpenMode::read_beside_writer));
  return *ledger_;
}

ReadingThread::ReadingThread(std::filesystem::path ledger)
    : connection_(std::move(ledger)), thread_([this] { run(); }) {}

ReadingThread::~ReadingThread() {
  stop();
}

void ReadingThread::ask(Question question, ledger::QueryBudget budget, Done done) {
  ended_ = false;
  budget.ended = &ended_;
  {
    const std::lock_guard lock(mutex_);
    asked_ = Task{std::move(question), budget, std::move(done)};
  }
  changed_.notify_one();
}

void ReadingThread::end_question() {
  ended_ = true;
}

void ReadingThread::stop() {
  if (!thread_.joinable()) return;
  ended_ = true;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

std::optional<ReadingThread::Task> ReadingThread::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || asked_; });
  if (stopping_) return std::nullopt;
  return std::exchange(asked_, std::nullopt);
}

void ReadingThread::run() {
  while (const auto task = next()) task->done(task->question(connection_, task->budget));
}

}  // namespace shapley::daemon
