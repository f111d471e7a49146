// Reads events as values from the tables that hold them (sql/001_ledger.sql), without the JSON that the view `events`
// shows. An audit reads the view.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "ledger/encoding/event_json.hpp"
#include "ledger/file/database.hpp"

namespace shapley::ledger {

class EventReader {
 public:
  // REQUIRES: the data base has the present schema, outlives the reader and stays where it is.
  [[nodiscard]] static Expected<EventReader> create(const Database& database);

  // The events with after < sequence <= upto, in order. Errc::corrupt names the first that cannot be read.
  [[nodiscard]] Expected<void> visit(std::int64_t after, std::int64_t upto,
                                     const std::function<Expected<void>(const StoredEvent&)>& visit);
  // The event of this number. Errc::corrupt: it cannot be read, or is missing.
  [[nodiscard]] Expected<StoredEvent> read(std::int64_t sequence);

 private:
  struct Selects {
    Statement rows, job, nodes, text, interned;
  };
  struct KnownText {
    std::string text;
    std::vector<accounting::Resource> gres;  // if it is a list of these
  };
  explicit EventReader(Selects selects) : selects_(std::move(selects)) {}

  [[nodiscard]] Expected<StoredEvent> stored_event();
  [[nodiscard]] Expected<accounting::Event> read_row();
  [[nodiscard]] accounting::SegmentKey key(accounting::SegmentKind kind);
  [[nodiscard]] Expected<accounting::Event> opened(accounting::SegmentKind kind);
  [[nodiscard]] Expected<accounting::Event> closed(accounting::SegmentKind kind);
  [[nodiscard]] Expected<accounting::Event> described();
  [[nodiscard]] Expected<accounting::Event> other();
  [[nodiscard]] Expected<std::vector<accounting::NodeShare>> nodes(std::int64_t sequence);
  // Of a statement's present row.
  [[nodiscard]] Expected<std::string> text(const Statement& row, int column);
  [[nodiscard]] Expected<const KnownText*> interned(std::int64_t number);
  [[nodiscard]] std::uint32_t small(const Statement& row, int column);

  Selects selects_;
  std::unordered_map<std::int64_t, KnownText> interned_;
  bool out_of_range_ = false;  // of the event that is being read
};

}  // namespace shapley::ledger
