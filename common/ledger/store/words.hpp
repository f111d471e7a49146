// Texts of events that come again and again, stored once and named by a number (table words of sql/005_compact.sql).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "ledger/store/database.hpp"

namespace shapley::ledger {

struct Word {
  std::string json;  // as payloads have it
  std::string text;  // what it means: a text's bytes, or a list of resources as "gres/gpu=2,gres/license=1"
};

[[nodiscard]] Word word_of(const std::string& text);
[[nodiscard]] Word word_of(const std::vector<accounting::Resource>& gres);

// "gres/gpu=2,gres/license=1"
[[nodiscard]] std::string text_of(const std::vector<accounting::Resource>& gres);

// What payloads mean by this json; nullopt: they never have it.
[[nodiscard]] std::optional<std::string> meaning_of(std::string_view json);

// The numbers of words, which are stored when they first come. REQUIRES: the data base outlives it.
class Words {
 public:
  [[nodiscard]] static Expected<Words> create(const Database& database);

  [[nodiscard]] Expected<std::int64_t> number_of(const Word& word);
  // To be called when a transaction ended without a commit: what it stored is gone.
  void forget() { known_.clear(); }

 private:
  Words(Statement find, Statement insert) : find_(std::move(find)), insert_(std::move(insert)) {}
  [[nodiscard]] Expected<std::optional<std::int64_t>> stored(const std::string& json);

  Statement find_;
  Statement insert_;
  std::unordered_map<std::string, std::int64_t> known_;  // by json; a bounded part of them
};

}  // namespace shapley::ledger
