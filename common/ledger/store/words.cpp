#include "ledger/store/words.hpp"

#include <utility>

#include "ledger/store/event_json.hpp"

namespace shapley::ledger {

namespace {

using accounting::Resource;

// More than any cluster has organizations, accounts and nodes. Beyond that a look into the file costs a microsecond.
constexpr std::size_t k_known_words = 10'000;

}  // namespace

Word word_of(const std::string& text) {
  return {encode(text), text};
}

Word word_of(const std::vector<Resource>& gres) {
  return {encode(gres), text_of(gres)};
}

std::string text_of(const std::vector<Resource>& gres) {
  std::string text;
  for (const Resource& r : gres) text += (text.empty() ? "" : ",") + r.name + '=' + std::to_string(r.count);
  return text;
}

std::optional<std::string> meaning_of(std::string_view json_text) {
  if (const auto text = decode_text(json_text); text && encode(*text) == json_text) return text;
  if (const auto gres = decode_resources(json_text); gres && encode(*gres) == json_text) {
    return text_of(*gres);
  }
  return std::nullopt;
}

Expected<Words> Words::create(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement find, database.prepare("SELECT word FROM main.words WHERE json = ?1"));
  SHAPLEY_TRY_ASSIGN(Statement insert, database.prepare("INSERT INTO main.words(json, text) VALUES (?1, ?2)"));
  return Words(std::move(find), std::move(insert));
}

Expected<std::optional<std::int64_t>> Words::stored(const std::string& json) {
  auto found = find_.bind(1, json).step();
  std::optional<std::int64_t> number;
  if (found && *found) number = find_.integer(0);
  find_.reset();
  if (!found) return tl::unexpected<Error>(std::move(found).error());
  return number;
}

Expected<std::int64_t> Words::number_of(const Word& word) {
  if (const auto known = known_.find(word.json); known != known_.end()) return known->second;
  SHAPLEY_TRY_ASSIGN(std::optional<std::int64_t> number, stored(word.json));
  if (!number) {
    SHAPLEY_TRY(insert_.bind(1, word.json).bind(2, word.text).run());
    SHAPLEY_TRY_ASSIGN(number, stored(word.json));
  }
  if (!number) return fail(Errc::corrupt, "the table words does not keep what is stored in it");
  if (known_.size() >= k_known_words) known_.clear();
  known_.emplace(word.json, *number);
  return *number;
}

}  // namespace shapley::ledger
