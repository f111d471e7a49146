// What priority_p_set costs its caller, under slurmctld's job write lock: no system call beyond the stock
// plugin's own (which makes none either), and how many nanoseconds, which is printed and not asserted.

#include <ctime>
#include <iostream>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "daemon.hpp"
#include "slurmctld.hpp"
#include "system_calls.hpp"
#include "tests/plugin/host/controller.h"

namespace shapley::host {
namespace {

TEST(SystemCalls, are_seen) {
  EXPECT_EQ(system_calls_of([] { static_cast<void>(::getppid()); }).size(), 1U);
  EXPECT_TRUE(system_calls_of([] {}).empty());
}

double processor_nanoseconds() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

// Of processor time, so that a busy machine does not show.
double nanoseconds_each(void (*set)(unsigned), unsigned calls) {
  set(calls / 10);
  const double begin = processor_nanoseconds();
  set(calls);
  return (processor_nanoseconds() - begin) / calls;
}

TEST(PrioritySet, makes_no_system_call) {
  Daemon daemon(socket_path());
  daemon.fix_order({"bio", "astro", "chem"});
  std::vector<protocol::JobLevel> levels;
  for (std::uint32_t id = 1; id <= 1000; ++id) levels.push_back({id, 1 + id % protocol::k_max_level});
  daemon.fix_levels(std::move(levels));
  host_load_plugin();
  ASSERT_TRUE(eventually([&] { return daemon.snapshot_taken(); }));
  ASSERT_TRUE(eventually([] { return host_set_ranks_a_job(); }));
  host_set_prepare();
  const auto calls = system_calls_of([] { host_set_shapley(10'000); });
  EXPECT_TRUE(calls.empty()) << calls.size() << " system calls, the first is number " << calls.front();
  const double ours = nanoseconds_each(host_set_shapley, 1'000'000);
  const double stock = nanoseconds_each(host_set_multifactor, 1'000'000);
  std::cout << "priority_p_set: " << ours << " ns with the plugin, " << stock << " ns of it the stock plugin's, "
            << ours - stock << " ns ours\n";
  host_set_done();
  host_unload_plugin();
}

}  // namespace
}  // namespace shapley::host

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::AddGlobalTestEnvironment(new shapley::host::Slurmctld);
  return RUN_ALL_TESTS();
}
