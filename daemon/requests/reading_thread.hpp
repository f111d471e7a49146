// A thread that answers questions to the ledger, on a connection of its own: however long one takes, the feed goes on.
//
// One question at a time, asked and ended by one other thread. What a question finds does not change while it reads
// (jobs_report takes a snapshot); what was committed before it was asked is in it. The ledger is opened with the first
// question that reads it, and closed with the thread.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "daemon/task_thread.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::daemon {

class ReadingThread {
 public:
  // The thread's connection. REQUIRES: the thread.
  class Connection {
   public:
    explicit Connection(std::filesystem::path file) : file_(std::move(file)) {}
    // The Ledger, or why it cannot be opened. What could not be opened is tried again with the next question.
    [[nodiscard]] const Expected<ledger::Ledger>& ledger();

   private:
    std::filesystem::path file_;
    std::optional<Expected<ledger::Ledger>> ledger_;
  };

  // Makes the answer; called in the thread.
  using Question = std::function<std::string(Connection& connection, ledger::QueryBudget budget)>;
  // Takes the answer; called in the thread.
  using Done = std::function<void(std::string answer)>;

  // REQUIRES: this process writes the ledger and keeps it open until stop().
  explicit ReadingThread(std::filesystem::path ledger);
  ~ReadingThread();
  ReadingThread(const ReadingThread&) = delete;
  ReadingThread& operator=(const ReadingThread&) = delete;

  // REQUIRES: the last question is done, and stop() was not called. `budget.ended` is the thread's own.
  void ask(Question question, ledger::QueryBudget budget, Done done);
  // The question that is being answered ends within some thousand steps of SQLite; it is done all the same.
  void end_question();
  // Ends the question and the thread. Nothing is done afterwards.
  void stop();

 private:
  struct Task {
    Question question;
    ledger::QueryBudget budget;
    Done done;
  };

  Connection connection_;  // the thread's
  std::atomic<bool> ended_ = false;
  TaskThread<Task> thread_;  // the last member: it uses the others
};

}  // namespace shapley::daemon
