// The table of requests, and the pages that list them.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/requests/queries.hpp"
#include "service_fixture.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

std::string read(const std::string& path) {
  std::ifstream stream(SHAPLEY_SOURCE_DIR "/" + path);
  EXPECT_TRUE(stream.good()) << path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string words_of(Asker asker) {
  if (asker == Asker::anybody) return "any user";
  return asker == Asker::administrator ? "root and `slurm_user`, on this host" : "root and `slurm_user`";
}

// The page's table of requests must be these rows and no others.
Lines rows_of(std::span<const Request> table) {
  Lines rows;
  for (const Request& row : table)
    rows.push_back("| `" + std::string(row.name) + "` | " + words_of(row.may_ask) + " | " + std::string(row.subject) +
                   " |");
  return rows;
}
Lines documented_rows(const std::string& page) {
  const std::string head = "| request | who may ask | what it returns |\n|---|---|---|\n";
  const std::size_t at = page.find(head);
  if (at == std::string::npos) return {"no table of requests"};
  std::istringstream rest(page.substr(at + head.size()));
  Lines rows;
  for (std::string line; std::getline(rest, line) && line.starts_with('|');) rows.push_back(line);
  return rows;
}

// The names in the examples, each once.
Lines shown_requests(const std::string& page) {
  const std::regex shown("\n\\| `\\{\"request\": \"(\\w+)\"");
  Lines names;
  for (std::sregex_iterator it(page.begin(), page.end(), shown), end; it != end; ++it) names.push_back((*it)[1]);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// What security.md says that a kind of asker may ask.
std::string sentence_of(std::span<const Request> table, Asker asker) {
  std::string sentence;
  for (const Request& row : table)
    if (row.may_ask == asker) sentence += (sentence.empty() ? "`" : ", `") + std::string(row.name) + "`";
  return "| " + words_of(asker) + " | ask: " + sentence + " |";
}

Expected<Handler> no_handler(const json& /*request*/) {
  return fail(Errc::invalid_argument, "a toy");
}

constexpr Request k_toys[] = {
    {"open", Asker::anybody, Lane::memory, "what all users may know", no_handler},
    {"order", Asker::administrator, Lane::memory, "that something changes", no_handler},
    {"shut", Asker::remote_administrator, Lane::ledger, "what administrators may know", no_handler},
};

TEST(Requests, StandInTheOrderOfTheirNames) {
  EXPECT_TRUE(std::ranges::is_sorted(requests(), std::ranges::less_equal{}, &Request::name));
}

TEST(Requests, HaveALaneByTheirText) {
  EXPECT_EQ(parse_request(R"({"request":"jobs","all":true})").lane, Lane::ledger);
  EXPECT_EQ(parse_request(R"({"request":"status_at","at":1})").lane, Lane::report);
  EXPECT_EQ(parse_request(R"({"request":"status","forecast":true})").lane, Lane::ledger);
  // No member moves another request: a report stays behind other reports.
  EXPECT_EQ(parse_request(R"({"request":"statement","":true,"forecast":true})").lane, Lane::report);
  for (const char* other : {R"({"request":"status"})", R"({"request":"status","forecast":null})",
                            R"({"request":"ping","":true})", R"({"request":"nothing"})", R"({"jobs":1})", "[", ""}) {
    EXPECT_EQ(parse_request(other).lane, Lane::memory) << other;
  }
}

// A request is parsed once; what is wrong with its members is named, whichever request it is.
TEST(Requests, NameTheMemberThatIsMissingOrWrong) {
  const auto fault = [](const char* text) {
    const ParsedRequest request = parse_request(text);
    EXPECT_NE(request.row, nullptr) << text;
    EXPECT_FALSE(request.handler.has_value()) << text;
    if (request.handler) return std::string();
    EXPECT_EQ(request.handler.error().code, Errc::invalid_argument) << text;
    return request.handler.error().what;
  };
  constexpr const char* k_no_instant = "at is an instant in seconds since 1970-01-01 UTC";
  EXPECT_EQ(fault(R"({"request":"status_at"})"), "at is missing");
  EXPECT_EQ(fault(R"({"request":"status_at","at":-1})"), k_no_instant);
  EXPECT_EQ(fault(R"({"request":"status_at","at":253402300800})"), k_no_instant);
  EXPECT_EQ(fault(R"({"request":"status_at","at":18446744073709551615})"), k_no_instant);
  EXPECT_EQ(fault(R"({"request":"explain","at":"noon"})"), k_no_instant);
  EXPECT_EQ(fault(R"({"request":"status","worth":1})"), "worth is neither true nor false");
  EXPECT_EQ(fault(R"({"request":"explain","job":7})"), "job is no text");
  EXPECT_EQ(fault(R"({"request":"compare","a":"physics"})"), "b is missing");
  EXPECT_EQ(fault(R"({"request":"history","by":"year"})"), "by is one of 10s, minute, 10min, hour, 6h, day or month");
  EXPECT_EQ(fault(R"({"request":"statement","as_of":"never"})"), "as_of is one of then or now");
  EXPECT_EQ(fault(R"({"request":"jobs","user_ids":[-1]})"), "user_ids is no integer in range");
  EXPECT_EQ(fault(R"({"request":"workflows","organization":[]})"), "organization is no text");
  EXPECT_EQ(fault(R"({"request":"upkeep","done":"cleaning"})"), "done is one of backup, audit or papers");
  EXPECT_EQ(fault(R"({"request":"adjust","attribute":{"job":1}})"), "into is missing");
  EXPECT_EQ(fault(R"({"request":"follow","position":{"sequence":1,"hash":"00"}})"),
            "hash is not of the right number of hexadecimal digits");
}

// What people write: members with their default value, null for what they do not say, members that are not known.
TEST(Requests, TakeDefaultsAndUnknownMembers) {
  for (const char* text :
       {R"({"request":"status","worth":false,"contribution":null})", R"({"request":"jobs","jobs":[]})",
        R"({"request":"ping","number":7})", R"({"request":"explain","job":"1","at":null})"})
    EXPECT_TRUE(parse_request(text).handler.has_value()) << text;
}

TEST(Requests, AreListedByThePagesWithWhoMayAsk) {
  const std::string page = read("docs/reference/protocol.md");
  EXPECT_EQ(documented_rows(page), rows_of(requests()));
  Lines names;
  for (const Request& row : requests()) names.emplace_back(row.name);
  EXPECT_EQ(shown_requests(page), names);
  EXPECT_NE(read("docs/operating/security.md").find(sentence_of(requests(), Asker::anybody)), std::string::npos)
      << sentence_of(requests(), Asker::anybody);
}

TEST(Requests, AreFoundByNameAndAsker) {
  const auto found = [](const char* text, Asker asker) -> std::string {
    const auto row = find_request(k_toys, json::parse(text));
    const auto allowed = row ? check_asker(**row, asker) : Expected<void>(tl::unexpected(row.error()));
    if (allowed) return std::string((*row)->name);
    return std::string(name_of(allowed.error().code)) + ": " + allowed.error().what;
  };
  EXPECT_EQ(found(R"({"request": "open"})", Asker::anybody), "open");
  EXPECT_EQ(found(R"({"request": "open"})", Asker::administrator), "open");
  EXPECT_EQ(found(R"({"request": "shut"})", Asker::administrator), "shut");
  EXPECT_EQ(found(R"({"request": "shut"})", Asker::anybody), "denied: only root and slurm_user may ask 'shut'");
  EXPECT_EQ(found(R"({"request": "shut"})", Asker::remote_administrator), "shut");
  EXPECT_EQ(found(R"({"request": "order"})", Asker::administrator), "order");
  EXPECT_EQ(found(R"({"request": "order"})", Asker::anybody), "denied: only root and slurm_user may ask 'order'");
  EXPECT_EQ(found(R"({"request": "order"})", Asker::remote_administrator),
            "denied: 'order' changes something: root or slurm_user ask it themselves, on shapleyd's own host");
  EXPECT_EQ(found(R"({"request": "ajar"})", Asker::anybody),
            "not_found: unknown request 'ajar'; known are open, order, shut");
  for (const char* text : {"17", "{}", R"({"request": 1})", R"(["open"])"})
    EXPECT_EQ(found(text, Asker::administrator), "protocol: a request is an object with a member \"request\"") << text;
}

// A request that only one side knows is found: the checks above are not blind.
TEST(Requests, ThatOnlyOneSideKnowsAreFound) {
  const std::string page = read("docs/reference/protocol.md");
  EXPECT_NE(documented_rows(page), rows_of(k_toys));
  std::string changed = page;
  const std::string row = rows_of(requests()).front();
  changed.replace(changed.find(row), row.size(),
                  "| `head` | root and `slurm_user` | the ledger's present head, signed |");
  EXPECT_NE(documented_rows(changed), rows_of(requests()));
  EXPECT_EQ(read("docs/operating/security.md").find(sentence_of(requests().first(5), Asker::anybody)),
            std::string::npos);
}

// explain and compare, and the forecast of status, asked of the daemon.

class RankRequests : public ServiceTest {
 protected:
  // physics runs on chemistry's node since the begin; a minute later both have jobs that wait.
  void SetUp() override {
    ServiceTest::SetUp();
    connect(1);
    snapshot({running({.id = 1, .account = "phys", .node = "n2", .cpus = 8, .start = k_begin})});
    now += 60;
    protocol::JobUpdate blocked = waiting({.id = 4, .account = "phys", .start = now});
    blocked.wait = protocol::WaitReason::dependency;
    protocol::JobUpdate inherited = waiting({.id = 5, .account = "grad", .start = now});
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
  EXPECT_EQ(report["organization"]["rank"], 2);
  EXPECT_EQ(report["ahead"]["organizations"][0]["organization"], "chemistry");
  EXPECT_EQ(report["ahead"]["organizations"][0]["because"], "guarantee");
  EXPECT_EQ(report["own"], (json{{"jobs", 1}, {"processors", 4}, {"longer", 0}}));
  const json& priorities = report["priorities"];
  EXPECT_EQ(priorities["ranks"], (json{"chemistry", "physics", "guests"}));
  EXPECT_EQ(priorities["mode"], "priorities");
  EXPECT_EQ(priorities["level"], 0);
  EXPECT_EQ(priorities["plugin_connected"], true);
}

// The account tree is the feeder's to know; the ledger does not keep it.
TEST_F(RankRequests, ExplainShowsTheRuleOfAnAccountAbove) {
  const json report = ask(R"({"request":"explain","job":"5"})");
  EXPECT_EQ(report["job"]["organization"], "physics");
  EXPECT_EQ(report["rule"]["name"], "phys");
  EXPECT_EQ(report["job"]["account"], "grad");
}

TEST_F(RankRequests, ExplainSaysWhereAJobWouldStand) {
  const json waits = ask(R"({"request":"explain","job":"2"})");
  const json would = ask(R"({"request":"explain","submit":{"account":"grad","accounts_above":["phys","root"]}})");
  for (const char* same : {"organization", "ahead", "turns"}) EXPECT_EQ(would[same], waits[same]);
  EXPECT_EQ(would["rule"]["name"], "phys");
  EXPECT_EQ(would["own"]["jobs"], 2);
  EXPECT_EQ(error_of(R"({"request":"explain","submit":{"account":"grad","processors":0}})")["code"],
            "invalid_argument");
  EXPECT_EQ(error_of(R"({"request":"explain","submit":{}})")["code"], "invalid_argument");
}

TEST_F(RankRequests, ExplainShowsWhatABlockedJobWaitsFor) {
  const json report = ask(R"({"request":"explain","job":"4"})");
  EXPECT_EQ(report["job"]["state"], "blocked");
  EXPECT_EQ(report["waits_for"], "dependency");
  // It is no demand, and not in the queue of jobs that could start.
  EXPECT_EQ(ask(R"({"request":"queue"})")["jobs"].size(), 3U);
}

// The plugin gives tasks of an array records of their own where other jobs belong between them.
TEST_F(RankRequests, TasksOfASplitArrayAreJobsOfTheirOwn) {
  protocol::JobUpdate rest = waiting({.id = 70, .account = "chem", .cpus = 2, .start = now});
  rest.array_job_id = 70;
  rest.pending_tasks = 8;
  protocol::JobUpdate task = waiting({.id = 71, .account = "chem", .cpus = 2, .start = now});
  task.array_job_id = 70;
  task.array_task_id = 1;
  protocol::JobUpdate held = waiting({.id = 72, .account = "chem", .cpus = 2, .start = now});
  held.array_job_id = 70;
  held.array_task_id = 2;
  held.wait = protocol::WaitReason::held;
  see({rest, task, held});
  const json queue = ask(R"({"request":"queue"})")["jobs"];
  ASSERT_EQ(queue.size(), 5U) << queue.dump(1);
  EXPECT_EQ(queue[3]["tasks"], 8);
  EXPECT_FALSE(queue[3].contains("array_task"));
  EXPECT_EQ(queue[4]["array_job"], 70);
  EXPECT_EQ(queue[4]["array_task"], 1);
  // Each startable task counts as a job: chemistry has job 3, eight tasks and one.
  const json behind = ask(R"({"request":"explain","job":"2"})");
  EXPECT_EQ(behind["ahead"]["jobs"], 10) << behind["ahead"].dump(1);
  const json status = ask(R"({"request":"status"})");
  for (const json& row : status["organizations"]) {
    if (row["name"] == "chemistry") EXPECT_EQ(row["waiting_jobs"], 10);
  }
  const json named = ask(R"({"request":"explain","job":"70_1"})");
  EXPECT_EQ(named["job"]["job"], 71);
  EXPECT_EQ(named["waits_for"], "startable");
  EXPECT_EQ(named["own"]["jobs"], 9);
  EXPECT_EQ(ask(R"({"request":"explain","job":"70_2"})")["waits_for"], "held") << "of the task, not of the rest";
  EXPECT_EQ(ask(R"({"request":"explain","job":"70_9"})")["job"]["job"], 70) << "a part of the rest";
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
  const json compared =
      ask(R"({"request":"compare","a":"physics","b":"chemistry","at":)" + std::to_string(k_begin + 10) + "}");
  EXPECT_EQ(compared["at"], k_begin + 10);
  EXPECT_EQ(compared["first"], "chemistry");
}

TEST_F(RankRequests, StatusHasTheForecastIfItIsAskedFor) {
  const json report = ask(R"({"request":"status","forecast":true})");
  EXPECT_EQ(report["at"], now);
  EXPECT_EQ(report["forecast"]["pairs"], 3);
  EXPECT_EQ(report["forecast"]["organizations"][0]["name"], "chemistry");
  EXPECT_FALSE(ask(R"({"request":"status"})").contains("forecast"));
}

TEST_F(RankRequests, ThatAreWrongSayWhatIsAllowed) {
  EXPECT_EQ(error_of(R"({"request":"explain"})")["code"], "invalid_argument");
  EXPECT_EQ(error_of(R"({"request":"explain","job":4711})")["code"], "invalid_argument");
  EXPECT_EQ(error_of(R"({"request":"explain","job":"x"})")["code"], "invalid_argument");
  EXPECT_EQ(error_of(R"({"request":"explain","job":"99"})")["code"], "invalid_argument");
  EXPECT_EQ(error_of(R"({"request":"compare","a":"physics"})")["code"], "invalid_argument");
  EXPECT_EQ(error_of(R"({"request":"compare","a":"physics","b":"nosuch"})")["code"], "invalid_argument");
  EXPECT_EQ(error_of(R"({"request":"explain","job":"2","at":"x"})")["code"], "invalid_argument");
  EXPECT_EQ(error_of(R"({"request":"explain","job":"2","at":99999999999})")["code"], "invalid_argument");
}

// A user with a small budget gets an answer about the present without its history, and none about the past.
TEST_F(RankRequests, ReadAtMostAsManyEventsAsTheirBudget) {
  const auto answered = [&](const std::string& request) {
    Answer prepared = answer(*service, parse_request(request), Instant{now});
    ReadingThread::Connection reader(site.configuration.ledger);
    return json::parse(std::get<ReadingThread::Question>(prepared)(reader, {.rows = 3}));
  };
  const json present = answered(R"({"request":"compare","a":"physics","b":"chemistry"})");
  EXPECT_EQ(present["first"], "chemistry");
  EXPECT_TRUE(present["since"].is_null());
  EXPECT_TRUE(present["since_unknown"].is_string());
  const json past =
      answered(R"({"request":"compare","a":"physics","b":"chemistry","at":)" + std::to_string(k_begin + 10) + "}");
  EXPECT_EQ(past["error"]["code"], "limit") << past.dump(1);
}

}  // namespace
}  // namespace shapley::daemon
