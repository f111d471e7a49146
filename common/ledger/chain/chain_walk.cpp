#include "ledger/chain/chain_walk.hpp"

#include <algorithm>
#include <string>

namespace shapley::ledger {

Expected<void> walk_chain(const Database& database, std::int64_t after, const Digest& previous,
                          const std::function<Expected<void>(const Link&)>& visit) {
  SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT seq, key, at, received, kind, payload, hash FROM events WHERE seq > ?1 "
                                      "ORDER BY seq"));
  select.bind(1, after);
  Link link{.sequence = after, .place = after, .computed = previous, .fits = true};
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool there, select.step());
    if (!there) return {};
    const EventRow row{.sequence = select.integer(0),
                       .key = select.text(1),
                       .at = select.integer(2),
                       .received = select.integer(3),
                       .kind = select.text(4),
                       .payload = select.text(5)};
    SHAPLEY_TRY_ASSIGN(link.computed, hasher.link(link.computed, row));
    link.sequence = row.sequence;
    ++link.place;
    link.fits = std::ranges::equal(select.blob(6), link.computed);
    SHAPLEY_TRY(visit(link));
  }
}

Expected<void> check_chain(const Database& database, std::int64_t after, const Digest& previous) {
  return walk_chain(database, after, previous, [](const Link& link) -> Expected<void> {
    if (link.fits && link.sequence == link.place) return {};
    return fail(Errc::corrupt, "event " + std::to_string(link.sequence) +
                                   ": its hash does not follow from the row before it and its content");
  });
}

}  // namespace shapley::ledger
