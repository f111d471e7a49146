#include "daemon/books/admission.hpp"

#include <algorithm>

namespace shapley::daemon {

Admission::Admission(std::optional<Instant> last_observed, const std::optional<TrustedClock::Doubt>& resumed)
    : newest_(last_observed) {
  if (!resumed) return;
  note_clock(resumed, Grounds::agreement);
  has_held_ = true;
}

void Admission::note_clock(const std::optional<TrustedClock::Doubt>& doubt, Grounds grounds) {
  if (doubt && !doubt_) {
    has_held_ = false;
    // A wrong clock that was believed has left times of the future.
    if (newest_ && *newest_ > doubt->since + TrustedClock::k_tolerance) newest_.reset();
  } else if (doubt_ && !doubt) {
    holds_since_.reset();
    if (grounds != Grounds::agreement) {
      // The clock was right all the time, and the trusted time was not.
      newest_.reset();
    } else if (has_held_ || doubt_->ahead < Duration{0}) {
      // Of a clock that was ahead, a message that is still under way is of the future.
      stage_ = Stage::awaiting_session;
    }
  }
  const bool goes_on = doubt && doubt_;
  const Duration least_ahead = goes_on ? std::min(doubt->ahead, doubt_->ahead) : Duration{};
  doubt_ = doubt;
  if (goes_on) doubt_->ahead = least_ahead;
}

void Admission::begin_session(std::uint64_t backlog) {
  holds_since_.reset();
  backlog_ = backlog;
  last_kept_.reset();
  in_snapshot_ = false;
  if (stage_ == Stage::trusting) return;
  if (doubt_) {
    stage_ = Stage::awaiting_session;
  } else {
    // Without a backlog there was nothing to observe under the wrong clock.
    stage_ = backlog == 0 ? Stage::trusting : Stage::awaiting_snapshot;
  }
}

bool Admission::is_of_doubt(Instant observed_at, Instant now) const {
  if (observed_at > now + TrustedClock::k_tolerance) return true;
  // Its time may have come meanwhile.
  if (doubt_->ahead >= Duration{0}) return observed_at >= doubt_->since + doubt_->ahead - TrustedClock::k_tolerance;
  // If the clock was observed to go back, all earlier messages had been read. Otherwise its times show it.
  return doubt_->is_witnessed || !newest_ || observed_at < *newest_ - TrustedClock::k_tolerance;
}

Admission::Fate Admission::judge(const Message& message, Instant now) {
  if (doubt_) {
    // Those behind a message of the wrong clock were made later, so they wait, too, whatever times they claim.
    if (!holds_since_ && stage_ == Stage::trusting && !is_of_doubt(message.observed_at, now)) return Fate::read;
    if (!holds_since_) holds_since_ = now;
    has_held_ = true;
    return Fate::hold;
  }
  if (stage_ == Stage::awaiting_snapshot) {
    if (!last_kept_) last_kept_ = message.sequence - 1 + backlog_;
    in_snapshot_ = in_snapshot_ || (message.begins_snapshot && message.sequence > *last_kept_);
    if (!in_snapshot_) return Fate::drop;
  }
  if (message.observed_at > now + TrustedClock::k_tolerance) stage_ = Stage::awaiting_session;
  return stage_ == Stage::awaiting_session ? Fate::hold : Fate::read;
}

void Admission::note_read(Instant observed_at) {
  newest_ = std::max(newest_.value_or(observed_at), observed_at);
}

}  // namespace shapley::daemon
