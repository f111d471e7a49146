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

}  // namespace
}  // namespace shapley::daemon
