#include "daemon/ranks.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <spdlog/spdlog.h>

#include "accounting/state/ranking.hpp"
#include "base/text.hpp"
#include "ledger/reports/moment.hpp"

namespace shapley::daemon {

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
  refresh_owners(by);
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

}  // namespace

void RankMaker::refresh_owners(accounting::EstimatorId by) {
  const bool by_owner = accounting::estimators()[by.value].by_owner;
  const std::uint64_t epoch = by_owner ? books_.state().owners_epoch() : 0;
  if (std::exchange(owners_epoch_, epoch) == epoch) return;
  std::vector<protocol::OwnedNodes> owners;
  if (by_owner) owners = owners_of_nodes(books_.state());
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
