#include "ledger/recovery/rebuild.hpp"

#include <utility>

#include "ledger/recovery/replay.hpp"
#include "ledger/recovery/second_writer.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

// Follows the ledger until at most `left` events are missing. True: the books were replayed as a whole on the way, for
// an event was older than they remembered.
Expected<bool> follow(const Database& database, const Rebuild::Options& options, Recovered& books, ReplayWatch& watch) {
  bool anew = false;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
    SHAPLEY_TRY_ASSIGN(const Head head, read_head(database));
    const std::int64_t missing = head.sequence - books.last_sequence;
    if (missing <= options.left_to_owner) return anew;
    watch.total += missing;
    Replay replay(database, options.state, std::move(books), &watch);
    SHAPLEY_TRY_ASSIGN(const bool followed, replay.follow_to(head.sequence));
    books = std::move(replay.books());
    if (followed) continue;
    SHAPLEY_TRY_ASSIGN(books, replay_by_time(database, head.sequence, options.state, &watch));
    anew = true;
  }
}

Expected<Rebuild::Result> rebuild(const std::filesystem::path& ledger, std::mutex& turns,
                                  const Rebuild::Options& options, ReplayWatch& watch) {
  SHAPLEY_TRY_ASSIGN(const SecondWriter writer, SecondWriter::open(ledger, watch.stop));
  Rebuild::Result result;
  SHAPLEY_TRY_ASSIGN(result.books, recover_books(writer.database(), options.state, &watch));
  SHAPLEY_TRY(follow(writer.database(), options, result.books, watch));
  // A checkpoint that does not remember the late event would cost the next start a replay of everything.
  for (bool anew = true; anew;) {
    result.books.state.compact();
    result.checkpoint = result.books.last_sequence;
    result.saved = writer.write(turns, result.books.state, result.checkpoint);
    SHAPLEY_TRY_ASSIGN(anew, follow(writer.database(), options, result.books, watch));
  }
  return result;
}

}  // namespace

Expected<std::unique_ptr<Rebuild>> Rebuild::start(std::filesystem::path ledger, std::shared_ptr<std::mutex> turns,
                                                  Options options) {
  std::unique_ptr<Rebuild> rebuilding(new Rebuild);
  SHAPLEY_TRY_ASSIGN(
      rebuilding->background_,
      Background::start([self = rebuilding.get(), file = std::move(ledger), turns = std::move(turns), options](
                            ReplayWatch& watch) { self->result_.emplace(rebuild(file, *turns, options, watch)); }));
  return rebuilding;
}

Expected<Rebuild::Result> Rebuild::take() {
  background_->wait();
  return *std::move(result_);
}

}  // namespace shapley::ledger
