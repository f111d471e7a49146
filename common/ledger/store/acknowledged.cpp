#include "ledger/store/acknowledged.hpp"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "ledger/encoding/chain_walk.hpp"
#include "ledger/store/rows.hpp"

namespace shapley::ledger {

namespace {

// Room for any value, so that each one overwrites the whole one before it.
constexpr std::size_t k_acknowledged_bytes = 256;

std::optional<Acknowledged> read_from(const std::filesystem::path& file) {
  const auto text = read_text_file(file, k_max_notes);
  if (!text) return std::nullopt;
  auto last = from_json<Acknowledged>(parse_json(*text));
  return last ? std::optional(*std::move(last)) : std::nullopt;
}

}  // namespace

std::filesystem::path acknowledged_file(const std::filesystem::path& ledger) {
  return ledger.string() + ".acknowledged";
}

std::optional<Acknowledged> read_acknowledged(const std::filesystem::path& ledger) {
  return read_from(acknowledged_file(ledger));
}

Expected<void> write_acknowledged(const std::filesystem::path& ledger, const Acknowledged& last) {
  std::string text = shapley::text_of(shapley::json_of(last));
  text.resize(k_acknowledged_bytes - 1, ' ');
  text += '\n';
  return overwrite_begin(acknowledged_file(ledger), text);
}

std::filesystem::path carried_file(const std::filesystem::path& copy) {
  return copy.string() + ".carried";
}

std::optional<Acknowledged> read_carried(const std::filesystem::path& copy) {
  return read_from(carried_file(copy));
}

Expected<void> write_carried(const std::filesystem::path& copy, const std::optional<Acknowledged>& last) {
  if (last)
    return replace_file(carried_file(copy), shapley::text_of(shapley::json_of(*last)) + '\n', Readers::by_umask);
  std::error_code error;
  std::filesystem::remove(carried_file(copy), error);
  if (error)
    return fail(Errc::io, fmt::format("{}: cannot be removed: {}", carried_file(copy).string(), error.message()));
  return {};
}

Expected<Acknowledged> last_of(const Ledger& ledger) {
  SHAPLEY_TRY_ASSIGN(std::string identity, ledger.identity());
  SHAPLEY_TRY_ASSIGN(const Head head, ledger.rows().run("read the last event", read_head));
  return Acknowledged{.ledger = std::move(identity), .sequence = head.sequence, .hash = to_hex(head.hash)};
}

Expected<bool> holds(const Ledger& ledger, const Acknowledged& last) {
  if (last.hash.empty()) return false;
  SHAPLEY_TRY_ASSIGN(const auto hash, ledger.rows().run("read a hash", hash_of_event, last.sequence));
  return hash ? to_hex(*hash) == last.hash : last.sequence < ledger.last_sequence();
}

std::string loss_in_words(const Acknowledged& last, std::int64_t end) {
  if (last.hash.empty()) {
    return fmt::format("it was restored from a copy that ends with event {}, and which events it lacks is not known",
                       last.sequence);
  }
  if (last.sequence > end) {
    return fmt::format("it ends with event {}, but event {} was acknowledged", end, last.sequence);
  }
  return fmt::format("its event {} is not the one that was acknowledged", last.sequence);
}

}  // namespace shapley::ledger
