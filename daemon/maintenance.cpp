#include "daemon/maintenance.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "accounting/ownership/kinds.hpp"
#include "base/calendar.hpp"
#include "base/text.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/readers/runs.hpp"

namespace shapley::daemon {

namespace {

constexpr std::string_view k_save_checkpoint = "save a checkpoint";
constexpr std::string_view k_rebuild = "rebuild the books";

}  // namespace

bool Failures::note(std::string_view operation, const Expected<void>& result, std::string_view again) {
  const auto before = causes_.find(operation);
  if (result) {
    if (before != causes_.end()) {
      spdlog::info("service: {}: works again", operation);
      causes_.erase(before);
    }
    return true;
  }
  if (before == causes_.end() || before->second != result.error().what) {
    spdlog::error("service: {}: {}; it is tried again {}", operation, result.error().what, again);
    causes_.insert_or_assign(std::string(operation), result.error().what);
  }
  return false;
}

void Maintenance::rebuild_books(bool feed_goes_on, Instant now) {
  const std::optional<Incomplete> incomplete = books_.incomplete();
  if (!incomplete) return;
  const Expected<void> ended = books_.end_rebuild();
  if (!ended) failures_.note(k_rebuild, ended);
  if (incomplete->percent && !books_.is_rebuilding()) rest_after_rebuild(now);
  if (!books_.incomplete()) {
    failures_.note(k_rebuild, {});
    return;
  }
  if (books_.is_rebuilding() || now < no_rebuild_before_) return;
  if (feed_goes_on && now < incomplete->since + limits_.longest_collection) return;
  rebuild_began_ = now;
  if (const Expected<void> begun = books_.begin_rebuild(); !begun) failures_.note(k_rebuild, begun);
}

void Maintenance::rest_after_rebuild(Instant now) {
  // Late events that continue to come one by one cost a quarter of a core at most, however long the ledger is.
  constexpr std::int64_t k_rests = 3;
  constexpr Duration k_longest{3600};
  no_rebuild_before_ = now + std::min(Duration{k_rests * (now - rebuild_began_).value}, k_longest);
}

void Maintenance::begin_memory(Instant now) {
  if (books_.incomplete() || books_.last_sequence() == 0) return;
  books_.state().advance(now);
  books_.compact();
}

void Maintenance::maintain(bool is_active, Instant now) {
  end_checkpoint(now);
  // An empty ledger waits for a feeder or for the other controller, because its first events date from the beginning of
  // time.
  if (books_.incomplete() || books_.last_sequence() == 0) return;
  books_.state().advance(now);
  if (books_.have_much_to_forget()) books_.compact();
  failures_.note("bound the memory of hindsight", books_.bound_hindsight(site_.configuration, is_active, now));
  if (is_active) failures_.note("define kinds of nodes", define_kinds(now));
  if (is_active) failures_.note("measure the mean residual run time", measure_residual(now), "a minute later");
  if (!is_checkpoint_due(now)) return;
  last_checkpoint_ = now;
  if (const auto begun = books_.begin_checkpoint(now); !begun) checkpoint_failed(begun, now);
  // One head a day suffices to date a change, and all of them can be kept.
  const Instant day = day_begin(now);
  if (head_day_ != day && failures_.note("sign a head", store_head(now))) head_day_ = day;
}

Expected<std::vector<ledger::EndedRun>> Maintenance::latest_runs() const {
  constexpr std::int64_t k_measured_runs = 10'000;
  constexpr std::int64_t k_events_read = 20 * k_measured_runs;
  return ledger::latest_runs(books_.ledger(), k_measured_runs, k_events_read);
}

Expected<void> Maintenance::measure_residual(Instant now) {
  if (!residual_watch_.is_due(now, books_.state().residual_measured())) return {};
  residual_watch_.note_look(now);
  SHAPLEY_TRY_ASSIGN(const auto runs, latest_runs());
  const auto measured = measured_residual(runs);
  if (!measured) return {};
  // Read from the ledger, because the books do not show a statement that is not in force yet.
  SHAPLEY_TRY_ASSIGN(const Declared declared, books_.declared());
  const auto statement = residual_statement(now, declared.residual ? &*declared.residual : nullptr, *measured);
  if (!statement) return {};
  SHAPLEY_TRY(books_.commit(std::vector<accounting::Event>{*statement}, now));
  spdlog::info("ranks: the mean residual run time is {} s, over the last {}", statement->seconds,
               counted(statement->runs, "run"));
  return {};
}

Expected<void> Maintenance::define_kinds(Instant now) {
  const accounting::State& state = books_.state();
  const accounting::HindsightDefined* last = state.hindsight_defined();
  if (last == nullptr || last->jobs == accounting::JobsStart::parts) return {};
  std::map<std::string, std::string> placed;
  for (const std::string& placement : state.resolved_placements())
    placed.emplace(placement, state.last_placement(placement)->nodes);
  if (placed == placed_) return {};
  accounting::HindsightDefined next{.at = std::max(now, last->at + Duration{1}),
                                    .jobs = last->jobs,
                                    .kinds = accounting::kinds_for(last->kinds, placed)};
  // Noted once it is recorded: a commit that fails is tried again.
  if (next.kinds != last->kinds) SHAPLEY_TRY(books_.commit(std::vector<accounting::Event>{std::move(next)}, now));
  placed_ = std::move(placed);
  return {};
}

bool Maintenance::is_checkpoint_due(Instant now) const {
  if (books_.is_saving_checkpoint() || now < no_checkpoint_before_) return false;
  const std::int64_t events = books_.events_since_checkpoint();
  return events >= limits_.checkpoint_events || (now >= last_checkpoint_ + limits_.checkpoint_interval && events > 0);
}

void Maintenance::end_checkpoint(Instant now) {
  const Expected<bool> ended = books_.end_checkpoint();
  if (!ended) return checkpoint_failed(tl::unexpected<Error>(ended.error()), now);
  if (*ended) failures_.note(k_save_checkpoint, {});
}

void Maintenance::checkpoint_failed(const Expected<void>& result, Instant now) {
  // Each attempt costs a core some seconds.
  no_checkpoint_before_ = now + Duration{60};
  failures_.note(k_save_checkpoint, result, "a minute later");
}

Expected<void> Maintenance::store_head(Instant now) {
  if (!site_.signing_key) return {};
  SHAPLEY_TRY_ASSIGN(const ledger::SignedHead head, ledger::sign_head(books_.ledger(), *site_.signing_key, now));
  return books_.store_head(head);
}

}  // namespace shapley::daemon
