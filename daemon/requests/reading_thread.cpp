#include "daemon/requests/reading_thread.hpp"

#include <utility>

namespace shapley::daemon {

const Expected<ledger::Ledger>& ReadingThread::Connection::ledger() {
  if (!ledger_ || !*ledger_) ledger_.emplace(ledger::Ledger::open(file_, ledger::OpenMode::read_beside_writer));
  return *ledger_;
}

ReadingThread::ReadingThread(std::filesystem::path ledger)
    : connection_(std::move(ledger)),
      thread_([this](const Task& task) { task.done(task.question(connection_, task.budget)); }) {}

ReadingThread::~ReadingThread() {
  stop();
}

void ReadingThread::ask(Question question, ledger::QueryBudget budget, Done done) {
  ended_ = false;
  budget.ended = &ended_;
  thread_.give({std::move(question), budget, std::move(done)});
}

void ReadingThread::end_question() {
  ended_ = true;
}

void ReadingThread::stop() {
  ended_ = true;
  thread_.stop();
}

}  // namespace shapley::daemon
