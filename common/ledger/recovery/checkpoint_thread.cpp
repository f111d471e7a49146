#include "ledger/recovery/checkpoint_thread.hpp"

#include <utility>

#include "ledger/recovery/replay.hpp"
#include "ledger/recovery/second_writer.hpp"

namespace shapley::ledger {

namespace {

Expected<void> make_checkpoint(const std::filesystem::path& ledger, std::mutex& turns,
                               const CheckpointThread::Options& options, ReplayWatch& watch) {
  SHAPLEY_TRY_ASSIGN(const SecondWriter writer, SecondWriter::open(ledger, watch.stop));
  SHAPLEY_TRY_ASSIGN(Recovered books, recover_books(writer.database(), options.state, &watch, options.upto));
  books.state.advance(options.now);
  books.state.compact(options.keep);
  return writer.write(turns, books.state, books.last_sequence);
}

}  // namespace

Expected<std::unique_ptr<CheckpointThread>> CheckpointThread::start(std::filesystem::path ledger,
                                                                    std::shared_ptr<std::mutex> turns,
                                                                    const Options& options) {
  std::unique_ptr<CheckpointThread> thread(new CheckpointThread(options.upto));
  SHAPLEY_TRY_ASSIGN(thread->background_, Background::start([self = thread.get(), file = std::move(ledger),
                                                             turns = std::move(turns), options](ReplayWatch& watch) {
                       self->written_ = make_checkpoint(file, *turns, options, watch);
                     }));
  return thread;
}

Expected<void> CheckpointThread::take() {
  background_->wait();
  return std::move(written_);
}

}  // namespace shapley::ledger
