// What slurm.conf's PrivateData hides from which users, in every request that any user may ask.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "daemon/requests/visibility.hpp"
#include "service_fixture.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;
using Ids = std::set<std::uint32_t>;

constexpr std::uint32_t k_alice = 987'654'001;  // of physics, with a job that runs and one that waits
constexpr std::uint32_t k_bob = 987'654'002;    // of chemistry, with one that waits
constexpr std::uint32_t k_coordinator = 987'654'003;
constexpr std::uint32_t k_operator = 987'654'004;
constexpr std::uint32_t k_stranger = 987'654'005;

constexpr const char* k_all = R"({"request":"jobs","all":true})";

class PrivacyOfRequests : public ServiceTest {
 protected:
  void SetUp() override {
    site.configuration.organizations[0].workflows.fairness = true;
    join_consortium();
    ServiceTest::SetUp();
    privacy = {.jobs = true,
               .usage = false,
               .users = {{.user_id = k_coordinator, .is_operator = false, .accounts = {"chem"}},
                         {.user_id = k_operator, .is_operator = true, .accounts = {}}}};
    protocol::Hello hello = feeder_hello(1);
    hello.cluster = "north";
    ASSERT_TRUE(service->cluster().admit(hello, false, Instant{now}).has_value());
    connect(1);
    snapshot({});
    hear_the_south();
    now += 10;
    see({of(k_alice, running({.id = 4701, .account = "phys", .node = "n2", .cpus = 8, .start = now}))});
    now += 60;
    see({of(k_alice, waiting({.id = 4702, .account = "phys", .start = now})),
         of(k_bob, waiting({.id = 4703, .account = "chem", .start = now}))});
    now += 60;
    service->tick(Instant{now});
  }

  // North and south are clusters of one consortium, and sign with the same key here.
  void join_consortium() {
    ASSERT_TRUE(ledger::make_key_files(directory / "key").has_value());
    site.signing_key = std::make_shared<const ledger::SigningKey>(ledger::SigningKey::read(directory / "key").value());
    site.consortium_keys = {
        std::make_shared<const ledger::PublicKey>(ledger::PublicKey::read(directory / "key.pub").value())};
    site.configuration.consortium.name = "uni";
    site.configuration.consortium.clusters.resize(1);
    site.configuration.consortium.clusters[0].name = "south";
  }
  void hear_the_south() {
    const Period period = service->books().state().period();
    const auto row = [](const char* name, std::int64_t core_hours) {
      const CpuTime work{Int128{core_hours} * 3600 * k_micro};
      return accounting::OrganizationElsewhere{
          name, {.balance = {}, .given_less_got = work, .rate_less_used = {}}, {}, {}, {}};
    };
    ledger::StandingStatement statement{.cluster = "south", .figures = {}, .signature = {}};
    statement.figures = {.consortium = "uni",
                         .ledger = std::string(32, 'a'),
                         .event = 1,
                         .hash = std::string(64, 'b'),
                         .time = Instant{now},
                         .contribution = "direct_contr",
                         .period = period,
                         .period_begin = std::max(Instant{0}, period_begin(period, Instant{now})),
                         .weights = {{"north", 1'000'000}, {"south", 1'000'000}},
                         .organizations = {row("chemistry", 40), row("medicine", 7), row("physics", -40)},
                         .lost = {},
                         .whole = {1000 * k_micro}};
    ASSERT_TRUE(ledger::sign(statement, *site.signing_key).has_value());
    service->receive_standing("south", read_statement(statement.text(), site.consortium_keys.front()), Instant{now});
    ASSERT_EQ(service->consortium().clusters().front().fault, "");
  }

  static protocol::JobUpdate of(std::uint32_t user, protocol::JobUpdate record) {
    record.user_id = user;
    record.name = "secret-name";
    record.wckey = "secret-workflow";
    return record;
  }

  // As the feeder sends it again.
  void tell(protocol::Privacy told) {
    privacy = std::move(told);
    protocol::Observations o;
    o.sequence = ++sequence;
    o.observed_at = now;
    o.privacy = {privacy};
    service->receive(std::move(o), Instant{now});
    service->process(Instant{now});
  }

  Ids jobs_of(const json& report) {
    Ids ids;
    for (const json& job : report["jobs"]) ids.insert(job["job"].get<std::uint32_t>());
    return ids;
  }
  Ids jobs_for(std::uint32_t user) { return jobs_of(ask(k_all, user)); }

  [[nodiscard]] json as_administrator(const std::string& request) {
    Answer answered = answer(*service, parse_request(request), Instant{now}, Asker::administrator, 0);
    if (const auto* text = std::get_if<std::string>(&answered)) return json::parse(*text);
    ReadingThread::Connection reader(site.configuration.ledger);
    return json::parse(std::get<ReadingThread::Question>(answered)(reader, {}));
  }

  // Other programs that write to the disk change how much of it is free from one reply to the next.
  static json without_the_disk(json reply) {
    const json::json_pointer free("/daemon/storage/free_bytes");
    if (reply.contains(free)) reply[free] = nullptr;
    return reply;
  }

  static std::string what_of(const json& reply) {
    return reply.value("error", json::object()).value("what", "no error");
  }

  // The examples of each request that any user may ask.
  [[nodiscard]] std::map<std::string, std::vector<std::string>> examples() const {
    const std::string before = std::to_string(k_begin + 1);
    const std::string during = std::to_string(k_begin + 30);
    return {{"adjustments", {R"({"request":"adjustments"})"}},
            {"compare",
             {R"({"request":"compare","a":"4702","b":"4703"})", R"({"request":"compare","a":"physics","b":"4702"})",
              R"({"request":"compare","a":"physics","b":"chemistry"})",
              R"({"request":"compare","a":"physics","b":"4701","at":)" + during + "}"}},
            {"configuration", {R"({"request":"configuration"})"}},
            {"explain",
             {R"({"request":"explain","job":"4702"})", R"({"request":"explain","job":"4701","at":)" + before + "}",
              R"({"request":"explain","job":"4701","at":)" + during + "}"}},
            {"head", {R"({"request":"head"})"}},
            {"history",
             {R"({"request":"history","by":"hour"})", R"({"request":"history","by":"hour","utilization":true})"}},
            {"jobs", {R"({"request":"jobs"})", k_all, R"({"request":"jobs","all":true,"jobs":[4701,4702,4703]})"}},
            {"ping", {R"({"request":"ping"})"}},
            {"queue", {R"({"request":"queue"})"}},
            {"standing", {R"({"request":"standing"})"}},
            {"statement", {R"({"request":"statement"})"}},
            {"status", {R"({"request":"status"})", R"({"request":"status","forecast":true})"}},
            {"status_at", {R"({"request":"status_at","at":)" + during + "}"}},
            {"workflows", {R"({"request":"workflows"})"}}};
  }
};

TEST_F(PrivacyOfRequests, NoRequestShowsAStrangerAJobOrAUser) {
  const auto asked = examples();
  for (const Request& request : requests()) {
    if (request.may_ask != Asker::anybody) continue;
    const auto found = asked.find(std::string(request.name));
    ASSERT_NE(found, asked.end()) << request.name << ": say here how it is asked, and what it shows of others";
    for (const std::string& text : found->second) {
      const std::string shown = ask(text, k_stranger).dump();
      for (const char* secret : {"secret-name", "secret-workflow", "987654001", "987654002"})
        EXPECT_EQ(shown.find(secret), std::string::npos) << text << " shows " << secret << ": " << shown;
    }
  }
}

// The witness of the one above: each secret is shown to some user.
TEST_F(PrivacyOfRequests, TheSameRequestsShowEverythingToOperators) {
  std::string shown;
  for (const auto& [name, texts] : examples()) {
    for (const std::string& text : texts) {
      const json reply = without_the_disk(ask(text, k_operator));
      const json expected = without_the_disk(as_administrator(text));
      shown += reply.dump();
      EXPECT_EQ(reply, expected) << text;
    }
  }
  for (const char* secret : {"secret-name", "secret-workflow", "987654001", "987654002"})
    EXPECT_NE(shown.find(secret), std::string::npos) << secret;
}

TEST_F(PrivacyOfRequests, JobsAreListedToTheirOwnersCoordinatorsAndOperators) {
  EXPECT_EQ(jobs_for(k_alice), (Ids{4701, 4702}));
  EXPECT_EQ(jobs_for(k_bob), (Ids{4703}));
  EXPECT_EQ(jobs_for(k_coordinator), (Ids{4703}));
  EXPECT_EQ(jobs_for(k_operator), (Ids{4701, 4702, 4703}));
  EXPECT_EQ(jobs_for(k_stranger), Ids{});
  EXPECT_EQ(jobs_of(as_administrator(k_all)), (Ids{4701, 4702, 4703}));
  // The daemon's own user can read the ledger.
  EXPECT_EQ(jobs_for(::geteuid()), (Ids{4701, 4702, 4703}));
  const std::string named = R"({"request":"jobs","all":true,"jobs":[4701,4703]})";
  EXPECT_EQ(jobs_of(ask(named, k_bob)), (Ids{4703}));
  EXPECT_EQ(ask(named, k_bob)["private"], true);
  EXPECT_EQ(ask(named, k_operator)["private"], false);
}

TEST_F(PrivacyOfRequests, AHiddenJobIsAsAJobThatThereIsNot) {
  const auto told = [&](const std::string& job, std::uint32_t user) {
    std::string what = what_of(ask(R"({"request":"explain","job":")" + job + R"("})", user));
    for (std::size_t at = what.find(job); at != std::string::npos; at = what.find(job)) what.replace(at, 4, "JOB");
    return what;
  };
  EXPECT_EQ(told("4702", k_alice), "no error");
  EXPECT_EQ(told("4703", k_coordinator), "no error");
  EXPECT_NE(told("4702", k_bob), "no error");
  EXPECT_EQ(told("4702", k_bob), told("4799", k_bob));
  EXPECT_EQ(what_of(ask(R"({"request":"compare","a":"4702","b":"4703"})", k_alice)),
            what_of(ask(R"({"request":"compare","a":"4703","b":"4702"})", k_alice)));
  EXPECT_EQ(ask(R"({"request":"compare","a":"4702","b":"chemistry"})", k_alice)["sides"][0]["job"]["job"], 4702);
}

TEST_F(PrivacyOfRequests, SumsByOrganizationAreForAll) {
  const json report = ask(R"({"request":"explain","job":"4702"})", k_alice);
  EXPECT_EQ(report["ahead"]["jobs"], 1) << report.dump(1);
  EXPECT_EQ(report["ahead"]["organizations"][0]["organization"], "chemistry");
  const json status = ask(R"({"request":"status"})", k_stranger);
  EXPECT_EQ(status["organizations"], as_administrator(R"({"request":"status"})")["organizations"]);
  const char* forecast = R"({"request":"status","forecast":true})";
  EXPECT_EQ(ask(forecast, k_stranger)["forecast"], as_administrator(forecast)["forecast"]);
  EXPECT_EQ(ask(R"({"request":"history"})", k_stranger), as_administrator(R"({"request":"history"})"));
}

// Of few runs a wait says whose it was.
TEST_F(PrivacyOfRequests, WaitsOfRunsAreForThoseWhoSeeAllJobs) {
  const char* request = R"({"request":"history","by":"hour","utilization":true})";
  const json all = ask(request, k_operator)["utilization"];
  EXPECT_FALSE(all["waits"].empty());
  EXPECT_FALSE(all.contains("private"));
  const json hidden = ask(request, k_stranger)["utilization"];
  EXPECT_TRUE(hidden["waits"].empty());
  EXPECT_EQ(hidden["private"], true);
  EXPECT_EQ(hidden["rows"], all["rows"]);
}

// Other clusters state sums by organization. Sums of organizations that the books here do not have are shown to no
// user.
TEST_F(PrivacyOfRequests, WhatIsOwedOnOtherClustersIsShownAsSumsByOrganization) {
  const json south = as_administrator(R"({"request":"status"})")["clusters"][0];
  EXPECT_EQ(south["organizations"], (json{{{"organization", "chemistry"}, {"core_hours", 40.0}},
                                          {{"organization", "physics"}, {"core_hours", -40.0}}}));
  EXPECT_EQ(ask(R"({"request":"status"})", k_stranger)["clusters"][0], south);
  for (const char* request :
       {R"({"request":"explain","job":"4702"})", R"({"request":"compare","a":"4702","b":"chemistry"})"}) {
    const json hers = ask(request, k_alice);
    ASSERT_EQ(hers["clusters"].size(), 1U) << hers.dump(1);
    EXPECT_EQ(hers["clusters"][0]["organizations"], south["organizations"]) << request;
    // Of a job that is hidden nothing is said, of other clusters neither.
    const json hidden = ask(request, k_stranger);
    EXPECT_TRUE(hidden.contains("error")) << hidden.dump(1);
    EXPECT_EQ(hidden.dump().find("south"), std::string::npos) << hidden.dump(1);
  }
}

TEST_F(PrivacyOfRequests, OfStartsThatAreHiddenOnlyTheNumberIsShown) {
  // Before alice's job began; carol's was there already.
  constexpr std::uint32_t k_carol = 987'654'006;
  see({of(k_carol, ended({.id = 4704, .account = "chem", .start = k_begin + 2}, k_begin + 5))});
  const std::string then = R"({"request":"explain","job":"4704","at":)" + std::to_string(k_begin + 3) + "}";
  const json hers = ask(then, k_carol);
  EXPECT_EQ(hers["next_starts"], json::array()) << hers.dump(1);
  EXPECT_EQ(hers["hidden_starts"], (json{{"physics", 1}}));
  const json all = ask(then, k_operator);
  EXPECT_EQ(all["next_starts"][0]["job"], 4701) << all.dump(1);
  EXPECT_EQ(all["hidden_starts"], json::object());
}

TEST_F(PrivacyOfRequests, OfWhatStartedWhileAJobWaitedOnlyTheSumsAreShown) {
  now += 10;
  protocol::JobUpdate alices = running({.id = 4702, .account = "phys", .node = "n1", .start = now});
  alices.submit_time = alices.eligible_time = now - 70;
  see({of(k_alice, alices)});
  now += 10;
  protocol::JobUpdate bobs = running({.id = 4703, .account = "chem", .node = "n1", .start = now});
  bobs.submit_time = bobs.eligible_time = now - 80;
  see({of(k_bob, bobs)});
  const std::string request = R"({"request":"explain","job":"4703"})";
  const json his = ask(request, k_bob)["history"]["meanwhile"];
  EXPECT_EQ(his["organizations"][0]["organization"], "physics") << his.dump(1);
  EXPECT_EQ(his["organizations"][0]["jobs"], 1);
  EXPECT_EQ(his["last"], json::array());
  EXPECT_EQ(his["hidden"], (json{{"physics", 1}}));
  const json all = ask(request, k_operator)["history"]["meanwhile"];
  EXPECT_EQ(all["last"][0]["job"], 4702) << all.dump(1);
  EXPECT_EQ(all["hidden"], json::object());
}

TEST_F(PrivacyOfRequests, TheQueueIsForThoseWhoSeeAll) {
  EXPECT_EQ(ask(R"({"request":"queue"})", k_alice)["error"]["code"], "denied");
  EXPECT_EQ(ask(R"({"request":"queue"})", k_operator)["jobs"].size(), 2U);
}

// One of alice's, one of alice's and bob's, one of bob's: all of physics.
TEST_F(PrivacyOfRequests, AWorkflowIsForThoseWhoSeeAllOfItsJobs) {
  const auto named = [&](std::uint32_t user, std::uint32_t id, const std::string& account,
                         const std::string& workflow) {
    protocol::JobUpdate record = of(user, waiting({.id = id, .account = account, .start = now}));
    record.wckey = workflow;
    return record;
  };
  const auto names_for = [&](std::uint32_t user) {
    std::set<std::string> names;
    const json report = ask(R"({"request":"workflows"})", user);
    const json& physics = report["organizations"][0];
    for (const json& row : physics["workflows"])
      names.insert(row["workflow"].get<std::string>().substr(std::string("wckey ").size()));
    EXPECT_EQ(physics["hidden_workflows"].get<std::size_t>() + names.size(), 3U) << physics.dump(1);
    EXPECT_EQ(report["private"], user != k_operator);
    return names;
  };
  using Names = std::set<std::string>;
  see({named(k_alice, 4710, "phys", "of-two"), named(k_bob, 4711, "phys", "of-two"),
       named(k_bob, 4712, "phys", "of-bob")});
  now += 60;
  service->tick(Instant{now});
  EXPECT_EQ(names_for(k_operator), (Names{"secret-workflow", "of-two", "of-bob"}));
  EXPECT_EQ(names_for(k_alice), Names{"secret-workflow"});
  EXPECT_EQ(names_for(k_bob), Names{"of-bob"});
  EXPECT_EQ(names_for(k_stranger), Names{});
  EXPECT_EQ(names_for(k_coordinator), Names{});
  privacy.users[0].accounts = {"chem", "phys"};
  tell(privacy);
  EXPECT_EQ(names_for(k_coordinator), (Names{"secret-workflow", "of-two", "of-bob"}));

  // Its runs are remembered, whichever user's they were.
  protocol::JobUpdate ran = running({.id = 4711, .account = "phys", .node = "n2", .cpus = 1, .start = now});
  ran = of(k_bob, ran);
  ran.wckey = "of-two";
  see({ran});
  now += 60;
  ran.state = protocol::JobState::ended;
  ran.slurm_state = "COMPLETED";
  ran.end_time = now;
  see({ran});
  now += 60;
  service->tick(Instant{now});
  EXPECT_EQ(names_for(k_alice), Names{"secret-workflow"});
  EXPECT_EQ(names_for(k_coordinator), (Names{"secret-workflow", "of-two", "of-bob"}));
}

TEST_F(PrivacyOfRequests, AStatementAddsUpTheUsersThatItHides) {
  const auto physics = [](const json& report) { return report["organizations"][0]; };
  const json all = physics(ask(R"({"request":"statement"})", k_operator));
  ASSERT_EQ(all["users"].size(), 1U) << all.dump(1);
  EXPECT_EQ(all["users"][0]["user_id"], k_alice);
  const json hidden = physics(ask(R"({"request":"statement"})", k_bob));
  ASSERT_EQ(hidden["users"].size(), 1U) << hidden.dump(1);
  EXPECT_TRUE(hidden["users"][0]["user_id"].is_null());
  EXPECT_TRUE(hidden["users"][0]["account"].is_null());
  for (const char* amount : {"got", "own", "borrowed"}) EXPECT_EQ(hidden["users"][0][amount], all["users"][0][amount]);
  EXPECT_EQ(physics(ask(R"({"request":"statement"})", k_alice)), all);
}

TEST_F(PrivacyOfRequests, AnAdjustmentNamesNoRunThatIsHidden) {
  const json made =
      as_administrator(R"({"request":"adjust","reason":"a typo","attribute":{"job":4701,"into":"chemistry"}})");
  ASSERT_TRUE(made.contains("adjustment")) << made.dump(1);
  const std::string adjustments = R"({"request":"adjustments"})";
  for (const std::string& request : {adjustments, std::string(R"({"request":"statement"})")}) {
    const json all = ask(request, k_operator)["adjustments"];
    const json hidden = ask(request, k_stranger)["adjustments"];
    ASSERT_EQ(all.size(), 1U) << request;
    ASSERT_EQ(hidden.size(), 1U) << request;
    EXPECT_NE(all[0]["what"].get<std::string>().find("4701"), std::string::npos) << all.dump(1);
    EXPECT_EQ(hidden.dump().find("4701"), std::string::npos) << hidden.dump(1);
    EXPECT_EQ(hidden[0]["into"], all[0]["into"]);
    EXPECT_TRUE(hidden[0].value("work", json()).is_null()) << hidden.dump(1);
    EXPECT_EQ(all[0].value("work", json()).is_object(), request != adjustments) << all.dump(1);
  }
}

TEST_F(PrivacyOfRequests, PrivateUsageHidesSumsOfUsersAndNoJobs) {
  tell({.jobs = false, .usage = true, .users = {}});
  EXPECT_EQ(jobs_for(k_stranger), (Ids{4701, 4702, 4703}));
  EXPECT_EQ(ask(R"({"request":"queue"})", k_stranger)["jobs"].size(), 2U);
  EXPECT_TRUE(ask(R"({"request":"statement"})", k_stranger)["organizations"][0]["users"][0]["user_id"].is_null());
  tell({.jobs = false, .usage = false, .users = {}});
  EXPECT_EQ(ask(R"({"request":"statement"})", k_stranger)["organizations"][0]["users"][0]["user_id"], k_alice);
}

TEST_F(PrivacyOfRequests, WhatWasSentLastHoldsAcrossRestarts) {
  const auto told = [&] { return ask(R"({"request":"status"})")["daemon"]["privacy"]; };
  EXPECT_EQ(told(), (json{{"jobs", true}, {"usage", false}, {"told_at", k_begin}}));
  struct stat file {};
  ASSERT_EQ(::stat(SideFile<KeptPrivacy>::path_of(site.configuration.ledger).c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777U, 0600U);
  restart();
  EXPECT_EQ(told(), (json{{"jobs", true}, {"usage", false}, {"told_at", k_begin}}));
  EXPECT_EQ(jobs_for(k_coordinator), (Ids{4703}));
  EXPECT_EQ(jobs_for(k_operator), (Ids{4701, 4702, 4703}));
}

TEST_F(PrivacyOfRequests, AsLongAsItIsUnknownJobsAreTheirOwners) {
  for (const char* broken :
       {"", "{}", "[1]", R"({"told_at":1,"privacy":{"jobs":false,"usage":false,"users":[{"user_id":-1}]}})"}) {
    std::ofstream(SideFile<KeptPrivacy>::path_of(site.configuration.ledger)) << broken;
    restart();
    EXPECT_TRUE(ask(R"({"request":"status"})")["daemon"]["privacy"]["jobs"].is_null()) << broken;
    EXPECT_EQ(jobs_for(k_stranger), Ids{});
    EXPECT_EQ(jobs_for(k_operator), Ids{});
    EXPECT_EQ(jobs_for(k_bob), (Ids{4703}));
  }
  std::filesystem::remove(SideFile<KeptPrivacy>::path_of(site.configuration.ledger));
  restart();
  EXPECT_EQ(jobs_for(k_bob), (Ids{4703}));
  // An older plugin says nothing.
  connect(2);
  see({});
  EXPECT_EQ(jobs_for(k_operator), Ids{});
  tell({});
  EXPECT_EQ(jobs_for(k_stranger), (Ids{4701, 4702, 4703}));
}

// ---- sums of hidden users --------------------------------------------------------------------------------------

ledger::UserRow row(const char* account, std::uint32_t user, const char* got) {
  const ledger::Amount amount{CpuTime{parse_micro(got).value()}};
  return {.account = account, .user_id = user, .got = amount, .own = amount, .borrowed = amount};
}

TEST(HiddenUsers, BecomeOneRowThatSaysTheirSum) {
  const Visibility visible = Visibility::of(
      protocol::Privacy{
          .jobs = false, .usage = true, .users = {{.user_id = 7, .is_operator = false, .accounts = {"bio"}}}},
      7);
  ledger::AccountReport report;
  report.organizations.resize(3);
  report.organizations[0].users = {row("bio", 1, "10"), row("bio", 7, "20"), row("chem", 7, "30"),
                                   row("chem", 2, "3600.000001"), row("phys", 2, "0.5")};
  report.organizations[1].users = {row("bio", 3, "1")};
  const json shown = shapley::json_of(visible.show(report).report())["organizations"];
  const json& users = shown[0]["users"];
  ASSERT_EQ(users.size(), 4U) << shown.dump(1);
  EXPECT_EQ(users[3]["account"], nullptr);
  EXPECT_EQ(users[3]["got"]["processor_seconds"], "3600.500001");
  EXPECT_NEAR(users[3]["got"]["core_hours"].get<double>(), 1.000138889, 1e-6);
  EXPECT_EQ(shown[1]["users"].size(), 1U);
  EXPECT_EQ(shown[1]["users"][0]["user_id"], 3);
  EXPECT_TRUE(shown[2]["users"].empty());
}

}  // namespace
}  // namespace shapley::daemon
