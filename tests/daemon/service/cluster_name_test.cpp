// Whose records the books are made of, and whose are refused.
#include "daemon/books/cluster_name.hpp"

#include <gtest/gtest.h>

#include "service_fixture.hpp"

namespace shapley::daemon {
namespace {

using Lines = std::vector<std::string>;

class ClusterNameTest : public ServiceTest {
 protected:
  [[nodiscard]] Expected<void> come(const std::string& cluster, const std::string& location = "",
                                    bool is_connected = false) {
    protocol::Hello hello = feeder_hello(1);
    hello.cluster = cluster;
    hello.state_location = location.empty() ? "" : "/var/spool/" + location;
    hello.state_location_id = location;
    SHAPLEY_TRY(service->cluster().admit(hello, is_connected, Instant{now}));
    service->begin_session(hello, Instant{now});
    return {};
  }
  [[nodiscard]] Lines names() const {
    return rows(
        "SELECT json_extract(payload, '$.cluster'), json_extract(payload, '$.author'), "
        "json_extract(payload, '$.reason') FROM events WHERE kind = 'cluster_named' ORDER BY seq");
  }
  [[nodiscard]] nlohmann::json told() { return ask(R"({"request":"status"})")["daemon"]["cluster"]; }
};

TEST_F(ClusterNameTest, TheLedgerKnowsItFromTheFirstFeederOn) {
  EXPECT_EQ(told(), (nlohmann::json{{"name", nullptr}, {"refused", nullptr}, {"refusals", 0}}));
  EXPECT_TRUE(come("box"));
  EXPECT_EQ(names(), Lines{"box|the first feeder|"});
  restart();
  EXPECT_EQ(told()["name"], "box");
  const auto refused = come("trial");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::denied);
  EXPECT_NE(refused.error().what.find("cluster 'box', not of 'trial'"), std::string::npos) << refused.error().what;
  EXPECT_NE(refused.error().what.find("shapleyctl rename-cluster"), std::string::npos);
  now += 5;
  EXPECT_FALSE(come("trial"));
  EXPECT_EQ(
      told()["refused"],
      (nlohmann::json{
          {"cluster", "trial"}, {"state_location", nullptr}, {"times", 2}, {"first_at", now - 5}, {"last_at", now}}));
  EXPECT_TRUE(come("box"));
  EXPECT_TRUE(come("")) << "a feeder that does not say";
  EXPECT_EQ(names().size(), 1U);
}

TEST_F(ClusterNameTest, ASecondSlurmctldOfTheSameNameIsRefusedWhileTheFirstIsConnected) {
  EXPECT_TRUE(come("box", "ours"));
  const auto refused = come("box", "trial", true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::denied);
  EXPECT_NE(refused.error().what.find("whose StateSaveLocation is /var/spool/ours feeds"), std::string::npos);
  EXPECT_NE(refused.error().what.find("whose StateSaveLocation is /var/spool/trial:"), std::string::npos);
  now += 5;
  EXPECT_FALSE(come("box", "trial", true));
  EXPECT_EQ(told(), (nlohmann::json{{"name", "box"},
                                    {"refused",
                                     {{"cluster", "box"},
                                      {"state_location", "/var/spool/trial"},
                                      {"times", 2},
                                      {"first_at", now - 5},
                                      {"last_at", now}}},
                                    {"refusals", 2}}));
  // A restart or a takeover while the connection of before seems to stand still, and a feeder that does not say.
  EXPECT_TRUE(come("box", "ours", true));
  EXPECT_TRUE(come("box", "", true));
  EXPECT_TRUE(come("box", "ours", true));
}

TEST_F(ClusterNameTest, ASecondSlurmctldDoesNotTakeThePlaceOfOneThatRestarts) {
  EXPECT_TRUE(come("box", "ours"));
  EXPECT_FALSE(come("box", "trial", true));
  now += 5;
  EXPECT_FALSE(come("box", "trial")) << "ours restarts";
  EXPECT_TRUE(come("box", "ours"));
  // A StateSaveLocation that was moved is no second slurmctld: the two were never seen at once.
  EXPECT_TRUE(come("box", "moved"));
  EXPECT_FALSE(come("box", "ours", true));
  now += ClusterName::k_patience.value;
  EXPECT_TRUE(come("box", "ours"));
}

TEST_F(ClusterNameTest, ASecondSlurmctldDoesNotComeFirstWhereShapleydRestarts) {
  EXPECT_TRUE(come("box", "ours"));
  restart();
  const auto refused = come("box", "trial");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("ledger.db.feeder"), std::string::npos) << refused.error().what;
  EXPECT_TRUE(come("box", "ours"));
  EXPECT_FALSE(come("box", "trial", true));
  // After a boot the same path is another device.
  restart();
  protocol::Hello booted = feeder_hello(1);
  booted.cluster = "box";
  booted.state_location = "/var/spool/ours";
  booted.state_location_id = "ours, after a boot";
  EXPECT_TRUE(service->cluster().admit(booted, false, Instant{now}));
  // The first one does not come any more.
  restart();
  EXPECT_FALSE(come("box", "moved"));
  now += ClusterName::k_patience.value;
  EXPECT_TRUE(come("box", "moved"));
}

TEST_F(ClusterNameTest, AnAdministratorRenamesItWithAReason) {
  EXPECT_TRUE(come("box"));
  EXPECT_FALSE(come("new"));
  const auto renamed = [&](const std::string& cluster, const std::string& reason) {
    const nlohmann::json request{{"request", "rename_cluster"}, {"cluster", cluster}, {"reason", reason}};
    return nlohmann::json::parse(
        std::get<std::string>(answer(*service, parse_request(request.dump()), Instant{now}, Asker::administrator, 0)));
  };
  EXPECT_EQ(renamed("", "why")["error"]["code"], "invalid_argument");
  EXPECT_EQ(renamed("new", "")["error"]["code"], "invalid_argument");
  EXPECT_EQ(renamed("box", "why")["error"]["code"], "invalid_argument");
  EXPECT_EQ(names().size(), 1U);
  EXPECT_EQ(renamed("new", "moved")["before"], "box");
  EXPECT_EQ(told(), (nlohmann::json{{"name", "new"}, {"refused", nullptr}, {"refusals", 1}}));
  EXPECT_EQ(rows("SELECT json_extract(payload, '$.cluster'), json_extract(payload, '$.reason') FROM events "
                 "WHERE kind = 'cluster_named' ORDER BY seq"),
            (Lines{"box|", "new|moved"}));
  EXPECT_FALSE(come("box"));
  EXPECT_TRUE(come("new"));
  // Twice in one second: both are kept, in their order.
  EXPECT_EQ(renamed("newer", "again")["before"], "new");
  EXPECT_EQ(told()["name"], "newer");
  EXPECT_EQ(ask(R"({"request":"rename_cluster","cluster":"mine","reason":"because"})")["error"]["code"], "denied");
}

}  // namespace
}  // namespace shapley::daemon
