#include "ledger/encoding/event_store.hpp"

#include <type_traits>
#include <variant>

#include "ledger/encoding/event_columns.hpp"
#include "ledger/encoding/event_json.hpp"
#include "ledger/file/typed_rows.hpp"

namespace shapley::ledger {

namespace {

using accounting::Resource;

// Of an INSERT into event_rows, before the members of the event.
constexpr int k_parameters_of_row = 5;

// More than any cluster has organizations, accounts and nodes. A lookup of a further text costs a microsecond.
constexpr std::size_t k_known_texts = 10'000;

}  // namespace

InternedText interned_text(const std::string& text) {
  return {encode(text), text};
}

InternedText interned_text(const std::vector<Resource>& gres) {
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

Expected<InternedTexts> InternedTexts::create(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement find, database.prepare("SELECT word FROM main.words WHERE json = ?1"));
  SHAPLEY_TRY_ASSIGN(Statement insert, database.prepare("INSERT INTO main.words(json, text) VALUES (?1, ?2)"));
  return InternedTexts(std::move(find), std::move(insert));
}

Expected<std::optional<std::int64_t>> InternedTexts::stored(const std::string& json) {
  auto found = find_.bind(1, json).step();
  std::optional<std::int64_t> number;
  if (found && *found) number = find_.integer(0);
  find_.reset();
  if (!found) return tl::unexpected<Error>(std::move(found).error());
  return number;
}

Expected<std::int64_t> InternedTexts::number_of(const InternedText& text) {
  if (const auto known = known_.find(text.json); known != known_.end()) return known->second;
  SHAPLEY_TRY_ASSIGN(std::optional<std::int64_t> number, stored(text.json));
  if (!number) {
    SHAPLEY_TRY(insert_.bind(1, text.json).bind(2, text.text).run());
    SHAPLEY_TRY_ASSIGN(number, stored(text.json));
  }
  if (!number) return fail(Errc::corrupt, "the table words does not keep what is stored in it");
  if (known_.size() >= k_known_texts) known_.clear();
  known_.emplace(text.json, *number);
  return *number;
}

namespace {

using accounting::Event;
using accounting::JobDescribed;
using accounting::SegmentClosed;
using accounting::SegmentKey;
using accounting::SegmentOpened;
using accounting::SegmentRetracted;

Statement& bind_row(Statement& statement, const EventRow& row, const Digest& hash, std::int64_t kind) {
  return statement.bind(1, row.sequence)
      .bind(2, row.received)
      .bind(3, row.at)
      .bind_blob(4, hash)
      .bind(k_parameters_of_row, kind);
}

// An INSERT of these columns, the parameters in their order.
Expected<Statement> insert_into(const Database& database, std::string_view table,
                                const std::vector<std::string_view>& columns) {
  std::string values;
  for (std::size_t i = 1; i <= columns.size(); ++i) values += (i == 1 ? "?" : ", ?") + std::to_string(i);
  return database.prepare("INSERT INTO main." + std::string(table) + "(" + listed_columns(columns) + ") VALUES (" +
                          values + ")");
}

// A row of event_rows with these columns beside those of bind_row().
Expected<Statement> insert_row(const Database& database, const std::vector<std::string_view>& members) {
  std::vector<std::string_view> columns{"seq", "received", "at", "hash", "kind"};
  columns.insert(columns.end(), members.begin(), members.end());
  return insert_into(database, "event_rows", columns);
}

// The number in a column of the row that the bound statement finds; nullopt for NULL and for no row.
Expected<std::optional<std::int64_t>> number_in(Statement& bound, int column) {
  auto found = bound.step();
  std::optional<std::int64_t> number;
  if (found && *found && !bound.is_null(column)) number = bound.integer(column);
  bound.reset();
  if (!found) return tl::unexpected<Error>(std::move(found).error());
  return number;
}

}  // namespace

std::string listed_columns(const std::vector<std::string_view>& names) {
  std::string list;
  for (const std::string_view name : names) list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

std::string with_kinds(std::string_view sql) {
  using Named = std::pair<std::string_view, std::int64_t>;
  std::string text(sql);
  for (const auto& [name, number] :
       {Named{":text", RowKind::k_text}, Named{":described", RowKind::k_described}, Named{":opened", RowKind::k_opened},
        Named{":closed", RowKind::k_closed}, Named{":retracted", RowKind::k_retracted},
        Named{":run", number_of(accounting::SegmentKind::run)},
        Named{":wait", number_of(accounting::SegmentKind::wait)}}) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
      text.replace(at, name.size(), std::to_string(number));
    }
  }
  return text;
}

Statement& bind_key(Statement& statement, int first, const SegmentKey& key) {
  return statement.bind(first, std::int64_t{key.job.value})
      .bind(first + 1, key.anchor.value)
      .bind(first + 2, std::int64_t{key.ordinal});
}

Expected<EventStore> EventStore::create(const Database& database) {
  SHAPLEY_TRY_ASSIGN(InternedTexts texts, InternedTexts::create(database));
  SHAPLEY_TRY_ASSIGN(Rows rows, prepare_rows(database));
  SHAPLEY_TRY_ASSIGN(Details details, prepare_details(database));
  SHAPLEY_TRY_ASSIGN(Lookups lookups, prepare_lookups(database));
  return EventStore(std::move(texts), std::move(rows), std::move(details), std::move(lookups));
}

Expected<EventStore::Rows> EventStore::prepare_rows(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement described, insert_row(database, {"job"}));
  SHAPLEY_TRY_ASSIGN(Statement opened, insert_row(database, column_names<SegmentOpened>()));
  SHAPLEY_TRY_ASSIGN(Statement closed, insert_row(database, column_names<SegmentClosed>()));
  SHAPLEY_TRY_ASSIGN(Statement retracted, insert_row(database, column_names<SegmentRetracted>()));
  SHAPLEY_TRY_ASSIGN(Statement other, insert_row(database, {}));
  return Rows{std::move(described), std::move(opened), std::move(closed), std::move(retracted), std::move(other)};
}

Expected<EventStore::Details> EventStore::prepare_details(const Database& database) {
  std::vector<std::string_view> of_job{"seq"};
  for (const std::string_view name : column_names<JobDescribed>()) of_job.push_back(name);
  std::vector<std::string_view> of_node{"seq", "position"};
  for (const std::string_view name : column_names<accounting::NodeShare>()) of_node.push_back(name);
  SHAPLEY_TRY_ASSIGN(Statement job, insert_into(database, "event_jobs", of_job));
  SHAPLEY_TRY_ASSIGN(Statement node, insert_into(database, "event_nodes", of_node));
  SHAPLEY_TRY_ASSIGN(Statement text, insert_into(database, "event_texts", {"seq", "kind", "key", "payload"}));
  return Details{std::move(job), std::move(node), std::move(text)};
}

Expected<EventStore::Lookups> EventStore::prepare_lookups(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement segment,
                     database.prepare("SELECT opened, closed, retracted FROM main.segment_events "
                                      "WHERE kind = ?1 AND job = ?2 AND anchor = ?3 AND ordinal = ?4"));
  SHAPLEY_TRY_ASSIGN(Statement job, database.prepare("SELECT seq FROM main.event_jobs WHERE job = ?1 AND submit = ?2"));
  SHAPLEY_TRY_ASSIGN(Statement text, database.prepare("SELECT seq FROM main.event_texts WHERE key = ?1"));
  SHAPLEY_TRY_ASSIGN(Statement payload, database.prepare("SELECT payload FROM main.events WHERE seq = ?1"));
  return Lookups{std::move(segment), std::move(job), std::move(text), std::move(payload)};
}

Expected<std::optional<std::int64_t>> EventStore::find(const Event& event) {
  const auto segment = [this](const SegmentKey& key, int column) {
    return number_in(bind_key(lookups_.segment.bind(1, number_of(key.kind)), 2, key), column);
  };
  if (const auto* e = std::get_if<SegmentOpened>(&event)) return segment(e->key, 0);
  if (const auto* e = std::get_if<SegmentClosed>(&event)) return segment(e->key, 1);
  if (const auto* e = std::get_if<SegmentRetracted>(&event)) return segment(e->key, 2);
  if (const auto* e = std::get_if<JobDescribed>(&event)) {
    return number_in(lookups_.job.bind(1, std::int64_t{e->job.value}).bind(2, e->submit.value), 0);
  }
  const std::string key = accounting::event_key(event);
  return number_in(lookups_.text.bind(1, key), 0);
}

Expected<std::string> EventStore::payload_of(std::int64_t sequence) {
  auto found = lookups_.payload.bind(1, sequence).step();
  std::string payload(found && *found ? lookups_.payload.text(0) : std::string_view());
  lookups_.payload.reset();
  if (!found) return tl::unexpected<Error>(std::move(found).error());
  return payload;
}

Expected<void> EventStore::insert(const Event& event, const EventRow& row, const Digest& hash) {
  return std::visit([&](const auto& e) { return put(e, row, hash); }, event);
}

Expected<void> EventStore::bind_interned(Statement& statement, int parameter, const InternedText& text) {
  SHAPLEY_TRY_ASSIGN(const std::int64_t number, interned_.number_of(text));
  statement.bind(parameter, number);
  return {};
}

template <typename Value>
Expected<void> EventStore::bind_value(Statement& statement, int parameter, const Value& value, bool may_be_plain) {
  if constexpr (std::is_same_v<Value, std::string>) {
    const InternedText text = interned_text(value);
    // JSON adds two quotation marks and nothing else, or it writes the text in another way.
    if (!may_be_plain || text.json.size() != value.size() + 2) return bind_interned(statement, parameter, text);
    statement.bind(parameter, value);
  } else if constexpr (std::is_same_v<Value, std::vector<Resource>>) {
    return bind_interned(statement, parameter, interned_text(value));
  } else if constexpr (std::is_enum_v<Value>) {
    return bind_interned(statement, parameter, interned_text(std::string(accounting::name_of(value))));
  } else if constexpr (std::is_integral_v<Value>) {
    statement.bind(parameter, std::int64_t{value});
  } else {
    statement.bind(parameter, std::int64_t{value.value});
  }
  return {};
}

template <typename Record>
Expected<void> EventStore::bind_columns(Statement& statement, int parameter, const Record& record) {
  Expected<void> bound;
  for_each_column(record, [&]<typename Value>(std::string_view name, const Value& value, auto role) {
    if (!bound) return;
    if constexpr (k_is_optional<Value>) {
      if (value) bound = bind_value(statement, parameter, *value, false);
      if (!value) statement.bind_null(parameter);
    } else if (is_null_for_default<decltype(role)::value>(name) && value == Value{}) {
      statement.bind_null(parameter);
    } else {
      bound = bind_value(statement, parameter, value, may_be_plain_text(name));
    }
    ++parameter;
  });
  return bound;
}

Expected<void> EventStore::put(const JobDescribed& e, const EventRow& row, const Digest& hash) {
  SHAPLEY_TRY(bind_columns(details_.job.bind(1, row.sequence), 2, e));
  SHAPLEY_TRY(details_.job.run());
  return bind_row(rows_.described, row, hash, RowKind::k_described)
      .bind(k_parameters_of_row + 1, std::int64_t{e.job.value})
      .run();
}

Expected<void> EventStore::put(const SegmentOpened& e, const EventRow& row, const Digest& hash) {
  SHAPLEY_TRY(put_segment(rows_.opened, RowKind::k_opened, e, row, hash));
  std::int64_t position = 0;
  for (const accounting::NodeShare& share : e.nodes) {
    SHAPLEY_TRY(bind_columns(details_.node.bind(1, row.sequence).bind(2, position++), 3, share));
    SHAPLEY_TRY(details_.node.run());
  }
  return {};
}

Expected<void> EventStore::put(const SegmentClosed& e, const EventRow& row, const Digest& hash) {
  return put_segment(rows_.closed, RowKind::k_closed, e, row, hash);
}

Expected<void> EventStore::put(const SegmentRetracted& e, const EventRow& row, const Digest& hash) {
  return put_segment(rows_.retracted, RowKind::k_retracted, e, row, hash);
}

template <typename Fact>
Expected<void> EventStore::put_segment(Statement& statement, std::int64_t kind_of_run, const Fact& e,
                                       const EventRow& row, const Digest& hash) {
  bind_row(statement, row, hash, kind_of_run + number_of(e.key.kind));
  SHAPLEY_TRY(bind_columns(statement, k_parameters_of_row + 1, e));
  return statement.run();
}

template <typename Fact>
Expected<void> EventStore::put(const Fact& /*e*/, const EventRow& row, const Digest& hash) {
  SHAPLEY_TRY(details_.text.bind(1, row.sequence).bind(2, row.kind).bind(3, row.key).bind(4, row.payload).run());
  return bind_row(rows_.other, row, hash, RowKind::k_text).run();
}

}  // namespace shapley::ledger
