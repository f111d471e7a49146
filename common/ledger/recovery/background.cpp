#include "ledger/recovery/background.hpp"

#include <csignal>
#include <string>
#include <system_error>
#include <utility>

namespace shapley::ledger {

Expected<std::unique_ptr<Background>> Background::start(std::function<void(ReplayWatch&)> work) {
  std::unique_ptr<Background> background(new Background);
  // Signals are for the thread that waits for them.
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Expected<void> started;
  try {
    background->thread_ = std::thread([self = background.get(), run = std::move(work)] {
      run(self->watch_);
      self->ended_ = true;
    });
  } catch (const std::system_error& error) {
    started = fail(Errc::unavailable, std::string("start a thread: ") + error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  SHAPLEY_TRY(std::move(started));
  return background;
}

Background::~Background() {
  watch_.stop = true;
  wait();
}

void Background::wait() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace shapley::ledger
