#include "support.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace shapley::client::testing {

namespace {

std::mutex g_lines_mutex;
std::vector<std::string> g_lines;

void record_line(enum shapley_log_level, const char* text) {
  const std::lock_guard lock(g_lines_mutex);
  g_lines.emplace_back(text);
}

// Ends the test at once: nothing after a missed deadline would show more.
[[noreturn]] void give_up(const std::string& what) {
  std::string lines;
  for (const std::string& line : log_lines::all()) lines += "\n  client logged: " + line;
  throw std::runtime_error(what + lines);
}

}  // namespace

FakeDaemon::FakeDaemon(std::string path, Listen when) : path_(std::move(path)) {
  if (when == Listen::now) listen();
}

FakeDaemon::~FakeDaemon() = default;

void FakeDaemon::listen() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.c_str(), path_.size());
  ::unlink(path_.c_str());
  listener_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_.get(), 8) != 0) {
    give_up("FakeDaemon: listen on " + path_ + ": " + std::strerror(errno));
  }
}

void FakeDaemon::die() {
  listener_.reset();
  hang_up();
}

void FakeDaemon::hang_up() {
  peer_.reset();
  reader_ = protocol::FrameReader();
}

void FakeDaemon::accept() {
  hang_up();
  if (!eventually([this] { return is_called(); })) give_up("FakeDaemon: no client connects");
  peer_ = Descriptor(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  timeval timeout{};
  timeout.tv_sec = k_timeout.count();
  ::setsockopt(peer_.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
}

bool FakeDaemon::is_called() const {
  pollfd descriptor{listener_.get(), POLLIN, 0};
  return ::poll(&descriptor, 1, 0) == 1;
}

protocol::Welcome FakeDaemon::default_welcome() {
  return {.program = "shapleyd test", .act = true, .strict = true, .weight = 1000, .stale_after_s = 300};
}

protocol::Hello FakeDaemon::welcome(protocol::Welcome answer) {
  accept();
  auto hello = expect<protocol::Hello>();
  send(answer);
  return hello;
}

void FakeDaemon::send(const protocol::Message& message) {
  send_bytes(protocol::encode_frame(message));
}

void FakeDaemon::send_bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) give_up("FakeDaemon: the client reads nothing");
    if (sent <= 0) return;  // the client hung up; what the test expects next will fail
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool FakeDaemon::readable(const std::function<void()>& idle) {
  return eventually([&] {
    pollfd descriptor{peer_.get(), POLLIN, 0};
    if (::poll(&descriptor, 1, 1) == 1) return true;
    idle();
    return false;
  });
}

protocol::Message FakeDaemon::receive(const std::function<void()>& idle) {
  while (true) {
    auto body = reader_.next();
    if (!body) give_up("FakeDaemon: " + body.error().what);
    if (body->has_value()) {
      auto message = protocol::decode_body(**body);
      if (!message) give_up("FakeDaemon: " + message.error().what);
      return std::move(*message);
    }
    if (!readable(idle)) give_up("FakeDaemon: the client sends nothing");
    std::array<char, 65536> buffer{};
    const ssize_t got = ::recv(peer_.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) give_up("FakeDaemon: the client hung up");
    reader_.feed(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
  }
}

bool FakeDaemon::sees_close() {
  if (!readable()) return false;
  char byte = 0;
  return ::recv(peer_.get(), &byte, 1, 0) <= 0;
}

FakeDaemon::Snapshot FakeDaemon::take_snapshot(const std::function<void()>& idle) {
  Snapshot snapshot;
  bool began = false;
  while (true) {
    protocol::Message message = receive(idle);
    if (const auto* begin = std::get_if<protocol::SnapshotBegin>(&message)) {
      began = true;
      snapshot.sequences.push_back(begin->sequence);
    } else if (const auto* end = std::get_if<protocol::SnapshotEnd>(&message)) {
      EXPECT_TRUE(began) << "a snapshot ends that never began";
      snapshot.sequences.push_back(end->sequence);
      acknowledge(end->sequence);
      return snapshot;
    } else if (auto* changes = std::get_if<protocol::Observations>(&message)) {
      snapshot.sequences.push_back(changes->sequence);
      if (!began) {
        snapshot.before.push_back(std::move(*changes));
      } else {
        for (auto& job : changes->jobs) snapshot.jobs[job.job_id] = std::move(job);
        for (auto& node : changes->nodes) snapshot.nodes[node.name] = std::move(node);
      }
    } else {
      ADD_FAILURE() << "a message of type " << message.index() << " in a snapshot";
    }
    acknowledge(snapshot.sequences.back());
  }
}

void log_lines::clear() {
  const std::lock_guard lock(g_lines_mutex);
  g_lines.clear();
}

std::vector<std::string> log_lines::all() {
  const std::lock_guard lock(g_lines_mutex);
  return g_lines;
}

int log_lines::count(const std::string& part) {
  const std::vector<std::string> lines = all();
  return static_cast<int>(std::count_if(lines.begin(), lines.end(),
                                        [&](const auto& line) { return line.find(part) != std::string::npos; }));
}

std::uint64_t TestJob::fingerprint() const {
  return std::hash<std::string>{}(account) ^ (static_cast<std::uint64_t>(state) << 60U) ^
         static_cast<std::uint64_t>(start_time);
}

ClientTest::ClientTest() {
  log_lines::clear();
  timings.first_backoff = std::chrono::milliseconds(1);
  timings.longest_backoff = std::chrono::milliseconds(20);
  timings.refused_retry = std::chrono::milliseconds(20);
  timings.spool_delay = std::chrono::milliseconds(20);
  timings.answer_timeout = std::chrono::minutes(10);
}

ClientTest::~ClientTest() {
  stop();
}

void ClientTest::start() {
  const shapley_client_options_t options{.socket_path = socket_path.c_str(),
                                         .spool_path = spool_path.c_str(),
                                         .cluster = "tester",
                                         .slurm_version = "22.05.8",
                                         .program = "priority/shapley test",
                                         .interval_ms = 1000,
                                         .min_job_age_s = 300,
                                         .state_saved_at = 17,
                                         .spool_max_bytes = spool_max_bytes,
                                         .log = record_line};
  client = create(options, timings);
  ASSERT_NE(client, nullptr);
}

void ClientTest::stop() {
  const Deadline deadline("shapley_client_destroy()");
  shapley_client_destroy(std::exchange(client, nullptr));
}

int ClientTest::scan(bool complete) {
  int handed_over = 0;
  shapley_client_scan_begin(client, ++now);
  for (std::uint32_t index = 0; index < nodes.size(); ++index) {
    if (!shapley_client_scan_node(client, index, std::hash<std::string>{}(nodes[index]))) continue;
    const shapley_tres_t tres{"cpu", 8};
    const shapley_node_t node{.name = nodes[index].c_str(), .cpus = 8, .usable = true, .tres = &tres, .tres_count = 1};
    shapley_client_scan_node_record(client, index, &node);
    ++handed_over;
  }
  for (const auto& [id, job] : jobs) {
    if (!shapley_client_scan_job(client, id, job.fingerprint(), 0)) continue;
    shapley_job_t record{};
    record.job_id = id;
    record.state = job.state;
    record.account = job.account.c_str();
    record.start_time = job.start_time;
    shapley_client_scan_record(client, &record);
    ++handed_over;
  }
  shapley_client_scan_end(client, complete);
  return handed_over;
}

bool ClientTest::scan_until(const std::function<bool()>& condition) {
  return eventually([&] {
    if (condition()) return true;
    scan();
    return condition();
  });
}

void ClientTest::scan_on_hint() {
  const bool hinted = eventually([&] { return shapley_client_wait(client, 100) == SHAPLEY_WAKE_HINT; });
  if (!hinted) give_up("the client asks for no scan");
  scan();
}

void ClientTest::welcome_in_time(const protocol::Welcome& answer) {
  const bool in_time = eventually([&] {
    daemon.welcome(answer);
    return eventually([&] { return counters().connected || daemon.is_called(); }) && counters().connected;
  });
  if (!in_time) give_up("the client takes no welcome in time");
}

FakeDaemon::Snapshot ClientTest::connect_and_take_snapshot() {
  daemon.welcome();
  return take_snapshot();
}

FakeDaemon::Snapshot ClientTest::take_snapshot() {
  return daemon.take_snapshot([&] {
    if (shapley_client_wait(client, 1) == SHAPLEY_WAKE_HINT) scan();
  });
}

}  // namespace shapley::client::testing
