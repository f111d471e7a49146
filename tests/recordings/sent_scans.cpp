// recorded_scans DIRECTORY: the bytes that the plugin sends of the recorded scans, one file a message, in hexadecimal.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

#include "plugin/client/shapley_client.h"
#include "protocol/codec.hpp"
#include "tests/plugin/client/support.hpp"
#include "tests/recordings/recorded_scans.h"
#include "tests/support/temp_directory.hpp"

namespace {

using namespace shapley;
using client::testing::FakeDaemon;

std::string hexadecimal(const std::string& bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(bytes[i]));
    text += digits;
    text += (i + 1) % 32 == 0 ? "\n" : " ";
  }
  return text + '\n';
}

class Recorder {
 public:
  explicit Recorder(std::string directory) : directory_(std::move(directory)) {}

  // Reads the next message and acknowledges it. Returns whether it ends a snapshot or, outside of one, a scan.
  bool take(FakeDaemon& daemon, int scan) {
    protocol::Message message = daemon.receive();
    // A message has one encoding, so these are the bytes that came.
    std::ofstream(directory_ + "/scan" + std::to_string(scan) + "." + std::to_string(number_++))
        << hexadecimal(protocol::encode_frame(message));
    if (const auto* begin = std::get_if<protocol::SnapshotBegin>(&message)) {
      in_snapshot_ = true;
      daemon.acknowledge(begin->sequence);
    } else if (const auto* end = std::get_if<protocol::SnapshotEnd>(&message)) {
      in_snapshot_ = false;
      daemon.acknowledge(end->sequence);
    } else if (const auto* changes = std::get_if<protocol::Observations>(&message)) {
      daemon.acknowledge(changes->sequence);
    }
    return !in_snapshot_;
  }

 private:
  std::string directory_;
  int number_ = 0;
  bool in_snapshot_ = false;
};

void log_line(shapley_log_level level, const char* text) {
  if (level == SHAPLEY_LOG_ERROR) std::cerr << text << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: recorded_scans DIRECTORY\n";
    return 2;
  }
  const TempDirectory directory;
  const std::string socket = directory / "shapleyd.sock";
  const std::string spool = directory / "shapley.spool";
  FakeDaemon daemon{socket};
  shapley_client_options_t options{};
  options.socket_path = socket.c_str();
  options.spool_path = spool.c_str();
  options.cluster = "recorded";
  options.slurm_version = "22.05.8";
  options.program = "recorded scans";
  options.interval_ms = 1000;
  options.min_job_age_s = 300;
  options.spool_max_bytes = 1U << 20U;
  options.log = log_line;
  shapley_client_t* client = shapley_client_create(&options);
  if (client == nullptr) return 1;
  daemon.welcome();
  while (shapley_client_wait(client, 1000) != SHAPLEY_WAKE_HINT) {
  }
  Recorder recorder(argv[1]);
  for (int scan = 0; scan < k_recorded_scans; ++scan) {
    shapley_recorded_scan(client, scan);
    while (!recorder.take(daemon, scan)) {
    }
  }
  shapley_client_destroy(client);
  return 0;
}
