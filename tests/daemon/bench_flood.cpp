// What a flood of connections over TCP costs, and whether root is answered meanwhile: bench_flood [SECONDS]. The flood
// comes from this machine's addresses 127.0.1.1 to 127.0.1.200, as fast as two threads can. Needs root and munge. Not
// run by ctest: it asserts nothing.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench_daemon.hpp"
#include "remote/sealed.hpp"
#include "tests/support/private_munge.hpp"

namespace shapley::daemon {
namespace {

constexpr std::uint16_t k_port = 17020;
constexpr int k_addresses = 200;

// Of the whole process, in seconds.
double processor_time(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  text.erase(0, text.rfind(')') + 2);
  std::istringstream words(text);
  std::string word;
  for (int i = 0; i < 11; ++i) words >> word;
  double user = 0;
  double system = 0;
  words >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

Descriptor connect_from(int address) {
  Descriptor descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(descriptor.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl((127U << 24U) + (1U << 8U) + static_cast<std::uint32_t>(address));
  ::bind(descriptor.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own);
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(k_port);
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::connect(descriptor.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there);
  return descriptor;
}

struct Flood {
  const char* name;
  int addresses;
  bool is_silent;    // it holds as many connections as it gets, and rests now and then
  std::string said;  // by each, at once
};

// Opens connections until it is over. How many.
std::uint64_t run(const Flood& flood, int offset, const std::atomic<bool>& over) {
  constexpr std::size_t k_held = 400;
  std::vector<Descriptor> held(k_held);
  std::uint64_t opened = 0;
  while (!over) {
    Descriptor& one = held[opened % k_held];
    one = connect_from(1 + static_cast<int>((opened + static_cast<std::uint64_t>(offset)) %
                                            static_cast<std::uint64_t>(flood.addresses)));
    if (!flood.said.empty()) ::send(one.get(), flood.said.data(), flood.said.size(), MSG_NOSIGNAL);
    ++opened;
    if (flood.is_silent && opened % k_held == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return opened;
}

void measure(const Flood& flood, const Daemon& daemon, const test::PrivateMunge& munge, double seconds) {
  std::atomic<bool> over = false;
  std::atomic<std::uint64_t> opened = 0;
  std::vector<std::thread> threads;
  for (int i = 0; flood.addresses > 0 && i < 2; ++i) {
    threads.emplace_back([&, i] { opened += run(flood, i, over); });
  }
  const double daemon_before = processor_time(daemon.pid());
  const double munge_before = processor_time(munge.pid());
  const auto begin = Clock::now();
  int answered = 0;
  int missed = 0;
  double longest = 0;
  while (seconds_since(begin) < seconds) {
    const auto asked_at = Clock::now();
    const auto until = asked_at + std::chrono::seconds(10);
    auto connection = remote::SealedConnection::open(
        {.endpoint = {.host = "127.0.0.1", .port = k_port}, .munge = munge.socket(), .trusted = {}}, until);
    const bool is_answered = connection && connection->ask(R"({"request":"ping"})", until);
    ++(is_answered ? answered : missed);
    longest = std::max(longest, seconds_since(asked_at));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  const double took = seconds_since(begin);
  const double of_daemon = (processor_time(daemon.pid()) - daemon_before) / took;
  const double of_munge = (processor_time(munge.pid()) - munge_before) / took;
  over = true;
  for (std::thread& thread : threads) thread.join();
  std::printf("| %s | %.0f | %.3f | %.3f | %d of %d, the slowest after %.2f s |\n", flood.name,
              static_cast<double>(opened.load()) / took, of_daemon, of_munge, answered, answered + missed, longest);
}

void measure_all(double seconds) {
  const TempDirectory directory;
  const test::PrivateMunge munge(directory / "munge");
  std::ofstream(directory / "shapleyd.yaml")
      << yaml_in(directory) << "listen: 127.0.0.1:" << k_port << "\nmunge_socket: " << munge.socket().string() << '\n';
  const Daemon daemon(SHAPLEYD, directory);
  static_cast<void>(daemon.connect({}));
  const std::string sham = std::string("\0\0\0\x2c", 4) + "MUNGE:AwQFAACqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq:";
  for (const Flood& flood : {Flood{"none", 0, false, ""}, Flood{"silent, one address", 1, true, ""},
                             Flood{"silent, 200 addresses", k_addresses, true, ""},
                             Flood{"one address, as fast as it can", 1, false, "junk"},
                             Flood{"no credentials, 200 addresses", k_addresses, false, "junk"},
                             Flood{"false credentials, 200 addresses", k_addresses, false, sham}}) {
    measure(flood, daemon, munge, seconds);
  }
}

}  // namespace
}  // namespace shapley::daemon

int main(int argc, char** argv) {
  shapley::daemon::measure_all(argc > 1 ? std::stod(argv[1]) : 10);
  return testing::Test::HasFailure() ? 1 : 0;
}
