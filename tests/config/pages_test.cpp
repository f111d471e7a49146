// The reference page and the example say what the parser knows: no more, no less.
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "accounting/estimators/table.hpp"
#include "config/configuration.hpp"
#include "config/keys.hpp"
#include "config/values.hpp"
#include "key_documents.hpp"

namespace shapley::config {
namespace {

const std::string k_root = SHAPLEY_SOURCE_DIR;

std::string read(const std::string& path) {
  std::ifstream stream(k_root + "/" + path);
  EXPECT_TRUE(stream.good()) << path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

using testing::differences;
using Lines = std::vector<std::string>;

// Where differences were found: "page: stale_after", ...
Lines subjects(const std::vector<testing::Difference>& differences) {
  Lines subjects;
  for (const testing::Difference& difference : differences) subjects.push_back(difference.subject);
  return subjects;
}

TEST(Keys, AreSaidAlikeByTableParserPageManualAndExample) {
  for (const auto& [subject, what] : differences(testing::key_table(), testing::documents()))
    ADD_FAILURE() << subject << ": " << what;
}

TEST(Keys, ADefaultThatIsChangedInTheTableOnlyIsFound) {
  testing::KeyTable table = testing::key_table();
  for (Key& key : table.file)
    if (key.name == "stale_after") key.fallback = "`600`";
  EXPECT_EQ(subjects(differences(table, testing::documents())),
            (Lines{"page: stale_after", "page: stale_after", "manual: stale_after", "example: stale_after",
                   "parser: stale_after"}));
}

TEST(Keys, ADefaultThatIsChangedInOneDocumentOnlyIsFound) {
  const auto after = [](std::string testing::Documents::*document, const std::string& text, const std::string& by) {
    testing::Documents changed = testing::documents();
    std::string& all = changed.*document;
    const std::size_t at = all.find(text);
    EXPECT_NE(at, std::string::npos) << text;
    if (at != std::string::npos) all.replace(at, text.size(), by);
    return subjects(differences(testing::key_table(), changed));
  };
  using testing::Documents;
  EXPECT_EQ(after(&Documents::page, "365 days; default: `5m`", "365 days; default: `10m`"), Lines{"page: stale_after"});
  EXPECT_EQ(after(&Documents::page, "365 days | `5m` |", "365 days | `10m` |"), Lines{"page: stale_after"});
  EXPECT_EQ(after(&Documents::page, "### `stale_after`", "### `stale_for`"),
            (Lines{"page: stale_for", "page: stale_after", "page: stale_after"}));
  EXPECT_EQ(after(&Documents::manual, "(5m)", "(10m)"), Lines{"manual: stale_after"});
  EXPECT_EQ(after(&Documents::manual, "(0.2)", "(0.1)"), Lines{"manual: workflows: threshold"});
  EXPECT_EQ(after(&Documents::manual, ".BR share \" (1)\"", ".BR share \" (1/2)\""),
            Lines{"manual: organizations: nodes: share"});
  EXPECT_EQ(after(&Documents::example, "stale_after: 5m", "stale_after: 10m"), Lines{"example: stale_after"});
  EXPECT_EQ(after(&Documents::example, "threshold: 0.2 ", "threshold: 0.25 "), Lines{"example: workflows: threshold"});
}

TEST(Keys, AWordThatTheParserDoesNotKnowIsFound) {
  testing::KeyTable table = testing::key_table();
  for (Key& key : table.file)
    if (key.name == "order") key.type = "`strict`, `loose` or `weighted`";
  const Lines found = subjects(differences(table, testing::documents()));
  EXPECT_EQ(found, (Lines{"page: order", "page: order", "parser: order"}));
}

TEST(Estimators, AreAllOnThePageAndInTheManual) {
  const testing::Documents documents = testing::documents();
  for (const accounting::EstimatorRow& row : accounting::estimators()) {
    const std::string name(row.name);
    const std::string line = "\n| `" + name + "` | " + std::string(row.meaning) + " |\n";
    EXPECT_NE(documents.page.find(line), std::string::npos) << "configuration.md has no row" << line;
    EXPECT_NE(documents.manual.find(name), std::string::npos) << "shapleyd.yaml.5 does not name " << name;
  }
}

TEST(Estimators, AreWhatTheParserAllows) {
  const auto refused = parse("contribution: another\norganizations: [{name: physics}]\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().front().remedy, "write " + join(accounting::estimator_names(), " or "));
}

// Every ```yaml block of the page is a whole file or becomes one with an organization.
TEST(Page, ItsExamplesAreValid) {
  const std::string page = read("docs/reference/configuration.md");
  const std::string begin = "```yaml\n";
  int examples = 0;
  for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
    const std::size_t text = at + begin.size();
    std::string yaml = page.substr(text, page.find("```", text) - text);
    if (yaml.find("organizations:") == std::string::npos) yaml += "organizations: [{name: physics}]\n";
    const auto configuration = parse(yaml);
    EXPECT_TRUE(configuration.has_value()) << yaml << format_faults(configuration.error(), "page");
    ++examples;
  }
  EXPECT_GT(examples, 0);
}

// "FILE:LINE: ..." blocks of the page are what the parser says about the example before them.
TEST(Page, ShowsTheFaultsThatTheParserReports) {
  const std::string page = read("docs/reference/configuration.md");
  const std::string begin = "```yaml-with-faults\n";
  const std::size_t at = page.find(begin);
  ASSERT_NE(at, std::string::npos);
  const std::size_t text = at + begin.size();
  const std::size_t end = page.find("```", text);
  const auto configuration = parse(page.substr(text, end - text));
  ASSERT_FALSE(configuration.has_value());
  EXPECT_NE(page.find("```text\n" + format_faults(configuration.error(), "shapleyd.yaml") + "\n```", end),
            std::string::npos)
      << format_faults(configuration.error(), "shapleyd.yaml");
}

TEST(Example, IsValid) {
  const std::string file = k_root + "/etc/shapleyd.yaml";
  const auto loaded = load(file);
  ASSERT_TRUE(loaded.has_value()) << format_faults(loaded.error(), file);
}

// Programs that name a default in their --help take it from the table; their pages say the same.
TEST(Programs, PagesNameTheDefaultFileAndSocket) {
  const std::string file(k_default_file);
  const std::string socket = Configuration{}.socket.string();
  EXPECT_NE(read("docs/reference/shapleyd.md").find("default `" + file + "`"), std::string::npos);
  EXPECT_NE(read("packaging/man/shapleyd.8").find(file), std::string::npos);
  EXPECT_NE(read("docs/reference/configuration.md").find("by default `" + file + "`"), std::string::npos);
  EXPECT_NE(read("docs/reference/shapleyctl.md").find("| the daemon's socket | `" + socket + "` |"), std::string::npos);
  EXPECT_NE(read("packaging/man/shapleyctl.1").find("is given; else " + socket + "."), std::string::npos);
  EXPECT_NE(read("docs/internals/plugin.md").find("| shapleyd's Unix socket | `" + socket + "` |"), std::string::npos);
}

}  // namespace
}  // namespace shapley::config
