#include "daemon/controllers/controllers.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/piece_of_work.hpp"
#include "base/text.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::daemon {

namespace {

using accounting::PeerAnswer;

// Older answers say nothing about the present.
constexpr Controllers::Milliseconds k_recent{5000};

constexpr std::string_view k_lacks_other =
    "its ledger lacks what the other controller had, which does not answer or has lost it; start that one with its "
    "ledger, or let this one begin without it: shapleyctl begin";

}  // namespace

Controllers::Controllers(Books& books, Options options, ControllerRecord record, BecomeActive become_active)
    : books_(books),
      options_(std::move(options)),
      record_(std::move(record)),
      become_active_(std::move(become_active)) {
  spdlog::info("controllers: {}: followed, until slurmctld's plugin connects here", options_.peer);
}

Expected<Controller> Controllers::self() const {
  Controller self{.host = options_.host,
                  .ledger = {},
                  .instance = options_.instance,
                  .role = role_,
                  .began = {},
                  .copying = record_.copying};
  SHAPLEY_TRY_ASSIGN(self.ledger, books_.ledger().identity());
  if (const auto* began = books_.state().last_beginning()) {
    SHAPLEY_TRY_ASSIGN(const auto hash, ledger::hash_at(books_.ledger(), began->after + 1));
    if (hash) self.began = {.sequence = began->after + 1, .hash = *hash};
  }
  return self;
}

Expected<bool> Controllers::holds(const ledger::Position& position) const {
  SHAPLEY_TRY_ASSIGN(const auto hash, ledger::hash_at(books_.ledger(), position.sequence));
  return hash ? *hash == position.hash : position.sequence < books_.last_sequence();
}

// ---- the feeder ----

void Controllers::hold_feeder() {
  held_since_ = now_ms();
  asked_since_ = false;
  was_wanted_ = true;
}

void Controllers::feeder_left() {
  held_since_.reset();
  in_line_ = false;
  if (std::exchange(role_, Role::standby) == Role::standby) return;
  spdlog::info("controllers: writes no more after event {}: slurmctld's plugin has gone", books_.last_sequence());
  say_fault({});
}

std::string Controllers::refusal() const {
  if (lacks_other() && !is_copying() && has_waited(options_.silence_patience)) return std::string(k_lacks_other);
  if (has_waited(options_.longest_hold)) return "it takes over what the other controller recorded; try again soon";
  return {};
}

Expected<void> Controllers::allow_beginning(std::string_view author) {
  if (role_ == Role::active)
    return fail(Errc::conflict, "slurmctld's plugin is connected, and this one writes already");
  if (!is_partial()) {
    return fail(Errc::conflict, "that is not needed: this one writes as soon as slurmctld's plugin connects");
  }
  spdlog::warn("controllers: it may begin without what the other one has, by {}", author);
  is_allowed_ = true;
  return {};
}

// ---- questions ----

void Controllers::note_question(const FollowQuestion& question) {
  // Only the process that answers at the configured address counts: others may ask, too.
  const bool follows = question.rows > 0 && peer_ && question.instance == peer_->controller.instance;
  if (!follows) return;
  const auto identity = books_.ledger().identity();
  const auto hash = ledger::hash_at(books_.ledger(), question.position.sequence);
  if (!identity || *identity != question.ledger || !hash || *hash != question.position.hash) return;
  acknowledgements_.confirm(question.position.sequence, books_.last_sequence(), now_ms());
}

void Controllers::poll(const Ask& ask) {
  if (asking_ || parted_) return;
  more_ = false;
  auto request = question();
  if (!request) return say_fault(request.error().what);
  asking_ = true;
  asked_since_ = held_since_.has_value();
  ask(*std::move(request), [this](const Expected<std::string>& answer, Instant then) {
    asking_ = false;
    on_answer(answer, then);
  });
}

Expected<std::string> Controllers::question() const {
  SHAPLEY_TRY_ASSIGN(Controller own, self());
  SHAPLEY_TRY_ASSIGN(const ledger::Position head, ledger::head_of(books_.ledger()));
  return text_of(FollowQuestion{.position = head,
                                .began = own.began,
                                .rows = role_ == Role::standby ? k_most_rows : 0,
                                .ledger = std::move(own.ledger),
                                .instance = std::move(own.instance)});
}

void Controllers::on_silence(const Error& error, Instant now) {
  reachable_ = false;
  if (std::exchange(silence_, error.what) != error.what) spdlog::warn("controllers: {}: {}", options_.peer, error.what);
  // Also while the refused feeder is expected to connect again.
  if (lacks_other() && was_wanted_ && !held_since_) return say_fault(std::string(k_lacks_other));
  if (!has_waited(options_.silence_patience)) return;
  if (peer_ && now_ms() < peer_->heard + options_.silence_patience) return;
  if (lacks_other()) return say_fault(std::string(k_lacks_other));
  begin(PeerAnswer::silent, now);
}

void Controllers::on_answer(const Expected<std::string>& answer, Instant now) {
  if (!answer) return on_silence(answer.error(), now);
  const auto parsed = parse_answer(*answer);
  if (!parsed) {
    if (parsed.error().code != Errc::unavailable) say_fault(parsed.error().what);
    return on_silence(parsed.error(), now);
  }
  if (parsed->controller.instance == options_.instance) {
    return on_silence(Error{Errc::unavailable, "what answers there is this shapleyd itself"}, now);
  }
  silence_.clear();
  if (!std::exchange(reachable_, true)) {
    spdlog::info("controllers: {}: {} on {}, {}", options_.peer, name_of(parsed->controller.role),
                 parsed->controller.host, counted(parsed->part.head.sequence, "event"));
  }
  peer_ = Peer{.heard = now_ms(), .controller = parsed->controller, .head = parsed->part.head};
  on_peer(*parsed, now);
}

void Controllers::on_peer(const FollowAnswer& answer, Instant now) {
  if (role_ == Role::active) {
    if (answer.controller.role == Role::standby) return say_fault({});
    return say_fault(fmt::format(
        "a slurmctld's plugin feeds the shapleyd on {}, too: both slurmctlds are primary, and each ledger goes on by "
        "itself; stop the slurmctld that is not to be primary",
        answer.controller.host));
  }
  const auto identity = books_.ledger().identity();
  if (!identity) return say_fault(identity.error().what);
  if (*identity != answer.controller.ledger) return on_other_ledger(answer, now);
  if (answer.part.holds) return on_rows(answer.part, now);
  on_other_chain(answer, now);
}

void Controllers::on_rows(const ledger::ChainPart& part, Instant now) {
  in_line_ = true;
  if (!part.rows.empty()) {
    if (const auto followed = books_.follow(part.rows, now); !followed) {
      return say_fault(fmt::format("cannot follow: {}", followed.error().what));
    }
  }
  say_fault({});
  // The next question reports that these events are here, and the other controller may wait for that.
  more_ = !part.rows.empty();
  if (books_.last_sequence() >= part.head.sequence) on_caught_up(now);
}

// A controller that writes continues. Otherwise the controller whose chain began with a feeder after the last common
// event has the newer chain: the other chain consists of events that the failed host had not transferred. If both did,
// the controller with a connected feeder wins.
void Controllers::on_other_chain(const FollowAnswer& answer, Instant now) {
  const Controller& peer = answer.controller;
  const auto has_less = ledger::hash_at(books_.ledger(), answer.part.head.sequence);
  const auto knows_began = holds(peer.began);
  if (!has_less || !knows_began) return say_fault((has_less ? knows_began.error() : has_less.error()).what);
  in_line_ = *has_less == answer.part.head.hash;  // the other one has less of the same chain
  if (in_line_) say_fault({});
  const bool yields = peer.role == Role::active || (held_since_ && !*knows_began && answer.holds_began);
  if (in_line_ || (!yields && held_since_)) return on_caught_up(now);
  if (!yields) {
    return say_fault(fmt::format(
        "the ledger on {} parted from this one; the one whose slurmctld is primary will be continued", peer.host));
  }
  parted_ = true;
  spdlog::warn("controllers: the ledger on {} was continued without what is at the end of this one, which is set aside",
               peer.host);
}

void Controllers::on_other_ledger(const FollowAnswer& answer, Instant now) {
  const Controller& other = answer.controller;
  if (answer.part.head.sequence == 0)
    return on_caught_up(now);  // it has no identity yet, and will take over this one's
  if (books_.last_sequence() == 0) {
    record_.promised = answer.part.head;
    keep_copying(true);
    if (!record_is_kept_) return;
    if (const auto adopted = books_.adopt_identity(other.ledger); !adopted) return say_fault(adopted.error().what);
    more_ = true;
    return;
  }
  say_fault(fmt::format("{} has another ledger ({}): move the one aside that is not to be continued", other.host,
                        other.ledger));
  if (has_waited(options_.silence_patience)) begin(PeerAnswer::silent, now);
}

// ---- to begin ----

void Controllers::on_caught_up(Instant now) {
  if (record_.copying && is_whole_copy()) keep_copying(false);
  if (!held_since_) return;
  if (lacks_other() && books_.last_sequence() > 0) return say_fault(std::string(k_lacks_other));
  if (!asked_since_) {
    more_ = true;
    return;
  }
  // The messages that its feeder still sends are taken over, too.
  if (peer_->controller.role == Role::active && !has_waited(options_.handover_patience)) return;
  begin(PeerAnswer::answered, now);
}

void Controllers::begin(PeerAnswer peer, Instant now) {
  const auto head = ledger::head_of(books_.ledger());
  if (!head) return say_fault(head.error().what);
  const accounting::ControllerBegan event{
      .after = head->sequence, .at = now, .hash = ledger::to_hex(head->hash), .host = options_.host, .peer = peer};
  if (const auto committed = books_.commit(std::vector<accounting::Event>{event}, now); !committed) {
    return say_fault(fmt::format("cannot begin yet: {}", committed.error().what));
  }
  spdlog::info("controllers: slurmctld's plugin is here: writes after event {}{}", event.after,
               peer == PeerAnswer::answered ? ""
                                            : "; the other one does not answer: what it has and this one lacks comes "
                                              "from Slurm's records again");
  say_fault({});
  if (record_.copying) keep_copying(false);
  held_since_.reset();
  is_allowed_ = false;
  was_wanted_ = false;
  role_ = Role::active;
  acknowledgements_.begin();
  if (const auto done = become_active_(now); !done) say_fault(done.error().what);
}

bool Controllers::is_whole_copy() const {
  if (books_.last_sequence() == 0 || peer_->controller.copying) return false;
  const ledger::Position& promised = record_.promised;
  if (promised.sequence == 0) return peer_->head.sequence > 0;
  const auto hash = ledger::hash_at(books_.ledger(), promised.sequence);
  return hash && *hash && **hash == promised.hash;
}

bool Controllers::is_copying() const {
  return is_heard() && peer_->head.sequence > books_.last_sequence();
}

void Controllers::keep_copying(bool copying) {
  record_.copying = copying;
  if (!copying) record_.promised = {};
  static_cast<void>(keep_record());  // tick() tries again, and logs the reason
}

Expected<void> Controllers::keep_record() {
  const auto kept = write_record(record_file(options_.ledger), record_);
  record_is_kept_ = kept.has_value();
  return kept;
}

// ---- ledgers that were set aside ----

Expected<void> Controllers::tick(Instant now) {
  if (!more_ && !is_partial() && (role_ == Role::active || in_line_)) compare_set_aside(now);
  return record_is_kept_ ? Expected<void>{} : keep_record();
}

// The new chain gets missing events from Slurm's records when its plugin connects, so the number of missing ones falls
// for a while.
void Controllers::compare_set_aside(Instant now) {
  constexpr Duration k_between{60};
  constexpr Duration k_falls_for{24 * 3600};
  auto& all = record_.set_aside;
  if (comparison_.valid()) {
    if (comparison_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    const auto parted = comparison_.get();
    SetAside& entry = all[comparing_];
    compared_ = now;
    if (!parted) return say_fault(parted.error().what);
    if (std::exchange(entry.parted, *parted) == *parted) return;
    spdlog::warn("controllers: {}: {} of its own after event {}; not in the present ledger: {}, there otherwise: {}",
                 entry.file, counted(parted->events, "event"), parted->common, parted->absent, parted->different);
    return;
  }
  // A file that was removed is skipped.
  const auto is_due = [&](const SetAside& one) {
    const bool falls = one.parted && one.parted->absent > 0 && &one == &all.back() && now <= one.at + k_falls_for;
    std::error_code ignored;
    return (!one.parted || (falls && now >= compared_ + k_between)) && std::filesystem::exists(one.file, ignored);
  };
  const auto due = std::find_if(all.begin(), all.end(), is_due);
  if (due == all.end()) return;
  comparing_ = static_cast<std::size_t>(due - all.begin());
  comparison_ =
      std::async(std::launch::async, [file = due->file, present = options_.ledger]() -> Expected<ledger::Parted> {
        const PieceOfWork busy("the comparison with a ledger that was set aside", PieceOfWork::k_long_bound);
        SHAPLEY_TRY_ASSIGN(const auto aside, ledger::Ledger::open(file, ledger::OpenMode::read_only));
        SHAPLEY_TRY_ASSIGN(const auto now_kept, ledger::Ledger::open(present, ledger::OpenMode::read_beside_writer));
        return ledger::compare_parted(aside, now_kept);
      });
}

// ---- the report for status ----

bool Controllers::is_heard() const {
  return reachable_ && peer_ && now_ms() < peer_->heard + k_recent;
}

bool Controllers::takes_orders() const {
  return role_ == Role::active || (peer_ && peer_->controller.role == Role::standby && behind() == 0);
}

std::optional<std::int64_t> Controllers::behind() const {
  if (role_ == Role::active || !is_heard() || !in_line_) return std::nullopt;
  return std::max<std::int64_t>(0, peer_->head.sequence - books_.last_sequence());
}

protocol::ControllerReport Controllers::report() const {
  const auto* began = books_.state().last_beginning();
  protocol::ControllerReport report{.host = options_.host,
                                    .role = role_,
                                    .state = state(),
                                    .feeder_held = held_since_.has_value(),
                                    .peer = options_.peer,
                                    .peer_answers = is_heard(),
                                    .behind = behind(),
                                    .confirmed = acknowledgements_.confirmed(),
                                    .acknowledged_alone = acknowledgements_.alone()};
  if (began != nullptr) {
    report.began_at = began->at;
    report.began_host = began->host;
  }
  if (peer_) {
    report.peer_host = peer_->controller.host;
    report.peer_role = peer_->controller.role;
    report.peer_events = peer_->head.sequence;
    report.heard_s = (now_ms() - peer_->heard).count() / 1000;
  }
  if (role_ == Role::active) report.in_step = acknowledgements_.in_step(now_ms());
  if (!fault_.empty()) report.fault = fault_;
  for (const SetAside& entry : record_.set_aside) report.set_aside.push_back(report_of(entry));
  return report;
}

protocol::ControllerState Controllers::state() const {
  using State = protocol::ControllerState;
  if (role_ == Role::active) return State::writes;
  if (is_partial() && !is_heard()) return State::waits_for_the_other_one;
  if (more_) return State::catches_up;
  if (!is_heard()) return State::follows;
  if (peer_->controller.role == Role::standby) return State::waits_for_slurmctld;
  return in_line_ ? State::follows : State::catches_up;
}

void Controllers::say_fault(std::string fault) {
  if (fault == fault_) return;
  if (!fault.empty()) spdlog::error("controllers: {}", fault);
  fault_ = std::move(fault);
}

void Acknowledgements::begin() {
  pending_.clear();
  released_ = 0;
}

void Acknowledgements::confirm(std::int64_t sequence, std::int64_t head, Milliseconds now) {
  // While events are written continuously it never has the last one; the end of the ledger at its last question is
  // sufficient.
  const bool is_current = sequence >= head_then_ && now < asked_ + k_silence;
  in_step_ = in_step(now) || is_current || sequence == head;
  confirmed_ = sequence;
  head_then_ = head;
  asked_ = now;
}

void Acknowledgements::note_durable(std::uint64_t message, std::int64_t head, Milliseconds now) {
  const std::uint64_t last = pending_.empty() ? released_ : pending_.back().message;
  if (message > last) pending_.push_back({message, head, now});
}

std::uint64_t Acknowledgements::released(Milliseconds now) {
  while (!pending_.empty()) {
    const Pending& next = pending_.front();
    if (next.head > confirmed_) {
      in_step_ = in_step(now) && now < next.since + k_patience;
      if (in_step_) break;
      alone_ += next.message - released_;
    }
    released_ = next.message;
    pending_.pop_front();
  }
  return released_;
}

}  // namespace shapley::daemon
