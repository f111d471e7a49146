#include "daemon/books/observation_watch.hpp"

#include <algorithm>

namespace shapley::daemon {

using accounting::GapCause;
using accounting::ObservationGap;

namespace {

// Times are whole seconds and a connection is looked at once a second: less is no gap.
constexpr Duration k_shortest_gap{2};

// slurmctld saves its state some seconds after the change, and at its end after the plugin was told to stop.
constexpr Duration k_saves_late{15};

Instant later(const std::optional<Instant>& known, Instant at) {
  return std::max(known.value_or(at), at);
}

}  // namespace

ObservationWatch::ObservationWatch(std::optional<Instant> last_observed, const std::vector<ObservationGap>& known)
    : observed_until_(last_observed) {
  for (const ObservationGap& gap : known) observed_until_ = later(observed_until_, gap.end);
}

void ObservationWatch::begin_session(const Observing& observing) {
  observing_ = observing;
  told_ = observing.since == k_beginning_of_time;
  gap_.reset();
}

void ObservationWatch::note_connected(Instant now) {
  observed_until_ = later(observed_until_, now);
}

std::optional<ObservationGap> ObservationWatch::note_read(Instant at) {
  std::optional<ObservationGap> ended;
  // What an earlier instance of the plugin had not delivered comes first.
  if (!told_ && at >= observing_.since) {
    told_ = true;
    gap_ = ended = find_gap();
  }
  observed_until_ = later(observed_until_, at);
  return ended;
}

std::optional<ObservationGap> ObservationWatch::find_gap() const {
  // Before the first observation ever there are no books that could lack something.
  if (!observed_until_) return std::nullopt;
  const Instant begin = std::max(*observed_until_, observing_.before);
  if (observing_.since - begin < k_shortest_gap) return std::nullopt;
  GapCause cause = GapCause::slurmctld_down;
  if (observing_.controller_ran > begin + k_saves_late) cause = GapCause::unobserved;
  if (observing_.dropped) cause = GapCause::dropped;
  return ObservationGap{.begin = begin, .end = observing_.since, .cause = cause};
}

}  // namespace shapley::daemon
