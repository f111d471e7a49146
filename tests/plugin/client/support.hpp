// What the tests of the plugin's client share: a daemon that the test drives by hand, a client with short timings, and
// the lines it logged. Nothing here sleeps for a fixed time; every wait has a deadline and fails loudly.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "plugin/client/client.hpp"
#include "plugin/client/shapley_client.h"
#include "protocol/codec.hpp"
#include "protocol/messages.hpp"
#include "tests/support/temp_directory.hpp"
#include "tests/support/waiting.hpp"

namespace shapley::client::testing {

using test::Deadline;
using test::eventually;
using test::k_timeout;

// For what the client must give up in a test. On a busy machine it may give up a greeting, too: welcome_in_time().
inline constexpr std::chrono::seconds k_short_timeout{2};

// Calls of operator new by this thread so far.
[[nodiscard]] std::uint64_t allocations_of_this_thread();

// The daemon's end of the socket, driven by the test's thread.
class FakeDaemon {
 public:
  enum class Listen { now, later };

  explicit FakeDaemon(std::string path, Listen listen = Listen::now);
  ~FakeDaemon();
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;

  void listen();
  // As a killed daemon leaves things: no process listens, the connection is closed, the socket's file stays.
  void die();
  void hang_up();

  void accept();
  // Accepts, reads Hello and answers with Welcome.
  protocol::Hello welcome(protocol::Welcome answer = default_welcome());
  [[nodiscard]] static protocol::Welcome default_welcome();
  // Whether a connection waits to be accepted.
  [[nodiscard]] bool is_called() const;

  void send(const protocol::Message& message);
  void send_bytes(std::string_view bytes);
  void acknowledge(std::uint64_t sequence) { send(protocol::Ack{sequence}); }

  // The next message, which must be of this type.
  template <typename T>
  T expect() {
    protocol::Message message = receive();
    T* wanted = std::get_if<T>(&message);
    EXPECT_NE(wanted, nullptr) << "a message of type " << message.index() << " came instead";
    return wanted == nullptr ? T{} : std::move(*wanted);
  }
  [[nodiscard]] protocol::Message receive(const std::function<void()>& idle = [] {});
  // Whether the peer closes before it sends anything more.
  [[nodiscard]] bool sees_close();

  // Reads a snapshot, acknowledging each message; whatever comes before SnapshotBegin goes to `before`.
  struct Snapshot {
    std::map<std::uint32_t, protocol::JobUpdate> jobs;
    std::map<std::string, protocol::NodeRecord> nodes;
    std::vector<protocol::Observations> before;
    std::vector<std::uint64_t> sequences;  // of all messages read, in order
  };
  // While it waits it calls `idle`, for the scans that the client asks for.
  [[nodiscard]] Snapshot take_snapshot(const std::function<void()>& idle = [] {});

 private:
  [[nodiscard]] bool readable(const std::function<void()>& idle = [] {});

  std::string path_;
  Descriptor listener_;
  Descriptor peer_;
  protocol::FrameReader reader_;
};

// Lines logged since the last clear(), of every client of this process.
namespace log_lines {
void clear();
[[nodiscard]] std::vector<std::string> all();
[[nodiscard]] int count(const std::string& part);
}  // namespace log_lines

// A job as the shim would hand it over. The fingerprint covers what the tests change.
struct TestJob {
  std::uint32_t id = 0;
  enum shapley_job_state state = SHAPLEY_JOB_PENDING;
  std::string account = "physics";
  std::int64_t start_time = 0;
  [[nodiscard]] std::uint64_t fingerprint() const;
};

class ClientTest : public ::testing::Test {
 protected:
  ClientTest();
  ~ClientTest() override;

  void start();
  void stop();  // as fini does: joins, spools
  [[nodiscard]] const Counters& counters() const { return client->feeder.counters(); }

  // One whole scan of `jobs` and `nodes`; the number of records handed over.
  int scan(bool complete = true);
  // Scans whenever the client's wake_up says so, until the condition holds.
  [[nodiscard]] bool scan_until(const std::function<bool()>& condition);
  // Scans as a hint of the client demands, once.
  void scan_on_hint();
  // Welcomes a client that gives up after k_short_timeout, again and again until it took the welcome in time.
  void welcome_in_time(const protocol::Welcome& answer = FakeDaemon::default_welcome());
  // Takes the snapshot that the client asks for once it is welcomed.
  FakeDaemon::Snapshot take_snapshot();
  // Daemon and client shake hands, the backlog is acknowledged and the snapshot that the client then asks for is taken.
  FakeDaemon::Snapshot connect_and_take_snapshot();

  TempDirectory directory;
  std::string socket_path = directory / "shapleyd.sock";
  std::string spool_path = directory / "shapley.spool";
  FakeDaemon daemon{socket_path, FakeDaemon::Listen::later};
  std::size_t spool_max_bytes = 64U << 20U;
  Timings timings;
  shapley_client_t* client = nullptr;
  std::map<std::uint32_t, TestJob> jobs;
  std::vector<std::string> nodes;  // names by index
  std::int64_t now = 1'700'000'000;
};

}  // namespace shapley::client::testing
