// How long slurmctld's plugin waits for an acknowledgement while others ask: bench_readers [ROUNDS] [SHAPLEYD ...].
// Each program is started on a ledger of its own, of some 100,000 events, and they take turns within each round, so
// that releases can be compared in one run. Needs root, to ask as another user, too. Not run by ctest: it asserts
// nothing.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "records.hpp"
#include "test_client.hpp"
#include "tests/support/child.hpp"

namespace shapley::daemon {
namespace {

constexpr std::uint32_t k_jobs = 20'000;  // each makes five events
constexpr std::uint32_t k_jobs_a_frame = 500;
constexpr int k_readers = 15;  // and one that asks whether all is done: as many as a user may have
constexpr uid_t k_user = 65'533;
constexpr std::int64_t k_seconds_a_job = 2;    // from one's submission to the next's
constexpr std::uint32_t k_jobs_asked = 1'000;  // the newest

using Clients = std::vector<std::unique_ptr<TestClient>>;

class Subject {
 public:
  explicit Subject(std::string program) : program_(std::move(program)) {
    std::ofstream(directory_ / "shapleyd.yaml") << yaml_in(directory_);
    const std::string configuration = directory_ / "shapleyd.yaml";
    const std::string log = directory_ / "log";
    child_ = std::make_unique<test::Child>("shapleyd", [&] {
      const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      dup2(out, STDERR_FILENO);
      execl(program_.c_str(), program_.c_str(), "--config", configuration.c_str(), nullptr);
    });
    EXPECT_TRUE(test::eventually([&] { return TestClient(socket()).is_connected(); })) << program_;
    feeder_ = std::make_unique<TestClient>(socket());
    feeder_->send(feeder_hello());
    feeder_->expect<protocol::Welcome>();
    fill();
  }

  [[nodiscard]] const std::string& program() const { return program_; }

  // Milliseconds from an observation to its acknowledgement.
  double acknowledge() {
    const auto began = std::chrono::steady_clock::now();
    observe({running({.id = ++job_, .start = std::time(nullptr)})});
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  }
  [[nodiscard]] Clients ask(uid_t uid) const {
    Clients clients = connect(uid, k_readers);
    const std::int64_t since = begin_ + (k_jobs - k_jobs_asked) * k_seconds_a_job;
    const std::string question = R"({"request":"jobs","all":true,"since":)" + std::to_string(since) + '}';
    for (const auto& client : clients) client->send(protocol::Query{1, question});
    return clients;
  }
  // Returns when no question of this user is worked on any more: what one asks is answered in turn.
  void settle(uid_t uid) const { EXPECT_TRUE(connect(uid, 1)[0]->ask(R"({"request":"jobs"})").contains("jobs")); }

 private:
  [[nodiscard]] std::filesystem::path socket() const { return directory_ / "sock"; }
  [[nodiscard]] Clients connect(uid_t uid, int number) const {
    Clients clients;
    // Linux keeps users per thread, and a connection has that of the thread that made it.
    std::thread([&] {
      if (uid != 0) ::syscall(SYS_setresuid, uid, uid, uid);
      for (int i = 0; i < number; ++i) clients.push_back(std::make_unique<TestClient>(socket()));
    }).join();
    for (const auto& client : clients) {
      client->send(protocol::Hello{});
      client->expect<protocol::Welcome>();
    }
    return clients;
  }
  void observe(std::vector<protocol::JobUpdate> jobs) {
    protocol::Observations o;
    o.sequence = ++sequence_;
    o.observed_at = std::time(nullptr);
    o.jobs = std::move(jobs);
    feeder_->send(std::move(o));
    while (feeder_->expect<protocol::Ack>().sequence < sequence_) continue;
  }
  void fill() {
    while (job_ < k_jobs) {
      std::map<std::string, std::vector<protocol::JobUpdate>> states;
      for (std::uint32_t i = 0; i < k_jobs_a_frame; ++i) {
        const std::int64_t submit = begin_ + job_ * k_seconds_a_job;
        const Job job{.id = ++job_, .node = i % 2 == 0 ? "n1" : "n2", .cpus = 1, .start = submit};
        Job later = job;
        later.start = submit + 60;
        states["1 waiting"].push_back(waiting(job));
        states["2 running"].push_back(running(later));
        states["3 ended"].push_back(ended(later, submit + 600));
        for (const char* state : {"2 running", "3 ended"}) states[state].back().submit_time = submit;
      }
      for (auto& [name, jobs] : states) observe(std::move(jobs));
    }
  }

  std::string program_;
  TempDirectory directory_;
  std::unique_ptr<test::Child> child_;
  std::unique_ptr<TestClient> feeder_;
  std::int64_t begin_ = std::time(nullptr) - 24 * 3600;
  std::uint64_t sequence_ = 0;
  std::uint32_t job_ = 0;
};

struct Situation {
  const char* name;
  int uid;  // who asks; -1: no client
  bool stays;
};
constexpr Situation k_situations[] = {{"no client asks", -1, false},
                                      {"15 questions of root, who has gone", 0, false},
                                      {"15 questions of root, who waits", 0, true},
                                      {"15 questions of a user who has gone", k_user, false}};

double measure(Subject& subject, const Situation& situation) {
  Clients clients;
  if (situation.uid >= 0) clients = subject.ask(static_cast<uid_t>(situation.uid));
  if (!situation.stays) clients.clear();
  const double milliseconds = subject.acknowledge();
  clients.clear();
  if (situation.uid >= 0) subject.settle(static_cast<uid_t>(situation.uid));
  return milliseconds;
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values.at(static_cast<std::size_t>(q * static_cast<double>(values.size() - 1)));
}

}  // namespace
}  // namespace shapley::daemon

int main(int argc, char** argv) {
  using namespace shapley::daemon;
  testing::InitGoogleTest(&argc, argv);
  const int rounds = argc > 1 ? std::stoi(argv[1]) : 30;
  std::vector<std::string> programs(argv + std::min(argc, 2), argv + argc);
  if (programs.empty()) programs.emplace_back(SHAPLEYD);
  std::vector<std::unique_ptr<Subject>> subjects;
  for (const std::string& program : programs) subjects.push_back(std::make_unique<Subject>(program));
  // By then the daemons have made checkpoints of what they were just sent.
  std::this_thread::sleep_for(std::chrono::seconds(5));
  std::map<std::pair<const char*, Subject*>, std::vector<double>> measured;
  for (int round = 0; round < rounds; ++round) {
    for (const Situation& situation : k_situations) {
      for (const auto& subject : subjects) {
        measured[{situation.name, subject.get()}].push_back(measure(*subject, situation));
      }
    }
  }
  for (const Situation& situation : k_situations) {
    for (const auto& subject : subjects) {
      const auto& values = measured[{situation.name, subject.get()}];
      std::printf("%s: %s: median %.1f ms, p90 %.1f ms, max %.1f ms (%zu)\n", subject->program().c_str(),
                  situation.name, quantile(values, 0.5), quantile(values, 0.9), quantile(values, 1), values.size());
    }
  }
  return testing::Test::HasFailure() ? 1 : 0;
}
