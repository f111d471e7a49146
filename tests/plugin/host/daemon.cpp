#include "daemon.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <variant>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/support/waiting.hpp"

namespace shapley::host {

namespace {

constexpr int k_turn_ms = 5;  // how soon a change of mood takes effect
constexpr std::array k_organizations{"astro", "bio", "chem"};

void send_bytes(int peer, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void send_message(int peer, const protocol::Message& message) {
  send_bytes(peer, protocol::encode_frame(message));
}

bool readable(int descriptor) {
  pollfd wanted{descriptor, POLLIN, 0};
  return ::poll(&wanted, 1, k_turn_ms) > 0;
}

protocol::Welcome welcome() {
  protocol::Welcome answer;
  answer.program = "restless daemon";
  answer.stale_after_s = 300;
  return answer;
}

protocol::Rules rules() {
  protocol::Rules message;
  for (const char* name : k_organizations) {
    protocol::Rule rule;
    rule.kind = RuleKind::account;
    rule.organization = rule.name = name;
    message.rules.push_back(std::move(rule));
  }
  return message;
}

}  // namespace

Daemon::Daemon(std::string path) : path_(std::move(path)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof address.sun_path) throw std::runtime_error("socket path too long: " + path_);
  std::memcpy(address.sun_path, path_.c_str(), path_.size());
  listener_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_.get(), 8) != 0) {
    throw std::runtime_error("cannot listen on " + path_);
  }
  thread_ = std::thread([this] { run(); });
}

Daemon::~Daemon() {
  stopping_ = true;
  const test::Deadline deadline("the daemon's thread");
  thread_.join();
  ::unlink(path_.c_str());
}

void Daemon::set_mood(Mood mood) {
  mood_ = mood;
  ++epoch_;
}

void Daemon::fix_order(std::vector<std::string> order) {
  const std::lock_guard lock(mutex_);
  order_ = std::move(order);
}

void Daemon::fix_levels(std::vector<protocol::JobLevel> levels) {
  const std::lock_guard lock(mutex_);
  levels_ = std::move(levels);
}

std::optional<protocol::Privacy> Daemon::privacy() const {
  const std::lock_guard lock(mutex_);
  return privacy_;
}

std::map<std::uint32_t, protocol::JobUpdate> Daemon::jobs() const {
  const std::lock_guard lock(mutex_);
  return jobs_;
}

std::map<std::string, protocol::NodeRecord> Daemon::nodes() const {
  const std::lock_guard lock(mutex_);
  return nodes_;
}

void Daemon::run() {
  while (!stopping_) {
    if (readable(listener_.get())) serve(Descriptor(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
  }
}

void Daemon::serve(Descriptor peer) {
  if (peer.get() < 0) return;
  {
    const std::lock_guard lock(mutex_);
    jobs_.clear();
    nodes_.clear();
  }
  snapshot_taken_ = false;
  ++connections_;
  const Mood mood = mood_;
  if (mood == Mood::good || mood == Mood::fickle) {
    converse(peer.get(), mood);
  } else {
    misbehave(peer.get(), mood);
  }
}

void Daemon::converse(int peer, Mood mood) {
  const std::uint64_t epoch = epoch_;
  protocol::FrameReader reader;
  std::array<char, 65536> buffer{};
  int messages = 0;
  while (!over(epoch)) {
    if (readable(peer)) {
      const ssize_t got = ::recv(peer, buffer.data(), buffer.size(), 0);
      if (got <= 0) return;
      reader.feed(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
      while (true) {
        auto body = reader.next();
        if (!body) throw std::runtime_error("the plugin sent no frame: " + body.error().what);
        if (!*body) break;
        auto message = protocol::decode_body(**body);
        if (!message) throw std::runtime_error("the plugin sent no message: " + message.error().what);
        if (!take(peer, *message)) return;
        if (mood == Mood::fickle && ++messages > 4) return;
      }
    }
    send_levels(peer);
    send_ranks(peer);
  }
}

// False: the conversation is over.
bool Daemon::take(int peer, const protocol::Message& message) {
  if (std::holds_alternative<protocol::Hello>(message)) {
    send_message(peer, welcome());
    send_message(peer, rules());
    return true;
  }
  if (const auto* begin = std::get_if<protocol::SnapshotBegin>(&message)) {
    const std::lock_guard lock(mutex_);
    jobs_.clear();
    nodes_.clear();
    send_message(peer, protocol::Ack{begin->sequence});
    return true;
  }
  if (const auto* end = std::get_if<protocol::SnapshotEnd>(&message)) {
    snapshot_taken_ = true;
    send_message(peer, protocol::Ack{end->sequence});
    return true;
  }
  const auto* seen = std::get_if<protocol::Observations>(&message);
  if (seen == nullptr) return false;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& job : seen->jobs) jobs_[job.job_id] = job;
    for (const std::uint32_t id : seen->gone) jobs_.erase(id);
    for (const auto& node : seen->nodes) nodes_[node.name] = node;
    if (!seen->privacy.empty()) privacy_ = seen->privacy.back();
  }
  send_message(peer, protocol::Ack{seen->sequence});
  return true;
}

void Daemon::send_levels(int peer) {
  protocol::Levels levels;
  levels.generation = generation_;
  {
    const std::lock_guard lock(mutex_);
    if (levels_) levels.jobs = *levels_;
    for (const auto& [id, job] : jobs_) {
      const auto level = static_cast<std::uint32_t>((id + generation_) % (protocol::k_max_level + 1));
      if (!levels_ && level > 0) levels.jobs.push_back({id, level});
    }
  }
  send_message(peer, levels);
}

void Daemon::send_ranks(int peer) {
  protocol::Ranks ranks;
  {
    const std::lock_guard lock(mutex_);
    ranks.organizations = order_;
  }
  if (ranks.organizations.empty()) {
    ranks.organizations.assign(k_organizations.begin(), k_organizations.end());
    std::rotate(ranks.organizations.begin(),
                ranks.organizations.begin() + static_cast<std::ptrdiff_t>(generation_ % k_organizations.size()),
                ranks.organizations.end());
  }
  ranks.generation = ++generation_;
  send_message(peer, ranks);
}

void Daemon::misbehave(int peer, Mood mood) {
  const std::uint64_t epoch = epoch_;
  const std::string frame = protocol::encode_frame(welcome());
  switch (mood) {
    case Mood::early_close:
      return;
    case Mood::stuck:
      send_bytes(peer, frame);
      break;
    case Mood::garbage: {
      std::string bytes(5000, '\0');
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 2654435761U >> 13U);
      send_bytes(peer, bytes);
      break;
    }
    case Mood::half_frame:
      send_bytes(peer, std::string_view(frame).substr(0, frame.size() / 2));
      return;
    case Mood::other_version: {
      protocol::Welcome other = welcome();
      other.version = protocol::k_version + 1;
      send_message(peer, other);
      break;
    }
    case Mood::refusing:
      send_message(peer, protocol::Refused{"not today"});
      break;
    case Mood::wrong_message:
      send_message(peer, protocol::SnapshotBegin{1, 1});
      break;
    case Mood::huge_frame:
      send_bytes(peer, std::string("\xff\xff\xff\xff\x01", 5));
      break;
    case Mood::mute:
    case Mood::good:
    case Mood::fickle:
      break;
  }
  // What the plugin sends now is left unread; it hangs up by itself, or bears it.
  while (!over(epoch)) {
    pollfd wanted{peer, POLLRDHUP, 0};
    if (::poll(&wanted, 1, k_turn_ms) > 0) return;
  }
}

}  // namespace shapley::host
