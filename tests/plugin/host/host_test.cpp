// The real plugin in a process that imitates slurmctld, under the sanitizers: jobs come, run and go under slurmctld's
// locks while the plugin scans them, slurmctld is reconfigured and restarted again and again, and the daemon at the
// other end of the socket does everything that a daemon should not. What the plugin reported in the end is compared
// with the host's own account.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>

#include "daemon.hpp"
#include "slurmctld.hpp"
#include "tests/plugin/host/controller.h"

#ifdef SHAPLEY_SANITIZED
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif

namespace shapley::host {
namespace {

namespace fs = std::filesystem;

// How often, from the environment: a run by hand may take longer than one in CI.
int rounds(const char* variable, int standard) {
  const char* text = std::getenv(variable);
  return text == nullptr ? standard : std::atoi(text);
}

std::size_t entries(const char* folder) {
  const fs::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(fs::begin(all), fs::end(all)));
}

std::size_t allocated_bytes() {
#ifdef SHAPLEY_SANITIZED
  return __sanitizer_get_current_allocated_bytes();
#else
  return ::mallinfo2().uordblks;
#endif
}

std::size_t threads() {
  return entries("/proc/self/task");
}

// What the process holds. A thread that was joined may be listed for a moment longer.
struct Holdings {
  std::size_t descriptors = entries("/proc/self/fd");
  std::size_t most_threads = threads();
  std::size_t bytes = allocated_bytes();
};

// slurmctld's RPC and scheduler threads, at work until the end of scope.
class Load {
 public:
  explicit Load(int threads) {
    for (int i = 0; i < threads; ++i) workers_.emplace_back([this, i] { work(static_cast<std::uint64_t>(i)); });
    workers_.emplace_back([this] {
      while (!over_) {
        host_refresh_associations();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  ~Load() {
    over_ = true;
    const Deadline deadline("a thread of the load");
    for (std::thread& worker : workers_) worker.join();
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  void work(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    while (!over_) {
      host_act(random());
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
  }

  std::atomic<bool> over_ = false;
  std::vector<std::thread> workers_;
};

// The plugin's last word on a job against the host's. Times of a waiting job are of the run before, and not compared.
std::string difference(const host_truth_t& truth, const protocol::JobUpdate& reported) {
  const auto state = static_cast<int>(reported.state);
  std::uint32_t cpus = 0;
  bool whole = true;
  for (const protocol::NodeHolding& held : reported.nodes) {
    cpus += held.cpus;
    whole = whole && held.memory == std::uint64_t{k_host_cpu_memory} * held.cpus &&
            held.gres == std::vector<protocol::Tres>{{"gres/gpu", held.cpus}};
  }
  const bool same = state == static_cast<int>(truth.state) &&
                    (truth.state == HOST_PENDING || (reported.start_time == truth.start &&
                                                     reported.end_time == truth.end && cpus == truth.cpus && whole));
  if (same) return "";
  return "job " + std::to_string(truth.job_id) + ": state " + std::to_string(truth.state) + " reported " +
         std::to_string(state) + ", start " + std::to_string(truth.start) + " reported " +
         std::to_string(reported.start_time) + ", end " + std::to_string(truth.end) + " reported " +
         std::to_string(reported.end_time) + ", cpus " + std::to_string(truth.cpus) + " reported " +
         std::to_string(cpus) + (whole ? "" : ", memory or GPUs of a node not those of its CPUs");
}

// What a job asks of its nodes, as the host makes it from the job's id.
bool asks_as_made(const protocol::JobUpdate& reported) {
  const std::string asked = "n[1-" + std::to_string(2 + reported.job_id % 5) + "]";
  return reported.required_nodes == asked && reported.excluded_nodes == asked && reported.features == asked &&
         reported.reservation == asked;
}

std::string node_differences(const Daemon& daemon) {
  const auto reported = daemon.nodes();
  if (reported.size() != 8) return std::to_string(reported.size()) + " nodes reported, 8 exist";
  for (const auto& [name, node] : reported) {
    const std::vector<std::string> reservations(host_is_reserved(name.c_str()) ? 1 : 0, "works");
    if (node.partitions != std::vector<std::string>{"long", "main"} ||
        node.features != std::vector<std::string>{"gpu", "ib"} || node.reservations != reservations) {
      return name + " is reported with other partitions, features or reservations than it has";
    }
  }
  return "";
}

std::string differences(const Daemon& daemon) {
  static std::vector<host_truth_t> truths(1U << 20U);
  const std::size_t count = host_truth(truths.data(), truths.size());
  const auto reported = daemon.jobs();
  if (reported.size() != count) {
    return std::to_string(reported.size()) + " jobs reported, " + std::to_string(count) + " exist";
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = reported.find(truths[i].job_id);
    if (found == reported.end()) return "job " + std::to_string(truths[i].job_id) + " was never reported";
    if (std::string text = difference(truths[i], found->second); !text.empty()) return text;
    if (!asks_as_made(found->second)) return "job " + std::to_string(truths[i].job_id) + " asks for other nodes";
  }
  return node_differences(daemon);
}

std::vector<host_waiting_t> waiting_jobs() {
  std::vector<host_waiting_t> jobs(host_submitted() + 1);
  jobs.resize(host_waiting(jobs.data(), jobs.size()));
  return jobs;
}

std::uint32_t level_of(std::uint32_t job_id) {
  return job_id % (protocol::k_max_level + 1);
}

// Whether waiting jobs of one organization for the same nodes stand in the order of their levels: each above all jobs
// of lower levels. Counts the jobs that have such jobs below them.
bool priorities_follow_levels(std::size_t& compared) {
  auto jobs = waiting_jobs();
  const auto queue = [](const host_waiting_t& job) { return std::tuple(job.organization, job.nodes); };
  std::sort(jobs.begin(), jobs.end(), [&](const host_waiting_t& a, const host_waiting_t& b) {
    return std::pair(queue(a), level_of(a.job_id)) < std::pair(queue(b), level_of(b.job_id));
  });
  bool follow = true;
  compared = 0;
  std::optional<std::uint32_t> below;  // the highest priority of lower levels
  std::uint32_t same = 0;              // and that of this level so far
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (i == 0 || queue(jobs[i]) != queue(jobs[i - 1])) {
      below.reset();
      same = 0;
    } else if (level_of(jobs[i].job_id) != level_of(jobs[i - 1].job_id)) {
      below = std::max(below.value_or(0), same);
      same = 0;
    }
    if (below) {
      ++compared;
      follow = follow && jobs[i].priority > *below;
    }
    same = std::max(same, jobs[i].priority);
  }
  return follow;
}

// Levels order the jobs of an organization, and no level lifts one past a job of a better-ranked organization.
void expect_levels_to_act(Daemon& daemon, const char* const* order) {
  for (std::uint64_t i = 0; i < 60; ++i) host_submit(i);
  std::vector<protocol::JobLevel> levels;
  for (const auto& job : waiting_jobs()) {
    if (level_of(job.job_id) > 0) levels.push_back({job.job_id, level_of(job.job_id)});
  }
  std::sort(levels.begin(), levels.end(), [](const auto& a, const auto& b) { return a.job_id < b.job_id; });
  daemon.fix_levels(std::move(levels));
  std::size_t compared = 0;
  EXPECT_TRUE(eventually([&] { return priorities_follow_levels(compared); })) << "priorities do not follow the levels";
  EXPECT_GT(compared, 0U);
  EXPECT_TRUE(eventually([&] { return host_priorities_follow(order, 3); }))
      << "a level lifted a job past a better rank";
}

// With nothing changing any more, the daemon knows what is, and waiting jobs stand in the order of the ranks.
void expect_agreement(Daemon& daemon) {
  const char* const order[] = {"chem", "astro", "bio"};
  daemon.fix_order({order[0], order[1], order[2]});
  daemon.set_mood(Mood::good);
  std::string differ;
  EXPECT_TRUE(eventually([&] { return (differ = differences(daemon)).empty(); })) << differ;
  EXPECT_TRUE(eventually([&] { return host_priorities_follow(order, 3); })) << "priorities do not follow the ranks";
  expect_levels_to_act(daemon, order);
}

TEST(PluginInHost, agrees_with_slurmctld_after_a_thousand_reconfigures_under_load) {
  Daemon daemon(socket_path());
  host_load_plugin();
  const std::uint64_t started = host_started();
  {
    const Load load(3);
    const int wanted = rounds("SHAPLEY_HOST_RECONFIGURES", 1000);
    for (int i = 0; i < wanted; ++i) {
      host_reconfigure(static_cast<std::uint64_t>(i));
      if (i % 100 == 50) daemon.set_mood(i % 200 == 50 ? Mood::fickle : Mood::good);
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
    EXPECT_TRUE(eventually([started] { return host_started() > started; })) << "no job started";
  }
  expect_agreement(daemon);
  const auto privacy = daemon.privacy();
  ASSERT_TRUE(privacy.has_value());
  EXPECT_TRUE(privacy->jobs);
  ASSERT_EQ(privacy->users.size(), 1U);
  EXPECT_EQ(privacy->users[0].user_id, static_cast<std::uint32_t>(k_host_coordinator));
  EXPECT_EQ(privacy->users[0].accounts, std::vector<std::string>{"astro"});
  host_unload_plugin();
  host_purge_everything();
}

// One life of the plugin with a daemon of this mood, under load, until the daemon has been met; an RPC is still under
// way when it ends.
void live(Daemon& daemon, int round) {
  daemon.set_mood(static_cast<Mood>(round % k_moods));
  const std::uint64_t connections = daemon.connections(), submitted = host_submitted();
  host_load_plugin();
  {
    const Load load(2);
    EXPECT_TRUE(eventually([&] { return daemon.connections() > connections; }));
    EXPECT_TRUE(eventually([&] { return host_submitted() > submitted + 3; }));
    // What the unfriendly moods left in the spool is acknowledged once every turn, so that it does not grow without
    // end.
    EXPECT_TRUE(daemon.mood() != Mood::good || eventually([&] { return daemon.snapshot_taken(); }));
    if (round % 3 == 0) host_reconfigure(static_cast<std::uint64_t>(round));
  }
  std::atomic<bool> unloaded = false;
  std::thread late([&] {
    do host_late_call();
    while (!unloaded);
  });
  const Deadline deadline("the plugin's unloading, or the late call");
  host_unload_plugin();
  unloaded = true;
  late.join();
  host_purge_everything();
}

// What the process holds after these lives, with the daemon gone.
Holdings holdings_after(int lives) {
  {
    Daemon daemon(socket_path());
    for (int round = 0; round < lives; ++round) live(daemon, round);
  }
  return {};
}

// After many lives of the plugin the process holds what it held after a few.
TEST(PluginInHost, holds_nothing_after_a_hundred_restarts) {
  const Holdings before = holdings_after(2 * k_moods);
  const Holdings after = holdings_after(rounds("SHAPLEY_HOST_RESTARTS", 100));
  EXPECT_EQ(after.descriptors, before.descriptors);
  EXPECT_TRUE(eventually([&] { return threads() <= before.most_threads; })) << threads() << " threads";
  // Slurm's library keeps buffers of varying size; a record lost in each life would be far more.
  EXPECT_LT(after.bytes, before.bytes + (64U << 10U));

  Daemon daemon(socket_path());
  host_load_plugin();
  {
    const Load load(2);
    EXPECT_TRUE(eventually([started = host_started()] { return host_started() > started + 20; }));
  }
  expect_agreement(daemon);
  host_unload_plugin();
  host_purge_everything();
}

// Whether some scan skipped at least so many jobs, by slurmctld's log.
bool skipped(std::size_t jobs) {
  std::ifstream log(directory() + "/slurmctld.log");
  const std::string after = " us; ";
  for (std::string line; std::getline(log, line);) {
    if (line.find(": scanned the jobs in ") == std::string::npos) continue;
    if (std::stoull(line.substr(line.find(after) + after.size())) >= jobs) return true;
  }
  return false;
}

bool runs_were_looked_for() {
  std::ifstream log(directory() + "/slurmctld.log");
  for (std::string line; std::getline(log, line);) {
    if (line.find(": scanned the runs in ") != std::string::npos) return true;
  }
  return false;
}

// So many jobs that those which only wait are skipped, and runs are looked for by themselves. What starts, ends or is
// held among them is reported nevertheless, and new ranks reach every one.
TEST(PluginInHost, skips_what_only_waits) {
  Daemon daemon(socket_path());
  daemon.fix_order({"astro", "bio", "chem"});
  daemon.fix_levels({});
  host_log_scans();
  host_load_plugin();
  for (std::uint64_t i = 0; i < 21000; ++i) host_submit(i);
  EXPECT_TRUE(eventually([&] { return daemon.jobs().size() >= 21000; }));
  EXPECT_TRUE(eventually([] { return skipped(15000); })) << "no scan skipped most of what waits";
  const std::uint64_t started = host_started();
  {
    const Load load(2);
    EXPECT_TRUE(eventually([&] { return host_started() > started + 20; }));
    EXPECT_TRUE(eventually(runs_were_looked_for));
  }
  std::string differ;
  for (const auto& order : {std::vector<const char*>{"chem", "astro", "bio"}, {"bio", "chem", "astro"}}) {
    daemon.fix_order({order.begin(), order.end()});
    EXPECT_TRUE(eventually([&] { return host_priorities_follow(order.data(), order.size()); }))
        << "priorities do not follow the ranks";
    EXPECT_TRUE(eventually([&] { return (differ = differences(daemon)).empty(); })) << differ;
  }
  host_unload_plugin();
  host_purge_everything();
}

}  // namespace
}  // namespace shapley::host

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::AddGlobalTestEnvironment(new shapley::host::Slurmctld);
  return RUN_ALL_TESTS();
}
