#include "ledger/recovery/background.hpp"

#include <chrono>
#include <utility>

#include "base/piece_of_work.hpp"
#include "base/threads.hpp"
#include "ledger/file/database.hpp"
#include "ledger/recovery/checkpoint.hpp"
#include "ledger/recovery/fold.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/rows.hpp"

namespace shapley::ledger {

Expected<std::unique_ptr<Background>> Background::start(std::string name, std::function<void(ReplayWatch&)> work) {
  std::unique_ptr<Background> background(new Background);
  SHAPLEY_TRY_ASSIGN(
      background->thread_,
      start_without_signals("a thread", [self = background.get(), name = std::move(name), run = std::move(work)] {
        const PieceOfWork busy(name, PieceOfWork::k_long_bound);
        run(self->watch_);
        self->ended_ = true;
      }));
  return background;
}

Background::~Background() {
  watch_.stop = true;
  wait();
}

void Background::wait() {
  if (thread_.joinable()) thread_.join();
}

namespace {

// After each transaction: long enough for a thread that waits for the lock to wake up and take it.
constexpr std::chrono::milliseconds k_pause{2};
constexpr int k_transactions_between_folds = 4;

// The connection through which a thread writes checkpoints beside the one that appends events, without keeping it
// waiting.
//
// Its transactions are short and not synced one by one: what they wrote is synced and folded into the file between
// them, outside the lock, so that the log stays short and the next append has little to sync.
class SecondWriter {
 public:
  // Once `stop` is set, its work ends with Errc::limit or Errc::unavailable.
  [[nodiscard]] static Expected<SecondWriter> open(const std::filesystem::path& ledger, const std::atomic<bool>& stop);

  [[nodiscard]] const Database& database() const { return *database_; }
  // Writes a checkpoint of the books after event `sequence` (checkpoint.hpp), dated to their present.
  [[nodiscard]] Expected<void> write(Mutex& turns, const accounting::State& state, std::int64_t sequence) const;

 private:
  SecondWriter(Database database, const std::atomic<bool>& stop);

  const std::atomic<bool>* stop_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<StepLimit> limit_;
};

Expected<SecondWriter> SecondWriter::open(const std::filesystem::path& ledger, const std::atomic<bool>& stop) {
  SHAPLEY_TRY_ASSIGN(Database database, open_second_writer(ledger));
  return SecondWriter(std::move(database), stop);
}

SecondWriter::SecondWriter(Database database, const std::atomic<bool>& stop)
    : stop_(&stop),
      database_(std::make_unique<Database>(std::move(database))),
      limit_(std::make_unique<StepLimit>(*database_, 0, stop_)) {}

Expected<void> SecondWriter::write(Mutex& turns, const accounting::State& state, std::int64_t sequence) const {
  // A fold gives way to readers and to other folds: what it leaves, the next one takes.
  const auto fold = [this] { return database_->execute("PRAGMA wal_checkpoint(PASSIVE)"); };
  int transactions = 0;
  CheckpointWriting how;
  how.stop = stop_;
  how.between = [&]() -> Expected<void> {
    std::this_thread::sleep_for(k_pause);
    return ++transactions % k_transactions_between_folds == 0 ? fold() : Expected<void>{};
  };
  SHAPLEY_TRY(write_checkpoint(*database_, turns, state, sequence, state.now(), how));
  SHAPLEY_TRY(fold());
  // Folded frames that stay in the log would be read again after a kill, and a damaged one among them would hide what
  // the file has since. If a reader needs them, they stay until the next time.
  const MutexLock turn(turns);
  return database_->execute("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout = 5000");
}

Expected<void> make_checkpoint(const std::filesystem::path& ledger, Mutex& turns,
                               const CheckpointThread::Options& options, ReplayWatch& watch) {
  SHAPLEY_TRY_ASSIGN(const SecondWriter writer, SecondWriter::open(ledger, watch.stop));
  SHAPLEY_TRY_ASSIGN(Recovered books, recover_books(writer.database(), options.state, &watch, options.upto));
  books.state.advance(options.now);
  books.state.compact(options.keep);
  return writer.write(turns, books.state, books.last_sequence);
}

}  // namespace

Expected<std::unique_ptr<CheckpointThread>> CheckpointThread::start(std::filesystem::path ledger,
                                                                    std::shared_ptr<Mutex> turns,
                                                                    const Options& options) {
  std::unique_ptr<CheckpointThread> thread(new CheckpointThread(options.upto));
  SHAPLEY_TRY_ASSIGN(thread->background_,
                     Background::start("the checkpoint", [self = thread.get(), file = std::move(ledger),
                                                          turns = std::move(turns), options](ReplayWatch& watch) {
                       self->written_ = make_checkpoint(file, *turns, options, watch);
                     }));
  return thread;
}

Expected<void> CheckpointThread::take() {
  background_->wait();
  return std::move(written_);
}

namespace {

// Follows the ledger until at most `left` events are missing. True: the books were replayed completely on the way,
// because an event was older than they remembered.
Expected<bool> follow(const Database& database, const Rebuild::Options& options, Recovered& books, ReplayWatch& watch) {
  bool anew = false;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
    SHAPLEY_TRY_ASSIGN(const Head head, read_head(database));
    const std::int64_t missing = head.sequence - books.last_sequence;
    if (missing <= options.left_to_owner) return anew;
    watch.total += missing;
    SHAPLEY_TRY_ASSIGN(Fold fold, Fold::by_number(database, std::move(books), head.sequence, options.state,
                                                  {.forgets = false, .watch = &watch}));
    SHAPLEY_TRY_ASSIGN(const bool followed, fold.follow_to_event(head.sequence));
    books = std::move(fold.books());
    if (followed) continue;
    SHAPLEY_TRY_ASSIGN(books, replay_by_time(database, head.sequence, options.state, &watch));
    anew = true;
  }
}

Expected<Rebuild::Result> rebuild(const std::filesystem::path& ledger, Mutex& turns, const Rebuild::Options& options,
                                  ReplayWatch& watch) {
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

Expected<std::unique_ptr<Rebuild>> Rebuild::start(std::filesystem::path ledger, std::shared_ptr<Mutex> turns,
                                                  Options options) {
  std::unique_ptr<Rebuild> rebuilding(new Rebuild);
  SHAPLEY_TRY_ASSIGN(
      rebuilding->background_,
      Background::start("the rebuild of the books",
                        [self = rebuilding.get(), file = std::move(ledger), turns = std::move(turns), options](
                            ReplayWatch& watch) { self->result_.emplace(rebuild(file, *turns, options, watch)); }));
  return rebuilding;
}

Expected<Rebuild::Result> Rebuild::take() {
  background_->wait();
  return *std::move(result_);
}

}  // namespace shapley::ledger
