#include "daemon/books/last_look.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/bounded_text.hpp"
#include "daemon/small_file.hpp"

namespace shapley::daemon {

void LastLook::begin_session(const Observing& observing) {
  since_.reset();
  if (observing.since == k_beginning_of_time) return;
  since_ = observing.since;
  if (observing.before != k_beginning_of_time) note_scanned(std::min(observing.before, observing.since));
}

void LastLook::note_scanned(Instant until) {
  scanned_until_ = std::max(scanned_until_.value_or(until), until);
}

void LastLook::note_read(Instant at, const std::optional<Instant>& known_until) {
  if (!since_ || at < *since_) return;
  const Instant since = *std::exchange(since_, std::nullopt);
  // Otherwise it is the feeder that was there before.
  const bool went_away = known_until && *known_until < since;
  // Of one that went away twice, it is the first time that what is missing was seen.
  if (!went_away || before_life_) return;
  before_life_ = refined(*known_until, since);
  life_began_ = since;
}

Instant LastLook::refined(Instant known, Instant at) const {
  return scanned_until_ && *scanned_until_ < at ? std::max(known, *scanned_until_) : known;
}

std::filesystem::path look_file_of(const std::filesystem::path& ledger) {
  return ledger.string() + ".look";
}

std::optional<Instant> read_look_file(const std::filesystem::path& file) {
  std::istringstream in(read_text_file(file, k_max_notes).value_or(std::string()));
  Instant until;
  return in >> until.value ? std::optional(until) : std::nullopt;
}

Expected<void> write_look_file(const std::filesystem::path& file, Instant scanned_until) {
  return replace_file(file, fmt::format("{}\n", scanned_until.value));
}

}  // namespace shapley::daemon
