#include "ledger/encoding/event_store.hpp"

#include <variant>

#include "ledger/encoding/event_json.hpp"

namespace shapley::ledger {

namespace {

using accounting::Resource;

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

// Sequence, received, at, hash.
Statement& bind_row(Statement& statement, const EventRow& row, const Digest& hash) {
  return statement.bind(1, row.sequence).bind(2, row.received).bind(3, row.at).bind_blob(4, hash);
}

Statement& bind_segment(Statement& statement, std::int64_t kind_of_run, const SegmentKey& key) {
  return bind_key(statement.bind(5, kind_of_run + number_of(key.kind)), 6, key);
}

// 0 means "none", which is stored as NULL.
Statement& bind_unless_zero(Statement& statement, int parameter, std::int64_t value) {
  return value == 0 ? statement.bind_null(parameter) : statement.bind(parameter, value);
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
  const auto prepare = [&](const std::string& columns, const std::string& values) {
    return database.prepare("INSERT INTO main.event_rows(seq, received, at, hash, kind" + columns +
                            ") VALUES (?1, ?2, ?3, ?4, " + values + ")");
  };
  SHAPLEY_TRY_ASSIGN(Statement other, prepare("", "0"));
  SHAPLEY_TRY_ASSIGN(Statement described, prepare(", job", "1, ?5"));
  SHAPLEY_TRY_ASSIGN(Statement opened, prepare(", job, anchor, ordinal, organization, processors, placement, released, "
                                               "waited_as",
                                               "?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13"));
  SHAPLEY_TRY_ASSIGN(Statement closed, prepare(", job, anchor, ordinal, reason, job_state", "?5, ?6, ?7, ?8, ?9, ?10"));
  SHAPLEY_TRY_ASSIGN(Statement retracted, prepare(", job, anchor, ordinal", "?5, ?6, ?7, ?8"));
  return Rows{std::move(described), std::move(opened), std::move(closed), std::move(retracted), std::move(other)};
}

Expected<EventStore::Details> EventStore::prepare_details(const Database& database) {
  SHAPLEY_TRY_ASSIGN(
      Statement job,
      database.prepare("INSERT INTO main.event_jobs(job, submit, seq, array_job, array_task, het_job, user_id, "
                       "group_id, organization, account, partition, qos, wckey, name) "
                       "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"));
  SHAPLEY_TRY_ASSIGN(Statement node,
                     database.prepare("INSERT INTO main.event_nodes(seq, position, node, processors, cpus, memory, "
                                      "gres) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"));
  SHAPLEY_TRY_ASSIGN(Statement text, database.prepare("INSERT INTO main.event_texts(seq, kind, key, payload) "
                                                      "VALUES (?1, ?2, ?3, ?4)"));
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

Expected<void> EventStore::bind_interned(Statement& statement, int parameter, const std::string& text) {
  SHAPLEY_TRY_ASSIGN(const std::int64_t number, interned_.number_of(interned_text(text)));
  statement.bind(parameter, number);
  return {};
}

Expected<void> EventStore::put(const JobDescribed& e, const EventRow& row, const Digest& hash) {
  Statement& job = details_.job;
  job.bind(1, std::int64_t{e.job.value}).bind(2, e.submit.value).bind(3, row.sequence);
  bind_unless_zero(job, 4, e.array_job);
  if (e.array_task) {
    job.bind(5, std::int64_t{*e.array_task});
  } else {
    job.bind_null(5);
  }
  bind_unless_zero(job, 6, e.het_job).bind(7, std::int64_t{e.user_id}).bind(8, std::int64_t{e.group_id});
  SHAPLEY_TRY(bind_interned(job, 9, e.organization));
  SHAPLEY_TRY(bind_interned(job, 10, e.account));
  SHAPLEY_TRY(bind_interned(job, 11, e.partition));
  SHAPLEY_TRY(bind_interned(job, 12, e.qos));
  SHAPLEY_TRY(bind_interned(job, 13, e.wckey));
  // JSON adds two quotation marks and nothing else, or it writes the name in another way.
  if (interned_text(e.name).json.size() == e.name.size() + 2) {
    job.bind(14, e.name);
  } else {
    SHAPLEY_TRY(bind_interned(job, 14, e.name));
  }
  SHAPLEY_TRY(job.run());
  return bind_row(rows_.described, row, hash).bind(5, std::int64_t{e.job.value}).run();
}

Expected<void> EventStore::put(const SegmentOpened& e, const EventRow& row, const Digest& hash) {
  SHAPLEY_TRY(bind_interned(bind_segment(bind_row(rows_.opened, row, hash), RowKind::k_opened, e.key), 9, e.organization));
  rows_.opened.bind(10, e.processors.value);
  if (e.placement.empty()) {
    rows_.opened.bind_null(11);
  } else {
    SHAPLEY_TRY(bind_interned(rows_.opened, 11, e.placement));
  }
  if (e.released) {
    rows_.opened.bind(12, e.released->value);
  } else {
    rows_.opened.bind_null(12);
  }
  SHAPLEY_TRY(bind_unless_zero(rows_.opened, 13, e.waited_as.value).run());
  std::int64_t position = 0;
  for (const accounting::NodeShare& share : e.nodes) SHAPLEY_TRY(put_node(share, row.sequence, position++));
  return {};
}

Expected<void> EventStore::put_node(const accounting::NodeShare& share, std::int64_t sequence, std::int64_t position) {
  Statement& node = details_.node;
  SHAPLEY_TRY(bind_interned(node.bind(1, sequence).bind(2, position), 3, share.node));
  bind_unless_zero(node.bind(4, share.processors.value), 5, share.cpus);
  bind_unless_zero(node, 6, share.memory);
  if (share.gres.empty()) {
    node.bind_null(7);
  } else {
    SHAPLEY_TRY_ASSIGN(const std::int64_t number, interned_.number_of(interned_text(share.gres)));
    node.bind(7, number);
  }
  return node.run();
}

Expected<void> EventStore::put(const SegmentClosed& e, const EventRow& row, const Digest& hash) {
  const std::string reason(accounting::name_of(e.reason));
  SHAPLEY_TRY(bind_interned(bind_segment(bind_row(rows_.closed, row, hash), RowKind::k_closed, e.key), 9, reason));
  SHAPLEY_TRY(bind_interned(rows_.closed, 10, e.job_state));
  return rows_.closed.run();
}

Expected<void> EventStore::put(const SegmentRetracted& e, const EventRow& row, const Digest& hash) {
  return bind_segment(bind_row(rows_.retracted, row, hash), RowKind::k_retracted, e.key).run();
}

template <typename Fact>
Expected<void> EventStore::put(const Fact& /*e*/, const EventRow& row, const Digest& hash) {
  SHAPLEY_TRY(details_.text.bind(1, row.sequence).bind(2, row.kind).bind(3, row.key).bind(4, row.payload).run());
  return bind_row(rows_.other, row, hash).run();
}

}  // namespace shapley::ledger
