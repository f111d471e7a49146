// The table of requests, and the pages that list them.
#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/requests/queries.hpp"

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
    rows.push_back("| `" + std::string(row.name) + "` | " + words_of(row.may_ask) + " | " + std::string(row.tells) +
                   " |");
  return rows;
}
Lines documented_rows(const std::string& page) {
  const std::string head = "| request | who may ask | what it tells |\n|---|---|---|\n";
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
  return "| " + words_of(asker) + " | ask: " + sentence + ". ";
}

constexpr Request k_toys[] = {
    {"open", Asker::anybody, Lane::memory, "what everybody may know",
     [](Service&, const Question&) { return Answer("open"); }},
    {"order", Asker::administrator, Lane::memory, "that something changes",
     [](Service&, const Question&) { return Answer("order"); }},
    {"shut", Asker::remote_administrator, Lane::ledger, "what administrators may know",
     [](Service&, const Question&) { return Answer("shut"); }},
};

TEST(Requests, StandInTheOrderOfTheirNames) {
  EXPECT_TRUE(std::ranges::is_sorted(requests(), std::ranges::less_equal{}, &Request::name));
}

TEST(Requests, HaveALaneByTheirText) {
  EXPECT_EQ(lane_of(R"({"request":"jobs","all":true})"), Lane::ledger);
  EXPECT_EQ(lane_of(R"({"request":"status_at","at":1})"), Lane::report);
  for (const char* other : {R"({"request":"status"})", R"({"request":"nothing"})", R"({"jobs":1})", "[", ""}) {
    EXPECT_EQ(lane_of(other), Lane::memory) << other;
  }
}

TEST(Requests, AreListedByThePagesWithWhoMayAsk) {
  const std::string page = read("docs/reference/protocol.md");
  EXPECT_EQ(documented_rows(page), rows_of(requests()));
  Lines names;
  for (const Request& row : requests()) names.emplace_back(row.name);
  EXPECT_EQ(shown_requests(page), names);
  const std::string security = read("docs/operating/security.md");
  EXPECT_NE(security.find(sentence_of(requests(), Asker::anybody)), std::string::npos)
      << sentence_of(requests(), Asker::anybody);
}

TEST(Requests, AreFoundByNameAndAsker) {
  const auto found = [](const char* text, Asker asker) -> std::string {
    const auto row = find_request(k_toys, json::parse(text), asker);
    return row ? std::string((*row)->name) : std::string(name_of(row.error().code)) + ": " + row.error().what;
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

}  // namespace
}  // namespace shapley::daemon
