#include "world.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>
#include <sqlite3.h>

#include "daemon/consortium/consortium.hpp"
#include "daemon/controllers/controller_json.hpp"
#include "daemon/controllers/controllers.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/consortium/consortium_audit.hpp"
#include "tests/support/must.hpp"

namespace shapley::daemon {

namespace {

// One key for all hosts of all lives: making one costs more than many steps.
struct Keys {
  Keys() {
    const TempDirectory directory;
    static_cast<void>(must(ledger::make_key_files(directory / "key")));
    own = std::make_shared<const ledger::SigningKey>(must(ledger::SigningKey::read(directory / "key")));
    other = std::make_shared<const ledger::PublicKey>(must(ledger::PublicKey::read(directory / "key.pub")));
    known.push_back(must(ledger::PublicKey::read(directory / "key.pub")));
  }
  std::shared_ptr<const ledger::SigningKey> own;
  std::shared_ptr<const ledger::PublicKey> other;
  std::vector<ledger::PublicKey> known;
};
const Keys& keys() {
  static const Keys all;
  return all;
}

// Another connection folds the log into the file, as SQLite does by itself after 1,000 pages.
void fold(const std::filesystem::path& file, Rng& rng) {
  constexpr std::array k_modes{SQLITE_CHECKPOINT_PASSIVE, SQLITE_CHECKPOINT_FULL, SQLITE_CHECKPOINT_RESTART,
                               SQLITE_CHECKPOINT_TRUNCATE};
  sqlite3* connection = nullptr;
  // A connection that has read nothing yet does not know of a log to fold.
  if (sqlite3_open(file.c_str(), &connection) == SQLITE_OK &&
      sqlite3_exec(connection, "SELECT COUNT(*) FROM sqlite_master", nullptr, nullptr, nullptr) == SQLITE_OK) {
    sqlite3_wal_checkpoint_v2(connection, nullptr, k_modes.at(rng.below(k_modes.size())), nullptr, nullptr);
  }
  sqlite3_close(connection);
}

bool is_same(const Booked& one, const Booked& other) {
  return one.job == other.job && one.organization == other.organization && one.begin == other.begin;
}

// Whether gaps of the books contain the instant; times are whole seconds.
bool is_in_gap(const std::vector<BookedGap>& gaps, std::int64_t instant) {
  return std::ranges::any_of(gaps,
                             [&](const BookedGap& gap) { return gap.begin - 1 <= instant && instant <= gap.end + 1; });
}

std::vector<std::string> texts_of_runs(const Host& host) {
  std::vector<std::string> texts;
  for (Booked& run : host.runs()) {
    run.reason = "ended";  // of a run that is imported it is another one
    texts.push_back(run.text());
  }
  return texts;
}

// A line for each organization: its name, psi and direct phi, to the unit. The import takes runs from Slurm's records,
// and no waits: the other contributions, which depend on them, may differ.
std::vector<std::string> standings(const Host& host) {
  std::vector<std::string> lines;
  const nlohmann::json status = host.ask(R"({"request": "status"})");
  for (const nlohmann::json& row : status.at("organizations"))
    lines.push_back(row.at("name").get<std::string>() + ' ' + row.at("psi").dump() + ' ' + row.at("phi_direct").dump());
  std::ranges::sort(lines);  // the rows come in the order of ranks
  return lines;
}

}  // namespace

World::World(const Options& options)
    : options_(options), rng_(options.seed), kind_(static_cast<Kind>(rng_.below(3))), faulty_{&north_, &south_} {
  if (has_backup()) faulty_.push_back(&backup_);
  prepare(north_, "north");
  prepare(south_, "south");
  prepare(flawless_, "north");
  if (has_backup()) prepare(backup_, "north");
  for (Host* host : faulty_) start(*host);
  flawless_.start();
  truthful_.connect_again();
}

void World::prepare(Host& host, const std::string& name) {
  host.site.signing_key = keys().own;
  host.options.checkpoint_events = static_cast<std::int64_t>(5 + rng_.below(60));
  if (&host == &flawless_) return;
  config::ConsortiumConfig& consortium = host.site.configuration.consortium;
  consortium.name = "uni";
  config::OtherClusterConfig other;
  other.name = name == "north" ? "south" : "north";
  other.standing = (host.directory / "standing").string();
  other.stale_after = Duration{3600};
  consortium.clusters = {other};
  host.site.consortium_keys = {keys().other};
  if (!has_backup() || &host == &south_) return;
  host.site.configuration.peer = "/run/other.sock";
  host.options.host = &host == &north_ ? "ctl1" : "ctl2";
}

void World::start(Host& host) {
  host.put_on_lossy_disk();
  host.disk->lie(options_.is_lying_disk);
  host.options.instance = host.options.host + '/' + std::to_string(steps_.size());
  host.start();
  Slurmctld& slurmctld = of(host);
  if (&slurmctld.host() != &host) return;
  slurmctld.connect_again();
  // What is said under a wrong clock is acknowledged, and a gap in the books.
  if (kind_ == Kind::wrong_clocks) return;
  for (std::string& lost : slurmctld.lost()) wrong_.push_back(std::move(lost));
}

void World::die(Host& host) {
  if (host.has_lost_power()) steps_.push_back("  the power went: " + host.disk->last_change());
  host.die(rng_);
}

void World::pass(std::int64_t seconds) {
  for (Host* host : {&north_, &backup_, &south_, &flawless_}) host->clock.pass(seconds);
  each_asks();
  northern_.look();
  southern_.look();
  truthful_.look();
  if (has_backup()) {
    Host& other = &northern_.host() == &north_ ? backup_ : north_;
    if (other.service) other.service->tick(other.now());
  }
  for (Host* host : {&north_, &backup_, &south_, &flawless_}) {
    if (host->service && !host->has_lost_power() && !host->checkpoint_ends())
      wrong_.push_back("a checkpoint does not end");
  }
  each_asks();
  set_aside_what_parted();
  state_standings();
  for (Host* host : faulty_) {
    if (host->has_lost_power()) die(*host);
  }
}

void World::poll(Host& from, Host& to) {
  if (!from.service) return;
  from.service->controllers()->poll([&](const std::string& request, const Controllers::Done& done) {
    if (is_peer_cut_ || !to.service) return done(fail(Errc::unavailable, "does not answer"), from.now());
    done(to.text_of(request), from.now());
  });
}

void World::each_asks() {
  if (!has_backup()) return;
  const auto has_more = [](const Host& host) { return host.service && host.service->controllers()->has_more(); };
  for (int rounds = 0; rounds < 4 || ((has_more(north_) || has_more(backup_)) && rounds < 400); ++rounds) {
    poll(north_, backup_);
    poll(backup_, north_);
  }
}

void World::set_aside_what_parted() {
  if (!has_backup()) return;
  for (Host* host : {&north_, &backup_}) {
    if (!host->service || !host->service->controllers()->has_parted()) continue;
    steps_.emplace_back("  a ledger is set aside");
    host->kill();
    // Otherwise a connection that is being closed still reads it, and it parts again.
    if (set_ledger_aside(host->site.configuration.ledger, Instant{host->clock.wall()}))
      of(*host).forget_acknowledged(*host);
    start(*host);
  }
}

void World::state_standings() {
  if (is_south_cut_) return;
  const auto state = [&](Host& from, const std::string& name, Host& to) {
    if (!from.service || !to.service || !from.service->is_active() || !to.service->is_active()) return;
    const Instant now = from.now();
    auto statement = from.service->consortium().statement(name, keys().own.get(), now);
    if (!statement) return;
    to.service->receive_standing(name, read_statement(statement->text(), keys().other), to.now());
  };
  state(northern_.host(), "north", south_);
  state(south_, "south", northern_.host());
}

// ---- what happens ----

std::vector<World::Step> World::possible_steps() {
  std::vector<Step> steps;
  steps.push_back({6, "time passes", [this] { return pass(1 + static_cast<std::int64_t>(rng_.below(700))), true; }});
  steps.push_back({1, "days pass", [this] {
                     // Not under a wrong clock: after a day it would be believed.
                     if (north_.clock.ahead != 0) return false;
                     return pass(3 * k_day), true;
                   }});
  add_steps_of_jobs(steps);
  add_steps_of_hosts(steps);
  if (has_backup()) add_steps_of_controllers(steps);
  if (kind_ == Kind::wrong_clocks) steps.push_back({3, "a wall clock is set", [this] { return set_clock(); }});
  return steps;
}

void World::add_steps_of_jobs(std::vector<Step>& steps) {
  steps.push_back({6, "a job starts", [this] {
                     const std::string account = rng_.below(2) == 0 ? "phys" : "chem";
                     const std::string node = rng_.below(2) == 0 ? "n1" : "n2";
                     ++last_job_;
                     for (Slurmctld* each : {&northern_, &truthful_}) each->start(last_job_, account, node);
                     return true;
                   }});
  steps.push_back({5, "a job ends", [this] {
                     const auto job = static_cast<std::uint32_t>(1 + rng_.below(last_job_ + 1));
                     if (!truthful_.runs(job)) return false;
                     for (Slurmctld* each : {&northern_, &truthful_}) each->end(job);
                     return true;
                   }});
  steps.push_back({2, "a job is submitted", [this] {
                     const std::string account = rng_.below(2) == 0 ? "phys" : "chem";
                     ++last_job_;
                     for (Slurmctld* each : {&northern_, &truthful_}) each->submit(last_job_, account);
                     return true;
                   }});
  steps.push_back({2, "a job is cancelled", [this] {
                     const auto job = static_cast<std::uint32_t>(1 + rng_.below(last_job_ + 1));
                     if (!truthful_.waits(job)) return false;
                     for (Slurmctld* each : {&northern_, &truthful_}) each->cancel(job);
                     return true;
                   }});
  steps.push_back({3, "a job of the south starts or ends", [this] {
                     if (last_southern_job_ > 0 && southern_.runs(last_southern_job_) && rng_.below(2) == 0) {
                       southern_.end(last_southern_job_);
                     } else {
                       southern_.start(++last_southern_job_, rng_.below(3) == 0 ? "phys" : "chem", "n1");
                     }
                     return true;
                   }});
}

void World::add_steps_of_hosts(std::vector<Step>& steps) {
  steps.push_back({2, "shapleyd is restarted", [this] {
                     Host& host = some_host();
                     if (!host.service) return false;
                     host.service->stop(host.now());
                     host.kill();
                     return start(host), true;
                   }});
  steps.push_back({2, "shapleyd is killed", [this] {
                     Host& host = some_host();
                     if (!host.service) return false;
                     return die(host), true;
                   }});
  steps.push_back({4, "a host's power will go", [this] {
                     Host& host = some_host();
                     // A clock that is wrong when a host boots is another subject (tests/daemon/scenes/clock.txt).
                     if (!host.service || (&host == &north_ && kind_ == Kind::wrong_clocks)) return false;
                     // A few changes find the faults of a start, many those of commits and folds.
                     return host.disk->lose_power_in(1 + rng_.below(std::array{20, 100, 300}.at(rng_.below(3)))), true;
                   }});
  steps.push_back({5, "shapleyd comes back", [this] {
                     Host& host = some_host();
                     if (host.service) return false;
                     start(host);
                     return true;
                   }});
  steps.push_back({2, "a disk is full, or not any more", [this] {
                     Host& host = some_host();
                     if (!host.service) return false;
                     return host.disk->fill(!host.disk->is_full()), true;
                   }});
  steps.push_back({2, "a log is folded", [this] {
                     Host& host = some_host();
                     if (!host.service) return false;
                     return fold(host.site.configuration.ledger, rng_), true;
                   }});
  steps.push_back({1, "slurmctld restarts", [this] { return northern_.restart(), true; }});
  steps.push_back(
      {1, "the south is cut off, or not any more", [this] { return is_south_cut_ = !is_south_cut_, true; }});
}

void World::add_steps_of_controllers(std::vector<Step>& steps) {
  steps.push_back({3, "the other controller takes over",
                   [this] { return northern_.move_to(&northern_.host() == &north_ ? backup_ : north_), true; }});
  steps.push_back(
      {2, "the controllers are parted, or not any more", [this] { return is_peer_cut_ = !is_peer_cut_, true; }});
}

bool World::set_clock() {
  // A clock that is set while no shapleyd runs is another subject (tests/daemon/scenes/clock.txt).
  if (!north_.service || north_.disk->is_full()) return false;
  // Half of them by minutes, so that times of a clock ahead come.
  const auto by = static_cast<std::int64_t>(rng_.below(2) == 0 ? 62 + rng_.below(838) : 900 + rng_.below(60 * k_day));
  const std::int64_t ahead = north_.clock.ahead != 0 ? 0 : rng_.below(2) == 0 ? by : -by;
  north_.clock.set_wall_by(ahead - north_.clock.ahead);
  pass(1);
  return true;
}

void World::live() {
  try {
    live_and_compare();
  } catch (const std::exception& error) {
    wrong_.emplace_back(error.what());  // a ledger that is refused, above all
  }
}

void World::live_and_compare() {
  settle();  // where nothing was ever observed, no time can be known to go back
  const std::vector<Step> steps = possible_steps();
  std::uint64_t all = 0;
  for (const Step& step : steps) all += step.weight;
  for (std::uint64_t i = 0; i < options_.steps && wrong_.empty(); ++i) {
    std::uint64_t drawn = rng_.below(all);
    const auto step = std::ranges::find_if(steps, [&](const Step& each) {
      if (drawn < each.weight) return true;
      drawn -= each.weight;
      return false;
    });
    steps_.push_back(step->name);
    if (!step->act()) steps_.pop_back();
    pass(1);
  }
  if (!wrong_.empty()) return;
  repair();
  compare();
}

// ---- afterwards ----

void World::repair() {
  steps_.emplace_back("everything is repaired");
  is_peer_cut_ = is_south_cut_ = false;
  for (Host* host : faulty_) {
    if (host->service) host->disk->fill(false);
    if (!host->service) start(*host);
    host->disk->lose_power_in(std::uint64_t{1} << 40U);
  }
  if (north_.clock.ahead != 0) static_cast<void>(set_clock());
  settle();
  if (!has_backup()) return;
  // What is in the plugin's spool on a host is sent when slurmctld runs there again.
  for (Host* host : {&backup_, &north_}) {
    northern_.move_to(*host);
    settle();
  }
}

void World::settle() {
  for (int i = 0; i < 40; ++i) pass(1);
}

void World::compare() {
  for (const Slurmctld* each : {&northern_, &southern_}) {
    if (each->unacknowledged() > 0) wrong_.emplace_back("messages are never acknowledged");
  }
  compare_with_truth();
  for (Host* host : faulty_) audit(*host);
  if (has_backup() && must(ledger::head_of(north_.service->books().ledger())) !=
                          must(ledger::head_of(backup_.service->books().ledger())))
    wrong_.emplace_back("the controllers' ledgers differ");
  compare_after_import();
}

// Every run of the books took place, at least as long; what is missing began or ended in a gap.
void World::compare_with_truth() {
  const Host& host = northern_.host();
  std::vector<Booked> missing = flawless_.runs();
  const std::vector<BookedGap> gaps = host.gaps();
  for (const Booked& booked : host.runs()) {
    const auto whole = std::ranges::find_if(missing, [&](const Booked& truth) {
      if (!is_same(booked, truth)) return false;
      if (booked.end.value_or(k_end_of_time.value) <= truth.end.value_or(k_end_of_time.value)) return true;
      // A controller that takes over does not know whether the other one had read all records after its last gap.
      return has_backup() && booked.reason == "vanished" && is_in_gap(gaps, truth.end.value_or(k_end_of_time.value));
    });
    if (whole == missing.end()) {
      wrong_.push_back("the books have a run that never was: " + booked.text());
      continue;
    }
    if (booked.end != whole->end && !is_in_gap(gaps, whole->end.value_or(k_end_of_time.value)))
      wrong_.push_back("ends too early in the books: " + booked.text() + " of " + whole->text());
    missing.erase(whole);
  }
  for (const Booked& run : missing) {
    if (!is_in_gap(gaps, run.begin)) wrong_.push_back("is not in the books, and in no gap: " + run.text());
  }
}

void World::compare_after_import() {
  Host& host = northern_.host();
  for (Host* each : faulty_) {
    if (each == &south_) continue;
    each->kill();
    each->disk.reset();
  }
  const std::string fault = northern_.import_records();
  if (!fault.empty()) return wrong_.push_back("the import fails: " + fault);
  for (Host* each : faulty_) {
    if (each != &south_) start(*each);
  }
  settle();
  expect_equal("after an import, of the runs", texts_of_runs(host), texts_of_runs(flawless_));
  expect_equal("after an import, of the standings", standings(host), standings(flawless_));
  for (Host* each : faulty_) audit(*each);
  audit_statements();
}

// The statements that each cluster recorded against the other one's ledger.
void World::audit_statements() {
  const ledger::Ledger& north = northern_.host().service->books().ledger();
  const ledger::Ledger& south = south_.service->books().ledger();
  // What a controller wrote that the other one did not continue was stated, too.
  std::vector<ledger::Ledger> aside;
  for (const Host* host : faulty_) {
    for (const auto& entry : std::filesystem::directory_iterator(host->folder())) {
      const std::string name = entry.path().filename().string();
      if (name.find(".superseded-") == std::string::npos || !name.ends_with('Z')) continue;
      aside.push_back(must(ledger::Ledger::open(entry.path(), ledger::OpenMode::read_only)));
    }
  }
  for (const auto& [own, other] : {std::pair{&north, &south}, std::pair{&south, &north}}) {
    std::vector<ledger::LedgerOfConsortium> others{{"other", other}};
    for (const ledger::Ledger& each : aside) others.push_back({"one that was set aside", &each});
    const auto report = ledger::audit_consortium(*own, others, keys().known);
    if (!report) return wrong_.push_back("no audit of statements: " + report.error().what);
    for (const ledger::Finding& finding : report->findings) wrong_.push_back(finding.check + ": " + finding.what);
  }
}

void World::expect_equal(const std::string& what, const std::vector<std::string>& is,
                         const std::vector<std::string>& must_be) {
  for (std::size_t i = 0; i < std::max(is.size(), must_be.size()); ++i) {
    const std::string here = i < is.size() ? is[i] : "nothing";
    const std::string there = i < must_be.size() ? must_be[i] : "nothing";
    if (here != there) wrong_.push_back(what + ": " + here + " in place of " + there);
  }
}

void World::audit(Host& host) {
  const ledger::Ledger& books = host.service->books().ledger();
  const auto report = ledger::audit(books);
  if (!report) return wrong_.push_back("no audit: " + report.error().what);
  for (const ledger::Finding& finding : report->findings) wrong_.push_back(finding.check + ": " + finding.what);
}

}  // namespace shapley::daemon
