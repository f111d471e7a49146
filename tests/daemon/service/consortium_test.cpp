// Two clusters of one consortium, each with its own shapleyd without sockets: what one states, the other ranks by.
#include "daemon/consortium/consortium.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "daemon/consortium/consortium_loop.hpp"
#include "ledger/store/backup.hpp"
#include "rpc_client/client.hpp"
#include "service_fixture.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;

// A cluster, which asks the other one.
struct Cluster {
  explicit Cluster(std::string called) : name(std::move(called)), site(site_in(directory)) {
    const auto made = ledger::make_key_files(directory / "key");
    EXPECT_TRUE(made.has_value());
    site.signing_key = std::make_shared<const ledger::SigningKey>(ledger::SigningKey::read(directory / "key").value());
    site.configuration.consortium.name = "uni";
  }

  void know(const Cluster& other, Duration stale_after = Duration{3600}) {
    config::OtherClusterConfig known;
    known.name = other.name;
    known.standing = (other.directory / "standing").string();
    known.stale_after = stale_after;
    site.configuration.consortium.clusters.push_back(known);
    site.consortium_keys.push_back(
        std::make_shared<const ledger::PublicKey>(ledger::PublicKey::read(other.directory / "key.pub").value()));
  }

  void start(std::int64_t now) {
    open(now);
    connect(now);
  }
  void open(std::int64_t now) {
    service.reset();
    auto started = Service::start(site, {}, Instant{now});
    ASSERT_TRUE(started.has_value()) << started.error().what;
    service = std::move(*started);
  }
  void connect(std::int64_t now) {
    protocol::Hello hello = feeder_hello(++instance);
    hello.cluster = name;
    ASSERT_TRUE(service->cluster().admit(hello, false, Instant{now}).has_value());
    service->begin_session(hello, Instant{now});
  }

  void see(std::vector<protocol::JobUpdate> jobs, std::int64_t now) {
    std::uint64_t sequence = service->acknowledged(instance);
    service->receive(protocol::SnapshotBegin{++sequence, now}, Instant{now});
    protocol::Observations o;
    o.sequence = ++sequence;
    o.observed_at = now;
    o.jobs = std::move(jobs);
    o.nodes = {node_record("n1"), node_record("n2")};
    service->receive(std::move(o), Instant{now});
    service->receive(protocol::SnapshotEnd{++sequence, now}, Instant{now});
    service->process(Instant{now});
    service->tick(Instant{now});
  }

  [[nodiscard]] Expected<std::string> states(std::int64_t now) const {
    auto statement = service->consortium().statement(service->cluster().name(), site.signing_key.get(), Instant{now});
    if (!statement) return tl::unexpected(statement.error());
    return statement->text();
  }
  void hear(const Cluster& other, const Expected<std::string>& text, std::int64_t now) {
    service->receive_standing(
        other.name, read_statement(text, std::as_const(*service).consortium().find(other.name)->key), Instant{now});
  }
  [[nodiscard]] std::vector<std::string> order() const { return service->ranks().organizations; }
  [[nodiscard]] std::size_t recorded() const {
    return rows_of(service->books().ledger(), "SELECT seq FROM events WHERE kind = 'standing_received'").size();
  }
  [[nodiscard]] const Consortium::Cluster& other() const { return service->consortium().clusters().front(); }

  std::string name;
  TempDirectory directory;
  Site site;
  std::unique_ptr<Service> service;
  std::uint64_t instance = 0;
};

class ConsortiumOfTwo : public testing::Test {
 protected:
  void SetUp() override {
    north.know(south);
    south.know(north);
    for (Cluster* cluster : {&north, &south}) cluster->start(now);
    // On its own north would serve chemistry first: physics runs on its node.
    north.see({running({.id = 1, .account = "phys", .node = "n2", .start = now})}, now);
    // In the south chemistry runs on twice as much of physics' node.
    south.see({running({.id = 1, .account = "chem", .node = "n1", .cpus = 8, .start = now})}, now);
    now += 100;
    for (Cluster* cluster : {&north, &south}) cluster->service->tick(Instant{now});
  }

  // What north answers.
  [[nodiscard]] json told_by_north(const std::string& request) {
    const Answer answered = answer(*north.service, parse_request(request), Instant{now}, Asker::anybody, 1000);
    if (const auto* text = std::get_if<std::string>(&answered)) return json::parse(*text);
    ReadingThread::Connection connection(north.site.configuration.ledger);
    return json::parse(std::get<1>(answered)(connection, {}));
  }

  std::int64_t now = k_begin;
  Cluster north{"north"};
  Cluster south{"south"};
};

TEST_F(ConsortiumOfTwo, RanksFollowWhatTheOtherClusterStates) {
  EXPECT_EQ(north.order(), (std::vector<std::string>{"chemistry", "physics", "guests"}));
  north.hear(south, south.states(now), now);
  EXPECT_EQ(north.order(), (std::vector<std::string>{"physics", "chemistry", "guests"}));
  EXPECT_EQ(north.recorded(), 1U);
  const json sentences = told_by_north(R"({"request":"status"})")["ranking"]["sentences"];
  EXPECT_EQ(std::count(sentences.begin(), sentences.end(),
                       json("physics goes before chemistry because of what south states: by the books of this cluster "
                            "alone chemistry would go first")),
            1)
      << sentences.dump(1);
  // After a restart, by what is in the ledger.
  north.start(now + 1);
  EXPECT_EQ(north.order(), (std::vector<std::string>{"physics", "chemistry", "guests"}));
}

TEST_F(ConsortiumOfTwo, AStatementThatChangesNothingIsRecordedOnceAnHour) {
  north.site.configuration.consortium.clusters.front().stale_after = Duration{7200};
  ASSERT_TRUE(north.service->reload(north.site, Instant{now}).has_value());
  north.hear(south, south.states(now), now);
  for (int minute = 1; minute <= 59; ++minute) {
    now += 60;
    south.service->tick(Instant{now});
    north.hear(south, south.states(now), now);
  }
  EXPECT_EQ(north.recorded(), 1U) << "nothing started or ended";
  EXPECT_EQ(north.other().offered->figures.time, Instant{now});
  for (const char* request : {R"({"request":"status"})", R"({"request":"compare","a":"physics","b":"chemistry"})",
                              R"({"request":"explain","submit":{"account":"phys"}})"}) {
    const json south_now = told_by_north(request)["clusters"][0];
    EXPECT_EQ(south_now["stated_at"], now - 59 * 60) << request;
    EXPECT_EQ(south_now["heard_at"], now) << request;
  }
  now += 60;
  north.hear(south, south.states(now), now);
  EXPECT_EQ(north.recorded(), 2U);
}

// A statement that would change ranks and could not be recorded says nothing of the age of the figures that are shown.
TEST_F(ConsortiumOfTwo, TheAgeIsThatOfTheFigures) {
  north.hear(south, south.states(now), now);
  const std::int64_t first = now;
  now += 60;
  // In the same second, so that it is recorded with the next tick.
  south.see({running({.id = 1, .account = "chem", .node = "n1", .cpus = 8, .start = k_begin}),
             running({.id = 2, .account = "phys", .node = "n1", .cpus = 8, .start = now - 50})},
            now);
  const json before = told_by_north(R"({"request":"status"})")["clusters"][0];
  const Expected<std::string> stated = south.states(now);
  north.service->consortium().receive(
      "south", read_statement(stated, std::as_const(*north.service).consortium().find("south")->key), "north",
      Instant{now});
  for (const char* request : {R"({"request":"status"})", R"({"request":"compare","a":"physics","b":"chemistry"})"}) {
    const json south_now = told_by_north(request)["clusters"][0];
    EXPECT_EQ(south_now["organizations"], before["organizations"]) << "it is not recorded yet";
    EXPECT_EQ(south_now["stated_at"], first) << request;
    EXPECT_NE(south_now.value("heard_at", json()), json(now)) << request;
  }
  north.service->tick(Instant{now});
  EXPECT_EQ(north.recorded(), 2U);
  EXPECT_EQ(told_by_north(R"({"request":"status"})")["clusters"][0]["stated_at"], now);
}

// A statement that is ten minutes old when it is recorded would be too old for the last ten minutes of the hour.
TEST_F(ConsortiumOfTwo, TheRecordedStatementIsNotTooOldWhileNewerOnesCome) {
  constexpr std::size_t k_minutes_late = 10;
  std::vector<std::string> sent;
  for (int minute = 0; minute <= 180; ++minute) {
    now += 60;
    south.service->tick(Instant{now});
    sent.push_back(south.states(now).value());
    if (sent.size() <= k_minutes_late) continue;
    north.hear(south, sent[sent.size() - 1 - k_minutes_late], now);
    EXPECT_GT(north.service->books().state().shares_elsewhere().front().stale_at, Instant{now}) << minute;
  }
  EXPECT_LE(north.recorded(), 5U);
}

TEST_F(ConsortiumOfTwo, WhatDoesNotCountIsRefusedByName) {
  const std::string first = south.states(now).value();
  now += 60;
  const std::string text = south.states(now).value();
  north.hear(south, text, now);
  const auto order = north.order();
  ASSERT_EQ(north.recorded(), 1U);
  const auto refused = [&](const std::string& statement, const std::string& why) {
    north.hear(south, statement, now);
    EXPECT_NE(north.other().fault.find(why), std::string::npos) << north.other().fault;
    EXPECT_EQ(north.order(), order);
    EXPECT_EQ(north.recorded(), 1U);
    EXPECT_TRUE(north.other().is_refused);
  };
  std::string forged = text;
  forged.replace(forged.find("\"used\":8000000"), 14, "\"used\":9000000");
  refused(forged, "the signature is not of this text");
  refused(first, "older than the last one");
  refused(north.states(now).value(), "the signature is not of this text");
  refused("{}", "this is no standing statement");
  refused(std::string(2'000'000, ' '), "at most");
  EXPECT_EQ(north.other().refused, 5U);
  // An answer that does not come changes nothing either, and is no refusal.
  north.hear(south, fail(Errc::unavailable, "no route"), now);
  EXPECT_EQ(north.other().fault, "no route");
  EXPECT_FALSE(north.other().is_refused);
  EXPECT_EQ(north.other().refused, 5U);
  north.hear(south, text, now);
  EXPECT_EQ(north.other().fault, "");
}

// A cluster that has its key may sign anything: what no cluster of its size has done does not count.
TEST_F(ConsortiumOfTwo, FiguresThatNoClusterHasAreRefused) {
  const auto order = north.order();
  const auto lies = [&](const std::function<void(accounting::ClusterFigures&)>& change) {
    auto statement = south.service->consortium().statement("south", south.site.signing_key.get(), Instant{now});
    ASSERT_TRUE(statement.has_value()) << statement.error().what;
    change(statement->figures);
    ASSERT_TRUE(ledger::sign(*statement, *south.site.signing_key).has_value());
    north.hear(south, statement->text(), now);
  };
  lies([](auto& figures) { figures.organizations[0].figures.given_less_got = {Int128{1} << 66U}; });
  EXPECT_NE(north.other().fault.find("which no cluster of"), std::string::npos) << north.other().fault;
  lies([](auto& figures) { figures.organizations[0].organization = "guests"; });
  EXPECT_NE(north.other().fault.find("no organization of the consortium"), std::string::npos) << north.other().fault;
  lies([](auto& figures) { figures.organizations[0].owned = {-1}; });
  EXPECT_NE(north.other().fault.find("less than nothing"), std::string::npos) << north.other().fault;
  EXPECT_EQ(north.order(), order);
  EXPECT_EQ(north.recorded(), 0U);
  north.hear(south, south.states(now), now);
  EXPECT_EQ(north.other().fault, "");
}

// A file of long ago in the place of a cluster's first statement.
TEST_F(ConsortiumOfTwo, AFirstStatementIsNotOlderThanStatementsAreCarriedOn) {
  const std::string first = south.states(now).value();
  const std::int64_t later = now + 300 * k_day;
  north.service->tick(Instant{later});
  north.hear(south, first, later);
  EXPECT_NE(north.other().fault.find("too old to begin with"), std::string::npos) << north.other().fault;
  EXPECT_EQ(north.recorded(), 0U);
}

TEST_F(ConsortiumOfTwo, AJumpThatTheClusterCannotHaveMadeIsNamedForADay) {
  north.hear(south, south.states(now), now);
  const auto other = [&] {
    return json::parse(std::get<std::string>(answer(*north.service, parse_request(R"({"request":"status"})"),
                                                    Instant{now}, Asker::anybody, 1000)))["clusters"][0];
  };
  EXPECT_FALSE(other().contains("jump"));
  now += 60;
  auto adjusted = answer(*south.service,
                         parse_request(R"({"request":"adjust","reason":"agreed","settle":{"from":"chemistry",)"
                                       R"("to":"physics","processor_seconds":"3600000000","at":)" +
                                       std::to_string(now - 30) + "}}"),
                         Instant{now}, Asker::administrator, 0);
  ASSERT_FALSE(json::parse(std::get<std::string>(adjusted)).contains("error")) << std::get<std::string>(adjusted);
  north.hear(south, south.states(now), now);
  EXPECT_EQ(north.other().fault, "") << "it is what its ledger says";
  ASSERT_TRUE(other().contains("jump"));
  EXPECT_NE(other()["jump"].get<std::string>().find("of that by agreed amounts"), std::string::npos) << other();
  now += k_day;
  for (Cluster* cluster : {&north, &south}) cluster->service->tick(Instant{now});
  north.hear(south, south.states(now), now);
  EXPECT_FALSE(other().contains("jump")) << other();
}

TEST_F(ConsortiumOfTwo, StatusSaysWhatIsWrongWithTheOtherCluster) {
  const auto other = [&] {
    const ParsedRequest request = parse_request(R"({"request":"status"})");
    return json::parse(
        std::get<std::string>(answer(*north.service, request, Instant{now}, Asker::anybody, 1000)))["clusters"][0];
  };
  EXPECT_FALSE(other().contains("ahead_s")) << "none came";
  north.hear(south, south.states(now), now);
  EXPECT_EQ(other()["ahead_s"], 0);
  EXPECT_EQ(other()["refused"], 0);
  EXPECT_FALSE(other().contains("fault"));
  // A minute ahead is taken, more is not.
  north.hear(south, south.states(now + 60), now);
  EXPECT_EQ(other()["ahead_s"], 60);
  EXPECT_FALSE(other().contains("is_refused"));
  north.hear(south, south.states(now + 61), now);
  EXPECT_EQ(other()["ahead_s"], 61);
  EXPECT_EQ(other()["refused"], 1);
  EXPECT_EQ(other()["is_refused"], true);
  EXPECT_NE(other()["fault"].get<std::string>().find("the clocks are apart"), std::string::npos);
  now += 61;
  north.hear(south, south.states(now), now);
  EXPECT_EQ(other()["ahead_s"], 0);
  EXPECT_FALSE(other().contains("is_refused"));
}

// The ledger of the south is replaced, by a new one or by a copy that is taken here.
class AReplacedLedger : public ConsortiumOfTwo {
 protected:
  [[nodiscard]] std::filesystem::path south_ledger() const { return south.site.configuration.ledger; }

  // Begins with a ledger of no event, or with the copy.
  void replace_south(bool with_copy) {
    south.service.reset();
    for (const char* log : {"", "-wal", "-shm", ".acknowledged"})
      std::filesystem::remove(south_ledger().string() + log);
    if (with_copy) std::filesystem::copy_file(copy, south_ledger());
    south.start(now);
  }
  void tell() {
    south.service->tick(Instant{now});
    north.hear(south, south.states(now), now);
  }
  void let_pass(std::int64_t seconds) {
    now += seconds;
    for (Cluster* cluster : {&north, &south}) cluster->service->tick(Instant{now});
  }
  [[nodiscard]] json asked(Cluster& cluster, const std::string& request) {
    return json::parse(
        std::get<std::string>(answer(*cluster.service, parse_request(request), Instant{now}, Asker::administrator, 0)));
  }
  [[nodiscard]] json accept(bool book, const std::string& reason = "it was lost") {
    return asked(north,
                 json({{"request", "accept_line"}, {"cluster", "south"}, {"reason", reason}, {"book", book}}).dump());
  }
  [[nodiscard]] std::vector<std::string> replacements() const {
    return rows_of(
        north.service->books().ledger(),
        "SELECT json_extract(payload, '$.former_event') || ' ' || json_extract(payload, '$.event') || ' ' || "
        "json_extract(payload, '$.author') FROM events WHERE kind = 'ledger_replaced' ORDER BY seq");
  }

  std::filesystem::path copy = south.directory / "copy.db";
};

TEST_F(AReplacedLedger, ThatBeginsAgainIsRefusedUntilAPersonAcceptsIt) {
  tell();
  EXPECT_EQ(accept(true)["error"]["code"], "not_found") << "nothing is to be accepted";
  const std::int64_t before = north.other().offered->figures.event;
  let_pass(60);
  replace_south(false);
  let_pass(60);
  for (int i = 0; i < 3; ++i) {
    tell();
    EXPECT_NE(north.other().fault.find("its ledger was begun again"), std::string::npos) << north.other().fault;
    EXPECT_NE(north.other().fault.find("shapleyctl standing --accept south"), std::string::npos);
    EXPECT_EQ(north.order().front(), "physics") << "the dead figures count until then";
    let_pass(60);
  }
  EXPECT_EQ(replacements().size(), 1U) << "it is recorded once";
  EXPECT_EQ(accept(true, "")["error"]["code"], "invalid_argument");
  // Before it is done, what the old figures become is said, and nothing is recorded.
  const json preview = accept(false);
  EXPECT_EQ(preview["former_event"], before);
  EXPECT_EQ(preview["booked"], false);
  ASSERT_EQ(preview["organizations"].size(), 2U) << preview;
  for (const json& row : preview["organizations"]) {
    EXPECT_NE(row["core_hours_before"].get<double>(), 0) << row;
    EXPECT_EQ(row["core_hours_after"].get<double>(), 0) << row;
  }
  EXPECT_EQ(replacements().size(), 1U);
  EXPECT_EQ(north.order().front(), "physics");
  const json done = accept(true);
  EXPECT_EQ(done["booked"], true) << done;
  EXPECT_EQ(north.order().front(), "chemistry") << "those figures are gone";
  EXPECT_EQ(north.other().fault, "");
  ASSERT_EQ(replacements().size(), 2U);
  EXPECT_EQ(replacements()[1].find("shapleyd"), std::string::npos) << replacements()[1];
  let_pass(60);
  tell();
  EXPECT_EQ(north.other().fault, "");
  // The same after a restart, from the ledger.
  north.start(++now);
  EXPECT_EQ(north.order().front(), "chemistry");
  tell();
  EXPECT_EQ(north.other().fault, "");
}

TEST_F(AReplacedLedger, ThatWasRestoredIsNamedAndNeverCountsAgainInSilence) {
  ASSERT_TRUE(ledger::back_up(south_ledger(), copy, ledger::Overwrite::no).has_value());
  let_pass(60);
  // All in one second, which is not over when the ledger is replaced.
  for (std::uint32_t job = 2; job < 9; ++job) {
    south.see({running({.id = job, .account = "chem", .node = "n1", .start = now})}, now);
  }
  tell();
  const std::int64_t before = north.other().offered->figures.event;
  let_pass(60);
  replace_south(true);
  tell();
  const std::int64_t after = north.other().other->figures.event;
  ASSERT_LT(after, before);
  EXPECT_NE(north.other().fault.find("its ledger went back from event " + std::to_string(before) + " to " +
                                     std::to_string(after) + ": it was restored"),
            std::string::npos)
      << north.other().fault;
  // It goes on, and has more events than before; the north restarts, too.
  let_pass(60);
  north.start(now);
  for (std::uint32_t job = 10; job < 30; ++job) {
    ++now;
    south.see({running({.id = job, .account = "chem", .node = "n1", .start = now})}, now);
  }
  tell();
  ASSERT_GT(north.other().other->figures.event, before);
  EXPECT_NE(north.other().fault.find("its ledger went back from event " + std::to_string(before) + " to " +
                                     std::to_string(after) + ", which was found at"),
            std::string::npos)
      << north.other().fault;
  EXPECT_EQ(replacements().size(), 1U);
  EXPECT_EQ(accept(true)["booked"], true);
  EXPECT_EQ(north.other().fault, "");
  let_pass(60);
  tell();
  EXPECT_EQ(north.other().fault, "");
}

// The link was down until the restored ledger had as many events as before: only its own gap shows it.
TEST_F(AReplacedLedger, ThatSaysWhatItLostIsFoundWithoutAStatementOfBetween) {
  ASSERT_TRUE(ledger::back_up(south_ledger(), copy, ledger::Overwrite::no).has_value());
  let_pass(60);
  south.see({running({.id = 2, .account = "chem", .node = "n1", .start = now})}, now);
  let_pass(60);
  tell();
  const std::int64_t before = north.other().offered->figures.event;
  let_pass(60);
  south.service.reset();
  for (const char* log : {"", "-wal", "-shm"}) std::filesystem::remove(south_ledger().string() + log);
  std::filesystem::copy_file(copy, south_ledger());
  south.start(now);
  for (std::uint32_t job = 10; job < 30; ++job) {
    ++now;
    south.see({running({.id = job, .account = "chem", .node = "n1", .start = now})}, now);
  }
  tell();
  ASSERT_TRUE(north.other().other.has_value()) << north.other().fault;
  ASSERT_GT(north.other().other->figures.event, before);
  EXPECT_NE(north.other().fault.find("its ledger went back before event " + std::to_string(before)), std::string::npos)
      << north.other().fault;
  EXPECT_EQ(accept(true)["booked"], true);
  let_pass(60);
  tell();
  EXPECT_EQ(north.other().fault, "");
}

TEST_F(AReplacedLedger, NothingOfTheFormerOneCountsAfterwards) {
  tell();
  const std::string old = south.states(now).value();
  let_pass(60);
  replace_south(false);
  tell();
  ASSERT_EQ(accept(true)["booked"], true);
  let_pass(60);
  north.hear(south, old, now);
  EXPECT_NE(north.other().fault.find("older than the last one"), std::string::npos) << north.other().fault;
  EXPECT_EQ(north.order().front(), "chemistry");
  EXPECT_EQ(accept(true)["error"]["code"], "not_found");
}

// To take the cluster out of the file and in again is no way round it.
TEST_F(AReplacedLedger, StaysRefusedWhenTheClusterLeavesAndComesBack) {
  tell();
  let_pass(60);
  replace_south(false);
  tell();
  Site alone = north.site;
  alone.configuration.consortium = {};
  alone.consortium_keys.clear();
  ASSERT_TRUE(north.service->reload(alone, Instant{++now}).has_value());
  ASSERT_TRUE(north.service->reload(north.site, Instant{++now}).has_value());
  tell();
  EXPECT_NE(north.other().fault.find("its ledger was begun again"), std::string::npos) << north.other().fault;
}

// The south's processors were worth three, and are worth one when its ledger is begun again.
TEST_F(AReplacedLedger, ThatBeginsAgainHasNothingOfWhatEarlierWeightsMade) {
  const auto weigh = [&](std::int64_t weight) {
    north.site.configuration.consortium.clusters.front().weight = weight;
    south.site.configuration.consortium.weight = weight;
    for (Cluster* cluster : {&north, &south})
      ASSERT_TRUE(cluster->service->reload(cluster->site, Instant{now}).has_value());
    let_pass(60);
  };
  weigh(3 * accounting::k_whole_weight);
  tell();
  weigh(accounting::k_whole_weight);
  tell();
  ASSERT_EQ(north.other().fault, "");
  EXPECT_EQ(north.order().front(), "physics");
  replace_south(false);
  // A run of a minute, which both organizations have figures of.
  south.see({running({.id = 9, .account = "chem", .node = "n1", .cpus = 8, .start = now})}, now);
  let_pass(60);
  south.see({ended({.id = 9, .account = "chem", .node = "n1", .cpus = 8, .start = now - 60}, now)}, now);
  tell();
  const json preview = accept(false)["organizations"];
  ASSERT_EQ(accept(true)["booked"], true) << north.other().fault;
  const json owed = asked(north, R"({"request":"status"})")["clusters"][0]["organizations"];
  ASSERT_EQ(owed.size(), 2U) << owed;
  ASSERT_EQ(preview.size(), owed.size());
  for (std::size_t i = 0; i < owed.size(); ++i)
    EXPECT_EQ(preview[i]["core_hours_after"], owed[i]["core_hours"]) << preview[i] << owed[i];
}

// Of a third cluster, whose processors were worth three as well, and whose ledger goes on.
TEST_F(AReplacedLedger, ChangesNothingOfWhatEarlierWeightsMadeOfOtherClusters) {
  Cluster east{"east"};
  east.know(north);
  north.know(east);
  east.start(now);
  east.see({running({.id = 1, .account = "chem", .node = "n1", .cpus = 8, .start = now})}, now);
  const auto weigh = [&](std::int64_t weight) {
    for (config::OtherClusterConfig& other : north.site.configuration.consortium.clusters) other.weight = weight;
    for (Cluster* cluster : {&south, &east}) cluster->site.configuration.consortium.weight = weight;
    for (Cluster* cluster : {&north, &south, &east})
      ASSERT_TRUE(cluster->service->reload(cluster->site, Instant{now}).has_value());
    let_pass(60);
    east.service->tick(Instant{now});
    tell();
    north.hear(east, east.states(now), now);
  };
  weigh(3 * accounting::k_whole_weight);
  weigh(accounting::k_whole_weight);
  replace_south(false);
  tell();
  accounting::State& state = north.service->books().state();
  accounting::State without = accounting::State::load(state.save()).value();
  ASSERT_EQ(accept(true)["booked"], true) << north.other().fault;
  without.advance(state.now());
  ASSERT_FALSE(state.consortium()->clusters[0].earlier.empty());
  EXPECT_TRUE(state.consortium()->clusters[1].earlier.empty());
  EXPECT_EQ(state.shares_elsewhere()[0].organizations, without.shares_elsewhere()[0].organizations);
}

// The clock here was ahead, and was set right within the second of the last statement.
TEST_F(AReplacedLedger, IsAcceptedAfterTheLastStatementWhateverTheClockSays) {
  tell();
  replace_south(false);
  const std::string first = south.states(now).value();
  now -= 30;
  north.hear(south, first, now);
  EXPECT_EQ(accept(true)["booked"], true) << north.other().fault;
  EXPECT_EQ(replacements().size(), 2U);
  EXPECT_EQ(north.recorded(), 2U);
  EXPECT_EQ(north.order().front(), "chemistry");
}

// It came while nothing could be recorded, and then the former ledger was back.
TEST_F(AReplacedLedger, ThatWasNotRecordedIsForgottenWithTheNextStatementOfTheFormerOne) {
  tell();
  let_pass(60);
  const std::string former = south.states(now).value();
  replace_south(false);
  const std::filesystem::path ledger = north.site.configuration.ledger;
  std::filesystem::rename(ledger, north.directory / "aside");
  tell();
  EXPECT_TRUE(north.other().other.has_value()) << north.other().fault;
  std::filesystem::rename(north.directory / "aside", ledger);
  north.hear(south, former, now);
  EXPECT_EQ(north.other().fault, "");
  EXPECT_EQ(accept(true)["error"]["code"], "not_found");
  EXPECT_TRUE(replacements().empty());
}

TEST_F(AReplacedLedger, IsAcceptedByAdministratorsOnly) {
  const ParsedRequest request = parse_request(R"({"request":"accept_line","cluster":"south","reason":"mine"})");
  for (const Asker asker : {Asker::anybody, Asker::remote_administrator}) {
    EXPECT_EQ(
        json::parse(std::get<std::string>(answer(*north.service, request, Instant{now}, asker, 0)))["error"]["code"],
        "denied");
  }
}

TEST_F(ConsortiumOfTwo, WithoutNewsTheSumStandsStillAndIsWholeAgainAtOnce) {
  north.hear(south, south.states(now), now);
  const auto frozen_at = [&](std::int64_t t) {
    auto& state = north.service->books().state();
    state.advance(Instant{t});
    return state.shares_elsewhere().front().organizations;
  };
  const auto still = frozen_at(now + 3600);
  EXPECT_EQ(frozen_at(now + 20'000), still);
  now += 20'001;
  south.service->tick(Instant{now});
  north.hear(south, south.states(now), now);
  EXPECT_NE(frozen_at(now), still);
}

TEST_F(ConsortiumOfTwo, AClusterThatLeavesCountsNoMoreAndTheLedgerSaysSince) {
  north.hear(south, south.states(now), now);
  Site alone = north.site;
  alone.configuration.consortium = {};
  alone.consortium_keys.clear();
  ASSERT_TRUE(north.service->reload(alone, Instant{now + 10}).has_value());
  EXPECT_EQ(north.order(), (std::vector<std::string>{"chemistry", "physics", "guests"}));
  EXPECT_EQ(rows_of(north.service->books().ledger(),
                    "SELECT at - " + std::to_string(k_begin) + " FROM events WHERE kind = 'consortium_declared'"),
            (std::vector<std::string>{"0", "110"}));
  EXPECT_EQ(north.states(now + 10).error().code, Errc::not_found);
}

TEST_F(ConsortiumOfTwo, TheRequestAnswersWithTheStatement) {
  Answer answered =
      answer(*south.service, parse_request(R"({"request":"standing"})"), Instant{now}, Asker::anybody, 1000);
  north.hear(south, std::get<std::string>(answered), now);
  EXPECT_EQ(north.other().fault, "");
  EXPECT_EQ(north.recorded(), 1U);
}

// Before that, this cluster has no name.
TEST_F(ConsortiumOfTwo, StatementsAreJudgedFromTheFirstSlurmctldOn) {
  Cluster west{"west"};
  west.know(south);
  west.open(now);
  west.hear(south, south.states(now), now);
  EXPECT_EQ(west.other().fault, "");
  EXPECT_EQ(west.other().refused, 0U);
  west.connect(now);
  west.hear(south, south.states(now), now);
  EXPECT_EQ(west.other().fault, "its consortium has no cluster 'west'");
  EXPECT_EQ(west.other().refused, 1U);
}

TEST_F(ConsortiumOfTwo, AFileBringsItToo) {
  const std::string place = north.site.configuration.consortium.clusters.front().standing;
  const auto fetched = [&] { return rpc_client::fetch_standing(place, {}, ledger::k_most_statement_bytes); };
  EXPECT_EQ(fetched().error().code, Errc::not_found);
  // What another user may put there instead: neither is waited for.
  ASSERT_EQ(::mkfifo(place.c_str(), 0644), 0);
  EXPECT_EQ(fetched().error().code, Errc::io);
  std::filesystem::remove(place);
  std::filesystem::create_symlink("/dev/zero", place);
  EXPECT_EQ(fetched().error().code, Errc::io);
  std::filesystem::remove(place);
  std::ofstream(place) << south.states(now).value();
  north.hear(south, fetched(), now);
  EXPECT_EQ(north.recorded(), 1U);
}

// In the serving thread slurmctld would wait for the reading of a megabyte.
TEST_F(ConsortiumOfTwo, AStatementIsReadOutsideOfTheServingThread) {
  const config::OtherClusterConfig& other = north.site.configuration.consortium.clusters.front();
  std::ofstream(other.standing) << south.states(now).value();
  boost::asio::io_context io;
  bool asked = false;
  std::optional<HeardStatement> heard;
  ConsortiumLoop loop(
      io, {},
      {.next = [&]() -> std::optional<ConsortiumLoop::Question> {
         if (std::exchange(asked, true)) return std::nullopt;
         return ConsortiumLoop::Question{other.name, other.standing, north.site.consortium_keys.front()};
       },
       .received =
           [&](const std::string& /*cluster*/, HeardStatement read) {
             heard = std::move(read);
             io.stop();
           }});
  loop.start();
  io.run();
  loop.stop();
  ASSERT_TRUE(heard && heard->came);
  ASSERT_TRUE(heard->statement.has_value()) << heard->statement.error().what;
  north.service->receive_standing("south", *heard, Instant{now});
  EXPECT_EQ(north.recorded(), 1U);
  // By a key that is not the cluster's any more it does not count, whatever it says.
  now += 60;
  heard->key = std::make_shared<const ledger::PublicKey>(ledger::PublicKey::read(north.directory / "key.pub").value());
  heard->came = false;
  heard->statement = fail(Errc::unavailable, "no route");
  north.service->receive_standing("south", *heard, Instant{now});
  EXPECT_EQ(north.other().fault, "");
}

// The weight of the south changes in both files: what is owed by then stays what it was.
TEST_F(ConsortiumOfTwo, AWeightIsDatedByItsReload) {
  const auto owed = [&] {
    auto& state = north.service->books().state();
    state.advance(Instant{now});
    return state.shares_elsewhere().front().organizations;
  };
  north.hear(south, south.states(now), now);
  const auto before = owed();
  Site heavier = north.site;
  heavier.configuration.consortium.clusters.front().weight = 3 * accounting::k_whole_weight;
  ASSERT_TRUE(north.service->reload(heavier, Instant{now}).has_value());
  const auto after = owed();
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].figures.balance, before[i].figures.balance);
    EXPECT_EQ(after[i].figures.given_less_got, before[i].figures.given_less_got);
    EXPECT_EQ(after[i].figures.rate_less_used.value, 3 * before[i].figures.rate_less_used.value);
  }
  // The file is declared once: what earlier weights make is not the file's.
  ASSERT_TRUE(north.service->reload(heavier, Instant{now + 5}).has_value());
  EXPECT_EQ(
      rows_of(north.service->books().ledger(), "SELECT seq FROM events WHERE kind = 'consortium_declared'").size(), 2U);
}

// The south renames an organization: both say that the north does not count it.
TEST_F(ConsortiumOfTwo, AnOrganizationOfAnotherNameThereIsSaidAtBoth) {
  const auto other = [&] {
    return json::parse(std::get<std::string>(answer(*north.service, parse_request(R"({"request":"status"})"),
                                                    Instant{now}, Asker::anybody, 1000)))["clusters"][0];
  };
  north.hear(south, south.states(now), now);
  EXPECT_FALSE(other().contains("uncounted")) << other();
  now += 60;
  Site other_name = south.site;
  other_name.configuration.organizations[0].name = "natural-sciences";
  other_name.rules[0].organization = "natural-sciences";
  other_name.text = "organizations natural-sciences";
  ASSERT_TRUE(south.service->reload(other_name, Instant{now}).has_value());
  json renamed = json::parse(std::get<std::string>(
      answer(*south.service,
             parse_request(R"({"request":"adjust","reason":"new name","rename":{"organization":"physics",)"
                           R"("into":"natural-sciences"}})"),
             Instant{now}, Asker::administrator, 0)));
  EXPECT_EQ(renamed["elsewhere"], json({"north"})) << renamed;
  north.hear(south, south.states(now), now);
  EXPECT_EQ(north.other().fault, "");
  EXPECT_EQ(other()["uncounted"], json({"natural-sciences"})) << other();
}

TEST_F(ConsortiumOfTwo, EachClusterIsAskedOnceInEvery) {
  Consortium& consortium = north.service->consortium();
  ASSERT_NE(consortium.next_to_ask(Instant{now}), nullptr);
  EXPECT_EQ(consortium.next_to_ask(Instant{now}), nullptr);
  EXPECT_EQ(consortium.next_to_ask(Instant{now + 59}), nullptr);
  EXPECT_NE(consortium.next_to_ask(Instant{now + 60}), nullptr);
}

}  // namespace
}  // namespace shapley::daemon
