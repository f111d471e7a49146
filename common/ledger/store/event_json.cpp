#include "ledger/store/event_json.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "accounting/events/event_check.hpp"
#include "ledger/store/text.hpp"

namespace shapley::ledger {

namespace {

using accounting::CapacityChanged;
using accounting::ConfigurationLoaded;
using accounting::Event;
using accounting::JobDescribed;
using accounting::NodeShare;
using accounting::OrganizationsDeclared;
using accounting::OwnerPart;
using accounting::OwnershipSpan;
using accounting::OwnershipStated;
using accounting::PeriodDeclared;
using accounting::SegmentClosed;
using accounting::SegmentKey;
using accounting::SegmentOpened;
using accounting::SegmentRetracted;
using nlohmann::json;

constexpr std::int64_t k_u32 = std::numeric_limits<std::uint32_t>::max();

// --- encoding ---

json text_of(const std::string& text) {
  return is_utf8(text) ? json(text) : json{{"hex", to_hex(text)}};
}

json json_of(const SegmentKey& key) {
  return {{"kind", accounting::name_of(key.kind)},
          {"job", key.job.value},
          {"anchor", key.anchor.value},
          {"ordinal", key.ordinal}};
}

json json_of(const SegmentOpened& e) {
  json nodes = json::array();
  for (const NodeShare& share : e.nodes) {
    nodes.push_back({{"node", text_of(share.node)}, {"processors", share.processors.value}});
  }
  json object = json_of(e.key);
  object["organization"] = text_of(e.organization);
  object["begin"] = e.begin.value;
  object["processors"] = e.processors.value;
  object["nodes"] = std::move(nodes);
  return object;
}

json json_of(const SegmentClosed& e) {
  json object = json_of(e.key);
  object["end"] = e.end.value;
  object["reason"] = accounting::name_of(e.reason);
  object["job_state"] = text_of(e.job_state);
  return object;
}

json json_of(const SegmentRetracted& e) {
  json object = json_of(e.key);
  object["at"] = e.at.value;
  return object;
}

json json_of(const OrganizationsDeclared& e) {
  json names = json::array();
  for (const std::string& name : e.names) names.push_back(text_of(name));
  return {{"at", e.at.value}, {"names", std::move(names)}};
}

json json_of(const OwnershipStated& e) {
  json spans = json::array();
  for (const OwnershipSpan& span : e.spans) {
    json owners = json::array();
    for (const OwnerPart& part : span.owners) {
      owners.push_back({{"organization", text_of(part.organization)}, {"parts_per_million", part.parts_per_million}});
    }
    spans.push_back({{"from", span.from.value}, {"owners", std::move(owners)}});
  }
  return {{"node", text_of(e.node)}, {"effective", e.effective.value}, {"spans", std::move(spans)}};
}

json json_of(const CapacityChanged& e) {
  return {{"node", text_of(e.node)}, {"at", e.at.value}, {"ordinal", e.ordinal}, {"processors", e.processors.value}};
}

json json_of(const PeriodDeclared& e) {
  return {{"at", e.at.value}, {"period", name_of(e.period)}};
}

json json_of(const JobDescribed& e) {
  return {{"job", e.job.value},
          {"submit", e.submit.value},
          {"organization", text_of(e.organization)},
          {"array_job", e.array_job},
          {"array_task", e.array_task ? json(*e.array_task) : json(nullptr)},
          {"het_job", e.het_job},
          {"user_id", e.user_id},
          {"group_id", e.group_id},
          {"account", text_of(e.account)},
          {"partition", text_of(e.partition)},
          {"qos", text_of(e.qos)},
          {"name", text_of(e.name)},
          {"wckey", text_of(e.wckey)}};
}

json json_of(const ConfigurationLoaded& e) {
  return {{"at", e.at.value}, {"text", text_of(e.text)}};
}

// --- decoding ---

// Reads the members of one object and remembers the first thing that is wrong with it.
class Reader {
 public:
  Reader(const json& object, std::string& fault) : object_(object), fault_(fault) {
    if (!object.is_object()) complain("not an object");
  }

  std::int64_t integer(const char* name, std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
    const json* member = find(name);
    if (member == nullptr) return 0;
    // A value above the signed range would wrap in get<int64_t>.
    const bool fits =
        member->is_number_integer() &&
        !(member->is_number_unsigned() &&
          member->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
    if (!fits || member->get<std::int64_t>() < least || member->get<std::int64_t>() > most) {
      complain(std::string(name) + " is no integer in range");
      return 0;
    }
    return member->get<std::int64_t>();
  }

  std::uint32_t u32(const char* name) { return static_cast<std::uint32_t>(integer(name, 0, k_u32)); }

  std::optional<std::uint32_t> optional_u32(const char* name) {
    if (object_.is_object() && object_.contains(name) && object_[name].is_null()) {
      ++read_;
      return std::nullopt;
    }
    return u32(name);
  }

  std::string text(const char* name) {
    const json* member = find(name);
    return member == nullptr ? std::string() : text_from(*member, name);
  }

  // A string, or {"hex": ...} for bytes that are no UTF-8 and only for them: one text must have one encoding.
  std::string text_from(const json& value, const char* name) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_object() && value.size() == 1 && value.contains("hex") && value["hex"].is_string()) {
      const auto bytes = from_hex(value["hex"].get_ref<const std::string&>());
      if (bytes && !is_utf8(*bytes)) return *bytes;
    }
    complain(std::string(name) + " is no text");
    return {};
  }

  const json& array(const char* name) {
    static const json empty = json::array();
    const json* member = find(name);
    if (member == nullptr) return empty;
    if (member->is_array()) return *member;
    complain(std::string(name) + " is no array");
    return empty;
  }

  // A word of a fixed vocabulary.
  template <typename Word, typename Parse>
  Word word(const char* name, Parse parse) {
    const auto value = parse(text(name));
    if (!value) complain(std::string(name) + " is no known word");
    return value.value_or(Word{});
  }

  Reader inner(const json& object) { return {object, fault_}; }

  void finish() {
    if (object_.is_object() && read_ != object_.size()) complain("unknown members");
  }

 private:
  const json* find(const char* name) {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    if (found == object_.end()) {
      complain(std::string(name) + " is missing");
      return nullptr;
    }
    ++read_;
    return &*found;
  }

  void complain(std::string fault) {
    if (fault_.empty()) fault_ = std::move(fault);
  }

  const json& object_;
  std::string& fault_;
  std::size_t read_ = 0;
};

SegmentKey key_from(Reader& in) {
  return {.kind = in.word<accounting::SegmentKind>("kind", accounting::parse_segment_kind),
          .job = {in.u32("job")},
          .anchor = {in.integer("anchor")},
          .ordinal = in.u32("ordinal")};
}

void read(Reader& in, SegmentOpened& e) {
  e.key = key_from(in);
  e.organization = in.text("organization");
  e.begin = {in.integer("begin")};
  e.processors = {in.integer("processors")};
  for (const json& item : in.array("nodes")) {
    Reader share = in.inner(item);
    e.nodes.push_back({.node = share.text("node"), .processors = {share.integer("processors")}});
    share.finish();
  }
}

void read(Reader& in, SegmentClosed& e) {
  e.key = key_from(in);
  e.end = {in.integer("end")};
  e.reason = in.word<accounting::CloseReason>("reason", accounting::parse_close_reason);
  e.job_state = in.text("job_state");
}

void read(Reader& in, SegmentRetracted& e) {
  e.key = key_from(in);
  e.at = {in.integer("at")};
}

void read(Reader& in, OrganizationsDeclared& e) {
  e.at = {in.integer("at")};
  for (const json& name : in.array("names")) e.names.push_back(in.text_from(name, "names"));
}

void read(Reader& in, OwnershipStated& e) {
  e.node = in.text("node");
  e.effective = {in.integer("effective")};
  for (const json& item : in.array("spans")) {
    Reader span_in = in.inner(item);
    OwnershipSpan span{.from = {span_in.integer("from")}, .owners = {}};
    for (const json& owner : span_in.array("owners")) {
      Reader part = in.inner(owner);
      span.owners.push_back(
          {.organization = part.text("organization"), .parts_per_million = part.integer("parts_per_million")});
      part.finish();
    }
    span_in.finish();
    e.spans.push_back(std::move(span));
  }
}

void read(Reader& in, CapacityChanged& e) {
  e.node = in.text("node");
  e.at = {in.integer("at")};
  e.ordinal = in.u32("ordinal");
  e.processors = {in.integer("processors")};
}

void read(Reader& in, PeriodDeclared& e) {
  e.at = {in.integer("at")};
  e.period = in.word<Period>("period", parse_period);
}

void read(Reader& in, JobDescribed& e) {
  e.job = {in.u32("job")};
  e.submit = {in.integer("submit")};
  e.organization = in.text("organization");
  e.array_job = in.u32("array_job");
  e.array_task = in.optional_u32("array_task");
  e.het_job = in.u32("het_job");
  e.user_id = in.u32("user_id");
  e.group_id = in.u32("group_id");
  e.account = in.text("account");
  e.partition = in.text("partition");
  e.qos = in.text("qos");
  e.name = in.text("name");
  e.wckey = in.text("wckey");
}

void read(Reader& in, ConfigurationLoaded& e) {
  e.at = {in.integer("at")};
  e.text = in.text("text");
}

// Finds the alternative whose kind has this name and reads it; nullopt for an unknown kind.
template <std::size_t Index = 0>
std::optional<Event> read_kind(std::string_view kind, Reader& in) {
  if constexpr (Index == std::variant_size_v<Event>) {
    return std::nullopt;
  } else {
    Event event(std::in_place_index<Index>);
    if (accounting::kind_of(event) != kind) return read_kind<Index + 1>(kind, in);
    read(in, std::get<Index>(event));
    in.finish();
    return event;
  }
}

}  // namespace

Expected<void> well_formed(const Event& event) {
  return std::visit([](const auto& e) { return accounting::check(e); }, event);
}

std::string encode(const Event& event) {
  return std::visit([](const auto& e) { return json_of(e).dump(); }, event);
}

Expected<Event> decode(std::string_view kind, std::string_view payload) {
  const json object = json::parse(payload, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) return fail(Errc::corrupt, "the payload is no JSON");
  std::string fault;
  Reader in(object, fault);
  std::optional<Event> event = read_kind(kind, in);
  if (!event) return fail(Errc::corrupt, "unknown kind '" + std::string(kind) + "'");
  if (!fault.empty()) return fail(Errc::corrupt, std::string(kind) + ": " + fault);
  if (auto verdict = well_formed(*event); !verdict) return fail(Errc::corrupt, std::move(verdict).error().what);
  return *std::move(event);
}

}  // namespace shapley::ledger
