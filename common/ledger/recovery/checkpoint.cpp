#include "ledger/recovery/checkpoint.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/contract.hpp"
#include "base/text.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "ledger/encoding/chain_walk.hpp"
#include "ledger/recovery/fold.hpp"

namespace shapley::ledger {

namespace {

constexpr std::int64_t k_checkpoints_kept = 3;
constexpr std::size_t k_removed_at_once = 32;

// The ids in the column `parts`. nullopt: it is no list of numbers, or a number occurs twice, so that the text could be
// longer than the file.
std::optional<std::vector<std::int64_t>> ids_of(std::string_view list) {
  std::vector<std::int64_t> ids;
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(' '));
    const char* end = word.data() + word.size();
    const auto [read, error] = std::from_chars(word.data(), end, ids.emplace_back());
    if (error != std::errc{} || read != end) return std::nullopt;
    list.remove_prefix(std::min(word.size() + 1, list.size()));
  }
  if (std::set(ids.begin(), ids.end()).size() != ids.size()) return std::nullopt;
  return ids;
}

std::string list_of(const std::vector<std::int64_t>& ids) {
  std::string list;
  for (const std::int64_t id : ids) list += (list.empty() ? "" : " ") + std::to_string(id);
  return list;
}

// nullopt: a part is missing.
Expected<std::optional<std::string>> text_of(const Database& database, const std::vector<std::int64_t>& ids) {
  SHAPLEY_TRY_ASSIGN(Statement length, database.prepare("SELECT LENGTH(text) FROM checkpoint_parts WHERE id = ?1"));
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT text FROM checkpoint_parts WHERE id = ?1"));
  std::size_t size = 0;
  for (const std::int64_t id : ids) {
    SHAPLEY_TRY_ASSIGN(const bool row, length.bind(1, id).step());
    if (row) size += static_cast<std::size_t>(length.integer(0));
    length.reset();
  }
  std::string text;
  text.reserve(size);  // tens of megabytes: else twice as many while it grows
  for (const std::int64_t id : ids) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.bind(1, id).step());
    if (!row) return std::nullopt;
    text += select.text(0);
    select.reset();
  }
  return text;
}

// One writing: the text in parts; parts that exist already are found by their content.
class Writing {
 public:
  Writing(const Database& database, Mutex& turns, Hasher hasher, const CheckpointWriting& how)
      : database_(database), turns_(turns), hasher_(std::move(hasher)), how_(how) {}

  Expected<void> write_parts(std::string_view text) {
    SHAPLEY_TRY(find_known());
    for (const std::string_view part : cut(text, how_.part)) {
      SHAPLEY_TRY_ASSIGN(const Digest digest, hasher_.digest(std::array{part}));
      // Each part may occur once: otherwise the total length is ambiguous.
      if (const auto known = known_.extract(digest)) {
        ids_.push_back(known.mapped());
        continue;
      }
      ids_.push_back(next_id_);
      waiting_.emplace_back(next_id_++, part);
      waiting_bytes_ += part.size();
      if (waiting_bytes_ >= how_.transaction_bytes) SHAPLEY_TRY(insert_waiting());
    }
    return insert_waiting();
  }

  Expected<void> write_row(std::int64_t sequence, Instant at, const Digest& sha) {
    const std::string list = list_of(ids_);
    return in_turn([&]() -> Expected<void> {
      SHAPLEY_TRY_ASSIGN(
          Statement insert,
          database_.prepare("INSERT OR REPLACE INTO checkpoints(sequence, at, parts, sha) VALUES (?1, ?2, ?3, ?4)"));
      SHAPLEY_TRY(insert.bind(1, sequence).bind(2, at.value).bind(3, list).bind_blob(4, sha).run());
      SHAPLEY_TRY_ASSIGN(Statement forget,
                         database_.prepare("DELETE FROM checkpoints WHERE sequence NOT IN "
                                           "(SELECT sequence FROM checkpoints ORDER BY sequence DESC LIMIT ?1)"));
      return forget.bind(1, k_checkpoints_kept).run();
    });
  }

  // Removes the parts that no checkpoint names.
  Expected<void> remove_other_parts() {
    SHAPLEY_TRY_ASSIGN(std::vector<std::int64_t> others, unnamed_parts());
    for (std::span<const std::int64_t> left = others; !left.empty();) {
      const auto now = left.first(std::min(left.size(), k_removed_at_once));
      left = left.subspan(now.size());
      const auto remove_some = [&]() -> Expected<void> {
        SHAPLEY_TRY_ASSIGN(Statement remove, database_.prepare("DELETE FROM checkpoint_parts WHERE id = ?1"));
        for (const std::int64_t id : now) SHAPLEY_TRY(remove.bind(1, id).run());
        return {};
      };
      SHAPLEY_TRY(in_turn(remove_some));
    }
    return {};
  }

 private:
  Expected<void> find_known() {
    SHAPLEY_TRY_ASSIGN(Statement select, database_.prepare("SELECT id, text FROM checkpoint_parts"));
    while (true) {
      SHAPLEY_TRY_ASSIGN(const bool row, select.step());
      if (!row) return {};
      SHAPLEY_TRY_ASSIGN(const Digest digest, hasher_.digest(std::array{select.text(1)}));
      known_.try_emplace(digest, select.integer(0));
      next_id_ = std::max(next_id_, select.integer(0) + 1);
    }
  }

  Expected<void> insert_waiting() {
    if (waiting_.empty()) return {};
    const auto insert_all = [&]() -> Expected<void> {
      SHAPLEY_TRY_ASSIGN(Statement insert, database_.prepare("INSERT INTO checkpoint_parts(id, text) VALUES (?1, ?2)"));
      for (const auto& [id, part] : waiting_) SHAPLEY_TRY(insert.bind(1, id).bind(2, part).run());
      return {};
    };
    SHAPLEY_TRY(in_turn(insert_all));
    waiting_.clear();
    waiting_bytes_ = 0;
    return {};
  }

  Expected<std::vector<std::int64_t>> unnamed_parts() {
    std::set<std::int64_t> named;
    SHAPLEY_TRY_ASSIGN(Statement lists, database_.prepare("SELECT parts FROM checkpoints"));
    while (true) {
      SHAPLEY_TRY_ASSIGN(const bool row, lists.step());
      if (!row) break;
      if (const auto ids = ids_of(lists.text(0))) named.insert(ids->begin(), ids->end());
    }
    std::vector<std::int64_t> others;
    SHAPLEY_TRY_ASSIGN(Statement all, database_.prepare("SELECT id FROM checkpoint_parts"));
    while (true) {
      SHAPLEY_TRY_ASSIGN(const bool row, all.step());
      if (!row) return others;
      if (!named.contains(all.integer(0))) others.push_back(all.integer(0));
    }
  }

  // Runs one transaction, unless the writing is to end.
  template <typename Change>
  Expected<void> in_turn(const Change& change) {
    if (how_.stop != nullptr && *how_.stop) return fail(Errc::unavailable, "the writing was ended");
    {
      const MutexLock turn(turns_);
      SHAPLEY_TRY_ASSIGN(Transaction transaction, Transaction::begin(database_, Transaction::Kind::write));
      SHAPLEY_TRY(change());
      SHAPLEY_TRY(transaction.commit());
    }
    return how_.between ? how_.between() : Expected<void>{};
  }

  const Database& database_;
  Mutex& turns_;
  Hasher hasher_;
  const CheckpointWriting& how_;
  std::map<Digest, std::int64_t> known_;  // id by the digest of its content; of parts that are not in the text yet
  std::int64_t next_id_ = 1;
  std::vector<std::int64_t> ids_;                                   // of the text's parts, in order
  std::vector<std::pair<std::int64_t, std::string_view>> waiting_;  // to be inserted
  std::size_t waiting_bytes_ = 0;
};

}  // namespace

Expected<std::optional<Recovered>> read_checkpoint(const Database& database, std::int64_t sequence,
                                                   accounting::StateOptions options, const std::atomic<bool>* stop) {
  SHAPLEY_TRY_ASSIGN(Statement row, database.prepare("SELECT at, parts, sha FROM checkpoints WHERE sequence = ?1"));
  SHAPLEY_TRY_ASSIGN(const bool found, row.bind(1, sequence).step());
  if (!found) return std::nullopt;
  SHAPLEY_TRY_ASSIGN(const auto event_hash, hash_of_event(database, sequence));
  const auto ids = ids_of(row.text(1));
  if (!event_hash || !ids) return std::nullopt;
  SHAPLEY_TRY_ASSIGN(const auto text, text_of(database, *ids));
  if (!text) return std::nullopt;
  SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
  SHAPLEY_TRY_ASSIGN(const Digest expected, hasher.checkpoint(*event_hash, row.integer(0), *text));
  if (!std::ranges::equal(expected, row.blob(2))) return std::nullopt;
  auto state = accounting::State::load(*text, options, stop);
  if (!state && state.error().code == Errc::unavailable) return tl::unexpected<Error>(std::move(state).error());
  if (!state) return std::nullopt;
  return Recovered{.state = *std::move(state), .last_sequence = sequence};
}

Expected<void> write_checkpoint(const Database& database, Mutex& writing, const accounting::State& state,
                                std::int64_t sequence, Instant at, const CheckpointWriting& how) {
  SHAPLEY_TRY_ASSIGN(const auto event_hash, hash_of_event(database, sequence));
  if (!event_hash) return fail(Errc::invalid_argument, "there is no event " + std::to_string(sequence));
  const std::string text = state.save(how.stop);
  if (text.empty()) return fail(Errc::unavailable, "the writing was ended");
  SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
  SHAPLEY_TRY_ASSIGN(const Digest sha, hasher.checkpoint(*event_hash, at.value, text));
  Writing parts(database, writing, std::move(hasher), how);
  SHAPLEY_TRY(parts.write_parts(text));
  SHAPLEY_TRY(parts.write_row(sequence, at, sha));
  return parts.remove_other_parts();
}

std::vector<std::string_view> cut(std::string_view text, PartSize size) {
  SHAPLEY_REQUIRE(size.lines > 0);
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::uint64_t hash = fnv1a(text.substr(at, end - at));
    at = end;
    // The upper bits are the better mixed ones.
    constexpr unsigned k_half = 32;
    if ((hash >> k_half) % size.lines != 0 && at - begin <= size.most_bytes) continue;
    parts.push_back(text.substr(begin, at - begin));
    begin = at;
  }
  if (begin < text.size()) parts.push_back(text.substr(begin));
  return parts;
}

}  // namespace shapley::ledger
