#include "daemon/service.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <spdlog/spdlog.h>

#include "accounting/state/organizations.hpp"
#include "base/calendar.hpp"
#include "base/text.hpp"
#include "config/checks.hpp"
#include "daemon/configuration/declarations.hpp"
#include "daemon/version.hpp"

namespace shapley::daemon {

const std::string_view k_version_text = SHAPLEY_VERSION;
const std::string_view k_program = "shapleyd " SHAPLEY_VERSION;

namespace {

ReadingRules reading_rules(const Site& site) {
  return {protocol::Classifier(site.rules), Charging(charge_rule(site.configuration))};
}

accounting::StateOptions state_options(const config::Configuration& configuration) {
  return {.left_out = config::kept_estimators(configuration).others()};
}

// Generations rise across restarts, too, so that an old order cannot be taken for a new one.
std::uint64_t first_generation(Instant now) {
  constexpr std::uint64_t k_generations_a_second = 1000;
  return static_cast<std::uint64_t>(now.value) * k_generations_a_second;
}

// Instants that the feeder did not report stay at the beginning of time.
Observing observing(const protocol::Hello& hello) {
  const auto said = [](std::int64_t time) { return time > 0 ? Instant{time} : k_beginning_of_time; };
  return {.since = said(hello.observing_since),
          .before = said(hello.observed_before),
          .controller_ran = said(hello.controller_ran_at),
          .dropped = hello.dropped,
          .backlog = hello.backlog};
}

constexpr std::string_view k_name_cluster = "name the cluster";
constexpr std::string_view k_name_users = "record the names of users";
constexpr std::string_view k_record_standings = "record other clusters' standings";

// Of the other clusters' public keys, in the configuration's order.
std::vector<std::string> fingerprints(const Site& site) {
  std::vector<std::string> keys;
  for (const auto& key : site.consortium_keys) keys.push_back(key->fingerprint());
  return keys;
}

}  // namespace

Expected<std::unique_ptr<Service>> Service::start(Site site, Options options, Instant now, ledger::ReplayWatch* watch) {
  SHAPLEY_TRY_ASSIGN(Books books, Books::open(site.configuration.ledger,
                                              {.most_replayed = options.checkpoint_events,
                                               .on_migration = options.on_migration,
                                               .state = state_options(site.configuration),
                                               .effort = options.effort},
                                              watch));
  std::optional<TrustedClock> clock;
  std::optional<KeptClock> kept;
  Intake::Resumed resumed;  // from the last process, in any boot
  if (options.read_clock) {
    kept = SideFile<KeptClock>(site.configuration.ledger).value();
    if (kept) {
      resumed.doubt = kept->doubt;
      for (const WrongStart& start : kept->wrong_starts) resumed.wrong_starts.emplace(JobId{start.job}, start.at);
      if (kept->boot != options.boot) kept.reset();
    }
    SHAPLEY_TRY_ASSIGN(clock, start_clock(options, books, kept));
    now = clock->read(options.read_clock());
  }
  std::unique_ptr<Service> service(
      new Service(std::move(site), std::move(options), std::move(books), std::move(resumed), now));
  service->clock_ = clock;
  if (clock) service->follow_clock(kept && !clock->doubt() ? kept->doubt : std::nullopt, now);
  service->keep_clock();
  service->refresh_ranks(
      now);  // the figures that stay in force if the configuration dates back so far that the books must be rebuilt
  if (service->site_.configuration.peer.empty()) {
    SHAPLEY_TRY(service->state_configuration(service->site_, now));
  } else {
    SHAPLEY_TRY(service->pair_up());
  }
  service->maintenance_.begin_memory(now);
  service->refresh_ranks(now);
  // A feeder's first messages are a snapshot.
  (void)service->workflows_.configure(service->site_.configuration, service->books_.ledger(), now);
  spdlog::info("ledger: {}: open with {}, {} of them replayed", service->site_.configuration.ledger.string(),
               counted(service->books_.last_sequence(), "event"), service->books_.replayed_at_start());
  return service;
}

template <typename Value>
Expected<void> Service::write(SideFile<Value>& file) {
  auto written = file.write();
  failures_.note(Value::k_task, written);
  return written;
}

Expected<TrustedClock> Service::start_clock(const Options& options, const Books& books,
                                            const std::optional<KeptClock>& kept) {
  TrustedClock::Past past;
  SHAPLEY_TRY_ASSIGN(past.last_written, books.last_written());
  if (kept) past.offset = kept->offset;
  if (kept) past.doubt = kept->doubt;
  return TrustedClock(options.read_clock(), past);
}

Instant Service::now() {
  const auto before = clock_->doubt();
  const Instant now = clock_->read(options_.read_clock());
  // Otherwise earlier messages that were not read yet could not be distinguished from later ones.
  if (clock_->doubt() && !before && !intake_->caught_up()) clock_->unwitness();
  follow_clock(before, now);
  // Written at once, so that it is kept if the process is killed.
  if (clock_->doubt().has_value() != before.has_value()) keep_clock();
  return now;
}

void Service::follow_clock(const std::optional<TrustedClock::Doubt>& before, Instant now) {
  const auto& doubt = clock_->doubt();
  intake_->note_clock(doubt, clock_->grounds());
  if (doubt && !before) {
    spdlog::error(
        "clock: the wall clock is {} s {} of what {} says; observations made under it wait, the time is taken to be "
        "{}; set the clock right, or, if it is right, send shapleyd SIGUSR1",
        std::abs(doubt->ahead.value), doubt->ahead > Duration{0} ? "ahead" : "behind",
        doubt->is_exact ? "the time since boot" : "the ledger", format_instant(now));
  }
  if (before && !doubt) {
    spdlog::warn("clock: the wall clock is believed again ({}); the time is {}", name_of(clock_->grounds()),
                 format_instant(now));
  }
}

void Service::accept_clock() {
  if (!clock_ || !clock_->doubt()) {
    spdlog::info("clock: it is not in doubt; there is nothing to accept");
    return;
  }
  clock_->accept();
}

void Service::keep_clock() {
  const auto offset = clock_ ? clock_->offset() : std::nullopt;
  if (!offset || options_.boot.empty()) return;
  const auto& kept = clock_file_.value();
  KeptClock present{.boot = options_.boot, .offset = *offset, .doubt = clock_->doubt()};
  // A process that is started before the messages of the wrong clock are dropped has to know of it.
  if (!present.doubt && kept && intake_->is_after_wrong_clock()) present.doubt = kept->doubt;
  for (const auto& [job, start] : intake_->wrong_starts()) present.wrong_starts.push_back({job.value, start});
  // The daily corrections of a time service do not require a write of the file.
  constexpr Duration k_worth_writing{5};
  const auto alike = [&](Duration a, Duration b) { return a - b < k_worth_writing && b - a < k_worth_writing; };
  const bool same_doubt = kept && kept->doubt.has_value() == present.doubt.has_value() &&
                          (!present.doubt || alike(kept->doubt->ahead, present.doubt->ahead));
  if (!same_doubt || kept->boot != present.boot || kept->wrong_starts != present.wrong_starts ||
      !alike(kept->offset, present.offset)) {
    clock_file_.set(present);
  }
  (void)write(clock_file_);
}

Service::Service(Site site, Options options, Books books, Intake::Resumed resumed, Instant now)
    : site_(std::move(site)),
      options_(std::move(options)),
      books_(std::move(books)),
      rules_(reading_rules(site_)),
      cluster_(books_, site_.configuration.ledger, now),
      upkeep_(site_.configuration.ledger),
      privacy_(site_.configuration.ledger),
      clock_file_(site_.configuration.ledger),
      look_(site_.configuration.ledger),
      consortium_(books_),
      ranks_(books_, first_generation(now)),
      maintenance_(books_, site_, options_, failures_, now),
      workflows_(first_generation(now)),
      users_(books_, options_.user_names),
      started_at_(now) {
  books_.count_tasks_by([this] { return pending_jobs_.startable_tasks(); });
  make_intake(std::move(resumed));
  in_force_.take_over(site_.text, now);
  consortium_.configure(site_.configuration.consortium, site_.consortium_keys);
}

Expected<void> Service::pair_up() {
  const config::Configuration& c = site_.configuration;
  SHAPLEY_TRY_ASSIGN(ControllerRecord record, read_record(record_file(c.ledger)));
  controllers_ = std::make_unique<Controllers>(books_,
                                               Controllers::Options{.ledger = c.ledger,
                                                                    .host = options_.host,
                                                                    .peer = c.peer,
                                                                    .instance = options_.instance,
                                                                    .steady_clock = options_.steady_clock},
                                               std::move(record), [this](Instant then) { return become_active(then); });
  return {};
}

Expected<void> Service::become_active(Instant now) {
  make_intake();
  workflows_.recall(books_.ledger(), now);
  SHAPLEY_TRY(state_configuration(site_, now));
  refresh_ranks(now);
  return {};
}

void Service::feeder_left(Instant now) {
  // Received observations are correct, and are not acknowledged if this fails.
  if (is_active()) failures_.note("commit", intake_->process_all(now));
  controllers_->feeder_left();
  end_session();
  make_intake();
}

Expected<void> Service::state_configuration(const Site& site, Instant now) {
  auto faults = config::former_name_faults(site.configuration, accounting::former_names(books_.state().adjustments()));
  if (faults.empty()) faults = config::consortium_faults(site.configuration, cluster_.name());
  if (!faults.empty()) {
    return fail(Errc::invalid_argument, one_line(faults, options_.configuration_file.string()));
  }
  SHAPLEY_TRY_ASSIGN(const Declared declared, books_.declared());
  Declarations declarations = declare(site.configuration, site.text, declared, now, fingerprints(site));
  for (accounting::Event& event : declarations.events) {
    if (auto* consortium = std::get_if<accounting::ConsortiumDeclared>(&event)) consortium_.date_weights(*consortium);
  }
  SHAPLEY_TRY(books_.commit(declarations.events, now));
  for (const std::string& warning : declarations.warnings) spdlog::warn("{}", warning);
  for (const config::Fault& doubt : config::doubts(site.configuration)) {
    const std::string line = doubt.line > 0 ? fmt::format("line {}: ", doubt.line) : "";  // 0: the file as a whole
    spdlog::warn("configuration: {}{}; {}", line, doubt.what, doubt.remedy);
  }
  return {};
}

Expected<void> Service::reload(Site site, Instant now) {
  const config::Configuration& running = site_.configuration;
  if (site.configuration.ledger != running.ledger || site.configuration.socket != running.socket) {
    spdlog::warn("configuration: ledger and socket change only with a restart; {} and {} stay in use",
                 running.ledger.string(), running.socket.string());
    site.configuration.ledger = running.ledger;
    site.configuration.socket = running.socket;
  }
  if (site.configuration.peer != running.peer) {
    spdlog::warn("configuration: peer changes only with a restart; '{}' stays in use", running.peer);
    site.configuration.peer = running.peer;
  }
  if (site.configuration.listen != running.listen || site.configuration.munge_socket != running.munge_socket) {
    spdlog::warn("configuration: listen and munge_socket change only with a restart");
    site.configuration.listen = running.listen;
    site.configuration.munge_socket = running.munge_socket;
  }
  if (is_active()) SHAPLEY_TRY(state_configuration(site, now));
  books_.keep(config::kept_estimators(site.configuration), now);
  const bool reads_otherwise =
      site.rules != site_.rules || charge_rule(site.configuration) != charge_rule(site_.configuration);
  site_ = std::move(site);
  in_force_.take_over(site_.text, now);
  consortium_.configure(site_.configuration.consortium, site_.consortium_keys);
  rules_ = reading_rules(site_);
  const bool shares_otherwise = workflows_.configure(site_.configuration, books_.ledger(), now);
  if (shares_otherwise || reads_otherwise) ++reading_generation_;
  ++configuration_generation_;
  refresh_ranks(now);
  return {};
}

void Service::begin_session(const protocol::Hello& hello, Instant now) {
  constexpr std::int64_t k_ms = 1000;
  Observing reported = observing(hello);
  // A clock was ahead then.
  if (reported.before > now) reported.before = k_beginning_of_time;
  intake_->begin_session(hello.instance, Duration{(hello.interval_ms + k_ms - 1) / k_ms}, Duration{hello.min_job_age_s},
                         reported);
  feeder_ = Feeder{.connected = true, .hello = hello, .last_heard = now};
  failures_.note(k_name_cluster, cluster_.state_first(now));
}

std::uint64_t Service::Feeder::backlog(std::uint64_t acknowledged) const {
  // The messages that the Hello counts are sent first, in one sequence, whose begin this process may not know.
  if (first_received == 0) return hello.backlog;
  const std::uint64_t before = first_received - 1;
  const std::uint64_t last = std::max(last_received, before + hello.backlog);
  const std::uint64_t durable = std::max(acknowledged, before);
  return last > durable ? last - durable : 0;
}

void Service::make_intake(Intake::Resumed resumed) {
  auto next = std::make_unique<Intake>(books_, rules_, books_.last_observed(), options_.intake, std::move(resumed));
  if (intake_) next->continue_clock(*intake_);
  intake_ = std::move(next);
  if (const auto& look = look_.value(); look && !books_.lost()) intake_->resume_look(look->until, !controllers_);
}

void Service::keep_look(Duration later) {
  const auto& until = intake_->scanned_until();
  if (until && *until >= look_.value().value_or(KeptLook{}).until + later) look_.set({.until = *until});
  (void)write(look_);
}

void Service::end_session() {
  intake_->end_session();
  keep_look(Duration{1});
  workflows_.end_session();
  pending_jobs_.end_session();
  if (feeder_) feeder_->connected = false;
}

void Service::receive(FeederFrame frame, Instant now) {
  if (feeder_) {
    feeder_->last_heard = now;
    feeder_->last_received = std::visit([](const auto& message) { return message.sequence; }, frame);
    if (feeder_->first_received == 0) feeder_->first_received = feeder_->last_received;
  }
  // Frames of a failed commit are not read again here, because these records are not for the books.
  if (auto* observations = std::get_if<protocol::Observations>(&frame)) {
    if (!observations->privacy.empty()) note_privacy(std::move(observations->privacy.back()), now);
    workflows_.read(*observations, rules_.classifier);
    pending_jobs_.read(*observations, rules_.classifier);
    users_.note(*observations, now);
  } else if (std::holds_alternative<protocol::SnapshotBegin>(frame)) {
    workflows_.begin_snapshot();
    pending_jobs_.begin_snapshot();
  } else {
    workflows_.end_snapshot();
    pending_jobs_.end_snapshot();
  }
  intake_->receive(std::move(frame));
}

void Service::note_privacy(protocol::Privacy&& privacy, Instant now) {
  const auto& known = privacy_.value();
  if (!known || known->privacy != privacy) privacy_.set({.told_at = now, .privacy = std::move(privacy)});
  (void)write(privacy_);
}

Expected<void> Service::note_upkeep(const Upkeep& upkeep) {
  upkeep_.set(upkeep);
  return write(upkeep_);
}

bool Service::process(Instant now) {
  // This happens before the first event of the new day is booked.
  failures_.note("record the day's standings", books_.close_days(now));
  const bool committed = !is_active() || failures_.note("commit", intake_->process(now));
  if (controllers_ && is_active() && feeder_) {
    controllers_->note_durable(intake_->acknowledged(feeder_->hello.instance));
  }
  if (!committed) return false;
  refresh_ranks(now);
  return true;
}

void Service::tick(Instant now) {
  // A frame that was read in part may contain newer records of these jobs.
  if (process(now) && is_active() && !is_unfinished()) failures_.note("commit", intake_->retry_unsettled(now));
  if (is_active()) failures_.note(k_name_cluster, cluster_.state_first(now));
  if (is_active()) failures_.note(k_name_users, users_.record(now));
  if (intake_->take_snapshot_request()) ++reading_generation_;
  if (controllers_) failures_.note("keep what this controller knows", controllers_->tick(now));
  maintenance_.rebuild_books(feed_goes_on(now), now);
  maintenance_.maintain(is_active(), now);
  if (is_active()) failures_.note(k_record_standings, consortium_.record(now));
  keep_clock();
  failures_.note("keep the number of the last acknowledged event", books_.keep_acknowledged());
  (void)write(cluster_.feeder_file());
  (void)write(privacy_);
  (void)write(upkeep_);
  keep_look(Duration{60});
  refresh_ranks(now);
  workflows_.refresh(now);
}

void Service::receive_standing(const std::string& cluster, HeardStatement heard, Instant now) {
  consortium_.receive(cluster, std::move(heard), cluster_.name(), now);
  if (!is_active()) return;
  failures_.note(k_record_standings, consortium_.record(now));
  refresh_ranks(now);
}

bool Service::feed_goes_on(Instant now) const {
  if (controllers_ && controllers_->is_catching_up()) return true;
  if (!feeder_ || intake_->caught_up()) return false;
  return now < feeder_->last_heard + options_.feed_silence;
}

void Service::stop(Instant now) {
  // No checkpoint is saved: it would take seconds, and the events since the last one are replayed as fast.
  process(now);
  keep_look(Duration{1});
  failures_.note("sign a head", maintenance_.store_head(now));
}

protocol::Welcome Service::welcome(std::uint64_t instance) const {
  const config::Configuration& c = site_.configuration;
  return {.version = protocol::k_version,
          .program = std::string(k_program),
          .act = c.mode == config::Mode::priorities,
          .strict = c.order == config::Order::strict,
          .weight = c.rank_weight,
          .stale_after_s = static_cast<std::uint32_t>(c.stale_after.value),
          .acknowledged = acknowledged(instance)};
}

std::uint64_t Service::acknowledged(std::uint64_t instance) const {
  return controllers_ ? controllers_->acknowledged() : intake_->acknowledged(instance);
}

}  // namespace shapley::daemon
