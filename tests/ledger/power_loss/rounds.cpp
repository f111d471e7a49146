#include "rounds.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/service.hpp"
#include "ledger/audit/audit.hpp"
#include "site.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/child.hpp"
#include "tests/support/text_rows.hpp"
#include "world.hpp"

namespace shapley::ledger::testing {

namespace {

namespace fs = std::filesystem;
using daemon::Service;

constexpr std::uint64_t k_sessions_of_a_life = 8;
constexpr std::uint64_t k_frames_of_a_session = 40;
constexpr std::uint64_t k_rounds_of_an_audit = 4;
constexpr const char* k_file = "ledger.db";

// What the daemon was about when the power went.
enum class Phase { start, commit, fold, stop };
constexpr std::array<const char*, 4> k_phases{"start", "commit", "folding the log", "stop"};

// How far a session came.
struct Reached {
  Phase phase = Phase::start;
  std::size_t acknowledged = 0;  // frames of the session
  std::size_t sent = 0;
};

// Another connection folds the log into the file, as SQLite does by itself after 1,000 pages.
void fold(const fs::path& file, Rng& rng) {
  constexpr std::array<int, 4> k_modes{SQLITE_CHECKPOINT_PASSIVE, SQLITE_CHECKPOINT_FULL, SQLITE_CHECKPOINT_RESTART,
                                       SQLITE_CHECKPOINT_TRUNCATE};
  sqlite3* connection = nullptr;
  // A connection that has read nothing yet does not know of a log to fold.
  if (sqlite3_open(file.c_str(), &connection) == SQLITE_OK &&
      sqlite3_exec(connection, "SELECT COUNT(*) FROM sqlite_master", nullptr, nullptr, nullptr) == SQLITE_OK) {
    sqlite3_wal_checkpoint_v2(connection, nullptr, k_modes.at(rng.below(k_modes.size())), nullptr, nullptr);
  }
  sqlite3_close(connection);
}

// The disk knows no threads, and a round is to be the same each time: a checkpoint's thread has the ledger for itself.
void await_checkpoint(Service& service) {
  while (service.books().is_saving_checkpoint() && !service.books().end_checkpoint().value_or(true)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// One daemon's work on the ledger in `directory`: a snapshot, then frame after frame; `report` gets every step.
template <typename Report>
void work(const fs::path& directory, const World& world, const std::vector<Frame>& frames, Rng rng,
          const Report& report) {
  Instant now = world.now();
  auto started = Service::start(site_of(directory / k_file), options_of(rng), now);
  if (!started) return;
  Service& service = **started;
  const std::uint64_t instance = 1 + rng.below(1U << 30U);
  service.begin_session(hello_of(instance), now);
  Reached reached{.phase = Phase::commit};
  report(reached);
  std::uint64_t sequence = send_snapshot(service, world, now);
  const std::uint64_t before = sequence;
  for (const Frame& frame : frames) {
    now = frame.at;
    service.receive(frame.observations(++sequence), now);
    ++reached.sent;
    if (rng.below(3) != 0) service.process(now);
    if (rng.below(4) == 0) service.tick(now);
    await_checkpoint(service);
    const std::uint64_t acknowledged = service.acknowledged(instance);
    reached.acknowledged = acknowledged > before ? static_cast<std::size_t>(acknowledged - before) : 0;
    report(reached);
    if (rng.below(6) != 0) continue;
    reached.phase = Phase::fold;
    report(reached);
    fold(directory / k_file, rng);
    reached.phase = Phase::commit;
    report(reached);
  }
  if (rng.below(4) != 0) return;  // else it is let go without a farewell
  reached.phase = Phase::stop;
  report(reached);
  service.stop(now);
  started->reset();
}

class Harness {
 public:
  explicit Harness(const Options& options) : options_(options), rng_(options.seed) {
    if (options.old_ledger_sql.empty()) return;
    std::ifstream in(options.old_ledger_sql);
    tamper(old_ledger_.path() / k_file, std::string(std::istreambuf_iterator<char>(in), {}));
  }

  Tally run() {
    while (tally_.rounds < options_.rounds)
      live([this](Life& life) { cut_power(life); }, options_.rounds, tally_.rounds);
    while (tally_.kills < options_.kills) live([this](Life& life) { kill(life); }, options_.kills, tally_.kills);
    return tally_;
  }

 private:
  struct Life {
    std::unique_ptr<TemporaryDirectory> directory = std::make_unique<TemporaryDirectory>();
    World world;
    std::uint64_t seed = 0;  // of the present round
    std::string fault;       // of the present round
  };

  template <typename Round>
  void live(const Round& round, std::uint64_t rounds, const std::uint64_t& done) {
    Life life;
    if (!options_.old_ledger_sql.empty() && rng_.below(6) == 0) {
      fs::copy_file(old_ledger_.path() / k_file, life.directory->path() / k_file);
    }
    const std::uint64_t losses = tally_.losses;
    for (std::uint64_t i = 0; i < k_sessions_of_a_life && done < rounds && tally_.losses == losses; ++i) {
      life.seed = rng_.next();
      round(life);
    }
  }

  // Sessions of a few changes find the start's faults, long ones those of commits and folds.
  static std::uint64_t draw_end(Rng& rng) { return 1 + rng.below(std::array{60, 300, 900}.at(rng.below(3))); }

  void cut_power(Life& life) {
    Rng rng(life.seed);
    LossyDisk& disk = LossyDisk::instance();
    const std::vector<Frame> frames = life.world.future(rng, 1 + rng.below(k_frames_of_a_session));
    disk.lie(options_.lying_disk);
    disk.power_on(draw_end(rng));
    Reached reached;
    Reached alive;  // what was known before the power went
    work(life.directory->path(), life.world, frames, Rng(rng.next()), [&](const Reached& step) {
      reached = step;
      if (!disk.dead()) alive = step;
    });
    disk.power_off();
    // An acknowledgement that comes after the power went is one that did not arrive.
    alive.sent = reached.sent;
    ++tally_.rounds;
    tally_.changes += disk.changes();
    life.fault = "after the last change";
    if (disk.dead()) {
      life.fault = std::string(k_phases.at(static_cast<std::size_t>(alive.phase))) + ": " +
                   name_of(disk.last_change()) + " " + kind_of(disk.last_file());
    }
    ++tally_.faults[life.fault];
    auto image = std::make_unique<TemporaryDirectory>();
    disk.surviving_image(life.directory->path(), image->path(), rng, tally_.fates);
    life.directory = std::move(image);
    settle(life, frames, alive);
  }

  void kill(Life& life) {
    Rng rng(life.seed);
    LossyDisk& disk = LossyDisk::instance();
    const std::vector<Frame> frames = life.world.future(rng, 1 + rng.below(k_frames_of_a_session));
    int ends[2] = {};
    if (::pipe(ends) != 0) throw std::runtime_error("pipe");
    const std::uint64_t end = draw_end(rng);
    const Rng choices(rng.next());
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
      test::die_with(parent);
      disk.power_on(end);
      disk.at_the_end([] { ::kill(::getpid(), SIGKILL); });
      work(life.directory->path(), life.world, frames, choices, [&](const Reached& step) {
        if (::write(ends[1], &step, sizeof step) != static_cast<ssize_t>(sizeof step)) ::_exit(3);
      });
      ::_exit(0);
    }
    ::close(ends[1]);
    const test::Deadline deadline("the daemon that kills itself");
    Reached reached;
    Reached step;
    while (::read(ends[0], &step, sizeof step) == static_cast<ssize_t>(sizeof step)) reached = step;
    ::close(ends[0]);
    int status = 0;
    if (::waitpid(child, &status, 0) != child) throw std::runtime_error("waitpid");
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) lost(life, "the daemon failed by itself");
    ++tally_.kills;
    life.fault = "SIGKILL";
    // What it was sending when it died.
    if (reached.sent < frames.size()) ++reached.sent;
    settle(life, frames, reached);
  }

  static std::string kind_of(const std::string& file) {
    if (file.ends_with("-wal")) return "log";
    if (file.ends_with("-journal")) return "journal";
    return file == k_file ? "ledger" : "backup";
  }

  // A new daemon on a copy of what is left; then the world takes over what the books have.
  void settle(Life& life, const std::vector<Frame>& frames, const Reached& reached) {
    life.world.happened(frames, reached.acknowledged, reached.sent);
    const TemporaryDirectory copy;
    for (const auto& entry : fs::directory_iterator(life.directory->path())) {
      fs::copy_file(entry.path(), copy.path() / entry.path().filename());
    }
    Rng rng(life.seed);
    auto started = Service::start(site_of(copy.path() / k_file), options_of(rng), life.world.now());
    if (!started) return lost(life, started.error().what);
    const Ledger& books = (*started)->books().ledger();
    std::vector<std::string> wrong = life.world.compare(must(query(
        books,
        "SELECT job, anchor, organization, end FROM segments WHERE kind = 'run' AND retracted IS NULL ORDER BY job")));
    // The start has checked the chain; the whole audit takes longer than all the rest.
    if (rng.below(k_rounds_of_an_audit) == 0) {
      const auto report = audit(books);
      if (!report) return lost(life, report.error().what);
      for (const Finding& finding : report->findings) wrong.push_back(finding.check + ": " + finding.what);
    }
    if (!wrong.empty()) lost(life, std::to_string(wrong.size()) + " differences, the first: " + wrong.front());
    tally_.acknowledged += life.world.acknowledged();
    tally_.unacknowledged_lost += life.world.take_lost();
  }

  void lost(const Life& life, const std::string& what) {
    if (tally_.losses++ == 0 && !options_.keep.empty()) fs::copy(life.directory->path(), options_.keep);
    std::fprintf(stderr, "LOSS in round %llu (%s): %s\n", static_cast<unsigned long long>(tally_.rounds + tally_.kills),
                 life.fault.c_str(), what.c_str());
  }

  const Options& options_;
  Rng rng_;
  TemporaryDirectory old_ledger_;
  Tally tally_;
};

}  // namespace

Tally run(const Options& options) {
  return Harness(options).run();
}

}  // namespace shapley::ledger::testing
