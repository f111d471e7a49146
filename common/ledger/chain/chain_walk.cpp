#include "ledger/chain/chain_walk.hpp"

#include <algorithm>
#include <string>

#include "ledger/store/event_json.hpp"

namespace shapley::ledger {

EventRow event_row_of(const Statement& row) {
  return {.sequence = row.integer(0),
          .key = row.text(1),
          .at = row.integer(2),
          .received = row.integer(3),
          .kind = row.text(4),
          .payload = row.text(5)};
}

std::span<const unsigned char> stored_hash_of(const Statement& row) {
  return row.blob(6);
}

std::string row_fault(const EventRow& row, const accounting::Event& event) {
  if (encode(event) != row.payload) return "its payload is not written as the program writes it";
  if (accounting::event_key(event) != row.key)
    return "its key '" + std::string(row.key) + "' is not that of its payload";
  if (time_of(event).value != row.at) return "its time is not that of its payload";
  return {};
}

Expected<void> walk_chain(const Database& database, std::int64_t after, const Digest& previous,
                          const std::function<Expected<void>(const Link&)>& visit) {
  SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT " + std::string(k_event_columns) +
                                                        " FROM events WHERE seq > ?1 ORDER BY seq"));
  select.bind(1, after);
  Link link{.sequence = after, .place = after, .computed = previous, .fits = true};
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool there, select.step());
    if (!there) return {};
    const EventRow row = event_row_of(select);
    SHAPLEY_TRY_ASSIGN(link.computed, hasher.link(link.computed, row));
    link.sequence = row.sequence;
    ++link.place;
    link.fits = std::ranges::equal(stored_hash_of(select), link.computed);
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
