// What psi, the levels and the estimators are told of the facts.
#include "accounting/state/state_impl.hpp"

namespace shapley::accounting {

namespace {

MicroProcessors signed_part(int sign, MicroProcessors processors) {
  return {sign * processors.value};
}

}  // namespace

void State::Impl::fold_piece(int sign, const Piece& piece) {
  got.fold(sign, piece.organization, {piece.processors, piece.begin, piece.end});
  levels.fold_piece(sign, piece);
  for (const auto& estimator : estimators) estimator->fold_piece(sign, piece);
}

OrgId State::Impl::organization_of(const SegmentRecord& segment) const {
  return *organizations.find(segment.live.opened.organization);
}

SegmentFact State::Impl::fact_of(const SegmentRecord& segment) const {
  const SegmentOpened& opened = segment.live.opened;
  return {.key = opened.key,
          .organization = organization_of(segment),
          .processors = opened.processors,
          .begin = opened.begin,
          .end = segment.end(),
          .reason = segment.reason};
}

void State::Impl::fold_segment(const SegmentRecord& segment, int sign) {
  const SegmentFact fact = fact_of(segment);
  for_each_piece(segment, fact.organization, [&](const Piece& piece) { fold_piece(sign, piece); });
  for (const auto& estimator : estimators) estimator->fold_segment(sign, fact);
}

void State::Impl::fold_levels(Instant t, OrgId organization, const LevelChange& change) {
  levels.change(t, organization, {.owned = change.owned, .waiting = change.waiting, .lent = {}, .borrowed = {}});
  for (const auto& estimator : estimators) estimator->change_levels(t, organization, change);
}

void State::Impl::tell_remembered(Estimator& listener, int sign) const {
  for_each_remembered([&](const SegmentRecord& segment) {
    const SegmentFact fact = fact_of(segment);
    for_each_piece(segment, fact.organization, [&](const Piece& piece) { listener.fold_piece(sign, piece); });
    listener.fold_segment(sign, fact);
  });
}

Estimator::Remembered State::Impl::remembered() const {
  return {horizon, now, [this](Estimator& listener, int sign) { tell_remembered(listener, sign); }};
}

void State::Impl::hold_or_ask(const SegmentOpened& segment, Instant t, int sign) {
  const OrgId organization = *organizations.find(segment.organization);
  const MicroProcessors delta = signed_part(sign, segment.processors);
  if (segment.key.kind == SegmentKind::wait) {
    fold_levels(t, organization, {.running = {}, .waiting = delta, .owned = {}});
  } else {
    fold_levels(t, organization, {.running = delta, .waiting = {}, .owned = {}});
  }
}

void State::Impl::change_levels(const SegmentOpened& segment, Instant t, int sign) {
  hold_or_ask(segment, t, sign);
  for (const NodeShare& share : segment.nodes) {
    Node& node = node_of(share.node);
    const MicroProcessors here = signed_part(sign, share.processors);
    const bool offers_change = !node.offer_ignores(t, here);
    if (offers_change) emit_offers(node, t, -1);
    node.change_running(t, here);
    if (offers_change) emit_offers(node, t, 1);
  }
}

void State::Impl::enter(const SegmentRecord& segment, int sign) {
  fold_segment(segment, sign);
  change_levels(segment.live.opened, segment.live.opened.begin, sign);
  if (segment.live.end) change_levels(segment.live.opened, *segment.live.end, -sign);
}

void State::Impl::emit_offers(const Node& node, Instant from, int sign) {
  node.for_each_offer_change(from, [&](Instant at, const Offer& before, const Offer& after) {
    const auto tell = [&](const Offer& offer, int direction) {
      if (offer.processors.value == 0) return;
      split_among(*offer.owners, offer.processors, [&](OrgId owner, MicroProcessors part) {
        fold_levels(at, owner, {.running = {}, .waiting = {}, .owned = signed_part(direction, part)});
      });
    };
    tell(before, -sign);
    tell(after, sign);
  });
}

std::vector<Level> State::Impl::levels_before(Instant t) const {
  std::vector<Level> rows(organizations.names().size());
  for (const Node& node : nodes) {
    const Offer offer = node.offer_before(t);
    split_among(*offer.owners, offer.processors,
                [&](OrgId owner, MicroProcessors part) { rows[owner.value].owned += part; });
  }
  for_each_remembered([&](const SegmentRecord& segment) {
    const SegmentFact fact = fact_of(segment);
    if (fact.begin >= t || fact.end < t) return;
    if (fact.key.kind == SegmentKind::wait) rows[fact.organization.value].waiting += fact.processors;
    for_each_piece(segment, fact.organization, [&](const Piece& piece) {
      if (piece.begin >= t || piece.end < t || piece.organization == piece.owner) return;
      rows[piece.owner.value].lent += piece.processors;
      rows[piece.organization.value].borrowed += piece.processors;
    });
  });
  return rows;
}

void State::Impl::restate_levels() {
  for (Levels::Period& period : levels.periods()) {
    if (!levels.settled(period)) period.rows = levels_before(period.end);
  }
}

}  // namespace shapley::accounting
