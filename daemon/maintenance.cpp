#include "daemon/maintenance.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "accounting/state/ranking.hpp"
#include "base/calendar.hpp"
#include "base/text.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/readers/runs.hpp"
#include "ledger/reports/moment.hpp"

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
  if (is_active) failures_.note("measure the mean residual run time", measure_residual(now), "a minute later");
  if (!is_checkpoint_due(now)) return;
  last_checkpoint_ = now;
  if (const auto begun = books_.begin_checkpoint(now); !begun) checkpoint_failed(begun, now);
  // One head a day suffices to date a change, and all of them can be kept.
  const Instant day = day_begin(now);
  if (head_day_ != day && failures_.note("sign a head", store_head(now))) head_day_ = day;
}

Expected<std::vector<ledger::Run>> Maintenance::latest_runs() const {
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

namespace {

// Whether two rankings differ at most by when they were computed and by S' and R' of keys that brake.
bool are_alike(protocol::Ranks a, protocol::Ranks b) {
  for (protocol::Ranks* ranks : {&a, &b}) {
    ranks->computed_at = 0;
    for (protocol::Braking& braking : ranks->braking) braking.balance = braking.work = {};
  }
  return a == b;
}

}  // namespace

void RankMaker::refresh(const accounting::NodeNames& away, Instant now) {
  if (books_.incomplete()) {
    is_behind_ = false;
    return;
  }
  accounting::State& state = books_.state();
  const accounting::EstimatorSet able = books_.able(now);
  note_able(able);
  const auto by = accounting::acting(ledger::ranking_estimator(state), able);
  protocol::Ranks ranks{.generation = ranks_.generation, .computed_at = ranks_.computed_at, .organizations = {}};
  const game::KeyTerms terms = state.key_terms();
  std::vector<std::int64_t> to_zero;
  for (const accounting::Rank& rank : state.advance(now).ranking(by, away)) {
    ranks.organizations.push_back(rank.organization);
    ranks.leads.push_back(rank.lead);
    ranks.lacking.push_back(rank.lacking);
    if (!away.empty()) ranks.returning.push_back(rank.returning);
    if (!terms.brakes) continue;
    ranks.braking.push_back({protocol::wide(rank.falling.balance), protocol::wide(rank.falling.work),
                             rank.last ? 0 : rank.falling.doubled_turn});
    to_zero.push_back(game::startable_until(rank.falling, 0) / k_micro);
  }
  if (terms.brakes) ranks.residual = terms.horizon.value;
  // What keys that brake are made of changes every second. That matters to places when it is worth a processor.
  const bool changed = to_zero != to_zero_ || !are_alike(ranks, ranks_);
  to_zero_ = std::move(to_zero);
  ranks_ = std::move(ranks);
  ranks_.computed_at = now.value;
  if (changed) ++ranks_.generation;
  refresh_owners(by, now);
}

namespace {

std::vector<protocol::OwnedNodes> owners_of_nodes(const accounting::State& state) {
  std::vector<protocol::OwnedNodes> owners;
  for (accounting::OwnedNodes& same : state.owned_nodes()) {
    protocol::OwnedNodes& sent = owners.emplace_back(protocol::OwnedNodes{std::move(same.nodes), {}});
    for (const accounting::OwnerPart& part : same.owners)
      sent.owners.push_back({part.organization, part.parts_per_million});
  }
  return owners;
}

constexpr std::int64_t k_whole = 1'000'000;

// The organizations' parts of what runs, as if they owned that much of each node; commons has the rest. Empty: nothing
// runs.
std::vector<protocol::OwnerPart> parts_of_what_runs(const std::vector<accounting::RankRow>& rows) {
  Int128 running = 0;
  for (const accounting::RankRow& row : rows) running += row.used.value;
  std::vector<protocol::OwnerPart> parts;
  if (running <= 0) return parts;
  std::int64_t left = k_whole;
  for (const accounting::RankRow& row : rows) {
    const Int128 rate = Int128{row.figures.rate_less_used.value} + row.used.value;
    const auto part = std::clamp<std::int64_t>(static_cast<std::int64_t>(rate * k_whole / running), 0, left);
    left -= part;
    if (part > 0) parts.push_back({row.organization, part});
  }
  if (left > 0) parts.push_back({std::string(accounting::k_commons), left});
  return parts;
}

// Whether no part differs by more than a hundredth of all.
bool are_near(const std::vector<protocol::OwnerPart>& a, const std::vector<protocol::OwnerPart>& b) {
  return std::ranges::equal(a, b, [](const protocol::OwnerPart& x, const protocol::OwnerPart& y) {
    return x.organization == y.organization && std::abs(x.parts_per_million - y.parts_per_million) <= k_whole / 100;
  });
}

}  // namespace

void RankMaker::refresh_owners(accounting::EstimatorId by, Instant now) {
  const accounting::EstimatorRow& row = accounting::estimators()[by.value];
  const std::uint64_t epoch = row.by_owner ? books_.state().owners_epoch() : 0;
  const bool is_as_before = std::exchange(owners_epoch_, epoch) == epoch && !row.of_what_runs;
  if (is_as_before) return;
  std::vector<protocol::OwnedNodes> owners;
  if (row.by_owner) owners = owners_of_nodes(books_.state());
  if (row.of_what_runs) {
    std::vector<protocol::OwnerPart> parts = parts_of_what_runs(books_.state().advance(now).own_rank_rows(by));
    // While nothing runs nothing is known of its parts.
    if (parts.empty()) return;
    const bool had_parts = owners_.size() == 1 && owners_.front().nodes.empty();
    if (had_parts && are_near(parts, owners_.front().owners)) return;
    owners.push_back({{}, std::move(parts)});
  }
  if (owners == owners_) return;
  owners_ = std::move(owners);
  ++owners_generation_;
}

void RankMaker::note_able(const accounting::EstimatorSet& able) {
  const accounting::State& state = books_.state();
  const accounting::EstimatorId wanted = ledger::ranking_estimator(state);
  is_behind_ = able != state.kept();
  const accounting::EstimatorId by = accounting::acting(wanted, able);
  const bool is_news = by != ranked_by_.value_or(wanted);
  ranked_by_ = by;
  if (!is_news) return;
  if (by == wanted) {
    spdlog::info("ranks: by {} again, which has caught up", accounting::name_of(wanted));
  } else if (state.kept().contains(wanted)) {
    spdlog::warn("ranks: {} is behind what happened; they are by {} until it has caught up",
                 accounting::name_of(wanted), accounting::name_of(by));
  } else {
    spdlog::warn("ranks: {} is not kept for {}; they are by {}", accounting::name_of(wanted),
                 counted(state.organizations().size(), "organization"), accounting::name_of(by));
  }
}

}  // namespace shapley::daemon
