// Asks other hosts from a thread of its own, one question at a time, so that slow answers delay neither slurmctld nor
// the feed. Everything but the questions themselves runs in the one thread of the io_context.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <sys/eventfd.h>

#include "base/process.hpp"
#include "daemon/task_thread.hpp"

namespace shapley::daemon {

template <typename Question, typename Answer>
class AskingLoop {
 public:
  struct Hooks {
    std::chrono::milliseconds every{};  // from one call of `next` to the following one, if no answer comes between
    std::function<void()> tick;         // called as often, while a question goes on, too
    // The next question; nullopt: none now.
    std::function<std::optional<Question>()> next;
    // In the thread. It ends soon after `wake_up`, a descriptor, became readable.
    std::function<Answer(const Question& question, int wake_up)> ask;
    // Whether the next question may follow at once. It may stop the loop.
    std::function<bool(const Question& question, Answer answer)> received;
  };

  AskingLoop(boost::asio::io_context& io, Hooks hooks)
      : io_(io),
        hooks_(std::move(hooks)),
        timer_(io),
        wake_up_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        thread_("", [this](Question& question) { work(question); }) {}
  ~AskingLoop() { stop(); }
  AskingLoop(const AskingLoop&) = delete;
  AskingLoop& operator=(const AskingLoop&) = delete;

  void start() {
    is_open_ = true;
    ask();
    wait();
  }
  void stop() {
    is_open_ = false;
    timer_.cancel();
    thread_.begin_stop();
    if (wake_up_.is_open()) ::eventfd_write(wake_up_.get(), 1);
    thread_.stop();
  }

 private:
  void wait() {
    timer_.expires_after(hooks_.every);
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (error || !is_open_) return;
      hooks_.tick();
      ask();
      wait();
    });
  }

  void ask() {
    if (is_asking_) return;
    std::optional<Question> next = hooks_.next();
    if (!next) return;
    is_asking_ = true;
    thread_.give(*std::move(next));
  }

  // In the thread.
  void work(Question& question) {
    Answer answer = hooks_.ask(question, wake_up_.get());
    boost::asio::post(io_, [this, question = std::move(question), answer = std::move(answer)]() mutable {
      is_asking_ = false;
      if (!is_open_) return;
      if (hooks_.received(question, std::move(answer))) ask();
    });
  }

  boost::asio::io_context& io_;
  Hooks hooks_;
  boost::asio::steady_timer timer_;
  bool is_open_ = false;
  bool is_asking_ = false;
  Descriptor wake_up_;           // readable: the question has to end
  TaskThread<Question> thread_;  // the last member: it uses the others
};

}  // namespace shapley::daemon
