// Reads events as values from the tables that hold them (sql/001_ledger.sql), without the JSON that the view `events`
// shows. An audit reads the view.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/description.hpp"
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
  EventReader(Selects selects, std::vector<std::string_view> columns)
      : selects_(std::move(selects)), columns_(std::move(columns)) {}

  [[nodiscard]] Expected<StoredEvent> stored_event();
  [[nodiscard]] Expected<accounting::Event> read_row();
  [[nodiscard]] Expected<accounting::Event> opened(accounting::SegmentKind kind);
  [[nodiscard]] Expected<accounting::Event> described();
  [[nodiscard]] Expected<accounting::Event> other();
  // The event of a segment in the present row, except its nodes.
  template <typename Fact>
  [[nodiscard]] Expected<Fact> of_segment(accounting::SegmentKind kind);
  // The record whose columns are those of the statement's present row.
  template <typename Record>
  [[nodiscard]] Expected<Record> whole_row(const Statement& row);
  template <Role role, typename Value>
  [[nodiscard]] Expected<void> take(const Statement& row, int column, std::string_view name, Value& value);
  [[nodiscard]] Expected<const KnownText*> interned(std::int64_t number);

  Selects selects_;
  std::vector<std::string_view> columns_;  // of the members of segments' events
  std::unordered_map<std::int64_t, KnownText> interned_;
  bool out_of_range_ = false;  // of the event that is being read
};

}  // namespace shapley::ledger
