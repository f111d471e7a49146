// A thread that answers questions to the ledger, on a connection of its own, so that slow questions do not delay the
// feed.
//
// It answers one question at a time, which one other thread asks and can end. A question reads a consistent snapshot
// (see jobs_report), which contains all earlier commits. The ledger is opened with the first question that reads it,
// and closed with the thread.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "daemon/task_thread.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::daemon {

class ReadingThread {
 public:
  // The connection of the thread. REQUIRES: this thread.
  class Connection {
   public:
    explicit Connection(std::filesystem::path file) : file_(std::move(file)) {}
    // The Ledger, or the reason why it cannot be opened; opening is tried again with the next question.
    [[nodiscard]] const Expected<ledger::Ledger>& ledger() {
      if (!ledger_ || !*ledger_) ledger_.emplace(ledger::Ledger::open(file_, ledger::OpenMode::read_beside_writer));
      return *ledger_;
    }

   private:
    std::filesystem::path file_;
    std::optional<Expected<ledger::Ledger>> ledger_;
  };

  // Makes the answer; called in the thread.
  using Question = std::function<std::string(Connection& connection, ledger::QueryBudget budget)>;
  // Takes the answer; called in the thread.
  using Done = std::function<void(std::string answer)>;

  // REQUIRES: this process writes the ledger and keeps it open until stop().
  explicit ReadingThread(std::filesystem::path ledger)
      : connection_(std::move(ledger)), thread_("questions to the ledger", [this](const Task& task) {
          task.done(task.question(connection_, task.budget));
        }) {}
  ~ReadingThread() { stop(); }
  ReadingThread(const ReadingThread&) = delete;
  ReadingThread& operator=(const ReadingThread&) = delete;

  // REQUIRES: the last question is done, and stop() was not called. `budget.ended` is the thread's own.
  void ask(Question question, ledger::QueryBudget budget, Done done) {
    ended_ = false;
    budget.ended = &ended_;
    thread_.give({std::move(question), budget, std::move(done)});
  }
  // Ends the present question within some thousand steps of SQLite; `done` is called nevertheless.
  void end_question() { ended_ = true; }
  // Ends the question and the thread. No function is called afterwards.
  void stop() {
    ended_ = true;
    thread_.stop();
  }

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
