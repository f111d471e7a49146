#include "daemon/books/books.hpp"

#include <utility>

#include <spdlog/spdlog.h>

#include "base/calendar.hpp"
#include "base/files.hpp"
#include "base/slurm_text.hpp"
#include "base/text.hpp"
#include "config/checks.hpp"
#include "daemon/books/held_figures.hpp"
#include "ledger/readers/declarations.hpp"
#include "ledger/readers/runs.hpp"
#include "ledger/recovery/standings.hpp"

namespace shapley::daemon {

namespace {

bool is_observed(const accounting::Event& event) {
  return std::holds_alternative<accounting::SegmentOpened>(event) ||
         std::holds_alternative<accounting::SegmentClosed>(event) ||
         std::holds_alternative<accounting::SegmentRetracted>(event) ||
         std::holds_alternative<accounting::CapacityChanged>(event) ||
         std::holds_alternative<accounting::PlacementResolved>(event);
}

void log_conflict(const std::string& key) {
  spdlog::warn("ledger: append: {}: recorded before with another content; the first record stays", key);
}

// If a held job was dropped from the books' memory while it waited, and was renamed or moved meanwhile, its new
// description differs from the one in the ledger: that is a change.
std::vector<accounting::Event> as_changes(std::span<const accounting::Event> events,
                                          std::vector<std::string>& conflicts, Instant now) {
  std::vector<accounting::Event> changes;
  for (const accounting::Event& event : events) {
    const auto* described = std::get_if<accounting::JobDescribed>(&event);
    if (described == nullptr || std::erase(conflicts, accounting::event_key(event)) == 0) continue;
    changes.emplace_back(accounting::change_to(*described, now));
  }
  return changes;
}

void log_archived(const std::string& key, const std::optional<Instant>& before) {
  spdlog::warn(
      "ledger: append: {}: not booked: it changes books that are archived; they can be corrected back to {} only", key,
      format_instant(before.value_or(k_beginning_of_time)));
}

// The figures at max(now, state.now()) by the estimators that have caught up (State::catch_up).
HeldFigures hold_figures(accounting::State& state, Instant now, const accounting::EstimatorSet& able,
                         const ledger::StartableTasks& tasks) {
  HeldFigures held{.at = now, .status = {}, .no_start = ledger::no_start_report(state)};
  for (const accounting::EstimatorId estimator : accounting::estimator_ids())
    held.status.push_back(ledger::status_report(state, now, estimator, able, tasks));
  return held;
}

}  // namespace

Books::Books(std::filesystem::path file, ledger::Ledger ledger, ledger::Recovered recovered, const Options& options)
    : file_(std::move(file)),
      options_(options.state),
      effort_(options.effort),
      ledger_(std::move(ledger)),
      state_(std::move(recovered.state)),
      last_sequence_(recovered.last_sequence),
      replayed_(recovered.replayed),
      checkpoint_sequence_(recovered.last_sequence - recovered.replayed),
      compacted_at_{.sequence = checkpoint_sequence_, .time = state_.now()} {}

Expected<Books> Books::open(const std::filesystem::path& file, const Options& options, ledger::ReplayWatch* watch) {
  SHAPLEY_TRY_ASSIGN(auto ledger, ledger::Ledger::open(file, ledger::OpenMode::create_or_write, options.on_migration));
  SHAPLEY_TRY_ASSIGN(auto recovered, ledger.recover(options.state, watch));
  Books books(file, std::move(ledger), std::move(recovered), options);
  if (books.replayed_ > options.most_replayed) books.save_now(watch == nullptr ? nullptr : &watch->stop);
  SHAPLEY_TRY_ASSIGN(books.last_observed_, books.read_last_observed());
  SHAPLEY_TRY(books.find_loss());
  return books;
}

Expected<void> Books::find_loss() {
  const auto last = ledger::read_acknowledged(file_);
  if (!last) return {};
  SHAPLEY_TRY_ASSIGN(const std::string identity, ledger_.identity());
  if (last->ledger != identity) {
    spdlog::warn(
        "ledger: {}: it is another ledger than the one that was here, of which event {} was acknowledged; to go on "
        "with that one, stop shapleyd and put its file or a backup back (shapleyctl restore)",
        file_.string(), last->sequence);
    return {};
  }
  SHAPLEY_TRY_ASSIGN(const bool whole, ledger::holds(ledger_, *last));
  if (whole) return {};
  lost_ = last;
  spdlog::error(
      "ledger: {}: {}; the time from its last observation until slurmctld's records are read is recorded as a gap, "
      "which shapleyctl import --into fills from Slurm's accounting",
      file_.string(), ledger::loss_in_words(*last, last_sequence_));
  return {};
}

void Books::note_acknowledged(std::span<const accounting::Event> events) {
  if (lost_) {
    const bool is_recorded = std::ranges::any_of(events, [](const accounting::Event& event) {
      const auto* gap = std::get_if<accounting::ObservationGap>(&event);
      return gap != nullptr && gap->cause == accounting::GapCause::events_lost;
    });
    // What a standby copies may be what it had lost.
    if (!is_recorded && !ledger::holds(ledger_, *lost_).value_or(false)) return;
    lost_.reset();
  }
  is_acknowledged_synced_ = false;
  const auto last = ledger::last_of(ledger_);
  acknowledged_written_ =
      last ? ledger::write_acknowledged(file_, *last) : Expected<void>(tl::unexpected<Error>(last.error()));
}

Expected<void> Books::keep_acknowledged() {
  if (is_acknowledged_synced_) return {};
  if (!acknowledged_written_) note_acknowledged({});
  SHAPLEY_TRY(acknowledged_written_);
  SHAPLEY_TRY(shapley::sync_file(ledger::acknowledged_file(file_)));
  is_acknowledged_synced_ = true;
  return {};
}

void Books::hold(const accounting::Event& late, Instant now) {
  spdlog::info("books: {}: older than they remember; ranks hold until they are rebuilt", accounting::event_key(late));
  hold(now);
}

void Books::hold(Instant now) {
  held_ = std::make_shared<const HeldFigures>(
      hold_figures(state_, now, able(now), startable_tasks_ ? startable_tasks_() : ledger::StartableTasks{}));
  // Meanwhile, records are compared with all events of the ledger, late ones included.
  state_.keep_memory_only(last_observed_.value_or(state_.memory_horizon()));
}

void Books::keep(const accounting::EstimatorSet& kept, Instant now) {
  const accounting::EstimatorSet before = options_.left_out.others();
  options_.left_out = kept.others();
  bool has_new_ones = false;
  for (const accounting::EstimatorId estimator : accounting::estimator_ids()) {
    if (!kept.contains(estimator)) state_.leave_out(estimator);
    has_new_ones = has_new_ones || (kept.contains(estimator) && !before.contains(estimator));
  }
  if (kept == before) return;
  // A thread that still runs works with the earlier settings.
  rebuild_.reset();
  checkpoint_.reset();
  if (!has_new_ones || held_ || last_sequence_ == 0) return;
  spdlog::info("books: another estimator is to be kept; ranks hold until they are rebuilt with it");
  hold(now);
}

bool Books::become_incomplete_by(std::span<const accounting::Event> events, Instant now) {
  if (held_) return false;
  // Events that the ledger will refuse do not require a rebuild.
  const auto late = std::ranges::find_if(events, [this](const auto& event) {
    return state_.is_too_old(event) && !ledger_.is_archived(event).value_or(false);
  });
  if (late == events.end()) return false;
  hold(*late, now);
  return true;
}

void Books::apply(const accounting::Event& event, Instant now) {
  auto applied = state_.apply(event);
  if (applied && *applied == accounting::Applied::needs_replay) {
    hold(event, now);
    applied = state_.apply(event);
  }
  if (!applied) spdlog::error("books: apply: {}: {}", accounting::event_key(event), applied.error().what);
}

Expected<void> Books::commit(std::span<const accounting::Event> events, Instant now) {
  SHAPLEY_TRY(ledger_.check_names());
  if (events.empty()) return {};
  const auto began = std::chrono::steady_clock::now();
  auto appended = ledger_.append(events, now);
  commit_times_.note(std::chrono::steady_clock::now() - began);
  if (!appended) return with_context("ledger: append", std::move(appended).error());
  const std::vector<accounting::Event> changes = as_changes(events, appended->conflicts, now);
  for (const std::string& key : appended->conflicts) log_conflict(key);
  for (const std::string& key : appended->archived) log_archived(key, ledger_.archived_before().value_or(std::nullopt));
  take(appended->accepted, now);
  return commit(changes, now);
}

Expected<void> Books::follow(std::span<const ledger::ChainRow> rows, Instant now) {
  SHAPLEY_TRY(ledger_.check_names());
  SHAPLEY_TRY_ASSIGN(const auto events, ledger::append_copied(ledger_, rows));
  take(events, now);
  return {};
}

Expected<void> Books::adopt_identity(const std::string& identity) {
  return ledger::adopt_identity(ledger_, identity);
}

void Books::take(std::span<const accounting::Event> events, Instant now) {
  last_sequence_ = ledger_.last_sequence();
  for (const accounting::Event& event : events) apply(event, now);
  for (const accounting::Event& event : events) {
    if (!is_observed(event)) continue;
    const Instant at = accounting::time_of(event);
    last_observed_ = std::max(last_observed_.value_or(at), at);
  }
  if (!events.empty()) note_acknowledged(events);
}

Expected<void> Books::bound_hindsight(const config::Configuration& configuration, bool writes, Instant now) {
  SHAPLEY_REQUIRE(!incomplete());
  constexpr Duration k_between{10};
  if (now < weighed_at_ + k_between && now >= weighed_at_) return {};
  weighed_at_ = now;
  hindsight_memory_ = {.bytes = static_cast<std::int64_t>(state_.bytes_of_coalitions()),
                       .bound = hindsight_bound(configuration, cgroup_memory())};
  const auto step = writes ? hindsight_step(state_, hindsight_memory_, now) : std::nullopt;
  if (!step) return {};
  SHAPLEY_TRY(commit(std::vector<accounting::Event>{*step}, now));
  spdlog::warn(
      "hindsight: takes {} MiB of memory and may have {}: from now on it keeps {}; hindsight_memory in the "
      "configuration",
      step->needed >> 20U, step->bound >> 20U,
      step->coalitions == accounting::Coalitions::pairs ? "pairs of organizations instead of all coalitions"
                                                        : "nothing, and its stand-in ranks");
  return {};
}

std::optional<Incomplete> Books::incomplete() const {
  if (!held_) return std::nullopt;
  return Incomplete{.since = held_->at, .percent = rebuild_ ? std::optional(rebuild_->percent()) : std::nullopt};
}

Expected<void> Books::begin_rebuild() {
  // One thread at a time writes checkpoints.
  if (!held_ || rebuild_ || checkpoint_) return {};
  SHAPLEY_TRY(ledger_.check_names());  // the thread opens the file by its name
  auto rebuild = ledger::Rebuild::start(file_, ledger_.turns(), {.state = options_});
  if (!rebuild) return with_context("books: rebuild", std::move(rebuild).error());
  rebuild_ = std::move(*rebuild);
  spdlog::info("books: rebuild begins; the ledger has {}", counted(last_sequence_, "event"));
  return {};
}

Expected<void> Books::end_rebuild() {
  if (!rebuild_ || !rebuild_->has_ended()) return {};
  auto rebuilt = std::exchange(rebuild_, nullptr)->take();
  if (!rebuilt) return with_context("books: rebuild", std::move(rebuilt).error());
  ledger::Recovered& books = rebuilt->books;
  bool complete = true;
  auto read = ledger_.for_each_event(books.last_sequence, [&](const ledger::StoredEvent& stored) -> Expected<void> {
    const auto applied = books.state.apply(stored.event);
    if (applied && *applied == accounting::Applied::needs_replay) complete = false;
    return {};
  });
  if (!read) return with_context("books: rebuild", std::move(read).error());
  ++rebuilds_;
  spdlog::info("books: rebuilt: {} replayed{}", counted(books.replayed, "event"),
               complete ? "" : "; one that came meanwhile is older than they remember, so it is done once more");
  if (!complete) return {};
  state_ = std::move(books.state);
  held_.reset();
  compacted_at_ = {.sequence = rebuilt->checkpoint, .time = state_.now()};
  if (rebuilt->saved) {
    checkpoint_sequence_ = rebuilt->checkpoint;
  } else {
    spdlog::error("books: rebuild: save a checkpoint: {}; until there is one, a start does it again",
                  rebuilt->saved.error().what);
  }
  return {};
}

namespace {

void note(Declared& declared, const accounting::Event& event) {
  if (const auto* o = std::get_if<accounting::OrganizationsDeclared>(&event)) declared.organizations = *o;
  if (const auto* p = std::get_if<accounting::PeriodDeclared>(&event)) declared.period = *p;
  if (const auto* c = std::get_if<accounting::ConfigurationLoaded>(&event)) declared.configuration = *c;
  if (const auto* r = std::get_if<accounting::RankingDeclared>(&event)) declared.ranking = *r;
  if (const auto* c = std::get_if<accounting::ConsortiumDeclared>(&event)) declared.consortium = *c;
  if (const auto* c = std::get_if<accounting::ChargeDeclared>(&event)) declared.charge = *c;
  if (const auto* m = std::get_if<accounting::ResidualMeasured>(&event)) declared.residual = *m;
  if (const auto* h = std::get_if<accounting::HindsightDefined>(&event)) declared.hindsight = *h;
  if (const auto* s = std::get_if<accounting::OwnershipStated>(&event)) declared.ownership[s->node].push_back(*s);
}

}  // namespace

Expected<Declared> Books::declared() const {
  SHAPLEY_TRY_ASSIGN(const auto events, ledger::declarations(ledger_));
  Declared declared;
  for (const accounting::Event& event : events) note(declared, event);
  for (auto& [node, statements] : declared.ownership) {
    std::sort(statements.begin(), statements.end(),
              [](const auto& a, const auto& b) { return a.effective < b.effective; });
  }
  return declared;
}

Expected<std::optional<Instant>> Books::read_last_observed() const {
  // Declarations are few: there is an observation among the last thousand events, or the books are almost empty.
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

Expected<std::optional<Instant>> Books::last_written() const {
  std::optional<Instant> last;
  if (last_sequence_ > 0) {
    auto read = ledger_.for_each_event(last_sequence_ - 1, [&](const ledger::StoredEvent& stored) -> Expected<void> {
      last = stored.received;
      return {};
    });
    if (!read) return with_context("ledger: read the last event", std::move(read).error());
  }
  SHAPLEY_TRY_ASSIGN(const std::optional<Instant> day, ledger::last_recorded_day(ledger_));
  if (day) last = std::max(last.value_or(*day), *day + Duration{k_day_s});
  return last;
}

Expected<std::vector<PastSegment>> Books::past_segments(JobId job, Instant start) const {
  std::vector<PastSegment> past;
  if (start >= state_.memory_horizon()) return past;
  SHAPLEY_TRY_ASSIGN(auto segments, ledger::segments_of_run(ledger_, job, start));
  for (ledger::RunSegment& segment : segments) {
    past.push_back({.ordinal = segment.ordinal,
                    .begin = segment.begin,
                    .end = segment.end,
                    .organization = std::move(segment.organization),
                    .retracted = segment.retracted});
  }
  return past;
}

Expected<void> Books::close_days(Instant now) {
  if (held_) return {};
  // A daemon that was away for long writes only the last days; earlier standings can be computed by replay.
  constexpr std::int64_t k_max_days = 400;
  const Instant today = day_begin(now);
  if (!day_) {
    SHAPLEY_TRY_ASSIGN(const Instant first, first_unwritten_day(today));
    day_ = first;
  }
  day_ = std::max(*day_, today - Duration{k_max_days * k_day_s});
  while (*day_ < today) {
    const Instant day_end = *day_ + Duration{k_day_s};
    // Events of the new day are not booked yet; estimators that are behind are left out.
    const accounting::EstimatorSet by = able(day_end);
    auto recorded = ledger_.record_standings(*day_, state_, state_.advance(day_end).standings(by), by);
    if (!recorded) return with_context("ledger: record the day's standings", std::move(recorded).error());
    day_ = day_end;
  }
  return {};
}

Expected<Instant> Books::first_unwritten_day(Instant today) const {
  SHAPLEY_TRY_ASSIGN(const std::optional<Instant> last, ledger::last_recorded_day(ledger_));
  if (last) return *last + Duration{k_day_s};
  return day_begin(last_observed_.value_or(today));
}

void Books::save_now(const std::atomic<bool>* stop) {
  compact();
  const auto saved = ledger_.save_checkpoint(state_, last_sequence_, state_.now(), stop);
  if (saved) {
    checkpoint_sequence_ = last_sequence_;
  } else {
    spdlog::warn("{}; the next start replays as much", saved.error().what);
  }
}

void Books::compact() {
  if (held_) return;
  // For an estimator, settling the dropped time is as much work as the facts of that time were.
  has_more_to_forget_ = !state_.compact(k_end_of_time, effort_);
  compacted_at_ = {.sequence = last_sequence_, .time = state_.now()};
}

bool Books::have_much_to_forget() const {
  // Each check walks over all remembered records, so it is not done at every commit, but often enough to be short.
  constexpr std::int64_t k_events = 10'000;
  constexpr Duration k_time{60};
  if (has_more_to_forget_) return true;
  return last_sequence_ >= compacted_at_.sequence + k_events || state_.now() >= compacted_at_.time + k_time;
}

Expected<void> Books::begin_checkpoint(Instant now) {
  if (held_ || rebuild_ || checkpoint_) return {};
  SHAPLEY_TRY(ledger_.check_names());  // the thread opens the file by its name
  // No event from now on can be older than the memory of the checkpoint.
  compact();
  auto checkpoint = ledger::CheckpointThread::start(
      file_, ledger_.turns(), {.state = options_, .upto = last_sequence_, .now = now, .keep = state_.memory_horizon()});
  if (!checkpoint) return with_context("books: checkpoint", std::move(checkpoint).error());
  checkpoint_ = std::move(*checkpoint);
  return {};
}

Expected<bool> Books::end_checkpoint() {
  if (!checkpoint_ || !checkpoint_->has_ended()) return false;
  const auto ended = std::exchange(checkpoint_, nullptr);
  if (auto written = ended->take(); !written) return with_context("books: checkpoint", std::move(written).error());
  checkpoint_sequence_ = ended->upto();
  return true;
}

namespace {

namespace fs = std::filesystem;
using accounting::Coalitions;

// "max" means no limit, as does a value close to 2^63, which version 1 writes.
std::optional<std::int64_t> limit_in(const fs::path& file) {
  const auto text = read_text_file(file, k_max_notes);
  if (!text) return std::nullopt;
  const auto bytes = parse_number<std::int64_t>(std::string_view(*text).substr(0, text->find('\n')));
  constexpr std::int64_t k_none = std::int64_t{1} << 60U;
  return bytes && *bytes < k_none ? bytes : std::nullopt;
}

// The limit of the cgroup and of all its parents, up to the mount.
std::optional<std::int64_t> least_limit(const fs::path& mount, const std::string& group, const char* file) {
  std::optional<std::int64_t> least;
  for (fs::path path = fs::path(group).relative_path();; path = path.parent_path()) {
    const auto limit = limit_in(mount / path / file);
    if (limit) least = std::min(least.value_or(*limit), *limit);
    if (path.empty()) return least;
  }
}

}  // namespace

std::optional<std::int64_t> cgroup_memory(const fs::path& self, const fs::path& root) {
  auto in = InputFile::open(self);
  if (!in) return std::nullopt;
  std::optional<std::int64_t> least;
  // "0::/system.slice/shapleyd.service", "9:memory:/..."
  for (std::string line; std::getline(*in, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    std::optional<std::int64_t> limit;
    if (controllers == ",,") limit = least_limit(root, group, "memory.max");
    if (controllers.find(",memory,") != std::string::npos)
      limit = least_limit(root / "memory", group, "memory.limit_in_bytes");
    if (limit) least = std::min(least.value_or(*limit), *limit);
  }
  return least;
}

std::int64_t hindsight_bound(const config::Configuration& configuration, const std::optional<std::int64_t>& cgroup) {
  constexpr std::int64_t k_otherwise = std::int64_t{1} << 30U;
  if (configuration.hindsight_memory > 0) return configuration.hindsight_memory;
  return cgroup ? *cgroup / 4 : k_otherwise;
}

std::optional<accounting::HindsightBounded> hindsight_step(const accounting::State& state,
                                                           const HindsightMemory& memory, Instant now) {
  if (memory.bytes <= memory.bound) return std::nullopt;
  const accounting::HindsightBounded* last = state.hindsight_bounded();
  const Coalitions next = last == nullptr ? Coalitions::pairs : Coalitions::none;
  if (last != nullptr && last->coalitions == Coalitions::none) return std::nullopt;
  return accounting::HindsightBounded{.at = now, .coalitions = next, .needed = memory.bytes, .bound = memory.bound};
}

}  // namespace shapley::daemon
