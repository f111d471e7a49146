// What slurm.conf hides, and which users still see it, on its way to the daemon: sent when it changes, and to each new
// daemon.
#include <variant>
#include <vector>

#include "plugin/client/scan/records.hpp"
#include "support.hpp"

namespace shapley::client {
namespace {

using testing::ClientTest;

constexpr const char* k_biology[] = {"cells", "bio", "bio"};
constexpr const char* k_chemistry[] = {"chem"};

TEST(PrivacyRecord, UsersAscendEachOnceWithTheirAccounts) {
  const std::vector<shapley_privileged_user_t> users{
      {.user_id = 1002, .is_operator = true},
      {.user_id = 1001, .is_operator = false, .accounts = k_biology, .accounts_count = 3},
      {.user_id = 1002, .is_operator = false, .accounts = k_chemistry, .accounts_count = 1}};
  const protocol::Privacy expected{.jobs = true,
                                   .usage = false,
                                   .users = {{.user_id = 1001, .is_operator = false, .accounts = {"bio", "cells"}},
                                             {.user_id = 1002, .is_operator = true, .accounts = {"chem"}}}};
  EXPECT_EQ(to_record({.jobs = true, .usage = false, .users = users.data(), .users_count = users.size()}), expected);
  EXPECT_EQ(to_record(shapley_privacy_t{}), protocol::Privacy{});
}

class PrivacyTest : public ClientTest {
 protected:
  // One whole scan that reads it, too.
  void scan_with(bool jobs_are_private) {
    const shapley_privacy_t privacy{.jobs = jobs_are_private};
    ++now;
    shapley_client_scan_begin(client, now);
    shapley_client_scan_privacy(client, &privacy);
    shapley_client_scan_end(client, true);
  }
};

TEST_F(PrivacyTest, IsSentWhenItChanges) {
  daemon.listen();
  start();
  (void)connect_and_take_snapshot();
  scan_with(true);
  const auto first = daemon.expect<protocol::Observations>();
  EXPECT_EQ(first.privacy, (std::vector<protocol::Privacy>{{.jobs = true}}));
  scan_with(true);
  scan_with(false);
  const auto second = daemon.expect<protocol::Observations>();
  EXPECT_EQ(second.sequence, first.sequence + 1);
  EXPECT_EQ(second.privacy, (std::vector<protocol::Privacy>{{.jobs = false}}));
}

TEST_F(PrivacyTest, IsPartOfEachSnapshot) {
  daemon.listen();
  start();
  (void)connect_and_take_snapshot();
  scan_with(true);
  daemon.acknowledge(daemon.expect<protocol::Observations>().sequence);
  daemon.hang_up();
  daemon.welcome();
  // The scan that the client asks for reads nothing of it, because it was not time.
  std::vector<protocol::Privacy> told;
  bool began = false;
  bool ended = false;
  while (!ended) {
    const protocol::Message message = daemon.receive([this] {
      if (shapley_client_wait(client, 1) == SHAPLEY_WAKE_HINT) scan();
    });
    if (const auto* begin = std::get_if<protocol::SnapshotBegin>(&message)) {
      began = true;
      daemon.acknowledge(begin->sequence);
    } else if (const auto* observations = std::get_if<protocol::Observations>(&message)) {
      if (began) told.insert(told.end(), observations->privacy.begin(), observations->privacy.end());
      daemon.acknowledge(observations->sequence);
    } else {
      ended = true;
    }
  }
  EXPECT_EQ(told, (std::vector<protocol::Privacy>{{.jobs = true}}));
}

}  // namespace
}  // namespace shapley::client
