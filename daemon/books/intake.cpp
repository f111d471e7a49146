#include "daemon/books/intake.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

namespace shapley::daemon {

Intake::Intake(Books& books, const ReadingRules& rules, std::optional<Instant> last_observed, Limits limits,
               Resumed resumed)
    : books_(books),
      rules_(rules),
      limits_(limits),
      known_until_(last_observed),
      watch_(last_observed, books.state().observation_gaps()),
      admission_(last_observed, resumed.doubt),
      wrong_starts_(std::move(resumed.wrong_starts)) {
  if (books.lost()) watch_.note_events_lost();
  // Version 1.0 corrected such times. What is still in slurmctld's records with a wrong time is not read again, so that
  // the books keep the corrected one. A run may have begun right before its first message.
  for (const accounting::ObservationsMistimed& event : books.state().mistimed_observations()) {
    note_wrong_clock(event.since - TrustedClock::k_tolerance, event.at);
  }
  for (const accounting::ObservationGap& gap : books.state().observation_gaps()) {
    if (gap.cause == accounting::GapCause::wrong_clock) note_wrong_clock(gap.begin, gap.end);
  }
  const auto imports = books.state().imports();
  if (wrong_clock_ && !imports.empty()) wrong_clock_->is_imported = imports.back().at >= wrong_clock_->end;
  if (!resumed.doubt) return;
  // Then everything had been read; the clock is read once a second.
  if (resumed.doubt->is_witnessed) watch_.note_connected(resumed.doubt->since - Duration{1});
  // The last process has dropped messages of it.
  is_after_drop_ = wrong_clock_ && wrong_clock_->end >= resumed.doubt->since;
}

void Intake::resume_look(Instant until, bool is_only_controller) {
  last_look_.note_scanned(until);
  if (!is_only_controller) return;
  for (const accounting::ObservationGap& gap : books_.state().observation_gaps()) {
    if (gap.end > until) last_look_.note_lost(gap);
  }
}

// A gap that follows another one without an observation between them continues it.
void Intake::note_wrong_clock(Instant begin, Instant end) {
  if (wrong_clock_ && end <= wrong_clock_->end) return;
  const bool continues = wrong_clock_ && begin <= wrong_clock_->end;
  wrong_clock_ = WrongClock{.begin = continues ? wrong_clock_->begin : begin, .end = end};
}

void Intake::begin_session(std::uint64_t instance, Duration interval, Duration min_job_age,
                           const Observing& observing) {
  end_session();
  in_session_ = true;
  watch_.begin_session(observing);
  Observing believed = observing;
  if (is_of_wrong_clock(believed.before)) believed.before = k_beginning_of_time;
  last_look_.begin_session(believed);
  admission_.begin_session(observing.backlog);
  instance_ = instance;
  interval_ = interval;
  min_job_age_ = min_job_age;
  batch_sequence_ = acknowledged(instance);
}

// What a feeder reports of an earlier one: under a wrong clock, and of one, times may be any.
bool Intake::is_of_wrong_clock(Instant reported) const {
  return admission_.is_in_doubt() || is_after_wrong_clock() ||
         (wrong_clock_ && wrong_clock_->begin < reported && reported <= wrong_clock_->end);
}

void Intake::end_session() {
  // Events in the batch stay, and will be committed. Frames that were not read yet were not acknowledged, so the feeder
  // sends them again.
  inbox_.clear();
  cursor_ = 0;
  in_session_ = false;
  is_dropping_ = false;
  snapshot_requested_ = false;
  caught_up_ = false;
  snapshot_.reset();
  unsettled_jobs_.clear();
  unsettled_nodes_.clear();
  session_nodes_.forget();
}

void Intake::receive(FeederFrame frame) {
  inbox_.push_back(std::move(frame));
}

std::uint64_t Intake::acknowledged(std::uint64_t instance) const {
  const auto found = acknowledged_.find(instance);
  return found == acknowledged_.end() ? 0 : found->second;
}

namespace {

Instant time_of(const FeederFrame& frame) {
  return std::visit([](const auto& f) { return Instant{f.observed_at}; }, frame);
}

std::uint64_t number_of(const FeederFrame& frame) {
  return std::visit([](const auto& f) { return f.sequence; }, frame);
}

Admission::Message message_of(const FeederFrame& frame) {
  return {.sequence = number_of(frame),
          .observed_at = time_of(frame),
          .begins_snapshot = std::holds_alternative<protocol::SnapshotBegin>(frame)};
}

constexpr Duration k_last_word{60};

}  // namespace

Expected<void> Intake::process(Instant now) {
  portion_ = limits_.portion_records;
  unfinished_ = false;
  while (!inbox_.empty()) {
    if (portion_ == 0) {
      SHAPLEY_TRY(flush(now));
      unfinished_ = true;
      return {};
    }
    const FeederFrame& frame = inbox_.front();
    const Admission::Fate fate = admission_.judge(message_of(frame), now);
    if (fate == Admission::Fate::hold) break;
    if (fate == Admission::Fate::drop) {
      drop(frame, now);
    } else {
      SHAPLEY_TRY_ASSIGN(const bool whole, read_frame(frame, now));
      if (!whole) continue;
    }
    inbox_.pop_front();
    cursor_ = 0;
    if (batch_.size() >= limits_.batch_events) SHAPLEY_TRY(flush(now));
  }
  // What was read counts as known when it is in the ledger.
  SHAPLEY_TRY(flush(now));
  // Under a wrong clock, and until its messages are dropped, nothing is known of the time in which nothing changed.
  if (in_session_ && caught_up() && !admission_.is_in_doubt() && !admission_.awaits_snapshot()) {
    watch_.note_connected(now);
    // An idle feeder sends a sign of life every few seconds; if its last message is older, more messages follow.
    if (known_until_ && now - *known_until_ <= k_last_word) last_look_.note_scanned(surely_scanned(now));
    if (whole_at_) last_look_.note_scanned(*std::exchange(whole_at_, std::nullopt));
  }
  return {};
}

Expected<void> Intake::process_all(Instant now) {
  do SHAPLEY_TRY(process(now));
  while (unfinished_);
  return {};
}

Expected<bool> Intake::read_frame(const FeederFrame& frame, Instant now) {
  const Instant at = time_of(frame);
  // What changed before the snapshot was dropped, too.
  if (is_after_drop_ && !snapshot_) book_wrong_clock(at);
  const auto gap = watch_.note_read(at);
  if (gap && gap->cause == accounting::GapCause::events_lost) last_look_.note_lost(*gap);
  book_gap(gap);
  last_look_.note_read(at, known_until_);
  SHAPLEY_TRY_ASSIGN(const bool whole, std::visit([&](const auto& f) { return read(f, at, now); }, frame));
  if (whole) admission_.note_read(at);
  return whole;
}

void Intake::drop(const FeederFrame& frame, Instant now) {
  if (!std::exchange(is_dropping_, true)) book_wrong_clock(now);
  // It is acknowledged after the event.
  batch_sequence_ = std::max(batch_sequence_, number_of(frame));
  ++dropped_;
  is_after_drop_ = true;
  // A part of a snapshot does not count.
  snapshot_.reset();
}

void Intake::book_wrong_clock(Instant until) {
  const auto gap = watch_.end_wrong_clock(until);
  if (gap) note_wrong_clock(gap->begin, gap->end);
  book_gap(gap);
}

// In the same transaction as what ended the gap.
void Intake::book_gap(const std::optional<accounting::ObservationGap>& gap) {
  if (!gap) return;
  batch_.emplace_back(*gap);
  log_gap(*gap);
}

// The shortest time that has a second: what began and was requeued within it is known by the count of restarts alone.
void Intake::book_between_scans(Instant observed_at) {
  const accounting::ObservationGap gap{
      .begin = std::min(std::max(known_before(observed_at).value_or(k_beginning_of_time), surely_scanned(observed_at)),
                        observed_at - Duration{1}),
      .end = observed_at,
      .cause = accounting::GapCause::unobserved};
  if (std::exchange(between_scans_, gap) != gap) book_gap(gap);
}

std::optional<Intake::Held> Intake::held() const {
  const auto since = admission_.holds_since();
  if (!since || inbox_.empty()) return std::nullopt;
  Held held{.since = *since,
            .frames = inbox_.size(),
            .observed_from = time_of(inbox_.front()),
            .observed_to = time_of(inbox_.front())};
  for (const FeederFrame& frame : inbox_) {
    held.observed_from = std::min(held.observed_from, time_of(frame));
    held.observed_to = std::max(held.observed_to, time_of(frame));
  }
  return held;
}

bool Intake::take_snapshot_request() {
  if (!in_session_ || snapshot_requested_ || !admission_.wants_session()) return false;
  snapshot_requested_ = true;
  return true;
}

Expected<void> Intake::flush(Instant now) {
  SHAPLEY_TRY(books_.commit(batch_, now));
  batch_.clear();
  batch_jobs_.clear();
  batch_nodes_.clear();
  // The file may have lost its name while it was written.
  SHAPLEY_TRY(books_.ledger().check_names());
  if (batch_sequence_ > 0) acknowledged_[instance_] = std::max(acknowledged_[instance_], batch_sequence_);
  return {};
}

Expected<void> Intake::flush_before(JobId job, Instant now) {
  return batch_jobs_.contains(job) ? flush(now) : Expected<void>{};
}

Expected<void> Intake::flush_before_node(const std::string& node, Instant now) {
  return batch_nodes_.contains(node) ? flush(now) : Expected<void>{};
}

void Intake::complete(std::uint64_t sequence, Instant observed_at) {
  batch_sequence_ = std::max(batch_sequence_, sequence);
  // The contents of dropped messages are unknown.
  if (is_after_drop_) return;
  if (known_until_ && observed_at <= *known_until_) return;
  known_earlier_ = std::exchange(known_until_, observed_at);
}

std::optional<Instant> Intake::known_before(Instant observed_at) const {
  return known_until_ && *known_until_ < observed_at ? known_until_ : known_earlier_;
}

Expected<void> Intake::learn_nodes(Instant now) {
  if (node_kinds_) return {};
  SHAPLEY_TRY(flush(now));
  std::vector<accounting::CapacityChanged> nodes;
  for (const std::string& node : books_.state().nodes()) {
    if (const auto* known = books_.state().last_capacity(node)) nodes.push_back(*known);
  }
  node_kinds_ = node_kinds(nodes);
  return {};
}

template <typename Items, typename Read>
Expected<bool> Intake::read_items(const Items& items, std::size_t begin, const Read& read_one) {
  for (; cursor_ < begin + items.size(); ++cursor_, --portion_) {
    if (portion_ == 0) return false;
    SHAPLEY_TRY(read_one(items[cursor_ - begin]));
  }
  return true;
}

Expected<bool> Intake::read(const protocol::SnapshotBegin& frame, Instant at, Instant /*now*/) {
  std::optional<Instant> known = known_before(at);
  if (known) known = last_look_.refined(*known, at);
  // Until the gap everything was observed, with or without changes.
  if (known && is_after_drop_ && wrong_clock_) known = std::max(*known, wrong_clock_->begin);
  snapshot_.emplace(known);
  session_nodes_.forget();
  batch_sequence_ = std::max(batch_sequence_, frame.sequence);
  return true;
}

Expected<bool> Intake::read(const protocol::Observations& frame, Instant at, Instant now) {
  const Instant alive = last_alive(at);
  std::size_t begin = 0;
  bool whole = true;
  const auto read_all = [&](const auto& items, const auto& read_one) -> Expected<void> {
    if (whole) {
      SHAPLEY_TRY_ASSIGN(whole, read_items(items, begin, read_one));
    }
    begin += items.size();
    return {};
  };
  // Nodes come first, because the charge of a run depends on its nodes' resources.
  SHAPLEY_TRY(read_all(frame.nodes, [&](const protocol::NodeRecord& node) { return read_node(node, at, now); }));
  if (whole) SHAPLEY_TRY(learn_nodes(now));
  SHAPLEY_TRY(read_all(frame.jobs, [&](const protocol::JobUpdate& job) { return read_job(job, at, now); }));
  SHAPLEY_TRY(
      read_all(frame.gone, [&](std::uint32_t job) { return read_gone(JobId{job}, alive, Departure::purged, now); }));
  SHAPLEY_TRY(read_all(frame.gone_nodes, [&](const std::string& node) { return read_gone_node(node, at, now); }));
  if (!whole) return false;
  SHAPLEY_TRY(read_placements(at, now));
  if (frame.runs_only) {
    batch_sequence_ = std::max(batch_sequence_, frame.sequence);
  } else {
    complete(frame.sequence, at);
  }
  return true;
}

Expected<bool> Intake::read(const protocol::SnapshotEnd& frame, Instant at, Instant now) {
  // The list of absent jobs requires books that contain the whole snapshot.
  SHAPLEY_TRY(flush(now));
  if (snapshot_) SHAPLEY_TRY(read_absent(at, now));
  SHAPLEY_TRY(read_placements(at, now));
  if (snapshot_) {
    is_after_drop_ = false;
    admission_.note_snapshot_read();
    last_look_.end_snapshot();
  }
  snapshot_.reset();
  caught_up_ = true;
  whole_at_ = at;
  complete(frame.sequence, at);
  return true;
}

Expected<void> Intake::read_absent(Instant at, Instant now) {
  // An older ambiguous record must not bring back a job that is gone.
  std::erase_if(unsettled_jobs_, [&](const auto& entry) { return !snapshot_->has(entry.first); });
  std::erase_if(unsettled_nodes_, [&](const auto& entry) { return !snapshot_->has(entry.first); });
  std::erase_if(wrong_starts_, [&](const auto& entry) { return !snapshot_->has(entry.first); });
  const Snapshot::Absent& absent = snapshot_->absent(books_.state());
  const Departure departure =
      is_after_drop_ ? Departure::purged : snapshot_->departure(at, last_look_, watch_.gap(), min_job_age_);
  for (const JobId job : absent.jobs) {
    SHAPLEY_TRY(read_gone(job, snapshot_->last_alive(books_.state(), job, last_look_), departure, now));
  }
  for (const std::string& node : absent.nodes) SHAPLEY_TRY(read_gone_node(node, at, now));
  session_nodes_.complete();
  const LostRuns lost = std::exchange(lost_, {});
  if (!lost.any()) return {};
  const Instant seen = last_look_.before_restart().value_or(snapshot_->known_until().value_or(at));
  const accounting::StateLost loss = loss_of(lost, at, std::min(seen, at));
  batch_.emplace_back(loss);
  log_loss(loss);
  return {};
}

// Between two frames the feeder scanned without changes; two intervals ago it had certainly scanned.
Instant Intake::surely_scanned(Instant at) const {
  return at - interval_ - interval_ - Duration{1};
}

Instant Intake::last_alive(Instant observed_at) const {
  const Instant scanned = surely_scanned(observed_at);
  if (snapshot_) return snapshot_->known_until().value_or(k_beginning_of_time);
  return std::max(known_before(observed_at).value_or(scanned), scanned);
}

Expected<void> Intake::read_job(const protocol::JobUpdate& as_sent, Instant observed_at, Instant now) {
  const JobId job{as_sent.job_id};
  SHAPLEY_TRY(flush_before(job, now));
  // A submission of the future would move the books there.
  std::optional<protocol::JobUpdate> bounded;
  if (Instant{as_sent.submit_time} > observed_at) {
    bounded = as_sent;
    bounded->submit_time = observed_at.value;
  }
  const protocol::JobUpdate& record = bounded ? *bounded : as_sent;
  if (snapshot_) snapshot_->note(job);
  if (restarts_.note(record, books_.state(), watch_.gap())) book_between_scans(observed_at);
  unsettled_jobs_.erase(job);
  SHAPLEY_TRY_ASSIGN(Observation observation, observe(record, observed_at, now));
  bool waits = observation.mistimed && record.state == protocol::JobState::pending;
  if (observation.mistimed) {
    const Instant start{record.start_time};
    if (!waits && (!wrong_clock_ || start > wrong_clock_->end)) wrong_starts_.insert_or_assign(job, start);
    observation = wrong_clock_ ? observe_mistimed(books_.state(), record, observed_at, *wrong_clock_) : Observation{};
    // What ends with the wrong clock is booked first; then a pending job's wait can be.
    waits = waits && !observation.events.empty();
  }
  if (observation.unsettled || waits)
    unsettled_jobs_.insert_or_assign(job, Unsettled<protocol::JobUpdate>{as_sent, observed_at});
  if (!observation.events.empty()) batch_jobs_.insert(job);
  take(std::move(observation));
  return {};
}

Expected<Observation> Intake::observe(const protocol::JobUpdate& record, Instant observed_at, Instant now) {
  const auto wrong = wrong_starts_.find(JobId{record.job_id});
  if (wrong != wrong_starts_.end() && wrong->second == Instant{record.start_time}) {
    Observation mistimed;
    mistimed.mistimed = true;
    return mistimed;
  }
  const Scan scan{.at = observed_at,
                  .previous = known_before(observed_at).value_or(k_beginning_of_time),
                  .last_look = last_look_.before_restart(),
                  .reliable_since = reliable_since(observed_at)};
  Background background{.past = {}, .kinds = session_nodes_.kinds_for(record, rules_.charging)};
  if (node_kinds_) background.kinds.all = *node_kinds_;
  if (record.start_time > 0) {
    SHAPLEY_TRY_ASSIGN(background.past, books_.past_segments(JobId{record.job_id}, Instant{record.start_time}));
  }
  Observation observation = observe_job(books_.state(), record, scan, rules_, background);
  if (books_.become_incomplete_by(observation.events, now)) {
    observation = observe_job(books_.state(), record, scan, rules_, background);
  }
  return observation;
}

// The first snapshot after a wrong clock shows what happened under it, with times that may be any.
std::optional<Instant> Intake::reliable_since(Instant observed_at) const {
  if (!wrong_clock_) return std::nullopt;
  return is_after_drop_ ? observed_at : wrong_clock_->end;
}

Expected<void> Intake::read_gone(JobId job, Instant last_alive, Departure departure, Instant now) {
  SHAPLEY_TRY(flush_before(job, now));
  unsettled_jobs_.erase(job);
  restarts_.forget(job);
  wrong_starts_.erase(job);
  Observation observation = observe_gone(books_.state(), job, last_alive, departure);
  if (!observation.events.empty()) batch_jobs_.insert(job);
  take(std::move(observation));
  return {};
}

Expected<void> Intake::read_node(const protocol::NodeRecord& record, Instant observed_at, Instant now) {
  SHAPLEY_TRY(flush_before_node(record.name, now));
  if (snapshot_) snapshot_->note(record.name);
  unsettled_nodes_.erase(record.name);
  session_nodes_.note(record);
  Observation observation = observe_node(books_.state(), record, observed_at, last_change(record.name), rules_);
  if (observation.unsettled) {
    unsettled_nodes_.insert_or_assign(record.name, Unsettled<protocol::NodeRecord>{record, observed_at});
  }
  take_node(record.name, observed_at, std::move(observation));
  return {};
}

Expected<void> Intake::read_gone_node(const std::string& node, Instant observed_at, Instant now) {
  SHAPLEY_TRY(flush_before_node(node, now));
  unsettled_nodes_.erase(node);
  session_nodes_.note_gone(node);
  take_node(node, observed_at, observe_gone_node(books_.state(), node, observed_at, last_change(node)));
  return {};
}

Expected<void> Intake::read_placements(Instant observed_at, Instant now) {
  if (!session_nodes_.due(books_.state())) return {};
  SHAPLEY_TRY(flush(now));
  take(session_nodes_.resolve(books_.state(), observed_at));
  return {};
}

std::optional<Instant> Intake::last_change(const std::string& node) const {
  const auto found = node_changes_.find(node);
  return found == node_changes_.end() ? std::nullopt : std::optional(found->second);
}

void Intake::take(Observation observation) {
  lost_ += observation.lost;
  for (const std::string& warning : observation.warnings) spdlog::warn("{}", warning);
  for (const accounting::Event& event : observation.events) session_nodes_.note(event);
  std::move(observation.events.begin(), observation.events.end(), std::back_inserter(batch_));
}

void Intake::take_node(const std::string& node, Instant observed_at, Observation observation) {
  if (!observation.events.empty()) {
    batch_nodes_.insert(node);
    node_kinds_.reset();
    node_changes_[node] = observed_at;
  }
  take(std::move(observation));
}

namespace {

// Keys of the entries that no newer record replaced in time: a newer frame would have arrived by now.
template <typename Unsettled>
auto due(const Unsettled& unsettled, Instant now) {
  constexpr Duration k_retry_after{2};
  std::vector<typename Unsettled::key_type> keys;
  for (const auto& [key, entry] : unsettled) {
    if (entry.observed_at + k_retry_after <= now) keys.push_back(key);
  }
  return keys;
}

}  // namespace

Expected<void> Intake::retry_unsettled(Instant now) {
  // A snapshot that is being read will contain the present state.
  if (snapshot_ || !inbox_.empty()) return {};
  for (const JobId job : due(unsettled_jobs_, now)) {
    const auto entry = unsettled_jobs_.at(job);
    SHAPLEY_TRY(read_job(entry.record, entry.observed_at + Duration{1}, now));
  }
  for (const std::string& node : due(unsettled_nodes_, now)) {
    const auto entry = unsettled_nodes_.at(node);
    SHAPLEY_TRY(read_node(entry.record, entry.observed_at + Duration{1}, now));
  }
  SHAPLEY_TRY(read_placements(known_until_.value_or(now), now));
  return flush(now);
}

}  // namespace shapley::daemon
