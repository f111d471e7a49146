#include "daemon/controllers/controllers.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "base/counted.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::daemon {

namespace {

using accounting::PeerAnswer;

// Older answers say nothing about now.
constexpr Controllers::Milliseconds k_recent{5000};

constexpr std::string_view k_lacks_other =
    "its ledger lacks what the other controller has, which does not answer; start that one, or let this one begin "
    "without it: shapleyctl begin";

}  // namespace

Controllers::Controllers(Books& books, Options options, ControllerRecord record, BecomeActive become_active)
    : books_(books),
      options_(std::move(options)),
      record_(std::move(record)),
      become_active_(std::move(become_active)) {
  spdlog::info("controllers: {}: followed, until slurmctld's plugin connects here", options_.peer);
}

Expected<Controller> Controllers::self() const {
  SHAPLEY_TRY_ASSIGN(std::string identity, books_.ledger().identity());
  const auto* began = books_.state().last_beginning();
  return Controller{.host = options_.host,
                    .identity = std::move(identity),
                    .instance = options_.instance,
                    .role = role_,
                    .began_after = began == nullptr ? Controller::k_never : began->after};
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
  if (lacks_other() && !is_heard() && has_waited(options_.silence_patience)) return std::string(k_lacks_other);
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
  const bool follows = question.rows > 0 && question.instance != options_.instance;
  if (!follows) return;
  const auto identity = books_.ledger().identity();
  const auto hash = ledger::hash_at(books_.ledger(), question.position.sequence);
  if (!identity || *identity != question.ledger || !hash || *hash != question.position.hash) return;
  acknowledgements_.confirm(question.position.sequence, books_.last_sequence(), now_ms());
}

void Controllers::poll(const Ask& ask) {
  if (asking_ || parting_) return;
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
  const bool searches = fork_ && !fork_->is_found();
  FollowQuestion question{
      .position = {}, .rows = role_ == Role::standby && !searches ? k_most_rows : 0, .ledger = {}, .instance = {}};
  SHAPLEY_TRY_ASSIGN(question.ledger, books_.ledger().identity());
  question.instance = options_.instance;
  if (searches) {
    question.position.sequence = fork_->middle();
    SHAPLEY_TRY_ASSIGN(const auto hash, ledger::hash_at(books_.ledger(), question.position.sequence));
    if (!hash) return fail(Errc::corrupt, fmt::format("the ledger lacks event {}", question.position.sequence));
    question.position.hash = *hash;
  } else {
    SHAPLEY_TRY_ASSIGN(question.position, ledger::head_of(books_.ledger()));
  }
  return text_of(question);
}

void Controllers::on_silence(const Error& error, Instant now) {
  reachable_ = false;
  if (std::exchange(silence_, error.what) != error.what) spdlog::warn("controllers: {}: {}", options_.peer, error.what);
  // Also while the one that was refused is to come again.
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
  if (*identity != answer.controller.identity) return on_other_ledger(answer, now);
  if (fork_ && !fork_->is_found()) {
    (answer.part.holds ? fork_->in_common : fork_->parted) = fork_->middle();
    return decide_fork(now);
  }
  if (answer.part.holds) return on_rows(answer.part, now);
  on_other_chain(answer, now);
}

void Controllers::on_rows(const ledger::ChainPart& part, Instant now) {
  fork_.reset();
  in_line_ = true;
  if (!part.rows.empty()) {
    if (const auto followed = books_.follow(part.rows, now); !followed) {
      return say_fault(fmt::format("cannot follow: {}", followed.error().what));
    }
  }
  say_fault({});
  // The next question says that these are here, and somebody may wait for that.
  more_ = !part.rows.empty();
  if (books_.last_sequence() >= part.head.sequence) on_caught_up(now);
}

void Controllers::on_other_chain(const FollowAnswer& answer, Instant now) {
  const ledger::Position& head = answer.part.head;
  const auto own = ledger::hash_at(books_.ledger(), head.sequence);
  if (!own) return say_fault(own.error().what);
  if (*own == head.hash) {  // the other one has less of the same chain
    fork_.reset();
    in_line_ = true;
    say_fault({});
    return on_caught_up(now);
  }
  in_line_ = false;
  if (!fork_) fork_ = Fork{.in_common = 0, .parted = books_.last_sequence()};
  decide_fork(now);
}

// A controller that writes goes on. Else the one whose line began with a feeder after the last event in common has the
// newer line: the other one's is what the host that died had not passed on. If both did, the feeder that is here
// counts.
void Controllers::decide_fork(Instant now) {
  more_ = !fork_->is_found();
  if (more_) return;
  const auto* began = books_.state().last_beginning();
  const bool own_began = began != nullptr && began->after >= fork_->in_common;
  const bool peer_began = peer_->controller.began_after >= fork_->in_common;
  const bool yields = peer_->controller.role == Role::active || (held_since_ && peer_began && !own_began);
  if (!yields && held_since_) return on_caught_up(now);
  if (!yields) {
    return say_fault(fmt::format(
        "the ledger on {} parted from this one after event {}; the one whose slurmctld is primary will be continued",
        peer_->controller.host, fork_->in_common));
  }
  parting_ = Parting{.common = fork_->in_common, .own = books_.last_sequence() - fork_->in_common};
  spdlog::warn(
      "controllers: the ledger on {} was continued without {} at the end of this one, which is set aside; followed "
      "from "
      "event {} on",
      peer_->controller.host, counted(parting_->own, "event"), parting_->common);
}

void Controllers::on_other_ledger(const FollowAnswer& answer, Instant now) {
  const Controller& other = answer.controller;
  if (answer.part.head.sequence == 0) return on_caught_up(now);  // it has none yet, and will take over this one's
  if (books_.last_sequence() == 0) {
    keep_copying(true);
    if (!record_is_kept_) return;
    if (const auto adopted = books_.adopt_identity(other.identity); !adopted) return say_fault(adopted.error().what);
    more_ = true;
    return;
  }
  say_fault(fmt::format("{} has another ledger ({}): move the one aside that is not to be continued", other.host,
                        other.identity));
  if (has_waited(options_.silence_patience)) begin(PeerAnswer::silent, now);
}

// ---- to begin ----

void Controllers::on_caught_up(Instant now) {
  if (record_.copying && books_.last_sequence() > 0) keep_copying(false);
  if (!held_since_) return;
  if (!asked_since_) {
    more_ = true;
    return;
  }
  // What its feeder still tells is taken over, too.
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
  fork_.reset();
  role_ = Role::active;
  acknowledgements_.begin();
  if (const auto done = become_active_(now); !done) say_fault(done.error().what);
}

void Controllers::keep_copying(bool copying) {
  record_.copying = copying;
  static_cast<void>(keep_record());  // tick() tries again, and says why
}

Expected<void> Controllers::keep_record() {
  const auto kept = write_record(record_file(options_.ledger), record_);
  record_is_kept_ = kept.has_value();
  return kept;
}

// ---- what was set aside ----

Expected<void> Controllers::tick(Instant now) {
  if (!more_ && !is_partial() && (role_ == Role::active || in_line_)) compare_set_aside(now);
  return record_is_kept_ ? Expected<void>{} : keep_record();
}

// Slurm's records tell the new line of what it lacks when its plugin connects, so the figures fall for a while.
void Controllers::compare_set_aside(Instant now) {
  constexpr Duration k_between{60};
  constexpr Duration k_falls_for{24 * 3600};
  if (record_.set_aside.empty()) return;
  // One that was not compared yet, else the last. What somebody removed is not looked for.
  const auto is_due = [](const SetAside& one) {
    std::error_code ignored;
    return !one.parted && std::filesystem::exists(one.file, ignored);
  };
  const auto due = std::find_if(record_.set_aside.begin(), record_.set_aside.end(), is_due);
  SetAside& entry = due == record_.set_aside.end() ? record_.set_aside.back() : *due;
  if (!entry.parted && due == record_.set_aside.end()) return;
  if (comparison_.valid()) {
    if (comparison_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    const auto parted = comparison_.get();
    compared_ = now;
    if (!parted) return say_fault(parted.error().what);
    if (entry.parted == *parted) return;
    entry.parted = *parted;
    spdlog::warn("controllers: {}: {} of its own; not in the present ledger: {}, there otherwise: {}", entry.file,
                 counted(parted->events, "event"), parted->absent, parted->different);
    record_is_kept_ = false;
    return;
  }
  const bool settled = entry.parted && (entry.parted->absent == 0 || now > entry.at + k_falls_for);
  if (settled || (entry.parted && now < compared_ + k_between)) return;
  comparison_ = std::async(
      std::launch::async,
      [file = entry.file, common = entry.common, present = options_.ledger]() -> Expected<ledger::Parted> {
        SHAPLEY_TRY_ASSIGN(const auto aside, ledger::Ledger::open(file, ledger::OpenMode::read_only));
        SHAPLEY_TRY_ASSIGN(const auto now_kept, ledger::Ledger::open(present, ledger::OpenMode::read_beside_writer));
        return ledger::compare_parted(aside, common, now_kept);
      });
}

// ---- what it says of itself ----

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

nlohmann::json Controllers::report() const {
  using nlohmann::json;
  const auto* began = books_.state().last_beginning();
  const auto missing = behind();
  const auto if_heard = [&](auto value) { return peer_ ? json(value(*peer_)) : json(); };
  const auto seconds_since = [&](Milliseconds then) { return (now_ms() - then).count() / 1000; };
  return {{"host", options_.host},
          {"role", name_of(role_)},
          {"state", state()},
          {"feeder_held", held_since_.has_value()},
          {"began_at", began != nullptr ? json(began->at.value) : json()},
          {"began_host", began != nullptr ? json(began->host) : json()},
          {"peer", options_.peer},
          {"peer_answers", is_heard()},
          {"peer_host", if_heard([](const Peer& peer) { return peer.controller.host; })},
          {"peer_role", if_heard([](const Peer& peer) { return name_of(peer.controller.role); })},
          {"peer_events", if_heard([](const Peer& peer) { return peer.head.sequence; })},
          {"heard_s", if_heard([&](const Peer& peer) { return seconds_since(peer.heard); })},
          {"behind", missing ? json(*missing) : json()},
          {"in_step", role_ == Role::active ? json(acknowledgements_.in_step(now_ms())) : json()},
          {"confirmed", acknowledgements_.confirmed()},
          {"acknowledged_alone", acknowledgements_.alone()},
          {"fault", fault_.empty() ? json() : json(fault_)},
          {"set_aside", json_of(record_.set_aside)}};
}

std::string_view Controllers::state() const {
  if (role_ == Role::active) return "writes";
  if (is_partial() && !is_heard()) return "waits for the other one";
  if (more_) return "catches up";
  if (!is_heard()) return "follows";
  if (peer_->controller.role == Role::standby) return "waits for slurmctld";
  return in_line_ ? "follows" : "catches up";
}

void Controllers::say_fault(std::string fault) {
  if (fault == fault_) return;
  if (!fault.empty()) spdlog::error("controllers: {}", fault);
  fault_ = std::move(fault);
}

}  // namespace shapley::daemon
