// What is free of nodes that others use in part, for jobs of one partition, one reservation of cores or one user.
#include "plugin/client/requests/limits.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plugin/client/requests/requests.hpp"

namespace shapley::client {
namespace {

using protocol::JobUpdate;

constexpr std::uint32_t k_all = 4'294'967'295;

JobUpdate waiting(std::uint32_t id, const std::string& partition, std::uint32_t user = 1) {
  JobUpdate job;
  job.job_id = id;
  job.partition = partition;
  job.user_id = user;
  job.requested_cpus = 2;
  return job;
}

JobUpdate running(std::uint32_t id, const std::string& partition, std::uint32_t cpus, std::uint32_t user = 1) {
  JobUpdate job = waiting(id, partition, user);
  job.state = protocol::JobState::running;
  job.start_time = 1000;
  job.nodes = {{"n1", cpus, 0, {}}};
  return job;
}

// n1 is in the partitions a and b, n2 in b alone; each has 16 CPUs.
class LimitsTest : public ::testing::Test {
 protected:
  LimitsTest() { limit({}); }
  void limit(std::vector<NodeLimit> limits) {
    protocol::NodeRecord node;
    node.cpus = 16;
    node.name = "n1";
    node.partitions = {"a", "b"};
    requests.note(node, {.limits = std::move(limits)});
    node.name = "n2";
    node.partitions = {"b"};
    requests.note(node);
  }
  NodeSetId set_of(const std::string& partition, const std::string& reservation = "") {
    JobUpdate job = waiting(++last_, partition);
    job.reservation = reservation;
    requests.note(job);
    return requests.asked(last_).nodes;
  }
  std::int64_t free(const std::string& partition, const std::string& reservation = "") {
    return requests.free(set_of(partition, reservation)) / k_micro;
  }
  std::int64_t room(const JobUpdate& job, bool one_user) {
    requests.note(job, {.cpus = 2}, one_user);
    return requests.asked(job.job_id, k_all).room / k_micro;
  }

  Requests requests;

 private:
  std::uint32_t last_ = 1000;
};

TEST_F(LimitsTest, APartitionHasWhatItsJobsMayHoldTogether) {
  limit({{"a", false, 8}, {"b", false, k_all}});
  EXPECT_EQ(free("a"), 8);
  EXPECT_EQ(free("b"), 32);
  EXPECT_EQ(free("a,b"), 32) << "each node counts in that partition where more is free";
  requests.note(running(1, "a", 6));
  EXPECT_EQ(free("a"), 2);
  EXPECT_EQ(free("b"), 26);
  requests.note(running(2, "b", 9));
  EXPECT_EQ(free("a"), 1) << "no more than is free";
  EXPECT_EQ(requests.all(set_of("a")), 8 * k_micro);
  JobUpdate ended = running(1, "a", 6);
  ended.state = protocol::JobState::ended;
  requests.note(ended);
  EXPECT_EQ(free("a"), 7);
  limit({});
  EXPECT_EQ(free("a"), 7);
  EXPECT_EQ(requests.all(set_of("a")), 16 * k_micro);
}

TEST_F(LimitsTest, OnlyASetWithTheSameLimitsHasNoLessFree) {
  EXPECT_TRUE(requests.contains(set_of("b"), set_of("a")));
  limit({{"a", false, 8}, {"b", false, k_all}});
  EXPECT_FALSE(requests.contains(set_of("b"), set_of("a")));
  EXPECT_TRUE(requests.contains(k_any_node, set_of("a")));
  EXPECT_TRUE(requests.overlap(set_of("b"), set_of("a")));
}

TEST_F(LimitsTest, ReservedCoresAreFreeForJobsOfTheReservationAlone) {
  limit({{"course", true, 6}});
  EXPECT_EQ(free("a"), 10);
  EXPECT_EQ(free("a", "course"), 6);
  EXPECT_EQ(free("b"), 26);
  JobUpdate pupil = running(1, "a", 4);
  pupil.reservation = "course";
  requests.note(pupil);
  EXPECT_EQ(free("a"), 10) << "it holds what was not free for others";
  EXPECT_EQ(free("a", "course"), 2);
  requests.note(running(2, "a", 10));
  EXPECT_EQ(free("a"), 0);
  EXPECT_EQ(free("a", "course"), 2);
}

TEST_F(LimitsTest, ANodeThatIsOneUsersIsFreeForNoOther) {
  requests.note(running(1, "a", 4, 7), {}, true);
  EXPECT_EQ(room(waiting(2, "a", 8), false), 0);
  EXPECT_EQ(room(waiting(3, "a", 8), true), 0);
  EXPECT_EQ(room(waiting(4, "a", 7), true), 12);
  requests.forget(1);
  EXPECT_EQ(room(waiting(2, "a", 8), false), 16);
  requests.note(running(5, "a", 4, 7));
  EXPECT_EQ(room(waiting(2, "a", 8), false), 12) << "it shares the node";
  EXPECT_EQ(room(waiting(3, "a", 8), true), 0) << "who wants the node alone";
}

// 16 CPUs, of which 3 are in use, one of them by a job of the reservation.
TEST(Limits, OfTwoReservationsEachKeepsItsOwn) {
  const request::Placement none("partition=p"), one("partition=p reservation=x"), either("reservation=x,y");
  const std::vector<NodeLimit> limits{{"x", true, 4}, {"y", true, 8}};
  const Left left{.free = 13, .cpus = 13, .limits = {3, 8}};
  EXPECT_EQ(free_for(none, limits, left), 2);
  EXPECT_EQ(free_for(one, limits, left), 3);
  EXPECT_EQ(free_for(either, limits, left), 3);
  EXPECT_EQ(free_for(none, {}, left), 13);
}

}  // namespace
}  // namespace shapley::client
