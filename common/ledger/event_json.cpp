#include "ledger/event_json.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "ledger/text.hpp"

namespace shapley::ledger {

namespace {

using fairness::CapacityChanged;
using fairness::ConfigurationLoaded;
using fairness::Event;
using fairness::JobDescribed;
using fairness::NodeShare;
using fairness::OrganizationsDeclared;
using fairness::OwnerPart;
using fairness::OwnershipSpan;
using fairness::OwnershipStated;
using fairness::PeriodDeclared;
using fairness::SegmentClosed;
using fairness::SegmentKey;
using fairness::SegmentOpened;
using fairness::SegmentRetracted;
using nlohmann::json;

// Utilities are sums of processors * seconds^2: within these bounds they stay under 1e37 (fairness/utility.hpp).
constexpr std::int64_t k_latest_second = std::int64_t{1} << 40;
constexpr std::int64_t k_most_processors = 1'000'000'000'000;  // micro: a million processors in one segment
constexpr std::int64_t k_whole = 1'000'000;                    // parts per million
constexpr std::int64_t k_u32 = std::numeric_limits<std::uint32_t>::max();

// --- encoding ---

json text_of(const std::string& text) {
  return is_utf8(text) ? json(text) : json{{"hex", to_hex(text)}};
}

json json_of(const SegmentKey& key) {
  return {{"kind", fairness::name_of(key.kind)},
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
  object["reason"] = fairness::name_of(e.reason);
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
  return {.kind = in.word<fairness::SegmentKind>("kind", fairness::parse_segment_kind),
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
  e.reason = in.word<fairness::CloseReason>("reason", fairness::parse_close_reason);
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
    if (fairness::kind_of(event) != kind) return read_kind<Index + 1>(kind, in);
    read(in, std::get<Index>(event));
    in.finish();
    return event;
  }
}

// --- well-formedness: each answers with what is wrong, or with nothing ---

std::string second_fault(const char* name, Instant t) {
  if (t.value >= 0 && t.value < k_latest_second) return {};
  return std::string(name) + " " + std::to_string(t.value) + " is outside [0, 2^40) seconds";
}

// Ownership may reach back to the beginning of time.
std::string bound_fault(const char* name, Instant t) {
  if (t >= k_beginning_of_time && t <= k_end_of_time) return {};
  return std::string(name) + " " + std::to_string(t.value) + " is no instant";
}

std::string amount_fault(MicroProcessors q, std::int64_t least) {
  if (q.value >= least && q.value <= k_most_processors) return {};
  return "processors " + std::to_string(q.value) + " is outside [" + std::to_string(least) + ", 1e12] millionths";
}

std::string empty_fault(const char* name, const std::string& text) {
  return text.empty() ? std::string(name) + " is empty" : std::string();
}

// The first fault of several; evaluating them all is cheap enough.
std::string first_of(std::initializer_list<std::string> faults) {
  const auto* found = std::find_if(faults.begin(), faults.end(), [](const auto& fault) { return !fault.empty(); });
  return found == faults.end() ? std::string() : *found;
}

std::string nodes_fault(const SegmentOpened& e) {
  if (e.key.kind == fairness::SegmentKind::wait) return e.nodes.empty() ? "" : "a wait holds no nodes";
  std::int64_t sum = 0;
  const NodeShare* previous = nullptr;
  for (const NodeShare& share : e.nodes) {
    const std::string fault = first_of({empty_fault("node", share.node), amount_fault(share.processors, 1)});
    if (!fault.empty()) return fault;
    if (previous != nullptr && previous->node >= share.node) return "nodes are not ascending by name, each once";
    sum += share.processors.value;
    if (sum > k_most_processors) break;
    previous = &share;
  }
  return sum == e.processors.value ? "" : "processors is not the sum over nodes";
}

std::string fault_of(const SegmentOpened& e) {
  return first_of({second_fault("anchor", e.key.anchor), second_fault("begin", e.begin),
                   empty_fault("organization", e.organization), amount_fault(e.processors, 0), nodes_fault(e)});
}
std::string fault_of(const SegmentClosed& e) {
  return first_of({second_fault("anchor", e.key.anchor), second_fault("end", e.end)});
}
std::string fault_of(const SegmentRetracted& e) {
  return first_of({second_fault("anchor", e.key.anchor), second_fault("at", e.at)});
}

std::string fault_of(const OrganizationsDeclared& e) {
  std::set<std::string_view> seen;
  for (const std::string& name : e.names) {
    if (name.empty()) return "names has an empty name";
    if (!seen.insert(name).second) return "names has " + name + " twice";
  }
  return bound_fault("at", e.at);
}

std::string fault_of(const OwnershipSpan& span) {
  std::int64_t sum = 0;
  std::set<std::string_view> seen;
  for (const OwnerPart& part : span.owners) {
    if (part.organization.empty()) return "owners has an empty name";
    if (!seen.insert(part.organization).second) return "owners has " + part.organization + " twice";
    if (part.parts_per_million <= 0 || part.parts_per_million > k_whole) return "parts_per_million is outside (0, 1e6]";
    sum += part.parts_per_million;
    if (sum > k_whole) return "owners have more than the whole node";
  }
  return bound_fault("from", span.from);
}

std::string fault_of(const OwnershipStated& e) {
  const OwnershipSpan* previous = nullptr;
  for (const OwnershipSpan& span : e.spans) {
    if (std::string fault = fault_of(span); !fault.empty()) return fault;
    if (previous != nullptr && previous->from >= span.from) return "spans are not ascending by from";
    previous = &span;
  }
  return first_of({empty_fault("node", e.node), bound_fault("effective", e.effective)});
}

std::string fault_of(const CapacityChanged& e) {
  return first_of({empty_fault("node", e.node), second_fault("at", e.at), amount_fault(e.processors, 0)});
}
std::string fault_of(const PeriodDeclared& e) {
  return bound_fault("at", e.at);
}
std::string fault_of(const JobDescribed& e) {
  return second_fault("submit", e.submit);
}
std::string fault_of(const ConfigurationLoaded& e) {
  return bound_fault("at", e.at);
}

}  // namespace

Expected<void> well_formed(const Event& event) {
  std::string fault = std::visit([](const auto& e) { return fault_of(e); }, event);
  if (fault.empty()) return {};
  return fail(Errc::invalid_argument, "event " + fairness::event_key(event) + ": " + fault);
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
  if (fault.empty()) fault = std::visit([](const auto& e) { return fault_of(e); }, *event);
  if (!fault.empty()) return fail(Errc::corrupt, std::string(kind) + ": " + fault);
  return *std::move(event);
}

}  // namespace shapley::ledger
