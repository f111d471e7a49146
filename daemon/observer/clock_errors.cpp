#include "daemon/observer/clock_errors.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace shapley::daemon {

using protocol::JobRecord;

namespace {

// Between two scans the clock showed times that no observation claims.
constexpr Duration k_margin{60};

std::array<std::int64_t JobRecord::*, 6> times() {
  return {&JobRecord::submit_time, &JobRecord::eligible_time, &JobRecord::start_time,
          &JobRecord::end_time,    &JobRecord::suspend_time,  &JobRecord::resize_time};
}

bool concerns(const ClockError& error, const JobRecord& record) {
  const auto all = times();
  return std::any_of(all.begin(), all.end(), [&](auto time) { return error.shows(Instant{record.*time}); });
}

// One record under one error.
class Correction {
 public:
  Correction(JobRecord& record, const ClockError& error, Instant at, const FindRun& find_run)
      : record_(record),
        error_(error),
        at_(at),
        find_run_(find_run),
        run_(find_run(JobId{record.job_id}, Instant{record.start_time})) {}

  // Whether the run would be one that the books know.
  [[nodiscard]] bool leads_to_known_run() const { return starts_wrong() && knows_right_run(); }

  void apply() {
    const bool all_wrong = starts_wrong();
    const bool end_wrong = !all_wrong && ends_wrong();
    JobRecord right = record_;
    for (const auto time : times()) {
      const std::int64_t shown = record_.*time;
      const bool is_wrong = all_wrong || is_future(shown) || (end_wrong && time == &JobRecord::end_time);
      if (!shows(shown) || !is_wrong || precedes_start(time)) continue;
      right.*time = made_right(shown);
      // What was seen had happened by then: so it is a true time, or its time has not come.
      if (is_future(right.*time)) return;
    }
    record_ = std::move(right);
  }

 private:
  [[nodiscard]] bool shows(std::int64_t time) const { return time > 0 && error_.shows(Instant{time}); }
  // Whether a time that can only follow the start was shown before it: then another clock than the start's wrote it.
  [[nodiscard]] bool precedes_start(std::int64_t JobRecord::*time) const {
    const bool follows =
        time == &JobRecord::end_time || time == &JobRecord::suspend_time || time == &JobRecord::resize_time;
    return follows && shows(record_.start_time) && record_.*time < record_.start_time;
  }
  // Of a clock that was behind no time is.
  [[nodiscard]] bool is_future(std::int64_t time) const { return Instant{time} > at_; }
  [[nodiscard]] std::int64_t made_right(std::int64_t time) const { return time - error_.ahead.value; }
  [[nodiscard]] bool knows_right_run() const {
    return find_run_(JobId{record_.job_id}, Instant{made_right(record_.start_time)}).has_value();
  }

  [[nodiscard]] bool starts_wrong() const {
    if (!shows(record_.start_time) || run_) return false;
    if (error_.ahead < Duration{0} || is_future(record_.start_time)) return true;
    return knows_right_run();  // that time has come meanwhile
  }
  // A true start, but a wrong end.
  [[nodiscard]] bool ends_wrong() const {
    if (!shows(record_.end_time) || !run_) return false;
    if (run_->end) return run_->end->value == made_right(record_.end_time);
    return error_.ahead < Duration{0};
  }

  JobRecord& record_;
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

std::optional<JobRecord> ClockErrors::corrected(const JobRecord& as_sent, Instant at, const FindRun& find_run) const {
  if (errors_.empty() && Instant{as_sent.submit_time} <= at) return std::nullopt;
  JobRecord record = as_sent;
  // Where several clocks showed the same time, the one that leads to a run of the books; else the last one.
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
