#include "daemon/books/quarantine.hpp"

#include <algorithm>
#include <array>
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
    // Times of a clock that was set back are compared with all observations that were read, from any sender.
    if (newest_of_all_ && *newest_of_all_ <= now + TrustedClock::k_tolerance) floor_ = newest_of_all_;
    newest_ = std::max(newest_, floor_);
    doubt_ = doubt;
    // No observation since then was read, so the time at which the clock went wrong is unknown.
    stretch_since_ = std::min(doubt->since, newest_of_all_.value_or(doubt->since));
    return;
  }
  if (!doubt) {
    end_stretch(now);
    if (grounds == Grounds::agreement) {
      for (const ClockError& error : stretches_) errors_.add(error);
    } else {
      // The clock was right all the time.
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
  // After a doubt, a time that goes back was written under the wrong clock. If the clock was observed to go wrong, all
  // earlier messages had been read.
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

using protocol::JobUpdate;

namespace {

// Between two scans the clock showed times that no observation claims.
constexpr Duration k_margin{60};

std::array<std::int64_t JobUpdate::*, 6> times() {
  return {&JobUpdate::submit_time, &JobUpdate::eligible_time, &JobUpdate::start_time,
          &JobUpdate::end_time,    &JobUpdate::suspend_time,  &JobUpdate::resize_time};
}

bool concerns(const ClockError& error, const JobUpdate& record) {
  const auto all = times();
  return std::any_of(all.begin(), all.end(), [&](auto time) { return error.shows(Instant{record.*time}); });
}

// One record under one error.
class Correction {
 public:
  Correction(JobUpdate& record, const ClockError& error, Instant at, const FindRun& find_run)
      : record_(record),
        error_(error),
        at_(at),
        find_run_(find_run),
        run_(find_run(JobId{record.job_id}, Instant{record.start_time})) {}

  // Whether the run would be one of the books.
  [[nodiscard]] bool leads_to_known_run() const { return starts_wrong() && knows_right_run(); }

  void apply() {
    const bool all_wrong = starts_wrong();
    const bool end_wrong = !all_wrong && ends_wrong();
    JobUpdate right = record_;
    for (const auto time : times()) {
      const std::int64_t shown = record_.*time;
      const bool is_wrong = all_wrong || is_future(shown) || (end_wrong && time == &JobUpdate::end_time);
      if (!shows(shown) || !is_wrong || precedes_start(time)) continue;
      right.*time = made_right(shown);
      // An observed change had happened by then, so the time is true, or it is in the future.
      if (is_future(right.*time)) return;
    }
    record_ = std::move(right);
  }

 private:
  [[nodiscard]] bool shows(std::int64_t time) const { return time > 0 && error_.shows(Instant{time}); }
  // Whether a time that must follow the start is before it: then it was written under another clock than the start.
  [[nodiscard]] bool precedes_start(std::int64_t JobUpdate::*time) const {
    const bool follows =
        time == &JobUpdate::end_time || time == &JobUpdate::suspend_time || time == &JobUpdate::resize_time;
    return follows && shows(record_.start_time) && record_.*time < record_.start_time;
  }
  // Under a clock that was behind, no time is.
  [[nodiscard]] bool is_future(std::int64_t time) const { return Instant{time} > at_; }
  [[nodiscard]] std::int64_t made_right(std::int64_t time) const { return time - error_.ahead.value; }
  [[nodiscard]] bool knows_right_run() const {
    return find_run_(JobId{record_.job_id}, Instant{made_right(record_.start_time)}).has_value();
  }

  [[nodiscard]] bool starts_wrong() const {
    if (!shows(record_.start_time) || run_) return false;
    if (error_.ahead < Duration{0} || is_future(record_.start_time)) return true;
    return knows_right_run();  // this time has passed meanwhile
  }
  // A true start, but a wrong end.
  [[nodiscard]] bool ends_wrong() const {
    if (!shows(record_.end_time) || !run_) return false;
    if (run_->end) return run_->end->value == made_right(record_.end_time);
    return error_.ahead < Duration{0};
  }

  JobUpdate& record_;
  const ClockError& error_;
  const Instant at_;
  const FindRun& find_run_;
  const std::optional<KnownRun> run_;
};

}  // namespace

ClockError error_of(const accounting::ObservationsMistimed& event) {
  const bool is_guess = event.ahead == Duration{0};
  return {.from = event.observed_from - k_margin,
          .to = event.observed_to + k_margin,
          .ahead = is_guess ? event.observed_from - event.since : event.ahead,
          .is_guess = is_guess};
}

void ClockErrors::add(const ClockError& error) {
  if (error.ahead != Duration{0}) errors_.push_back(error);
}

const ClockError* ClockErrors::find(Instant observed_at, Wrong wrong) const {
  const auto last = std::find_if(errors_.rbegin(), errors_.rend(), [&](const ClockError& error) {
    return error.shows(observed_at) && !error.is_guess && (error.ahead > Duration{0}) == (wrong == Wrong::ahead);
  });
  return last == errors_.rend() ? nullptr : &*last;
}

std::optional<JobUpdate> ClockErrors::corrected(const JobUpdate& as_sent, Instant at, const FindRun& find_run) const {
  if (errors_.empty() && Instant{as_sent.submit_time} <= at) return std::nullopt;
  JobUpdate record = as_sent;
  // If several clocks showed the same time, the one that leads to a run of the books; else the last one.
  std::vector<const ClockError*> order;
  for (const ClockError& error : errors_) {
    if (!concerns(error, record)) continue;
    const bool first = order.empty() || !Correction(record, *order.front(), at, find_run).leads_to_known_run() ||
                       Correction(record, error, at, find_run).leads_to_known_run();
    order.insert(order.begin() + (first ? 0 : 1), &error);
  }
  for (const ClockError* error : order) Correction(record, *error, at, find_run).apply();
  record.submit_time = std::min(record.submit_time, at.value);
  return record;
}

}  // namespace shapley::daemon
