#include "daemon/controllers/controllers.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "base/counted.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::daemon {

namespace {

using accounting::ControllerPromoted;

constexpr std::int64_t k_rows = 2000;

nlohmann::json object_of(const SetAside& entry) {
  nlohmann::json object{
      {"at", entry.at.value}, {"file", entry.file}, {"events", nullptr}, {"absent", nullptr}, {"different", nullptr}};
  if (entry.parted) {
    object["events"] = entry.parted->events;
    object["absent"] = entry.parted->absent;
    object["different"] = entry.parted->different;
  }
  return object;
}

}  // namespace

Controllers::Controllers(Books& books, Options options, ControllerRecord record, Hooks hooks, Instant now)
    : books_(books), options_(std::move(options)), record_(std::move(record)), hooks_(std::move(hooks)), started_(now) {
  const auto promotion = own_promotion();
  resuming_ = record_.held_epoch != 0 && promotion && promotion->epoch == record_.held_epoch;
  if (!record_.promotion_for.empty()) promotion_ = Promotion{record_.promotion_for, now};
  spdlog::info(
      "controllers: {}: {}", options_.peer,
      resuming_ ? "asked whether this one still writes the ledger, as it did" : "followed, until this one is promoted");
}

std::optional<ControllerPromoted> Controllers::own_promotion() const {
  const ControllerPromoted* last = books_.state().last_promotion();
  return last == nullptr ? std::nullopt : std::optional(*last);
}

std::optional<ControllerPromoted> Controllers::peer_promotion() const {
  return peer_ ? peer_->controller.promotion : std::nullopt;
}

Expected<Controller> Controllers::self() const {
  SHAPLEY_TRY_ASSIGN(std::string identity, books_.ledger().identity());
  return Controller{
      .host = options_.host, .identity = std::move(identity), .role = role_, .promotion = own_promotion()};
}

std::string Controllers::refusal() const {
  if (promotion_) return "it is being promoted, and takes over what the other controller recorded; try again soon";
  if (resuming_) return "it asks the other controller first whether it still writes the ledger; try again soon";
  return "it is the standby of two controllers: SlurmctldPrimaryOnProg promotes it (shapleyctl promote)";
}

void Controllers::poll(const Ask& ask) {
  if (asking_ || parting_) return;
  more_ = false;
  const bool fence = promotion_ && !promotion_->fenced;
  auto request = fence ? Expected<std::string>(R"({"request":"demote","force":true})") : question();
  if (!request) {
    say_fault(request.error().what);
    return;
  }
  asking_ = true;
  ask(*std::move(request), [this, fence](const Expected<std::string>& answer, Instant then) {
    asking_ = false;
    if (fence) {
      on_fenced(answer, then);
    } else {
      on_answer(answer, then);
    }
  });
}

Expected<std::string> Controllers::question() const {
  FollowQuestion question{.position = {}, .rows = role_ == Role::standby && !bisection_ ? k_rows : 0};
  if (bisection_) {
    question.position.sequence = bisection_->middle();
    SHAPLEY_TRY_ASSIGN(const auto hash, ledger::hash_at(books_.ledger(), question.position.sequence));
    if (!hash) return fail(Errc::corrupt, fmt::format("the ledger lacks event {}", question.position.sequence));
    question.position.hash = *hash;
  } else {
    SHAPLEY_TRY_ASSIGN(question.position, ledger::head_of(books_.ledger()));
  }
  return text_of(question);
}

void Controllers::on_fenced(const Expected<std::string>& answer, Instant now) {
  if (!promotion_) return;
  if (!answer) return on_silence(answer.error(), now);
  const auto role = parse_role(*answer);
  if (!role && role.error().code == Errc::unavailable) return on_silence(role.error(), now);
  if (role && *role == Role::standby) {
    promotion_->fenced = true;
    more_ = true;
    return;
  }
  // Two would write. Slurm's word is heard again when the other one can be a standby, too.
  promotion_.reset();
  record_.promotion_for.clear();
  keep_record();
  say_fault(fmt::format("not promoted: the other controller does not lay down writing: {}",
                        role ? *answer : role.error().what));
}

void Controllers::on_silence(const Error& error, Instant now) {
  reachable_ = false;
  if (std::exchange(silence_, error.what) != error.what) spdlog::warn("controllers: {}: {}", options_.peer, error.what);
  if (promotion_ && now >= promotion_->since + options_.promote_patience) return promote(now);
  if (resuming_ && !promotion_ && now >= started_ + options_.resume_patience) return resume(now);
}

void Controllers::on_answer(const Expected<std::string>& answer, Instant now) {
  if (!answer) return on_silence(answer.error(), now);
  const auto parsed = parse_answer(*answer);
  if (!parsed) {
    if (parsed.error().code != Errc::unavailable) say_fault(parsed.error().what);
    return on_silence(parsed.error(), now);
  }
  silence_.clear();
  if (!std::exchange(reachable_, true)) {
    spdlog::info("controllers: {}: {} on {}, {}", options_.peer, name_of(parsed->controller.role),
                 parsed->controller.host, counted(parsed->part.head.sequence, "event"));
  }
  peer_ = Peer{.heard = now, .controller = parsed->controller, .head = parsed->part.head};
  on_peer(*parsed, now);
}

void Controllers::on_peer(const FollowAnswer& answer, Instant now) {
  const auto identity = books_.ledger().identity();
  if (!identity) return say_fault(identity.error().what);
  if (*identity != answer.controller.identity) return on_other_ledger(answer, now);
  if (role_ == Role::active) {
    if (!is_later(answer.controller.promotion, own_promotion())) return say_fault({});
    spdlog::warn("controllers: superseded: {} was promoted later (epoch {}); this one follows it",
                 answer.controller.host, answer.controller.promotion->epoch);
    if (const auto demoted = demote(now); !demoted) say_fault(demoted.error().what);
    more_ = true;
    return;
  }
  if (bisection_) return on_bisected(answer.part.holds);
  if (answer.part.holds) return on_rows(answer.part, now);
  on_other_chain(answer, now);
}

void Controllers::on_rows(const ledger::ChainPart& part, Instant now) {
  if (!part.rows.empty()) {
    if (const auto followed = books_.follow(part.rows, now); !followed) {
      return say_fault(fmt::format("cannot follow: {}", followed.error().what));
    }
  }
  say_fault({});
  more_ = books_.last_sequence() < part.head.sequence;
  if (!more_) settle(now);
}

void Controllers::on_other_chain(const FollowAnswer& answer, Instant now) {
  const ledger::Position& head = answer.part.head;
  const auto own = ledger::hash_at(books_.ledger(), head.sequence);
  if (!own) return say_fault(own.error().what);
  // The other one has less of the same chain.
  if (*own == head.hash) return settle(now);
  if (is_later(answer.controller.promotion, own_promotion())) {
    bisection_ = Bisection{.in_common = 0, .parted = books_.last_sequence()};
    return go_on_bisecting();
  }
  if (is_later(own_promotion(), answer.controller.promotion) || promotion_) return settle(now);
  say_fault(fmt::format(
      "the ledger on {} parted from this one, and neither was promoted later (was one of them restored from "
      "a backup?): shapleyctl promote on the controller whose ledger is to be continued",
      answer.controller.host));
}

void Controllers::on_bisected(bool holds) {
  const std::int64_t middle = bisection_->middle();
  (holds ? bisection_->in_common : bisection_->parted) = middle;
  go_on_bisecting();
}

void Controllers::go_on_bisecting() {
  more_ = bisection_->parted - bisection_->in_common > 1;
  if (more_) return;
  parting_ = Parting{.common = bisection_->in_common, .own = books_.last_sequence() - bisection_->in_common};
  spdlog::warn(
      "controllers: superseded: {} was promoted (epoch {}) without {} at the end of this ledger, which is set "
      "aside; followed from event {} on",
      peer_->controller.host, peer_->controller.promotion->epoch, counted(parting_->own, "event"), parting_->common);
}

void Controllers::on_other_ledger(const FollowAnswer& answer, Instant now) {
  const Controller& other = answer.controller;
  if (answer.part.head.sequence == 0) return settle(now);  // it has none yet, and will take over this one's
  if (books_.last_sequence() == 0 && role_ == Role::standby) {
    if (const auto adopted = books_.adopt_identity(other.identity); !adopted) return say_fault(adopted.error().what);
    more_ = true;
    return;
  }
  say_fault(fmt::format("{} has another ledger ({}): move the one aside that is not to be continued", other.host,
                        other.identity));
  if (promotion_) promote(now);
}

void Controllers::settle(Instant now) {
  if (promotion_ && promotion_->fenced) return promote(now);
  if (resuming_ && !promotion_) resume(now);
}

void Controllers::want_promotion(std::string asked_by, Instant now) {
  if (role_ == Role::active || promotion_) return;
  spdlog::info("controllers: promotion asked for by {}", asked_by);
  record_.promotion_for = asked_by;
  keep_record();
  promotion_ = Promotion{.asked_by = std::move(asked_by), .since = now, .fenced = false};
}

void Controllers::keep_record() {
  const auto written = write_record(record_file(options_.ledger), record_);
  if (!written) say_fault(written.error().what);
}

void Controllers::promote(Instant now) {
  const Promotion promotion = *std::exchange(promotion_, std::nullopt);
  ControllerPromoted event{.epoch = 1,
                           .at = now,
                           .host = options_.host,
                           .asked_by = promotion.asked_by,
                           .followed_to = books_.last_sequence()};
  for (const auto& before : {own_promotion(), peer_promotion()}) {
    if (!before) continue;
    event.epoch = std::max(event.epoch, before->epoch + 1);
    event.at = std::max(event.at, before->at + Duration{1});
  }
  if (const auto committed = books_.commit(std::vector<accounting::Event>{event}, now); !committed) {
    promotion_ = promotion;
    return say_fault(fmt::format("not promoted yet: {}", committed.error().what));
  }
  record_.held_epoch = event.epoch;
  record_.promotion_for.clear();
  keep_record();
  spdlog::info("controllers: promoted: epoch {}, after event {}{}", event.epoch, event.followed_to,
               reachable_ ? ""
                          : "; the other one does not answer: what it has and this one lacks comes from Slurm's "
                            "records again");
  become_active(now);
}

void Controllers::resume(Instant now) {
  // It may have followed the other one past its own promotion by now.
  const auto last = own_promotion();
  if (!last || last->epoch != record_.held_epoch || is_later(peer_promotion(), last)) {
    spdlog::info("controllers: writes no more: {} was promoted meanwhile", last ? last->host : "the other one");
    resuming_ = false;
    record_.held_epoch = 0;
    return keep_record();
  }
  spdlog::info("controllers: goes on writing: epoch {}{}", record_.held_epoch,
               reachable_ ? "" : "; the other one does not answer");
  become_active(now);
}

void Controllers::become_active(Instant now) {
  resuming_ = false;
  bisection_.reset();
  role_ = Role::active;
  if (const auto done = hooks_.become_active(now); !done) say_fault(done.error().what);
}

Expected<void> Controllers::demote(Instant now) {
  promotion_.reset();
  resuming_ = false;
  if (role_ == Role::standby && record_.held_epoch == 0 && record_.promotion_for.empty()) return {};
  const bool was_active = std::exchange(role_, Role::standby) == Role::active;
  record_.held_epoch = 0;
  record_.promotion_for.clear();
  if (was_active) {
    spdlog::info("controllers: demoted: writes no more after event {}", books_.last_sequence());
    hooks_.become_standby(now);
  }
  return write_record(record_file(options_.ledger), record_);
}

void Controllers::tick(Instant now) {
  if (role_ == Role::standby && !more_ && reachable_) compare_set_aside(now);
}

// Slurm's records tell the new line of what it lacks when its plugin connects, so the figures fall for a while.
void Controllers::compare_set_aside(Instant now) {
  constexpr Duration k_between{60};
  constexpr Duration k_falls_for{24 * 3600};
  if (record_.set_aside.empty()) return;
  SetAside& last = record_.set_aside.back();
  if (comparison_.valid()) {
    if (comparison_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    const auto parted = comparison_.get();
    compared_ = now;
    if (!parted) return say_fault(parted.error().what);
    if (last.parted == *parted) return;
    last.parted = *parted;
    spdlog::warn("controllers: {}: {} of its own; not in the present ledger: {}, there otherwise: {}", last.file,
                 counted(parted->events, "event"), parted->absent, parted->different);
    keep_record();
    return;
  }
  const bool settled = last.parted && (last.parted->absent == 0 || now > last.at + k_falls_for);
  if (settled || (last.parted && now < compared_ + k_between)) return;
  comparison_ = std::async(
      std::launch::async,
      [file = last.file, common = last.common, present = options_.ledger]() -> Expected<ledger::Parted> {
        SHAPLEY_TRY_ASSIGN(const auto aside, ledger::Ledger::open(file, ledger::OpenMode::read_only));
        SHAPLEY_TRY_ASSIGN(const auto now_kept, ledger::Ledger::open(present, ledger::OpenMode::read_beside_writer));
        return ledger::compare_parted(aside, common, now_kept);
      });
}

nlohmann::json Controllers::report(Instant now) const {
  nlohmann::json report{{"host", options_.host},
                        {"role", name_of(role_)},
                        {"state", state()},
                        {"epoch", 0},
                        {"promoted_at", nullptr},
                        {"promoted_host", nullptr},
                        {"peer", options_.peer},
                        {"peer_answers", reachable_},
                        {"peer_host", nullptr},
                        {"peer_role", nullptr},
                        {"heard_s", nullptr},
                        {"behind", nullptr},
                        {"fault", fault_.empty() ? nlohmann::json(nullptr) : nlohmann::json(fault_)},
                        {"set_aside", nlohmann::json::array()}};
  if (const auto promotion = own_promotion()) {
    report["epoch"] = promotion->epoch;
    report["promoted_at"] = promotion->at.value;
    report["promoted_host"] = promotion->host;
  }
  if (peer_) {
    report["peer_host"] = peer_->controller.host;
    report["peer_role"] = name_of(peer_->controller.role);
    report["heard_s"] = std::max<std::int64_t>(0, (now - peer_->heard).value);
    if (role_ == Role::standby) {
      report["behind"] = std::max<std::int64_t>(0, peer_->head.sequence - books_.last_sequence());
    }
  }
  for (const SetAside& entry : record_.set_aside) report["set_aside"].push_back(object_of(entry));
  return report;
}

std::string_view Controllers::state() const {
  if (role_ == Role::active) return "writes";
  if (promotion_) return "is being promoted";
  if (resuming_) return "asks whether it still writes";
  return more_ ? "catches up" : "follows";
}

void Controllers::say_fault(std::string fault) {
  if (fault == fault_) return;
  if (!fault.empty()) spdlog::error("controllers: {}", fault);
  fault_ = std::move(fault);
}

}  // namespace shapley::daemon
