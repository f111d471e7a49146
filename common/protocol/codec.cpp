#include "protocol/codec.hpp"

#include <algorithm>
#include <exception>
#include <tuple>
#include <type_traits>
#include <vector>

#include <msgpack.hpp>

namespace shapley::protocol {

namespace {

// The only list of which members are sent, in which order, for packing and unpacking. New members go to the end.
auto members(Hello& m) {
  return std::tie(m.version, m.role, m.program, m.cluster, m.slurm_version, m.instance, m.min_job_age_s, m.interval_ms,
                  m.backlog, m.dropped_backlogs, m.on_behalf_of, m.observing_since, m.observed_before,
                  m.controller_ran_at, m.dropped, m.sign_of_life_s, m.state_location, m.state_location_id, m.ledger);
}
auto members(Welcome& m) {
  return std::tie(m.version, m.program, m.act, m.strict, m.weight, m.stale_after_s, m.acknowledged);
}
auto members(Refused& m) {
  return std::tie(m.reason);
}
auto members(Tres& m) {
  return std::tie(m.name, m.count);
}
auto members(NodeHolding& m) {
  return std::tie(m.node, m.cpus, m.memory, m.gres);
}
auto members(JobUpdate& m) {
  return std::tie(m.job_id, m.array_job_id, m.array_task_id, m.pending_tasks, m.het_job_id, m.restart_count, m.state,
                  m.completing, m.slurm_state, m.wait, m.user_id, m.group_id, m.account, m.account_ancestors,
                  m.partition, m.qos, m.name, m.wckey, m.submit_time, m.eligible_time, m.start_time, m.end_time,
                  m.suspend_time, m.pre_suspend_run_s, m.total_suspended_s, m.resize_time, m.requested_cpus, m.nodes,
                  m.tres, m.depends_on, m.time_limit_s, m.requested_nodes, m.requested_memory, m.exclusive,
                  m.requested_gres, m.required_nodes, m.excluded_nodes, m.features, m.reservation);
}
auto members(NodeRecord& m) {
  return std::tie(m.name, m.cpus, m.usable, m.tres, m.memory, m.gres, m.partitions, m.features, m.reservations,
                  m.allocation_unit);
}
auto members(PrivilegedUser& m) {
  return std::tie(m.user_id, m.is_operator, m.accounts);
}
auto members(Privacy& m) {
  return std::tie(m.jobs, m.usage, m.users);
}
auto members(SnapshotBegin& m) {
  return std::tie(m.sequence, m.observed_at);
}
auto members(Observations& m) {
  return std::tie(m.sequence, m.observed_at, m.jobs, m.nodes, m.gone, m.gone_nodes, m.runs_only, m.privacy);
}
auto members(SnapshotEnd& m) {
  return std::tie(m.sequence, m.observed_at);
}
auto members(Ack& m) {
  return std::tie(m.sequence);
}
auto members(Wide& m) {
  return std::tie(m.high, m.low);
}
auto members(Braking& m) {
  return std::tie(m.balance, m.work, m.doubled_turn);
}
auto members(Ranks& m) {
  return std::tie(m.generation, m.computed_at, m.organizations, m.leads, m.lacking, m.returning, m.braking, m.residual);
}
auto members(JobLevel& m) {
  return std::tie(m.job_id, m.level);
}
auto members(Levels& m) {
  return std::tie(m.generation, m.computed_at, m.jobs);
}
auto members(Rule& m) {
  return std::tie(m.organization, m.kind, m.name, m.id);
}
auto members(Weight& m) {
  return std::tie(m.name, m.weight);
}
auto members(ChargeRule& m) {
  return std::tie(m.charge, m.weights, m.node_weights);
}
auto members(OwnerPart& m) {
  return std::tie(m.organization, m.parts_per_million);
}
auto members(OwnedNodes& m) {
  return std::tie(m.nodes, m.owners);
}
auto members(Rules& m) {
  return std::tie(m.rules, m.charge, m.owners);
}
auto members(Query& m) {
  return std::tie(m.id, m.json);
}
auto members(Reply& m) {
  return std::tie(m.id, m.json);
}

// The largest legal value of each enumeration; anything above comes from a broken or newer peer.
constexpr std::uint8_t last_of(Role) {
  return static_cast<std::uint8_t>(Role::reader);
}
constexpr std::uint8_t last_of(JobState) {
  return static_cast<std::uint8_t>(JobState::ended);
}
constexpr std::uint8_t last_of(WaitReason) {
  return static_cast<std::uint8_t>(WaitReason::other);
}
constexpr std::uint8_t last_of(Charge) {
  return static_cast<std::uint8_t>(Charge::billing);
}
constexpr std::uint8_t last_of(RuleKind) {
  return static_cast<std::uint8_t>(RuleKind::group);
}

using Packer = msgpack::packer<msgpack::sbuffer>;

template <typename T>
concept Plain = std::is_integral_v<T> || std::is_same_v<T, std::string>;

// A struct of messages.hpp: whatever has a list of members above.
template <typename T>
concept Record = requires(T& record) {
  members(record);
};

template <Plain T>
void pack_value(Packer& packer, const T& value) {
  packer.pack(value);
}
template <typename T>
requires std::is_enum_v<T>
void pack_value(Packer& packer, T value) {
  packer.pack(static_cast<std::uint8_t>(value));
}
template <typename T>
void pack_value(Packer& packer, const std::vector<T>& values);
template <Record T>
void pack_value(Packer& packer, const T& record) {
  // members() ties mutable references so that one list serves both directions; packing only reads them.
  const auto tied = members(const_cast<T&>(record));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  packer.pack_array(static_cast<std::uint32_t>(std::tuple_size_v<std::remove_const_t<decltype(tied)>>));
  std::apply([&](const auto&... member) { (pack_value(packer, member), ...); }, tied);
}
template <typename T>
void pack_value(Packer& packer, const std::vector<T>& values) {
  packer.pack_array(static_cast<std::uint32_t>(values.size()));
  for (const T& value : values) pack_value(packer, value);
}

// A list of empty records costs the sender one byte each and us hundreds. Every member of a complete record takes at
// least one byte, so what a correct peer sends never unpacks to more than k_max_expansion bytes per byte (an empty
// std::string is the worst case); a body that would is refused before its memory is allocated. Small bodies are not
// checked.
constexpr std::size_t k_max_expansion = 32;
constexpr std::size_t k_free_bytes = 64U << 10U;

// Lists of any kind are shorter than this; slurmctld itself numbers fewer jobs and nodes.
constexpr std::size_t k_max_list = 1U << 20U;

// Unpacks values and counts the memory of their lists. Throws msgpack's exceptions; decode_body is the only user and
// turns them into errors.
class Unpacker {
 public:
  explicit Unpacker(std::size_t body_bytes) : budget_(k_free_bytes + k_max_expansion * body_bytes) {}

  template <Plain T>
  void unpack(const msgpack::object& object, T& value) {
    value = object.as<T>();
  }

  template <typename T>
  requires std::is_enum_v<T>
  void unpack(const msgpack::object& object, T& value) {
    const auto number = object.as<std::uint8_t>();
    if (number > last_of(T{})) throw msgpack::type_error();
    value = static_cast<T>(number);
  }

  template <Record T>
  void unpack(const msgpack::object& object, T& record) {
    const msgpack::object_array& array = array_of(object);
    std::uint32_t next = 0;
    std::apply([&](auto&... member) { ((next < array.size ? unpack(array.ptr[next++], member) : void()), ...); },
               members(record));
  }

  template <typename T>
  void unpack(const msgpack::object& object, std::vector<T>& values) {
    const msgpack::object_array& array = array_of(object);
    const std::size_t bytes = array.size * sizeof(T);
    if (bytes > budget_) throw msgpack::array_size_overflow("list too long for the frame");
    budget_ -= bytes;
    values.resize(array.size);
    for (std::uint32_t i = 0; i < array.size; ++i) unpack(array.ptr[i], values[i]);
  }

 private:
  static const msgpack::object_array& array_of(const msgpack::object& object) {
    if (object.type != msgpack::type::ARRAY) throw msgpack::type_error();
    return object.via.array;
  }

  std::size_t budget_;
};

template <std::size_t I = 0>
Expected<Message> decode_as(std::size_t type, const msgpack::object& object, Unpacker unpacker) {
  if constexpr (I < std::variant_size_v<Message>) {
    if (type != I) return decode_as<I + 1>(type, object, unpacker);
    std::variant_alternative_t<I, Message> message;
    unpacker.unpack(object, message);
    return Message{std::move(message)};
  } else {
    return fail(Errc::protocol, "protocol: decode: unknown message type " + std::to_string(type));
  }
}

constexpr std::size_t k_length_bytes = 4;

// A deeper nesting than our own (message, jobs, job, nodes, node, gres, pair) is not one of our messages.
constexpr std::size_t k_max_depth = 8;

}  // namespace

std::string encode_frame(const Message& message) {
  msgpack::sbuffer buffer;
  Packer packer(buffer);
  std::visit([&](const auto& m) { pack_value(packer, m); }, message);
  const auto length = static_cast<std::uint32_t>(buffer.size() + 1);
  std::string frame;
  frame.reserve(k_length_bytes + length);
  for (const unsigned shift : {24U, 16U, 8U, 0U}) frame.push_back(static_cast<char>((length >> shift) & 0xffU));
  frame.push_back(static_cast<char>(message.index()));
  frame.append(buffer.data(), buffer.size());
  return frame;
}

Expected<Message> decode_body(std::string_view body) {
  if (body.empty()) return fail(Errc::protocol, "protocol: decode: empty frame");
  const auto type = static_cast<std::size_t>(static_cast<unsigned char>(body.front()));
  body.remove_prefix(1);
  try {
    // No correct count exceeds the bytes that hold what is counted, so the body's own size bounds every allocation.
    const std::size_t bytes = body.size();
    const std::size_t list = std::min(bytes, k_max_list);
    const msgpack::unpack_limit limit(list, list, bytes, bytes, bytes, k_max_depth);
    std::size_t offset = 0;
    const msgpack::object_handle handle = msgpack::unpack(body.data(), body.size(), offset, nullptr, nullptr, limit);
    if (offset != body.size()) {
      return fail(Errc::protocol,
                  "protocol: decode: " + std::to_string(body.size() - offset) + " bytes after the message");
    }
    return decode_as(type, handle.get(), Unpacker(bytes));
  } catch (const std::exception& error) {
    return fail(Errc::protocol,
                "protocol: decode: message type " + std::to_string(type) + ": malformed body (" + error.what() + ")");
  }
}

void FrameReader::feed(std::string_view bytes) {
  // Consumed bytes are dropped only when they dominate, so that feeding is linear in what is fed.
  if (consumed_ > 0 && consumed_ >= buffer_.size() / 2) {
    buffer_.erase(0, consumed_);
    consumed_ = 0;
  }
  buffer_.append(bytes);
}

Expected<std::optional<std::string>> FrameReader::next() {
  const std::size_t available = buffer_.size() - consumed_;
  if (available < k_length_bytes) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < k_length_bytes; ++i) {
    length = (length << 8U) | static_cast<unsigned char>(buffer_[consumed_ + i]);
  }
  if (length > max_) {
    return fail(Errc::limit,
                "protocol: frame of " + std::to_string(length) + " bytes exceeds the limit of " + std::to_string(max_));
  }
  if (available < k_length_bytes + length) return std::nullopt;
  std::string body = buffer_.substr(consumed_ + k_length_bytes, length);
  consumed_ += k_length_bytes + length;
  return body;
}

}  // namespace shapley::protocol
