// The server over real sockets, its loop on a thread of its own.
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "server_fixture.hpp"

namespace shapley::daemon {
namespace {

constexpr uid_t k_unprivileged = 65534;

TEST_F(ServerTest, AFeederIsWelcomedSentTheRulesAndRanksAndAcknowledged) {
  const auto client = feeder();
  EXPECT_TRUE(welcome.act);
  EXPECT_EQ(welcome.acknowledged, 0U);
  EXPECT_EQ(client->expect<protocol::Rules>().rules.size(), 2U);
  EXPECT_EQ(client->expect<protocol::Ranks>().organizations.front(), "physics");
  client->send(protocol::SnapshotBegin{1, now});
  client->send(observations(2, {running({.id = 1, .node = "n2", .start = now - 100})}));
  client->send(protocol::SnapshotEnd{3, now});
  // Three frames may come as one commit or as several, so the new ranks may stand before the last acknowledgement.
  std::uint64_t acknowledged = 0;
  std::string first = "physics";
  while (acknowledged < 3 || first != "chemistry") {
    const auto message = client->next();
    ASSERT_TRUE(message.has_value()) << "acknowledged " << acknowledged << ", first " << first;
    if (const auto* ack = std::get_if<protocol::Ack>(&*message)) acknowledged = ack->sequence;
    if (const auto* ranks = std::get_if<protocol::Ranks>(&*message)) first = ranks->organizations.front();
  }
  EXPECT_EQ(acknowledged, 3U);
}

// More than a portion: the server goes on by itself, before its next tick and without further messages.
TEST_F(ServerTest, AFrameOfManyRecordsIsReadToItsEnd) {
  const auto client = feeder();
  std::vector<protocol::JobUpdate> jobs;
  for (std::uint32_t id = 1; id <= 1'200; ++id) jobs.push_back(running({.id = id, .start = now - 50}));
  client->send(observations(1, std::move(jobs)));
  EXPECT_EQ(client->expect<protocol::Ack>().sequence, 1U);
}

TEST_F(ServerTest, AFeederThatComesBackLearnsWhatIsDurable) {
  {
    const auto client = feeder(7);
    client->send(observations(1, {}));
    EXPECT_EQ(client->expect<protocol::Ack>().sequence, 1U);
  }
  const auto again = feeder(7);
  EXPECT_EQ(welcome.acknowledged, 1U);
  const auto another_life = feeder(8);
  EXPECT_EQ(welcome.acknowledged, 0U);
}

TEST_F(ServerTest, ANewFeederReplacesTheOld) {
  const auto first = feeder(1);
  const auto second = feeder(2);
  EXPECT_NE(first->read_refusal().find("replaced"), std::string::npos);
  second->send(observations(1, {}));
  EXPECT_EQ(second->expect<protocol::Ack>().sequence, 1U);
}

// A trial slurmctld from a copy of slurm.conf finds the same socket.
TEST_F(ServerTest, AFeederOfAnotherClusterIsRefusedByNameAndTheFirstOneGoesOn) {
  const auto ours = feeder(1);
  ours->send(protocol::SnapshotBegin{1, now});
  ours->send(observations(2, {running({.id = 1, .start = now - 100})}));
  ours->send(protocol::SnapshotEnd{3, now});
  while (ours->expect<protocol::Ack>().sequence < 3) {
  }
  for (int i = 0; i < 2; ++i) {
    TestClient other(site.configuration.socket);
    protocol::Hello hello = feeder_hello(2);
    hello.cluster = "trial";
    other.send(hello);
    const std::string refusal = other.read_refusal();
    EXPECT_NE(refusal.find("cluster 'box', not of 'trial'"), std::string::npos) << refusal;
  }
  now += 10;
  ours->send(observations(4, {ended({.id = 1, .start = k_begin - 100}, k_begin + 5)}));
  EXPECT_EQ(ours->expect<protocol::Ack>().sequence, 4U);
  const auto told = reader()->ask(R"({"request":"status"})");
  EXPECT_EQ(told["plugin"]["connected"], true);
  EXPECT_EQ(told["daemon"]["cluster"]["name"], "box");
  EXPECT_EQ(told["daemon"]["cluster"]["refused"]["cluster"], "trial");
  EXPECT_EQ(told["daemon"]["cluster"]["refused"]["times"], 2);
}

// A trial slurmctld from a copy of slurm.conf in which the ClusterName was left as it is.
TEST_F(ServerTest, AFeederOfASecondSlurmctldIsRefusedAndARestartComesInAtOnce) {
  const auto come = [&](std::uint64_t instance, const std::string& location) {
    auto client = std::make_unique<TestClient>(site.configuration.socket);
    protocol::Hello hello = feeder_hello(instance);
    hello.state_location = "/var/spool/" + location;
    hello.state_location_id = location;
    client->send(hello);
    return client;
  };
  auto ours = come(1, "ours");
  ours->expect<protocol::Welcome>();
  for (int i = 0; i < 2; ++i) {
    const std::string refusal = come(2, "trial")->read_refusal();
    EXPECT_NE(refusal.find("this is a second one, whose StateSaveLocation is /var/spool/trial"), std::string::npos)
        << refusal;
  }
  ours->send(protocol::SnapshotBegin{1, now});
  EXPECT_EQ(ours->expect<protocol::Ack>().sequence, 1U) << "it goes on";
  const auto told = reader()->ask(R"({"request":"status"})");
  EXPECT_EQ(told["daemon"]["cluster"]["refused"]["state_location"], "/var/spool/trial");
  EXPECT_EQ(told["daemon"]["cluster"]["refusals"], 2);
  // A backup slurmctld takes over, or a new one is there before the old connection ends.
  auto again = come(3, "ours");
  again->expect<protocol::Welcome>();
  EXPECT_EQ(ours->read_refusal(), "replaced by a new feeder");
  // It has gone, and the daemon has not seen that yet: a moved StateSaveLocation is admitted, the trial is not.
  {
    const Standstill standstill(*io);
    again.reset();
    ours = come(4, "moved");
  }
  ours->expect<protocol::Welcome>();
  ours.reset();
  EXPECT_NE(come(2, "trial")->read_refusal(), "");
}

TEST_F(ServerTest, AFeederOfARenamedClusterComesInByItsNewName) {
  const auto old = feeder(1);
  EXPECT_EQ(reader()->ask(R"({"request":"rename_cluster","cluster":"new","reason":"moved"})"),
            (nlohmann::json{{"cluster", "new"}, {"before", "box"}}));
  now += 1;
  EXPECT_EQ(old->read_refusal(), "") << "it is asked for its name again";
  TestClient again(site.configuration.socket);
  again.send(feeder_hello(1));
  EXPECT_NE(again.read_refusal().find("cluster 'new', not of 'box'"), std::string::npos);
  TestClient renamed(site.configuration.socket);
  protocol::Hello hello = feeder_hello(2);
  hello.cluster = "new";
  renamed.send(hello);
  renamed.expect<protocol::Welcome>();
}

TEST_F(ServerTest, ReadersGetAnswersAndMayNotFeed) {
  const auto client = reader();
  EXPECT_EQ(client->ask(R"({"request":"status"})")["plugin"]["connected"], false);
  EXPECT_TRUE(client->ask("nonsense").contains("error"));
  client->send(observations(1, {}));
  EXPECT_NE(client->read_refusal().find("queries only"), std::string::npos);
}

TEST_F(ServerTest, OthersMayReadButNotFeed) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to act as another user";
  const auto other = client_of(k_unprivileged);
  const auto other_reader = client_of(k_unprivileged);
  ASSERT_TRUE(other->is_connected());
  other->send(feeder_hello());
  EXPECT_NE(other->read_refusal().find("may not feed"), std::string::npos);
  protocol::Hello hello;
  other_reader->send(hello);
  other_reader->expect<protocol::Welcome>();
  EXPECT_TRUE(other_reader->ask(R"({"request":"ping"})").contains("pong"));
}

TEST_F(ServerTest, AnotherProtocolVersionIsRefusedByName) {
  TestClient client(site.configuration.socket);
  protocol::Hello hello = feeder_hello();
  hello.version = 99;
  client.send(hello);
  const std::string reason = client.read_refusal();
  EXPECT_NE(reason.find("99"), std::string::npos);
  EXPECT_NE(reason.find(std::to_string(protocol::k_version)), std::string::npos);
}

TEST_F(ServerTest, WhoeverDoesNotSayHelloIsRefused) {
  TestClient client(site.configuration.socket);
  client.send(protocol::Query{1, "{}"});
  EXPECT_NE(client.read_refusal().find("Hello"), std::string::npos);
}

TEST_F(ServerTest, GarbageEndsTheConnectionAndNothingElse) {
  for (const std::string& garbage :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(100, '\0'), std::string("\xff\xff\xff\xff\x01", 5),
        std::string("\x00\x00\x00\x02\x63\xc0", 6)}) {
    TestClient client(site.configuration.socket);
    client.send_bytes(garbage);
    (void)client.read_refusal();
  }
  EXPECT_TRUE(reader()->ask(R"({"request":"ping"})").contains("pong"));
}

TEST_F(ServerTest, AQueryOfAbsurdSizeIsRefused) {
  const auto client = reader();
  client->send(protocol::Query{1, std::string(Session::k_max_query_bytes, ' ')});
  EXPECT_FALSE(client->read_refusal().empty());
  EXPECT_TRUE(reader()->ask(R"({"request":"ping"})").contains("pong"));
}

TEST_F(ServerTest, AReaderThatDoesNotReadIsDropped) {
  stop();
  Server::Limits limits = no_hurry();
  limits.timeouts.write = std::chrono::seconds(1);
  start(limits);
  const auto deaf = reader();
  // It asks and asks without taking an answer: nothing more of it is taken, and in the end it is dropped.
  const std::string query = protocol::encode_frame(protocol::Query{1, R"({"request":"status"})"});
  bool open = true;
  for (int i = 0; open && i < 1'000'000; ++i) open = deaf->send_bytes(query);
  EXPECT_FALSE(open);
  EXPECT_TRUE(reader()->ask(R"({"request":"ping"})").contains("pong"));
}

TEST_F(ServerTest, OneUserCannotTakeAllConnections) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to act as another user";
  stop();
  Server::Limits limits = no_hurry();
  limits.connections = 8;
  limits.connections_per_user = 3;
  start(limits);
  std::vector<std::unique_ptr<TestClient>> greedy;
  for (int i = 0; i < 4; ++i) greedy.push_back(client_of(k_unprivileged));
  EXPECT_NE(greedy.back()->read_refusal().find("too many"), std::string::npos);
  const auto client = feeder();
  client->send(observations(1, {}));
  EXPECT_EQ(client->expect<protocol::Ack>().sequence, 1U);
}

TEST_F(ServerTest, TheSocketIsOpenToAllUsers) {
  const auto mode = std::filesystem::status(site.configuration.socket).permissions();
  EXPECT_EQ(static_cast<unsigned>(mode), 0666U);
}

TEST_F(ServerTest, ALiveSocketIsNotTakenOver) {
  boost::asio::io_context other_io;
  Server other(other_io, *service, [] { return Instant{k_begin}; }, {});
  const auto opened = other.open();
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, Errc::conflict);
  EXPECT_TRUE(reader()->ask(R"({"request":"ping"})").contains("pong"));
}

TEST_F(ServerTest, TheSocketOfADeadDaemonIsReplacedAndAFileIsNot) {
  stop();
  EXPECT_FALSE(std::filesystem::exists(site.configuration.socket));
  {
    // Bound, never listening, and its process gone: what a killed daemon leaves.
    boost::asio::io_context dead;
    boost::asio::local::stream_protocol::acceptor left(
        dead, boost::asio::local::stream_protocol::endpoint(site.configuration.socket.string()));
  }
  ASSERT_TRUE(std::filesystem::exists(site.configuration.socket));
  start(no_hurry());
  EXPECT_TRUE(reader()->ask(R"({"request":"ping"})").contains("pong"));
  stop();
  std::ofstream(site.configuration.socket) << "precious";
  auto started = Service::start(site, {}, Instant{now});
  ASSERT_TRUE(started.has_value());
  Server refused(io.emplace(1), **started, [] { return Instant{k_begin}; }, {});
  EXPECT_FALSE(refused.open().has_value());
  EXPECT_TRUE(std::filesystem::exists(site.configuration.socket));
}

TEST_F(ServerTest, APathThatNoSocketCanHaveIsRefused) {
  stop();
  site.configuration.socket = directory / std::string(200, 'x');
  auto started = Service::start(site, {}, Instant{now});
  ASSERT_TRUE(started.has_value());
  Server refused(io.emplace(1), **started, [] { return Instant{k_begin}; }, {});
  const auto opened = refused.open();
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, Errc::invalid_argument);
}

TEST_F(ServerTest, OtherRulesOrWeightsAskForASnapshotOthersDoNot) {
  const auto client = feeder();
  client->expect<protocol::Ranks>();
  Site changed = site;
  changed.configuration.mode = config::Mode::observe;
  reload(changed);
  EXPECT_FALSE(client->expect<protocol::Welcome>().act);
  changed.configuration.weights = {{"cpu", 2}};
  reload(changed);
  while (client->next()) continue;  // to the end of the connection
  const auto again = feeder();
  EXPECT_FALSE(welcome.act);
}

TEST_F(ServerTest, AFeederWhoseObservationsWaitForTheClockHearsRanksMeanwhile) {
  stop();
  std::atomic<std::int64_t> ahead = 0;
  Service::Options options;
  options.read_clock = [&] {
    return ClockReading{.wall = Instant{now + ahead}, .since_boot = Duration{now - k_begin + 1000}};
  };
  auto started = Service::start(site, options, Instant{now});
  ASSERT_TRUE(started.has_value()) << started.error().what;
  service = std::move(*started);
  server = std::make_unique<Server>(
      io.emplace(1), *service, [this] { return service->now(); }, no_hurry());
  ASSERT_TRUE(server->open().has_value());
  thread = std::thread([this] { io->run(); });

  const auto client = feeder();
  const auto first = client->expect<protocol::Ranks>();
  ahead = 24 * 3600;
  protocol::Observations future = observations(1, {});
  future.observed_at += ahead;
  client->send(future);
  now += 11;
  EXPECT_EQ(client->expect<protocol::Ranks>().generation, first.generation);
  ahead = 0;
  while (client->next()) continue;  // to the end of the connection
  const auto again = feeder(1, 1);
  again->send(future);
  EXPECT_EQ(again->expect<protocol::Ack>().sequence, 1U) << "it was dropped";
}

TEST_F(ServerTest, RanksArePushedAsTimePasses) {
  const auto client = feeder();
  client->send(observations(1, {running({.id = 1, .node = "n2", .start = now})}));
  client->expect<protocol::Ack>();
  now += 100;  // the next tick of the loop sees it
  protocol::Ranks ranks;
  do {
    ranks = client->expect<protocol::Ranks>();
  } while (!HasFailure() && ranks.organizations.at(0) != "chemistry");
  EXPECT_EQ(ranks.organizations.front(), "chemistry");
}

// A node that was not there before has owners, which the feeder must know to count what starts there.
TEST_F(ServerTest, TheOwnersOfNodesAreSentAgainWhenThereAreMoreNodes) {
  const auto client = feeder();
  client->expect<protocol::Rules>();
  protocol::Observations nodes = observations(1, {});
  nodes.nodes = {node_record("n1"), node_record("n9")};
  client->send(nodes);
  std::map<std::string, std::vector<protocol::OwnerPart>> owners;
  while (!HasFailure() && !owners.contains("n9")) {
    for (const protocol::OwnedNodes& same : client->expect<protocol::Rules>().owners) {
      for (const std::string& node : same.nodes) owners[node] = same.owners;
    }
  }
  EXPECT_EQ(owners["n1"], (std::vector<protocol::OwnerPart>{{"physics", 1'000'000}}));
  EXPECT_EQ(owners["n9"], (std::vector<protocol::OwnerPart>{{"commons", 1'000'000}}));
}

// Until all jobs are known, levels would be wrong and ranks without them would take the plugin's old ones away.
TEST_F(ServerTest, LevelsAreSentBeforeRanksAfterASnapshotAndPushedWhenTheyChange) {
  Site fair = site;
  fair.configuration.organizations[0].workflows.fairness = true;
  reload(fair);
  const auto client = feeder();
  protocol::JobUpdate behind = waiting({.id = 2, .start = now - 5});
  behind.name = "b-1";
  protocol::JobUpdate ahead = running({.id = 1, .start = now - 50});
  ahead.name = "a-1";
  client->send(protocol::SnapshotBegin{1, now});
  client->send(observations(2, {ahead, behind}));
  client->send(protocol::SnapshotEnd{3, now});
  now += 1;  // the next tick of the loop sees it
  protocol::Levels levels;
  for (bool told = false; !told;) {
    const auto message = client->next();
    ASSERT_TRUE(message.has_value());
    EXPECT_FALSE(std::holds_alternative<protocol::Ranks>(*message));
    if (const auto* first = std::get_if<protocol::Levels>(&*message)) levels = *first;
    told = std::holds_alternative<protocol::Levels>(*message);
  }
  EXPECT_EQ(levels.jobs, (std::vector<protocol::JobLevel>{{2, protocol::k_max_level}}));
  client->expect<protocol::Ranks>();
  client->send(observations(4, {running({.id = 2, .start = now})}));
  now += 1;
  const auto later = client->expect<protocol::Levels>();
  EXPECT_TRUE(later.jobs.empty());
  EXPECT_GT(later.generation, levels.generation);
}

TEST_F(ServerTest, RanksComeWithoutASnapshotInTheEnd) {
  Site fair = site;
  fair.configuration.organizations[0].workflows.fairness = true;
  reload(fair);
  const auto client = feeder();
  // An answer to another client: the server is done with the feeder's greeting, and has begun to wait.
  EXPECT_TRUE(reader()->ask(R"({"request":"ping"})").contains("pong"));
  now += 31;
  EXPECT_TRUE(client->expect<protocol::Levels>().jobs.empty());
  client->expect<protocol::Ranks>();
}

}  // namespace
}  // namespace shapley::daemon
