#include "ledger/recovery/rebuild.hpp"

#include <csignal>
#include <string>
#include <system_error>
#include <utility>

#include "ledger/recovery/replay.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

Expected<std::unique_ptr<Rebuild>> Rebuild::start(std::filesystem::path ledger, Options options) {
  std::unique_ptr<Rebuild> rebuild(new Rebuild);
  // Signals are for the thread that waits for them.
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Expected<void> started;
  try {
    rebuild->thread_ = std::thread([self = rebuild.get(), file = std::move(ledger), options] {
      self->books_.emplace(self->run(file, options));
      self->ended_ = true;
    });
  } catch (const std::system_error& error) {
    started = fail(Errc::unavailable, std::string("start a thread: ") + error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  SHAPLEY_TRY(std::move(started));
  return rebuild;
}

Rebuild::~Rebuild() {
  watch_.stop = true;
  if (thread_.joinable()) thread_.join();
}

Expected<Recovered> Rebuild::take() {
  thread_.join();
  return *std::move(books_);
}

Expected<Recovered> Rebuild::run(const std::filesystem::path& ledger, const Options& options) {
  SHAPLEY_TRY_ASSIGN(const Database database, open_beside_writer(ledger));
  const StepLimit stop(database, 0, &watch_.stop);
  SHAPLEY_TRY_ASSIGN(Recovered books, recover_books(database, options.state, &watch_));
  Replay replay(database, options.state, std::move(books), &watch_);
  while (true) {
    SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
    SHAPLEY_TRY_ASSIGN(const Head head, read_head(database));
    const std::int64_t missing = head.sequence - replay.books().last_sequence;
    if (missing <= options.left_to_owner) break;
    watch_.total += missing;
    SHAPLEY_TRY(replay.advance_to(head.sequence));
  }
  replay.books().state.compact();
  return std::move(replay.books());
}

}  // namespace shapley::ledger
