// Interned texts of events: stored once and named by a number (table words of sql/001_ledger.sql).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "ledger/file/database.hpp"

namespace shapley::ledger {

struct InternedText {
  std::string json;  // as in payloads
  std::string text;  // its meaning: a text's bytes, or a list of resources as "gres/gpu=2,gres/license=1"
};

[[nodiscard]] InternedText interned_text(const std::string& text);
[[nodiscard]] InternedText interned_text(const std::vector<accounting::Resource>& gres);

// "gres/gpu=2,gres/license=1"
[[nodiscard]] std::string text_of(const std::vector<accounting::Resource>& gres);

// The meaning of this json in payloads; nullopt: payloads never have it.
[[nodiscard]] std::optional<std::string> meaning_of(std::string_view json);

// The numbers of texts; a new text is stored. REQUIRES: the data base outlives it.
class InternedTexts {
 public:
  [[nodiscard]] static Expected<InternedTexts> create(const Database& database);

  [[nodiscard]] Expected<std::int64_t> number_of(const InternedText& text);
  // Call it when a transaction ended without a commit: its texts are not stored.
  void forget() { known_.clear(); }

 private:
  InternedTexts(Statement find, Statement insert) : find_(std::move(find)), insert_(std::move(insert)) {}
  [[nodiscard]] Expected<std::optional<std::int64_t>> stored(const std::string& json);

  Statement find_;
  Statement insert_;
  std::unordered_map<std::string, std::int64_t> known_;  // by json; a bounded part of them
};

// Writes events into the tables that hold them (sql/001_ledger.sql): jobs' events in typed columns, the few others as
// text. The view `events` shows rows and payloads as they were, to the byte.

// The number by which segment_events names a kind of segment.
[[nodiscard]] constexpr std::int64_t number_of(accounting::SegmentKind kind) {
  return kind == accounting::SegmentKind::run ? 0 : 1;
}

// The numbers by which event_rows names kinds of event: those of segments are of runs, and of waits one more.
struct RowKind {
  static constexpr std::int64_t k_text = 0;
  static constexpr std::int64_t k_described = 1;
  static constexpr std::int64_t k_opened = 2;
  static constexpr std::int64_t k_closed = 4;
  static constexpr std::int64_t k_retracted = 6;
};
// SQL in which these names stand for the numbers: ":text", ":described", ":opened", ":closed", ":retracted" of events,
// ":run" and ":wait" of segments.
[[nodiscard]] std::string with_kinds(std::string_view sql);

// Binds what identifies a segment, except its kind, to three parameters from `first` on: job, anchor, ordinal.
Statement& bind_key(Statement& statement, int first, const accounting::SegmentKey& key);

class EventStore {
 public:
  // REQUIRES: the data base has the present schema, outlives the store and stays where it is.
  [[nodiscard]] static Expected<EventStore> create(const Database& database);

  // The number of the event that states the same fact, this one or a contradictory one; nullopt: no event does.
  // REQUIRES: every stored event of a segment was projected.
  [[nodiscard]] Expected<std::optional<std::int64_t>> find(const accounting::Event& event);
  [[nodiscard]] Expected<std::string> payload_of(std::int64_t sequence);

  // REQUIRES: a transaction is open; `row` is the event's; find(event) gives nothing.
  [[nodiscard]] Expected<void> insert(const accounting::Event& event, const EventRow& row, const Digest& hash);

  // Call it when a transaction ended without a commit.
  void rolled_back() { interned_.forget(); }

 private:
  struct Rows {
    Statement described, opened, closed, retracted, other;
  };
  struct Details {
    Statement job, node, text;
  };
  struct Lookups {
    Statement segment, job, text, payload;
  };
  EventStore(InternedTexts texts, Rows rows, Details details, Lookups lookups)
      : interned_(std::move(texts)),
        rows_(std::move(rows)),
        details_(std::move(details)),
        lookups_(std::move(lookups)) {}
  [[nodiscard]] static Expected<Rows> prepare_rows(const Database& database);
  [[nodiscard]] static Expected<Details> prepare_details(const Database& database);
  [[nodiscard]] static Expected<Lookups> prepare_lookups(const Database& database);

  // One overload for each kind of event; the template is for kinds that are kept as text.
  [[nodiscard]] Expected<void> put(const accounting::JobDescribed& e, const EventRow& row, const Digest& hash);
  [[nodiscard]] Expected<void> put(const accounting::SegmentOpened& e, const EventRow& row, const Digest& hash);
  [[nodiscard]] Expected<void> put(const accounting::SegmentClosed& e, const EventRow& row, const Digest& hash);
  [[nodiscard]] Expected<void> put(const accounting::SegmentRetracted& e, const EventRow& row, const Digest& hash);
  template <typename Fact>
  [[nodiscard]] Expected<void> put(const Fact& e, const EventRow& row, const Digest& hash);
  template <typename Fact>
  [[nodiscard]] Expected<void> put_segment(Statement& statement, std::int64_t kind_of_run, const Fact& e,
                                           const EventRow& row, const Digest& hash);
  // Binds the columns of the record (event_columns.hpp) to the parameters from `parameter` on.
  template <typename Record>
  [[nodiscard]] Expected<void> bind_columns(Statement& statement, int parameter, const Record& record);
  template <typename Value>
  [[nodiscard]] Expected<void> bind_value(Statement& statement, int parameter, const Value& value, bool may_be_plain);
  [[nodiscard]] Expected<void> bind_interned(Statement& statement, int parameter, const InternedText& text);

  InternedTexts interned_;
  Rows rows_;
  Details details_;
  Lookups lookups_;
};

}  // namespace shapley::ledger
