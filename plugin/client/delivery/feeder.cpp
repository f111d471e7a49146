#include "plugin/client/delivery/feeder.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>
#include <variant>

#include <poll.h>
#include <pthread.h>

#include "base/text.hpp"
#include "base/threads.hpp"

namespace shapley::client {

namespace {
// Frames sent in one turn, so that acknowledgements and new observations get theirs.
constexpr int k_frames_a_turn = 64;

bool is_away(Errc code) {
  return code == Errc::io || code == Errc::unavailable;
}
}  // namespace

Feeder::Feeder(FeederOptions options, Log log, EventDescriptor& event, Inbox& inbox, WakeUpSignal& wake_up,
               RankBoard& board, Places& places)
    : options_(std::move(options)),
      log_(log),
      event_(event),
      inbox_(inbox),
      wake_up_(wake_up),
      board_(board),
      places_(places),
      backlog_(options_.spool_path, options_.spool_max_bytes, log),
      hello_(options_.hello),
      backoff_(options_.timings.first_backoff) {
  hello_.sign_of_life_s =
      static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::seconds>(options_.timings.sign_of_life).count());
}

Expected<void> Feeder::start() {
  SHAPLEY_TRY_ASSIGN(thread_, start_without_signals("the feeder thread", [this] { run(); }));
  pthread_setname_np(thread_.native_handle(), "shapley-feeder");
  return {};
}

void Feeder::stop() {
  stopping_ = true;
  event_.signal();
  if (thread_.joinable()) thread_.join();
}

void Feeder::run() noexcept {
  bool recovered = false;
  while (!stopping_) {
    try {
      if (!std::exchange(recovered, true)) {
        backlog_.recover();
        hello_.observed_before = backlog_.last_observed_at();
      }
      turn();
    } catch (...) {
      start_over();
    }
  }
  try {
    take_observations();
    // The next instance reports to the daemon until when this one read the records; if nothing changed, nothing else
    // shows that. The last scan was an interval ago at most.
    constexpr std::uint32_t k_ms = 1000;
    protocol::Observations farewell;
    farewell.observed_at =
        std::max(backlog_.last_observed_at(), std::time(nullptr) - (hello_.interval_ms + k_ms - 1) / k_ms);
    backlog_.add_observations(std::move(farewell), false, Clock::now());
    backlog_.spool(Clock::time_point::max());
  } catch (...) {
    // Slurm's own records remain; the next life's snapshot covers all but runs that are purged before it.
  }
}

void Feeder::start_over() noexcept {
  // Only exhausted memory throws here. The data being processed is lost, so a fresh snapshot must follow, on a new
  // connection.
  try {
    inbox_.mark_lost();
    note_dropped();
    lose(Error{Errc::limit, "the feeder ran out of memory"});
  } catch (...) {
    state_ = State::away;
    connection_.reset();
    next_attempt_ = Clock::now() + options_.timings.refused_retry;
  }
  ::poll(nullptr, 0, 100);  // the same may happen again immediately
}

void Feeder::turn() {
  sleep_until_due();
  if (stopping_) return;
  take_observations();
  give_sign_of_life();
  if (state_ == State::away) {
    if (Clock::now() >= next_attempt_) connect();
  } else {
    exchange(std::exchange(ready_to_read_, false));
  }
  keep_bound();
  spool_what_is_due();
  watch_staleness();
  publish_counters();
}

Clock::time_point Feeder::next_due() const {
  Clock::time_point due = Clock::now() + std::chrono::hours(1);
  if (state_ == State::away) due = std::min(due, next_attempt_);
  if (state_ == State::connected) due = std::min(due, sign_due_);
  if (answer_due_) due = std::min(due, *answer_due_);
  if (ranks_hold_until_ && !board_.is_stale()) due = std::min(due, *ranks_hold_until_);
  if (const auto oldest = backlog_.oldest_unspooled()) {
    due = std::min(due, std::max(*oldest + options_.timings.spool_delay, next_spooling_));
  }
  return due;
}

void Feeder::sleep_until_due() {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_due() - Clock::now()).count();
  std::array<pollfd, 2> descriptors{};
  descriptors[0] = {event_.descriptor(), POLLIN, 0};
  nfds_t count = 1;
  if (connection_) {
    const bool more_to_send = connection_->is_writing() || (state_ == State::connected && backlog_.has_unsent());
    descriptors[1] = {connection_->descriptor(), static_cast<short>(more_to_send ? POLLIN | POLLOUT : POLLIN), 0};
    count = 2;
  }
  ::poll(descriptors.data(), count, static_cast<int>(std::clamp<long>(left, 0, 3'600'000)));
  if (descriptors[0].revents != 0) event_.clear();
  ready_to_read_ = count == 2 && (descriptors[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
}

void Feeder::take_observations() {
  Inbox::Content content = inbox_.take();
  if (content.lost) {
    ++counters_.dropped_backlogs;
    note_dropped();
    log_.error("feeder: observations were dropped, because more than " + std::to_string(options_.spool_max_bytes) +
               " bytes of them waited or memory ran out; a fresh snapshot follows");
    if (state_ != State::away) lose(Error{Errc::unavailable, "closed for a fresh snapshot"});
  }
  while (!content.chunks.empty()) {
    queue(std::move(content.chunks.front()));
    content.chunks.pop_front();
  }
  // Before its snapshot a connection has no data that a sign of life could extend.
  scanned_at_ = content.snapshot_wanted ? signed_at_ : content.scanned_at;
}

void Feeder::give_sign_of_life() {
  const Clock::time_point now = Clock::now();
  if (state_ != State::connected || now < sign_due_) return;
  sign_due_ = now + options_.timings.sign_of_life;
  // Unacknowledged messages already show that the plugin is alive.
  if (scanned_at_ == signed_at_ || !backlog_.empty()) return;
  signed_at_ = scanned_at_;
  backlog_.add_sign_of_life(scanned_at_, now);
}

void Feeder::queue(ScanChunk&& chunk) {
  const Clock::time_point now = Clock::now();
  const std::int64_t observed_at = chunk.changes.observed_at;
  // A scan made for a connection that has ended meanwhile is still valid, as changes.
  const bool in_snapshot = state_ == State::connected && chunk.snapshot_for == connection_number_;
  if (in_snapshot && chunk.first) backlog_.add_snapshot_begin(observed_at, now);
  if (tells_anything(chunk.changes)) {
    sign_due_ = now + options_.timings.sign_of_life;
    backlog_.add_observations(std::move(chunk.changes), in_snapshot, now);
  }
  if (in_snapshot && chunk.last && chunk.complete) {
    backlog_.add_snapshot_end(observed_at, now);
    ++counters_.snapshots;
  }
  if (!chunk.last) return;
  constexpr std::size_t k_max_scans = 4096;
  scans_.push_back({backlog_.last_sequence(), chunk.scan});
  if (scans_.size() > k_max_scans) scans_.pop_front();
}

void Feeder::keep_bound() {
  if (backlog_.within_bound()) return;
  ++counters_.dropped_backlogs;
  log_.error("spool: " + options_.spool_path + ": " +
             counted_as(static_cast<std::int64_t>(backlog_.entries()),
                        "unacknowledged message[ exceeds|s exceed] the bound of ") +
             std::to_string(options_.spool_max_bytes) +
             " bytes; all are dropped; a fresh snapshot follows when shapleyd is back");
  backlog_.drop();
  note_dropped();
  if (state_ == State::connected) lose(Error{Errc::unavailable, "the daemon does not acknowledge"});
}

void Feeder::note_dropped() {
  hello_.observing_since = std::time(nullptr);
  hello_.dropped = true;
}

void Feeder::spool_what_is_due() {
  const Clock::time_point now = Clock::now();
  if (state_ != State::connected) {
    backlog_.spool(Clock::time_point::max());
  } else if (now >= next_spooling_) {
    backlog_.spool(now - options_.timings.spool_delay);
  } else {
    return;
  }
  next_spooling_ = now + options_.timings.spool_delay;
}

void Feeder::connect() {
  Expected<Connection> connection = Connection::open(options_.socket_path);
  if (!connection) return lose(connection.error());
  connection_.emplace(std::move(*connection));
  hello_.backlog = backlog_.entries();
  hello_.dropped_backlogs = counters_.dropped_backlogs;
  connection_->start_writing(protocol::encode_frame(hello_));
  sending_observations_ = false;
  state_ = State::greeting;
  answer_due_ = Clock::now() + options_.timings.answer_timeout;
  exchange(false);
}

void Feeder::exchange(bool readable) {
  // Reads first: a daemon that refuses sends the reason and closes, and the reason is more useful than the closed pipe.
  if (readable) receive();
  if (state_ != State::away) send();
  if (state_ != State::away) watch_answers(readable);
}

void Feeder::receive() {
  std::vector<protocol::Message> messages;
  const Expected<void> outcome = connection_->read_some(messages);
  for (protocol::Message& message : messages) {
    if (state_ != State::away) handle(std::move(message));
  }
  if (!outcome && state_ != State::away) lose(outcome.error());
}

void Feeder::send() {
  for (int frames = 0; frames < k_frames_a_turn; ++frames) {
    if (!connection_->is_writing()) {
      std::optional<Backlog::Outgoing> next;
      if (state_ == State::connected) next = backlog_.take_unsent();
      if (!next) return;
      connection_->start_writing(std::move(next->frame));
      sending_observations_ = true;
    }
    if (const Expected<void> outcome = connection_->write_some(); !outcome) return lose(outcome.error());
    if (connection_->is_writing()) return;
    if (sending_observations_) ++counters_.sent;
  }
}

void Feeder::handle(protocol::Message&& message) {
  if (const auto* refused = std::get_if<protocol::Refused>(&message)) {
    return lose(Error{Errc::protocol, "refused by the daemon: " + refused->reason});
  }
  if (const auto* welcome = std::get_if<protocol::Welcome>(&message)) return handle_welcome(*welcome);
  if (state_ != State::connected) return lose(Error{Errc::protocol, "the answer to Hello is no Welcome"});
  if (const auto* ack = std::get_if<protocol::Ack>(&message)) return handle_acknowledgement(ack->sequence);
  if (auto* ranks = std::get_if<protocol::Ranks>(&message)) return handle_ranks(std::move(*ranks));
  if (const auto* levels = std::get_if<protocol::Levels>(&message)) return handle_levels(*levels);
  if (auto* rules = std::get_if<protocol::Rules>(&message)) {
    const bool charges_otherwise = board_.set_charge_rule(std::move(rules->charge));
    const bool changed_hands = board_.set_owners(std::move(rules->owners));
    if (board_.set_rules(std::move(rules->rules)) || charges_otherwise || changed_hands) wake_up_.ranks_changed();
    return;
  }
  lose(Error{Errc::protocol, "the daemon sent a message that only a daemon may receive"});
}

void Feeder::handle_levels(const protocol::Levels& levels) {
  Expected<LevelTable> table = LevelTable::of(levels.jobs);
  if (!table) return lose(table.error());
  levels_known_ = true;
  const std::size_t jobs = table->size();
  if (!board_.set_levels(std::move(*table))) return;
  log_.debug("levels: of " + std::to_string(jobs) + " jobs");
  wake_up_.ranks_changed();
}

namespace {

// "astro 12 lacks 0, bio 0 lacks 3": processors, in the order of the ranks.
std::string leads_text(const protocol::Ranks& ranks) {
  std::string text;
  for (std::size_t i = 0; i < std::min({ranks.organizations.size(), ranks.leads.size(), ranks.lacking.size()}); ++i) {
    text += (i == 0 ? "" : ", ") + ranks.organizations[i] + ' ' + std::to_string(ranks.leads[i]) + " lacks " +
            std::to_string(ranks.lacking[i]);
  }
  return text;
}

}  // namespace

void Feeder::handle_ranks(protocol::Ranks&& ranks) {
  // A daemon with levels sends them before the ranks; one that came back and did not has none any more.
  if (!std::exchange(levels_known_, true) && board_.set_levels(LevelTable())) wake_up_.ranks_changed();
  std::string order;
  for (const std::string& name : ranks.organizations) order += (order.empty() ? "" : ", ") + name;
  const std::string leads = leads_text(ranks);
  const bool reordered = board_.organizations() != ranks.organizations;
  const bool changed = board_.set_ranks(std::move(ranks));
  ranks_hold_until_.reset();
  // With slurmctld's own lines about starts, these show afterwards which order each start followed.
  if (reordered) log_.debug("ranks: " + order);
  if (changed) log_.debug("leads: " + leads);
  if (board_.set_stale(false) || changed) wake_up_.ranks_changed();
}

void Feeder::handle_welcome(const protocol::Welcome& welcome) {
  if (welcome.version != protocol::k_version) {
    return lose(Error{Errc::protocol, "the daemon (" + welcome.program + ") speaks protocol version " +
                                          std::to_string(welcome.version) + ", the plugin version " +
                                          std::to_string(protocol::k_version) + "; install the same release of both"});
  }
  stale_after_ = std::chrono::seconds(welcome.stale_after_s);
  if (board_.set_policy({welcome.act, welcome.strict, welcome.weight})) wake_up_.ranks_changed();
  if (state_ == State::connected) return;  // after a reloaded configuration
  const std::size_t before = backlog_.entries();
  if (!backlog_.begin_connection(welcome.acknowledged)) {
    return lose(Error{Errc::protocol, "the daemon acknowledges message " + std::to_string(welcome.acknowledged) +
                                          ", which was never sent"});
  }
  counters_.acknowledged += before - backlog_.entries();
  note_reflected(welcome.acknowledged);
  state_ = State::connected;
  sign_due_ = Clock::now() + options_.timings.sign_of_life;
  levels_known_ = false;
  program_ = welcome.program;
  if (++connection_number_ > 1) ++counters_.reconnects;
  backlog_at_welcome_ = backlog_.last_sequence();
  want_snapshot_once_backlog_is_through();
}

void Feeder::want_snapshot_once_backlog_is_through() {
  // Not earlier: a daemon that answers Hello but commits nothing (a full disk, a crash loop) would receive a snapshot
  // on each connection, and all of them would accumulate in the backlog.
  if (!backlog_at_welcome_ || !backlog_.is_through(*backlog_at_welcome_)) return;
  backlog_at_welcome_.reset();
  inbox_.want_snapshot_for(connection_number_);
  wake_up_.hint();
}

void Feeder::handle_acknowledgement(std::uint64_t sequence) {
  const std::size_t before = backlog_.entries();
  if (!backlog_.acknowledge(sequence)) {
    return lose(Error{Errc::protocol,
                      "the daemon acknowledges message " + std::to_string(sequence) + ", which was never sent"});
  }
  counters_.acknowledged += before - backlog_.entries();
  note_reflected(sequence);
  want_snapshot_once_backlog_is_through();
  if (std::exchange(in_use_, true)) return;
  // Only now does the daemon work for us; a mere Welcome in a crash loop is not worth a line each time.
  backoff_ = options_.timings.first_backoff;
  log_.info("shapleyd: " + options_.socket_path + ": connected to " + program_ +
            (reported_.empty() ? std::string() : " again"));
  reported_.clear();
  closed_.clear();
}

void Feeder::note_reflected(std::uint64_t sequence) {
  while (!scans_.empty() && scans_.front().sequence <= sequence) {
    places_.reflect(scans_.front().scan);
    scans_.pop_front();
  }
}

void Feeder::lose(const Error& cause) {
  const bool was_in_use = std::exchange(in_use_, false);
  const bool was_connected = state_ == State::connected;
  const Clock::time_point now = Clock::now();
  state_ = State::away;
  connection_.reset();
  answer_due_.reset();
  silent_ = false;
  backlog_at_welcome_.reset();
  inbox_.want_snapshot_for(0);
  backlog_.end_connection();
  if (was_connected) let_ranks_age(now);
  next_attempt_ = now + (is_away(cause.code) ? backoff_ : options_.timings.refused_retry);
  backoff_ = std::min(2 * backoff_, options_.timings.longest_backoff);
  report_away(cause, was_in_use);
}

void Feeder::report_away(const Error& cause, bool was_in_use) {
  // One line when it went away and one for each different reason why it does not come back; "no such file" and
  // "connection refused" are the same reason.
  const std::string reason = is_away(cause.code) ? "away" : cause.what;
  const std::string where = "shapleyd: " + options_.socket_path;
  // A daemon that takes over another configuration closes the connection and accepts the next one at once, which is no
  // error. It is one when the next attempt fails.
  const std::string closed = std::exchange(closed_, {});
  if (was_in_use && reason == "away") {
    closed_ = cause.what;
    reported_ = reason;
    return log_.info(where + ": " + cause.what + "; connecting");
  }
  if (!closed.empty()) log_.error(where + ": lost: " + closed + "; " + kept_meanwhile());
  if (!was_in_use && reason == reported_) return;
  if (!was_in_use && reason == "away" && !reported_.empty()) return;
  reported_ = reason;
  log_.error(where + (was_in_use ? ": lost: " : ": not usable: ") + cause.what + "; " +
             (was_in_use ? kept_meanwhile() : "observations are kept in " + options_.spool_path));
}

void Feeder::watch_answers(bool heard) {
  const Clock::time_point now = Clock::now();
  if (heard && std::exchange(silent_, false)) {
    // Changes of ranks that it made meanwhile arrive in order on this same connection.
    ranks_hold_until_.reset();
    if (board_.set_stale(false)) wake_up_.ranks_changed();
    log_.info("shapleyd: " + options_.socket_path + ": answers again");
  }
  const bool expects_answer = state_ == State::greeting || backlog_.awaits_acknowledgement();
  if (!expects_answer || silent_) {
    answer_due_.reset();
  } else if (heard || !answer_due_) {
    answer_due_ = now + options_.timings.answer_timeout;
  } else if (now >= *answer_due_ && state_ == State::greeting) {
    lose(Error{Errc::unavailable, "the daemon does not answer"});
  } else if (now >= *answer_due_) {
    // The connection stays: a Unix socket ends with its process, so the process hangs, and may continue later.
    silent_ = true;
    let_ranks_age(now);
    log_.error("shapleyd: " + options_.socket_path + ": does not answer; " + kept_meanwhile());
  }
}

void Feeder::let_ranks_age(Clock::time_point now) {
  if (!ranks_hold_until_) ranks_hold_until_ = now + stale_after_;
}

std::string Feeder::kept_meanwhile() const {
  return "observations are kept in " + options_.spool_path + ", jobs go on with the last ranks for " +
         std::to_string(stale_after_.count()) + " s";
}

void Feeder::watch_staleness() {
  if (!ranks_hold_until_ || Clock::now() < *ranks_hold_until_) return;
  const bool acted = board_.order().act;
  if (board_.set_stale(true)) wake_up_.ranks_changed();
  if (acted) {
    log_.error("ranks: older than " + std::to_string(stale_after_.count()) +
               " s without shapleyd; priorities are left to Slurm until it is back");
  }
}

void Feeder::publish_counters() {
  counters_.connected = state_ == State::connected;
  counters_.queued_bytes = backlog_.memory_bytes();
  counters_.spooled_bytes = backlog_.file_bytes();
}

}  // namespace shapley::client
