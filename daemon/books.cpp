#include "daemon/books.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/calendar.hpp"

namespace shapley::daemon {

namespace {

bool is_observed(const accounting::Event& event) {
  return std::holds_alternative<accounting::SegmentOpened>(event) ||
         std::holds_alternative<accounting::SegmentClosed>(event) ||
         std::holds_alternative<accounting::SegmentRetracted>(event) ||
         std::holds_alternative<accounting::CapacityChanged>(event);
}

void log_conflict(const std::string& key) {
  // A job may be renamed or moved while it waits: its first description stays, which is no cause for concern.
  const auto level = key.starts_with("job_described/") ? spdlog::level::debug : spdlog::level::warn;
  spdlog::log(level, "ledger: append: {}: recorded before with another content; the first record stays", key);
}

}  // namespace

Books::Books(ledger::Ledger ledger, ledger::Recovered recovered)
    : ledger_(std::move(ledger)),
      state_(std::move(recovered.state)),
      last_sequence_(recovered.last_sequence),
      replayed_(recovered.replayed),
      checkpoint_sequence_(recovered.last_sequence - recovered.replayed) {}

Expected<Books> Books::open(const std::filesystem::path& file) {
  SHAPLEY_TRY_ASSIGN(auto ledger, ledger::Ledger::open(file, ledger::OpenMode::create_or_write));
  SHAPLEY_TRY_ASSIGN(auto recovered, ledger.recover());
  return Books(std::move(ledger), std::move(recovered));
}

void Books::apply(const accounting::Event& event) {
  const auto applied = state_.apply(event);
  if (!applied) {
    spdlog::error("books: apply: {}: {}", accounting::event_key(event), applied.error().what);
  } else if (*applied == accounting::Applied::needs_replay) {
    rebuild_due_ = true;
  }
}

Expected<void> Books::commit(std::span<const accounting::Event> events, Instant now) {
  if (!events.empty()) {
    auto appended = ledger_.append(events, now);
    if (!appended) return with_context("ledger: append", std::move(appended).error());
    last_sequence_ = ledger_.last_sequence();
    for (const std::string& key : appended->conflicts) log_conflict(key);
    for (const accounting::Event& event : appended->accepted) apply(event);
  }
  return rebuild_due_ ? rebuild() : Expected<void>{};
}

Expected<void> Books::rebuild() {
  // An event from before the horizon: the history of demand has to be gone through again from its begin.
  spdlog::info("books: an event is older than the horizon; rebuilding from {} events", last_sequence_);
  auto recovered = ledger_.recover_from_scratch();
  if (!recovered) return with_context("ledger: rebuild", std::move(recovered).error());
  state_ = std::move(recovered->state);
  rebuild_due_ = false;
  return {};
}

namespace {

// Reads the one event with this sequence number.
Expected<accounting::Event> read_event(const ledger::Ledger& ledger, std::int64_t sequence) {
  std::optional<accounting::Event> found;
  const auto read = ledger.for_each_event(sequence - 1, [&](const ledger::StoredEvent& stored) -> Expected<void> {
    if (found) return fail(Errc::limit, "one event was asked for");
    found = stored.event;
    return {};
  });
  if (found) return *std::move(found);
  if (!read) return tl::unexpected<Error>(read.error());
  return fail(Errc::corrupt, fmt::format("event {} is missing", sequence));
}

void note(Declared& declared, const accounting::Event& event) {
  if (const auto* o = std::get_if<accounting::OrganizationsDeclared>(&event)) declared.organizations = *o;
  if (const auto* p = std::get_if<accounting::PeriodDeclared>(&event)) declared.period = *p;
  if (const auto* c = std::get_if<accounting::ConfigurationLoaded>(&event)) declared.configuration = *c;
  if (const auto* s = std::get_if<accounting::OwnershipStated>(&event)) declared.ownership[s->node].push_back(*s);
}

}  // namespace

Expected<Declared> Books::declared() const {
  // By ranges of the key, whose index makes this quick in a ledger of millions of events ('0' follows '/').
  auto rows = ledger_.query(
      "SELECT seq FROM events WHERE key >= 'organizations_declared/' AND key < 'organizations_declared0' "
      "UNION SELECT seq FROM events WHERE key >= 'ownership_stated/' AND key < 'ownership_stated0' "
      "UNION SELECT seq FROM events WHERE key >= 'period_declared/' AND key < 'period_declared0' "
      "UNION SELECT seq FROM events WHERE key >= 'configuration_loaded/' AND key < 'configuration_loaded0' ORDER BY 1");
  if (!rows) return with_context("ledger: read declarations", std::move(rows).error());
  Declared declared;
  for (const std::vector<std::string>& row : *rows) {
    auto event = read_event(ledger_, std::stoll(row.at(0)));
    if (!event) return with_context("ledger: read declarations", std::move(event).error());
    note(declared, *event);
  }
  for (auto& [node, statements] : declared.ownership) {
    std::sort(statements.begin(), statements.end(),
              [](const auto& a, const auto& b) { return a.effective < b.effective; });
  }
  return declared;
}

Expected<std::optional<Instant>> Books::last_observed() const {
  // Declarations are few: among the last thousand events there is an observed one, or the books are as good as empty.
  constexpr std::int64_t k_look_back = 1000;
  std::optional<Instant> latest;
  auto read = ledger_.for_each_event(std::max<std::int64_t>(0, last_sequence_ - k_look_back),
                                     [&](const ledger::StoredEvent& stored) -> Expected<void> {
                                       if (!is_observed(stored.event)) return {};
                                       const Instant at = accounting::time_of(stored.event);
                                       latest = std::max(latest.value_or(at), at);
                                       return {};
                                     });
  if (!read) return with_context("ledger: read the last events", std::move(read).error());
  return latest;
}

Expected<std::vector<PastSegment>> Books::past_segments(JobId job, Instant start) const {
  std::vector<PastSegment> past;
  if (start >= state_.horizon()) return past;
  auto rows = ledger_.query(fmt::format(
      "SELECT ordinal, begin, end, organization, retracted FROM segments WHERE kind = 'run' AND job = {} AND "
      "anchor = {} AND begin IS NOT NULL",
      job.value, start.value));
  if (!rows) return with_context("ledger: read a run's segments", std::move(rows).error());
  for (const std::vector<std::string>& row : *rows) {
    PastSegment segment;
    segment.ordinal = static_cast<std::uint32_t>(std::stoul(row.at(0)));
    segment.begin = Instant{std::stoll(row.at(1))};
    if (!row.at(2).empty()) segment.end = Instant{std::stoll(row.at(2))};
    segment.organization = row.at(3);
    segment.retracted = !row.at(4).empty();
    past.push_back(std::move(segment));
  }
  return past;
}

Expected<void> Books::close_days(Instant now) {
  // A daemon that was away for long writes the last days only; standings of any earlier instant can be had by replay.
  constexpr std::int64_t k_most_days = 400;
  const Instant today = day_begin(now);
  if (!day_) {
    SHAPLEY_TRY_ASSIGN(const Instant first, first_unwritten_day(today));
    day_ = first;
  }
  day_ = std::max(*day_, today - Duration{k_most_days * k_day_s});
  while (*day_ < today) {
    const Instant day_end = *day_ + Duration{k_day_s};
    state_.advance(day_end);
    auto recorded = ledger_.record_standings(*day_, state_, state_.standings(day_end));
    if (!recorded) return with_context("ledger: record the day's standings", std::move(recorded).error());
    day_ = day_end;
  }
  return {};
}

Expected<Instant> Books::first_unwritten_day(Instant today) const {
  auto rows = ledger_.query("SELECT MAX(day) FROM standings_by_day");
  if (!rows) return with_context("ledger: read the days", std::move(rows).error());
  if (!rows->empty() && !rows->front().at(0).empty()) {
    return Instant{std::stoll(rows->front().at(0))} + Duration{k_day_s};
  }
  SHAPLEY_TRY_ASSIGN(const std::optional<Instant> observed, last_observed());
  return day_begin(observed.value_or(today));
}

Expected<void> Books::checkpoint(Instant now) {
  state_.compact();
  auto saved = ledger_.save_checkpoint(state_, last_sequence_, now);
  if (!saved) return with_context("ledger: save checkpoint", std::move(saved).error());
  checkpoint_sequence_ = last_sequence_;
  return {};
}

}  // namespace shapley::daemon
