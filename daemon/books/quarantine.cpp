#include "daemon/books/quarantine.hpp"

#include <algorithm>
#include <utility>

namespace shapley::daemon {

using accounting::ObservationsMistimed;

Quarantine::Quarantine(const std::vector<ObservationsMistimed>& known, std::optional<Instant> last_observed)
    : newest_of_all_(last_observed) {
  for (const ObservationsMistimed& event : known) errors_.add(error_of(event));
}

void Quarantine::end_stretch(Instant now) {
  if (!doubt_->is_exact) return;
  const Duration ahead = doubt_->ahead;
  stretches_.push_back({.from = stretch_since_ + ahead - TrustedClock::k_tolerance,
                        .to = now + ahead + TrustedClock::k_tolerance,
                        .ahead = ahead,
                        .is_witnessed = doubt_->is_witnessed});
}

void Quarantine::note_clock(const std::optional<TrustedClock::Doubt>& doubt, Grounds grounds, Instant now) {
  if (!doubt_ && !doubt) return;
  if (!doubt_) {
    // What a clock that was set back will claim is compared with what is known already, whoever sends it.
    if (newest_of_all_ && *newest_of_all_ <= now + TrustedClock::k_tolerance) floor_ = newest_of_all_;
    newest_ = std::max(newest_, floor_);
    doubt_ = doubt;
    // Nothing since then was read, so nobody knows when the clock went wrong.
    stretch_since_ = std::min(doubt->since, newest_of_all_.value_or(doubt->since));
    return;
  }
  if (!doubt) {
    end_stretch(now);
    if (grounds == Grounds::agreement) {
      for (const ClockError& error : stretches_) errors_.add(error);
    } else {
      // It was right all the time.
      newest_.reset();
      floor_.reset();
      newest_of_all_.reset();
    }
    stretches_.clear();
    doubt_.reset();
    return;
  }
  if (are_near(doubt_->ahead, doubt->ahead)) return;
  end_stretch(now);
  doubt_ = doubt;
  stretch_since_ = now;
}

Quarantine::Verdict Quarantine::judge(Instant observed_at, Instant now) {
  const ClockError* behind = errors_.find(observed_at, Wrong::behind);
  const bool is_future = observed_at > now + TrustedClock::k_tolerance;
  // Where a doubt was, time that goes back is the wrong clock's. When the clock was seen to go wrong, everything from
  // before had been read.
  const bool goes_back = floor_ && newest_ && observed_at < *newest_ - TrustedClock::k_tolerance;
  const bool is_past = goes_back || (behind != nullptr && behind->is_witnessed);
  const bool is_behind = doubt_ && doubt_->ahead < Duration{0};
  const bool is_mistimed = is_future || is_past;
  if (doubt_ && (is_mistimed || is_behind)) {
    if (!holds_since_) holds_since_ = now;
    held_since_ = holds_since_;
    return {.fate = Fate::hold};
  }
  holds_since_.reset();
  if (!is_mistimed) return {};
  const ClockError* error = is_future ? errors_.find(observed_at, Wrong::ahead) : behind;
  if (error == nullptr) return {.fate = Fate::drop};
  return {.fate = Fate::read, .ahead = error->ahead};
}

void Quarantine::note_read(Instant observed_at) {
  newest_ = std::max(newest_.value_or(observed_at), observed_at);
  newest_of_all_ = std::max(newest_of_all_.value_or(observed_at), observed_at);
}

void Quarantine::note_mistimed(std::uint64_t sequence, Instant claimed, Duration ahead, Instant now) {
  if (untold_.empty() || untold_.back().ahead != ahead) {
    untold_.push_back({.at = now,
                       .since = std::exchange(held_since_, std::nullopt).value_or(now),
                       .observed_from = claimed,
                       .observed_to = claimed,
                       .ahead = ahead});
  }
  ObservationsMistimed& event = untold_.back();
  event.message = static_cast<std::int64_t>(sequence);
  ++event.messages;
  event.observed_from = std::min(event.observed_from, claimed);
  event.observed_to = std::max(event.observed_to, claimed);
}

std::vector<ObservationsMistimed> Quarantine::take_events(Instant now) {
  for (ObservationsMistimed& event : untold_) {
    event.at = now;
    if (event.ahead == Duration{0}) errors_.add(error_of(event));
  }
  return std::exchange(untold_, {});
}

void Quarantine::begin_session() {
  newest_ = floor_;
  holds_since_.reset();
  untold_.clear();
}

}  // namespace shapley::daemon
