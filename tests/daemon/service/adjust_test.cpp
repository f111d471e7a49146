// Corrections of the books by a running daemon: who may, what slurmctld's records do to them afterwards, and reloads.
#include "tests/daemon/service/service_fixture.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;

class AdjustTest : public ServiceTest {
 protected:
  json told(const json& request, Asker asker = Asker::administrator) {
    return json::parse(std::get<std::string>(answer(*service, parse_request(request.dump()), Instant{now}, asker, 0)));
  }
  json attribute(std::uint32_t job, const char* into) {
    return told({{"request", "adjust"}, {"reason", "a typo"}, {"attribute", {{"job", job}, {"into", into}}}});
  }
  json reverse(int number) { return told({{"request", "adjust"}, {"reason", "it was none"}, {"reverse", number}}); }
  [[nodiscard]] std::vector<std::string> whose() const {
    return rows("SELECT job, organization, begin - " + std::to_string(k_begin) + ", COALESCE(end - " +
                std::to_string(k_begin) +
                ", 'open') FROM segments WHERE kind = 'run' AND retracted IS NULL "
                "ORDER BY job, begin");
  }
  json row_of(const char* name) {
    const json status = ask(R"({"request":"status"})");
    for (const json& row : status["organizations"])
      if (row["name"] == name) return row;
    return nullptr;
  }
  // Another configuration, reloaded: physics is called `name`.
  Expected<void> rename_in_configuration(const std::string& name) {
    Site other = site;
    other.configuration.organizations[0].name = name;
    other.rules[0].organization = name;
    other.text = "organizations " + name;
    return service->reload(other, Instant{now});
  }
  const Job typo{.id = 1, .account = "phsyics", .node = "n1", .cpus = 4, .start = k_begin};
};

TEST_F(AdjustTest, ARunningJobStaysWhoseItWasMadeAndEndsSo) {
  connect(1);
  snapshot({running(typo)});
  now += 10;
  EXPECT_EQ(whose(), std::vector<std::string>{"1|guests|0|open"});
  const json made = attribute(1, "physics");
  ASSERT_TRUE(made.contains("adjustment")) << made;
  EXPECT_EQ(made["adjustment"]["number"], 1);
  EXPECT_EQ(made["adjustment"]["runs"], 1);
  EXPECT_EQ(made["adjustment"]["author"].get<std::string>().substr(0, 5), "uid 0");
  EXPECT_EQ(made["core_hours"].get<double>(), 40.0 / 3600);
  EXPECT_EQ(whose(), std::vector<std::string>{"1|physics|0|open"});
  EXPECT_EQ(row_of("physics")["used"], 4);
  EXPECT_EQ(row_of("guests")["used"], 0);

  const std::int64_t events = service->books().last_sequence();
  now += 10;
  see({running(typo)});
  snapshot({running(typo)});
  EXPECT_EQ(service->books().last_sequence(), events) << "its records say nothing new";
  now += 10;
  see({ended(typo, now)});
  EXPECT_EQ(whose(), std::vector<std::string>{"1|physics|0|30"});
  restart();
  EXPECT_EQ(row_of("physics")["got_core_hours"].get<double>(), 120.0 / 3600);
  EXPECT_EQ(rows("SELECT organization FROM jobs"), std::vector<std::string>{"physics"});

  EXPECT_TRUE(reverse(1).contains("adjustment"));
  EXPECT_EQ(whose(), std::vector<std::string>{"1|guests|0|30"});
  EXPECT_EQ(row_of("guests")["got_core_hours"].get<double>(), 120.0 / 3600);
  EXPECT_EQ(reverse(1)["error"]["code"], "conflict");
  EXPECT_EQ(ask(R"({"request":"adjustments"})")["adjustments"][0]["reversed_by"], 2);
}

TEST_F(AdjustTest, ARecordReadBeforeTheCorrectionStillCounts) {
  connect(1);
  snapshot({running(typo)});
  // slurmctld suspended the job at 8; the record comes when the books were corrected at 10.
  now += 10;
  attribute(1, "physics");
  protocol::JobUpdate suspended = running(typo);
  suspended.state = protocol::JobState::suspended;
  suspended.slurm_state = "SUSPENDED";
  suspended.suspend_time = k_begin + 8;
  suspended.pre_suspend_run_s = 8;
  now -= 1;
  see({suspended});
  now += 1;
  EXPECT_EQ(whose(), std::vector<std::string>{"1|physics|0|8"});
}

TEST_F(AdjustTest, WhatIsRequeuedGoesByTheRulesAgain) {
  connect(1);
  snapshot({running(typo)});
  now += 10;
  attribute(1, "physics");
  protocol::JobUpdate again = waiting(typo);
  again.submit_time = again.eligible_time = now;
  again.restart_count = 1;
  now += 1;
  see({again});
  Job second = typo;
  second.start = now + 1;
  now += 2;
  protocol::JobUpdate record = running(second);
  record.submit_time = again.submit_time;
  record.eligible_time = again.eligible_time;
  record.restart_count = 1;
  see({record});
  EXPECT_EQ(whose(), (std::vector<std::string>{"1|physics|0|10", "1|guests|12|open"}));
}

TEST_F(AdjustTest, LongAgoIsCorrectedByARebuild) {
  connect(1);
  snapshot({running(typo)});
  now += 100;
  see({ended(typo, now)});
  forget_the_past();
  ASSERT_TRUE(attribute(1, "physics").contains("adjustment"));
  ASSERT_TRUE(test::eventually([&] {
    now += 30;
    service->tick(Instant{now});
    return !service->books().incomplete();
  }));
  EXPECT_EQ(row_of("physics")["got_core_hours"].get<double>(), 400.0 / 3600);
  EXPECT_EQ(row_of("guests")["got_core_hours"], 0);
}

TEST_F(AdjustTest, OnlyAdministratorsMay) {
  connect(1);
  snapshot({running(typo)});
  const json request{{"request", "adjust"}, {"reason", "mine"}, {"attribute", {{"job", 1}, {"into", "physics"}}}};
  EXPECT_EQ(told(request, Asker::anybody)["error"]["code"], "denied");
  json preview = request;
  preview["request"] = "adjust_preview";
  EXPECT_EQ(told(preview, Asker::anybody)["error"]["code"], "denied");
  EXPECT_EQ(ask(R"({"request":"adjustments"})")["adjustments"], json::array());
  EXPECT_EQ(whose(), std::vector<std::string>{"1|guests|0|open"});
}

TEST_F(AdjustTest, FaultyRequestsBookNothing) {
  connect(1);
  snapshot({running(typo)});
  const std::int64_t events = service->books().last_sequence();
  for (const char* faulty : {
           R"({"request":"adjust","reason":"x"})",
           R"({"request":"adjust","attribute":{"job":1,"into":"physics"}})",
           R"({"request":"adjust","reason":"","attribute":{"job":1,"into":"physics"}})",
           R"({"request":"adjust","reason":"x","attribute":{"job":-1,"into":"physics"}})",
           R"({"request":"adjust","reason":"x","attribute":{"job":1,"into":""}})",
           R"({"request":"adjust","reason":"x","attribute":{"job":1,"account":"a","into":"physics"}})",
           R"({"request":"adjust","reason":"x","attribute":[1]})",
           R"({"request":"adjust","reason":"x","own":{"nodes":"n1","owners":{},"since":1}})",
           R"({"request":"adjust","reason":"x","own":{"nodes":"n1","owners":[7],"since":1}})",
           R"({"request":"adjust","reason":"x","own":{"nodes":"n[","owners":[],"since":1}})",
           R"({"request":"adjust","reason":"x","rename":{"organization":"physics"}})",
           R"({"request":"adjust","reason":"x","reverse":"1"})",
           R"({"request":"adjust","reason":"x","reverse":1,"merge":{"organization":"physics","into":"chemistry"}})",
       }) {
    EXPECT_EQ(told(json::parse(faulty))["error"]["code"], "invalid_argument") << faulty;
  }
  EXPECT_EQ(attribute(99, "physics")["error"]["code"], "invalid_argument");
  EXPECT_EQ(service->books().last_sequence(), events);
}

TEST_F(AdjustTest, ARenamedOrganizationKeepsItsStandingAndItsOldNameIsDead) {
  connect(1);
  Job own = typo;
  own.account = "phys";
  own.node = "n2";
  snapshot({running(own)});
  now += 100;
  const json rename{{"request", "adjust"},
                    {"reason", "the institute's new name"},
                    {"rename", {{"organization", "physics"}, {"into", "natural-sciences"}}}};
  EXPECT_EQ(told(rename)["error"]["code"], "invalid_argument") << "the name is not known yet";
  ASSERT_TRUE(rename_in_configuration("natural-sciences").has_value());
  const json before = row_of("physics");
  const json made = told(rename);
  ASSERT_TRUE(made.contains("adjustment")) << made;
  const json after = row_of("natural-sciences");
  for (const char* figure : {"psi", "phi", "got_core_hours", "standing_core_hours", "used", "running_jobs"})
    EXPECT_EQ(after[figure], before[figure]) << figure;
  EXPECT_EQ(row_of("physics"), nullptr);
  EXPECT_EQ(std::ranges::count(service->ranks().organizations, "physics"), 0);
  EXPECT_TRUE(ask(R"({"request":"status"})")["conservation"]["holds"].get<bool>());

  now += 10;
  const auto refused = rename_in_configuration("physics");
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().what.find("organization 'physics' was renamed to natural-sciences by a correction of the "
                                      "books of 20"),
            std::string::npos)
      << refused.error().what;
  EXPECT_NE(refused.error().what.find("; write natural-sciences"), std::string::npos) << refused.error().what;
  EXPECT_TRUE(reverse(1).contains("adjustment"));
  EXPECT_FALSE(row_of("physics").is_null());
  EXPECT_TRUE(rename_in_configuration("physics").has_value());
}

TEST_F(AdjustTest, OwnershipOfThePastChangesWhoLent) {
  connect(1);
  Job own = typo;
  own.account = "phys";
  snapshot({running(own)});
  now += 100;
  see({ended(own, now)});
  now += 100;
  const auto given = [&](const char* name) { return row_of(name)["given_core_hours"].get<double>(); };
  EXPECT_EQ(given("physics"), 400.0 / 3600);
  const json made = told({{"request", "adjust"},
                          {"reason", "agreed afterwards"},
                          {"own",
                           {{"nodes", "n1"},
                            {"owners", {{{"organization", "chemistry"}, {"parts_per_million", 500'000}}}},
                            {"since", k_begin},
                            {"until", k_begin + 50}}}});
  ASSERT_TRUE(made.contains("adjustment")) << made;
  EXPECT_EQ(made["adjustment"]["what"],
            "nodes n1 of chemistry 50%, since 2023-11-14T22:13:20Z, until 2023-11-14T22:14:10Z");
  EXPECT_EQ(given("chemistry"), 100.0 / 3600);
  EXPECT_EQ(given("physics"), 200.0 / 3600);
  EXPECT_TRUE(rename_in_configuration("physics").has_value());
  EXPECT_EQ(given("chemistry"), 100.0 / 3600) << "a reload leaves it";
  reverse(1);
  EXPECT_EQ(given("physics"), 400.0 / 3600);
}

}  // namespace
}  // namespace shapley::daemon
