#include "daemon/service.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "accounting/state/adjustments.hpp"
#include "accounting/state/ranking.hpp"
#include "base/calendar.hpp"
#include "base/counted.hpp"
#include "config/doubts.hpp"
#include "config/former_names.hpp"
#include "daemon/configuration/declarations.hpp"
#include "daemon/configuration/horizon_check.hpp"
#include "daemon/version.hpp"
#include "ledger/chain/signed_head.hpp"
#include "ledger/readers/runs.hpp"
#include "ledger/reports/moment.hpp"

namespace shapley::daemon {

namespace {

ReadingRules reading_rules(const Site& site) {
  return {protocol::Classifier(site.rules), Charging(charge_rule(site.configuration))};
}

accounting::StateOptions state_options(const config::Configuration& configuration) {
  return {.left_out = config::kept_estimators(configuration).others()};
}

// Generations rise across restarts too, so that nobody takes an old order for a new one.
std::uint64_t first_generation(Instant now) {
  constexpr std::uint64_t k_generations_a_second = 1000;
  return static_cast<std::uint64_t>(now.value) * k_generations_a_second;
}

// What was not said stays at the beginning of time.
Observing observing(const protocol::Hello& hello) {
  const auto said = [](std::int64_t time) { return time > 0 ? Instant{time} : k_beginning_of_time; };
  return {.since = said(hello.observing_since),
          .before = said(hello.observed_before),
          .controller_ran = said(hello.controller_ran_at),
          .dropped = hello.dropped};
}

// Enough for a mean, and read within a tenth of a second.
constexpr std::int64_t k_measured_runs = 10'000;
constexpr std::int64_t k_events_read = 20 * k_measured_runs;

constexpr std::string_view k_save_checkpoint = "save a checkpoint";
constexpr std::string_view k_name_cluster = "name the cluster";

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
  if (options.read_clock) {
    kept = read_clock_file(clock_file_of(site.configuration.ledger), options.boot);
    SHAPLEY_TRY_ASSIGN(clock, start_clock(options, books, kept));
    now = clock->read(options.read_clock());
  }
  std::unique_ptr<Service> service(new Service(std::move(site), std::move(options), std::move(books), now));
  service->clock_ = clock;
  if (kept) service->intake_->note_clock(kept->doubt, Grounds::agreement, now);
  if (clock) service->follow_clock(kept && !clock->doubt() ? kept->doubt : std::nullopt, now);
  service->keep_clock();
  service->refresh_ranks(now);  // what holds if the configuration dates back so far that the books must be rebuilt
  if (service->site_.configuration.peer.empty()) {
    SHAPLEY_TRY(service->state_configuration(service->site_, now));
  } else {
    SHAPLEY_TRY(service->pair_up());
  }
  service->begin_memory(now);
  service->refresh_ranks(now);
  service->configure_workflows(now);
  spdlog::info("ledger: {}: open with {}, {} of them replayed", service->site_.configuration.ledger.string(),
               counted(service->books_.last_sequence(), "event"), service->books_.replayed_at_start());
  return service;
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
  // Of what the feeder had sent before, and was not read, nobody could say that it is from before.
  if (clock_->doubt() && !before && !intake_->caught_up()) clock_->unwitness();
  follow_clock(before, now);
  // At once: a process that is killed has seen it all the same.
  if (clock_->doubt().has_value() != before.has_value()) keep_clock();
  return now;
}

void Service::follow_clock(const std::optional<TrustedClock::Doubt>& before, Instant now) {
  const auto& doubt = clock_->doubt();
  intake_->note_clock(doubt, clock_->grounds(), now);
  if (doubt && !before) {
    spdlog::error(
        "clock: the wall clock is {} s {} of what {} says; observations made under it wait, the time is taken to be "
        "{}; "
        "set the clock right, or, if it is right, send shapleyd SIGUSR1",
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
  const KeptClock present{.offset = *offset, .doubt = clock_->doubt()};
  // What a time service adds and takes in a day is not worth a file.
  constexpr Duration k_worth_writing{5};
  const auto alike = [&](Duration a, Duration b) { return a - b < k_worth_writing && b - a < k_worth_writing; };
  const bool same_doubt = kept_clock_ && kept_clock_->doubt.has_value() == present.doubt.has_value() &&
                          (!present.doubt || alike(kept_clock_->doubt->ahead, present.doubt->ahead));
  if (same_doubt && alike(kept_clock_->offset, present.offset)) return;
  const auto file = clock_file_of(site_.configuration.ledger);
  if (succeeded("keep the clock", write_clock_file(file, options_.boot, present))) kept_clock_ = present;
}

Service::Service(Site site, Options options, Books books, Instant now)
    : site_(std::move(site)),
      options_(std::move(options)),
      books_(std::move(books)),
      rules_(reading_rules(site_)),
      cluster_(books_, feeder_file_of(site_.configuration.ledger), now),
      upkeep_(read_upkeep_file(upkeep_file_of(site_.configuration.ledger))),
      privacy_(read_privacy_file(privacy_file_of(site_.configuration.ledger))),
      workflows_(first_generation(now)),
      started_at_(now),
      last_checkpoint_(now) {
  make_intake();
  ranks_.generation = first_generation(now);
  in_force_.take_over(site_.text, now);
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
  if (const auto recalled = workflows_.recall(books_.ledger(), now); !recalled) {
    spdlog::error("workflows: read completed runs: {}; their medians begin anew", recalled.error().what);
  }
  SHAPLEY_TRY(state_configuration(site_, now));
  refresh_ranks(now);
  return {};
}

void Service::feeder_left(Instant now) {
  // What was received is true, and not acknowledged if this fails.
  if (is_active()) succeeded("commit", intake_->process(now));
  controllers_->feeder_left();
  end_session();
  make_intake();
}

Expected<void> Service::state_configuration(const Site& site, Instant now) {
  if (const auto faults =
          config::former_name_faults(site.configuration, accounting::former_names(books_.state().adjustments()));
      !faults.empty()) {
    return fail(Errc::invalid_argument, one_line(faults, options_.configuration_file.string()));
  }
  SHAPLEY_TRY_ASSIGN(const Declared declared, books_.declared());
  const Declarations declarations = declare(site.configuration, site.text, declared, now);
  SHAPLEY_TRY(books_.commit(declarations.events, now));
  for (const std::string& warning : declarations.warnings) spdlog::warn("{}", warning);
  for (const config::Fault& doubt : config::doubts(site.configuration)) {
    const std::string line = doubt.line > 0 ? fmt::format("line {}: ", doubt.line) : "";  // 0: the file as a whole
    spdlog::warn("configuration: {}{}; {}", line, doubt.what, doubt.remedy);
  }
  SHAPLEY_TRY_ASSIGN(const auto runs, ledger::latest_runs(books_.ledger(), k_measured_runs, k_events_read));
  if (const auto warning = horizon_warning(site.configuration.horizon, runs)) spdlog::warn("{}", *warning);
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
  rules_ = reading_rules(site_);
  if (configure_workflows(now) || reads_otherwise) ++reading_generation_;
  ++configuration_generation_;
  refresh_ranks(now);
  return {};
}

bool Service::configure_workflows(Instant now) {
  if (!workflows_.configure(site_.configuration)) return false;
  if (const auto recalled = workflows_.recall(books_.ledger(), now); !recalled) {
    spdlog::error("workflows: read completed runs: {}; their medians begin anew", recalled.error().what);
  }
  return true;
}

void Service::begin_session(const protocol::Hello& hello, Instant now) {
  constexpr std::int64_t k_ms = 1000;
  intake_->begin_session(hello.instance, Duration{(hello.interval_ms + k_ms - 1) / k_ms}, Duration{hello.min_job_age_s},
                         observing(hello));
  feeder_ = Feeder{.connected = true, .hello = hello, .last_heard = now};
  succeeded(k_name_cluster, cluster_.state_first(now));
}

std::uint64_t Service::Feeder::backlog(std::uint64_t acknowledged) const {
  // What was counted at the Hello is sent first, in one sequence; this process may not know where that begins before.
  if (first_received == 0) return hello.backlog;
  const std::uint64_t before = first_received - 1;
  const std::uint64_t last = std::max(last_received, before + hello.backlog);
  const std::uint64_t durable = std::max(acknowledged, before);
  return last > durable ? last - durable : 0;
}

void Service::make_intake() {
  intake_ = std::make_unique<Intake>(books_, rules_, books_.last_observed(), options_.intake);
  if (const auto look = read_look_file(look_file_of(site_.configuration.ledger))) intake_->note_scanned(*look);
}

void Service::keep_look(Duration later) {
  const auto& look = intake_->scanned_until();
  if (!look || *look < kept_look_ + later) return;
  const auto written = write_look_file(look_file_of(site_.configuration.ledger), *look);
  if (succeeded("keep when slurmctld was seen", written)) kept_look_ = *look;
}

void Service::end_session() {
  intake_->end_session();
  keep_look(Duration{1});
  workflows_.end_session();
  queue_.end_session();
  if (feeder_) feeder_->connected = false;
}

void Service::receive(FeederFrame frame, Instant now) {
  if (feeder_) {
    feeder_->last_heard = now;
    feeder_->last_received = std::visit([](const auto& message) { return message.sequence; }, frame);
    if (feeder_->first_received == 0) feeder_->first_received = feeder_->last_received;
  }
  // Frames of a commit that fails are not read again here: what is kept here is not for the books.
  if (auto* observations = std::get_if<protocol::Observations>(&frame)) {
    if (!observations->privacy.empty()) note_privacy(std::move(observations->privacy.back()), now);
    workflows_.read(*observations, rules_.classifier);
    queue_.read(*observations, rules_.classifier);
  } else if (std::holds_alternative<protocol::SnapshotBegin>(frame)) {
    workflows_.begin_snapshot();
    queue_.begin_snapshot();
  } else {
    workflows_.end_snapshot();
    queue_.end_snapshot();
  }
  intake_->receive(std::move(frame));
}

void Service::note_privacy(protocol::Privacy&& privacy, Instant now) {
  if (!privacy_ || privacy_->privacy != privacy) {
    privacy_ = KeptPrivacy{.told_at = now, .privacy = std::move(privacy)};
    privacy_is_kept_ = false;
  }
  keep_privacy();
}

void Service::keep_privacy() {
  if (privacy_is_kept_) return;
  const auto written = write_privacy_file(privacy_file_of(site_.configuration.ledger), *privacy_);
  privacy_is_kept_ = succeeded("keep what is private", written);
}

Expected<void> Service::note_upkeep(const Upkeep& upkeep) {
  upkeep_ = upkeep;
  upkeep_is_kept_ = false;
  return keep_upkeep();
}

Expected<void> Service::keep_upkeep() {
  if (upkeep_is_kept_) return {};
  auto written = write_upkeep_file(upkeep_file_of(site_.configuration.ledger), upkeep_);
  upkeep_is_kept_ = succeeded("keep when backups and audits were", written);
  return written;
}

bool Service::process(Instant now) {
  // Before anything of the new day is booked.
  succeeded("record the day's standings", books_.close_days(now));
  const bool committed = !is_active() || succeeded("commit", intake_->process(now));
  if (controllers_ && is_active() && feeder_) {
    controllers_->note_durable(intake_->acknowledged(feeder_->hello.instance));
  }
  if (!committed) return false;
  refresh_ranks(now);
  return true;
}

void Service::tick(Instant now) {
  if (process(now) && is_active()) succeeded("commit", intake_->settle(now));
  if (is_active()) succeeded(k_name_cluster, cluster_.state_first(now));
  if (intake_->take_snapshot_request(now)) ++reading_generation_;
  if (controllers_) succeeded("keep what this controller knows", controllers_->tick(now));
  rebuild_books(now);
  maintain(now);
  keep_clock();
  keep_privacy();
  (void)keep_upkeep();  // logged
  keep_look(Duration{60});
  refresh_ranks(now);
  workflows_.refresh(now);
}

bool Service::feed_goes_on(Instant now) const {
  if (controllers_ && controllers_->is_catching_up()) return true;
  if (!feeder_ || intake_->caught_up()) return false;
  return now < feeder_->last_heard + options_.feed_silence;
}

void Service::rebuild_books(Instant now) {
  const std::optional<Incomplete> incomplete = books_.incomplete();
  if (!incomplete) return;
  const Expected<void> ended = books_.end_rebuild();
  if (!ended) succeeded("rebuild the books", ended);
  if (incomplete->percent && !books_.is_rebuilding()) rest_after_rebuild(now);
  if (!books_.incomplete()) {
    succeeded("rebuild the books", {});
    return;
  }
  if (books_.is_rebuilding() || now < no_rebuild_before_) return;
  if (feed_goes_on(now) && now < incomplete->since + options_.longest_collection) return;
  rebuild_began_ = now;
  if (const Expected<void> begun = books_.begin_rebuild(); !begun) succeeded("rebuild the books", begun);
}

void Service::rest_after_rebuild(Instant now) {
  // Late events that come one by one, for ever, cost a quarter of a core at most, however long the ledger is.
  constexpr std::int64_t k_rests = 3;
  constexpr Duration k_longest{3600};
  no_rebuild_before_ = now + std::min(Duration{k_rests * (now - rebuild_began_).value}, k_longest);
}

void Service::begin_memory(Instant now) {
  if (books_.incomplete() || books_.last_sequence() == 0) return;
  books_.state().advance(now);
  books_.compact();
}

void Service::maintain(Instant now) {
  end_checkpoint(now);
  // An empty ledger waits for a feeder, or to follow: what comes first goes back to the beginning of time.
  if (books_.incomplete() || books_.last_sequence() == 0) return;
  books_.state().advance(now);
  if (books_.have_much_to_forget()) books_.compact();
  if (is_active()) succeeded("bound the memory of hindsight", books_.bound_hindsight(site_.configuration, now));
  if (is_active()) succeeded("measure the mean residual run time", measure_residual(now), "a minute later");
  if (!is_checkpoint_due(now)) return;
  last_checkpoint_ = now;
  if (const auto begun = books_.begin_checkpoint(now); !begun) checkpoint_failed(begun, now);
  // One a day is enough to date a change, and few enough to keep for ever.
  const Instant day = day_begin(now);
  if (head_day_ != day && succeeded("sign a head", store_head(now))) head_day_ = day;
}

Expected<void> Service::measure_residual(Instant now) {
  if (!residual_watch_.is_due(now, books_.state().residual_measured())) return {};
  residual_watch_.note_look(now);
  SHAPLEY_TRY_ASSIGN(const auto runs, ledger::latest_runs(books_.ledger(), k_measured_runs, k_events_read));
  const auto measured = measured_residual(runs);
  if (!measured) return {};
  // As the ledger has it: the books do not tell a statement that is yet to come into force.
  SHAPLEY_TRY_ASSIGN(const Declared declared, books_.declared());
  const auto statement = residual_statement(now, declared.residual ? &*declared.residual : nullptr, *measured);
  if (!statement) return {};
  SHAPLEY_TRY(books_.commit(std::vector<accounting::Event>{*statement}, now));
  spdlog::info("ranks: the mean residual run time is {} s, over the last {}", statement->seconds,
               counted(statement->runs, "run"));
  return {};
}

bool Service::is_checkpoint_due(Instant now) const {
  if (books_.is_saving_checkpoint() || now < no_checkpoint_before_) return false;
  const std::int64_t events = books_.events_since_checkpoint();
  return events >= options_.checkpoint_events || (now >= last_checkpoint_ + options_.checkpoint_interval && events > 0);
}

void Service::end_checkpoint(Instant now) {
  const Expected<bool> ended = books_.end_checkpoint();
  if (!ended) return checkpoint_failed(tl::unexpected<Error>(ended.error()), now);
  if (*ended) succeeded(k_save_checkpoint, {});
}

void Service::checkpoint_failed(const Expected<void>& result, Instant now) {
  // Each attempt costs a core some seconds.
  no_checkpoint_before_ = now + Duration{60};
  succeeded(k_save_checkpoint, result, "a minute later");
}

void Service::stop(Instant now) {
  // No checkpoint: it would take seconds, and what came since the last one is replayed as fast.
  process(now);
  keep_look(Duration{1});
  succeeded("sign a head", store_head(now));
}

Expected<void> Service::store_head(Instant now) {
  if (!site_.signing_key) return {};
  SHAPLEY_TRY_ASSIGN(const ledger::SignedHead head, ledger::sign_head(books_.ledger(), *site_.signing_key, now));
  return books_.store_head(head);
}

void Service::refresh_ranks(Instant now) {
  // They hold while the books are incomplete; nothing can catch up with those.
  if (books_.incomplete()) {
    is_behind_ = false;
    return;
  }
  accounting::State& state = books_.state();
  const accounting::EstimatorSet able = books_.able(now);
  note_able(able);
  const auto by = accounting::acting(ledger::ranking_estimator(state), able);
  const std::vector<std::string>& names = state.organizations();
  protocol::Ranks ranks{.generation = ranks_.generation, .computed_at = ranks_.computed_at, .organizations = {}};
  for (const accounting::Rank& rank : state.ranking(now, by)) {
    ranks.organizations.push_back(names.at(rank.organization.value));
    ranks.leads.push_back(rank.lead);
    ranks.lacking.push_back(rank.lacking);
  }
  const bool changed = ranks != ranks_;
  ranks_ = std::move(ranks);
  ranks_.computed_at = now.value;
  if (changed) ++ranks_.generation;
}

void Service::note_able(const accounting::EstimatorSet& able) {
  const accounting::State& state = books_.state();
  const accounting::EstimatorId wanted = ledger::ranking_estimator(state);
  is_behind_ = able != state.kept();
  const accounting::EstimatorId by = accounting::acting(wanted, able);
  if (by == ranked_by_.value_or(wanted)) {
    ranked_by_ = by;
    return;
  }
  ranked_by_ = by;
  if (by == wanted) {
    spdlog::info("ranks: by {} again, which has caught up", accounting::name_of(wanted));
  } else if (state.kept().contains(wanted)) {
    spdlog::warn("ranks: {} is behind what happened; they are by {} until it has caught up",
                 accounting::name_of(wanted), accounting::name_of(by));
  } else {
    spdlog::warn("ranks: {} is not kept for {}; they are by {}", accounting::name_of(wanted),
                 counted(state.organizations().size(), "organization"), accounting::name_of(by));
  }
}

bool Service::succeeded(std::string_view operation, const Expected<void>& result, std::string_view again) {
  const auto before = failures_.find(operation);
  if (result) {
    if (before != failures_.end()) {
      spdlog::info("service: {}: works again", operation);
      failures_.erase(before);
    }
    return true;
  }
  if (before == failures_.end() || before->second != result.error().what) {
    spdlog::error("service: {}: {}; it is tried again {}", operation, result.error().what, again);
    failures_.insert_or_assign(std::string(operation), result.error().what);
  }
  return false;
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
