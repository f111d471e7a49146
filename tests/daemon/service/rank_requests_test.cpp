// explain, compare and forecast, asked of the daemon.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "service_fixture.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;

class RankRequests : public ServiceTest {
 protected:
  // physics runs on chemistry's node since the begin; a minute later both have jobs that wait.
  void SetUp() override {
    ServiceTest::SetUp();
    connect(1);
    snapshot({running({.id = 1, .account = "phys", .node = "n2", .cpus = 8, .start = k_begin})});
    now += 60;
    protocol::JobRecord blocked = waiting({.id = 4, .account = "phys", .start = now});
    blocked.wait = protocol::WaitReason::dependency;
    protocol::JobRecord inherited = waiting({.id = 5, .account = "grad", .start = now});
    inherited.account_ancestors = {"phys", "root"};
    see({waiting({.id = 2, .account = "phys", .start = now}), waiting({.id = 3, .account = "chem", .start = now}),
         blocked, inherited});
    now += 40;
    service->tick(Instant{now});
  }

  json error_of(const std::string& request) {
    const json reply = ask(request);
    EXPECT_TRUE(reply.contains("error")) << reply.dump(1);
    return reply.value("error", json::object());
  }
};

TEST_F(RankRequests, ExplainSaysWhatTheBooksKnowOfAJob) {
  const json report = ask(R"({"request":"explain","job":"2"})");
  EXPECT_EQ(report["at"], now);
  EXPECT_EQ(report["job"]["organization"], "physics");
  EXPECT_EQ(report["job"]["state"], "waiting");
  EXPECT_EQ(report["job"]["since"], k_begin + 60);
  EXPECT_EQ(report["waits_for"], "startable");
  EXPECT_EQ(report["rule"]["kind"], "account");
  EXPECT_EQ(report["rule"]["name"], "phys");
  EXPECT_EQ(report["organization"]["rank"], 3);
  EXPECT_EQ(report["ahead"]["organizations"][0]["organization"], "chemistry");
  EXPECT_EQ(report["ahead"]["organizations"][0]["because"], "guarantee");
  EXPECT_EQ(report["own"], (json{{"jobs", 1}, {"processors", 4}, {"longer", 0}}));
  const json& priorities = report["priorities"];
  EXPECT_EQ(priorities["ranks"], (json{"chemistry", "guests", "physics"}));
  EXPECT_EQ(priorities["mode"], "priorities");
  EXPECT_EQ(priorities["level"], 0);
  EXPECT_EQ(priorities["plugin_connected"], true);
}

// The account tree is the feeder's to know; the ledger does not keep it.
TEST_F(RankRequests, ExplainTellsTheRuleOfAnAccountAbove) {
  const json report = ask(R"({"request":"explain","job":"5"})");
  EXPECT_EQ(report["job"]["organization"], "physics");
  EXPECT_EQ(report["rule"]["name"], "phys");
  EXPECT_EQ(report["job"]["account"], "grad");
}

TEST_F(RankRequests, ExplainTellsWhatABlockedJobWaitsFor) {
  const json report = ask(R"({"request":"explain","job":"4"})");
  EXPECT_EQ(report["job"]["state"], "blocked");
  EXPECT_EQ(report["waits_for"], "dependency");
  // It is no demand, and not in the queue that advise plans with.
  EXPECT_EQ(ask(R"({"request":"queue"})")["jobs"].size(), 3U);
}

TEST_F(RankRequests, CompareKnowsSinceWhen) {
  const json report = ask(R"({"request":"compare","a":"physics","b":"chemistry"})");
  EXPECT_EQ(report["first"], "chemistry");
  EXPECT_EQ(report["because"], "guarantee");
  // What runs counts: physics is behind as soon as it holds what chemistry gives.
  EXPECT_EQ(report["since"]["keys"], k_begin);
  EXPECT_TRUE(report["since_unknown"].is_null());
  const json jobs = ask(R"({"request":"compare","a":"2","b":"3"})");
  EXPECT_EQ(jobs["first"], "chemistry");
  EXPECT_EQ(jobs["sides"][1]["job"]["job"], 3);
}

TEST_F(RankRequests, OfThePastAreReadFromTheLedger) {
  const json report = ask(R"({"request":"explain","job":"1","at":)" + std::to_string(k_begin + 10) + "}");
  EXPECT_EQ(report["past"], true);
  EXPECT_EQ(report["job"]["state"], "running");
  EXPECT_TRUE(report["priorities"].is_null());
  const json forecast = ask(R"({"request":"forecast","at":)" + std::to_string(k_begin + 10) + "}");
  EXPECT_EQ(forecast["at"], k_begin + 10);
  EXPECT_EQ(forecast["organizations"][0]["name"], "chemistry");
}

TEST_F(RankRequests, ForecastIsOfThePresent) {
  const json report = ask(R"({"request":"forecast"})");
  EXPECT_EQ(report["at"], now);
  EXPECT_EQ(report["pairs"], 3);
}

TEST_F(RankRequests, ThatAreWrongSayWhatIsAllowed) {
  EXPECT_EQ(error_of(R"({"request":"explain"})")["code"], "invalid_argument");
  EXPECT_EQ(error_of(R"({"request":"explain","job":4711})")["code"], "invalid_argument");
  EXPECT_EQ(error_of(R"({"request":"explain","job":"x"})")["code"], "invalid_argument");
  EXPECT_EQ(error_of(R"({"request":"explain","job":"99"})")["code"], "invalid_argument");
  EXPECT_EQ(error_of(R"({"request":"compare","a":"physics"})")["code"], "invalid_argument");
  EXPECT_EQ(error_of(R"({"request":"compare","a":"physics","b":"nosuch"})")["code"], "invalid_argument");
  EXPECT_EQ(error_of(R"({"request":"forecast","at":"x"})")["code"], "invalid_argument");
  EXPECT_EQ(error_of(R"({"request":"forecast","at":99999999999})")["code"], "invalid_argument");
}

// Whoever may ask for little gets an answer about the present without its history, and none about the past.
TEST_F(RankRequests, ReadNoMoreEventsThanTheirBudget) {
  const auto answered = [&](const std::string& request) {
    Answer prepared = answer(*service, request, Instant{now});
    ReadingThread::Connection reader(site.configuration.ledger);
    return json::parse(std::get<ReadingThread::Question>(prepared)(reader, {.rows = 3}));
  };
  const json present = answered(R"({"request":"compare","a":"physics","b":"chemistry"})");
  EXPECT_EQ(present["first"], "chemistry");
  EXPECT_TRUE(present["since"].is_null());
  EXPECT_TRUE(present["since_unknown"].is_string());
  const json past = answered(R"({"request":"forecast","at":)" + std::to_string(k_begin + 10) + "}");
  EXPECT_EQ(past["error"]["code"], "limit") << past.dump(1);
}

}  // namespace
}  // namespace shapley::daemon
