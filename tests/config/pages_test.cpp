// The reference page names exactly the keys that the parser knows, and says what their table says. The manual page is
// made of that table.
#include <cctype>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "accounting/estimators/table.hpp"
#include "config/configuration.hpp"
#include "config/keys.hpp"
#include "config/values.hpp"

namespace shapley::config {
namespace {

// Copies, so that a test can plant a difference.
struct KeyTable {
  std::vector<Key> file;
  std::vector<Key> workflow;
  std::vector<Key> consortium;
  std::vector<Key> cluster;
  std::vector<Key> organization;
  std::vector<Key> claim;
};

struct Difference {
  std::string subject;  // "page: stale_after"; also "parser: "
  std::string what;
};

std::string read(const std::string& path) {
  std::ifstream stream(SHAPLEY_SOURCE_DIR "/" + path);
  if (!stream.good()) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

// A key of a group, how the page calls it ("organizations: nodes: share"), and how a file says its default.
struct Place {
  Key key;
  std::string title;
  std::string before, after;  // of "KEY: VALUE" in a file
};

std::vector<Place> places(const KeyTable& table) {
  std::vector<Place> all;
  const auto add = [&](const std::vector<Key>& keys, const std::string& within, const std::string& before,
                       const std::string& after) {
    for (const Key& key : keys) all.push_back({key, within + std::string(key.name), before, after});
  };
  const std::string organizations = "organizations: [{name: physics}]\n";
  add(table.file, "", organizations, "\n");
  add(table.workflow, "workflows: ", organizations + "workflows: {", "}\n");
  const std::string consortium = organizations + "consortium: {name: uni, ";
  const std::string cluster = "clusters: [{name: south, standing: /s, public_key: /k";
  add(table.consortium, "consortium: ", consortium + cluster + "}], ", "}\n");
  add(table.cluster, "consortium: clusters: ", consortium + cluster + ", ", "}]}\n");
  add(table.organization, "organizations: ", "organizations: [{name: physics, ", "}]\n");
  add(table.claim, "organizations: nodes: ", "organizations: [{name: physics, nodes: [{nodes: n1, ", "}]}]\n");
  return all;
}

// The default as a file would write it; nullopt: it is described in words.
std::optional<std::string> written_default(const Key& key) {
  if (!key.fallback.starts_with('`') || !key.fallback.ends_with('`')) return std::nullopt;
  return std::string(key.fallback.substr(1, key.fallback.size() - 2));
}

class Comparison {
 public:
  explicit Comparison(std::string page) : page_(std::move(page)) {}

  // Every section is about a key that is known, once; not every key has one.
  void headings(const std::vector<Place>& all) {
    std::set<std::string> known;
    for (const Place& place : all) known.insert(place.title);
    const std::regex heading("(^|\n)### `([^`]+)`");
    for (std::sregex_iterator it(page_.begin(), page_.end(), heading), end; it != end; ++it) {
      const std::string title = (*it)[2];
      if (known.erase(title) == 0) found("page: " + title, "a section of no key, or its second");
      sections_.insert(title);
    }
  }

  void page(const Place& place) {
    const Key& key = place.key;
    const std::string anchor = replaced(replaced(place.title, ":", ""), " ", "-");
    const std::string name = "`" + place.title + "`";
    const std::string row = "| " + (sections_.contains(place.title) ? "[" + name + "](#" + anchor + ")" : name) +
                            " | " + std::string(key.type) + " | " + std::string(key.fallback) + " | " +
                            std::string(key.meaning) + " |\n";
    if (page_.find("\n" + row) == std::string::npos) found("page: " + place.title, "no row " + row);
  }

  void parser(const Place& place) {
    const std::string name(place.key.name);
    if (const auto value = written_default(place.key)) {
      const auto said = parse(place.before + name + ": " + *value + place.after);
      // "{name: physics, }" is YAML, too.
      const auto unsaid = parse(place.before + place.after);
      if (!said || !unsaid || !(*said == *unsaid)) found("parser: " + place.title, "the default is not " + *value);
    }
    // A choice: the parser's own list of words.
    if (!place.key.type.starts_with('`')) return;
    const auto refused = parse(place.before + name + ": another-word-than-these" + place.after);
    const std::string words = "write " + replaced(std::string(place.key.type), "`", "");
    if (refused || refused.error().front().remedy != words) found("parser: " + place.title, "does not say " + words);
  }

  [[nodiscard]] std::vector<Difference> take() { return std::move(found_); }

 private:
  void found(std::string subject, std::string what) { found_.push_back({std::move(subject), std::move(what)}); }

  std::string page_;
  std::set<std::string> sections_;
  std::vector<Difference> found_;
};

KeyTable key_table() {
  return {{k_file_keys.begin(), k_file_keys.end()},
          {k_workflow_keys.begin(), k_workflow_keys.end()},
          {k_consortium_keys.begin(), k_consortium_keys.end()},
          {k_cluster_keys.begin(), k_cluster_keys.end()},
          {k_organization_keys.begin(), k_organization_keys.end()},
          {k_claim_keys.begin(), k_claim_keys.end()}};
}

// The parser differs where a default that is written out means something else than one that is left out, or where it
// allows other words.
std::vector<Difference> differences(const KeyTable& table, const std::string& page) {
  const std::vector<Place> all = places(table);
  Comparison comparison(page);
  comparison.headings(all);
  for (const Place& place : all) {
    comparison.page(place);
    comparison.parser(place);
  }
  return comparison.take();
}

using Lines = std::vector<std::string>;

// Where differences were found: "page: stale_after", ...
Lines subjects(const std::vector<Difference>& differences) {
  Lines subjects;
  for (const Difference& difference : differences) subjects.push_back(difference.subject);
  return subjects;
}

const std::string k_page = "docs/reference/configuration.md";

TEST(Keys, AreSaidAlikeByTableParserAndPage) {
  for (const auto& [subject, what] : differences(key_table(), read(k_page))) ADD_FAILURE() << subject << ": " << what;
}

TEST(Keys, ADefaultThatIsChangedInTheTableOnlyIsFound) {
  KeyTable table = key_table();
  for (Key& key : table.file)
    if (key.name == "stale_after") key.fallback = "`600`";
  EXPECT_EQ(subjects(differences(table, read(k_page))), (Lines{"page: stale_after", "parser: stale_after"}));
}

TEST(Keys, WhatIsChangedOnThePageOnlyIsFound) {
  const auto after = [](const std::string& text, const std::string& by) {
    std::string changed = read(k_page);
    const std::size_t at = changed.find(text);
    EXPECT_NE(at, std::string::npos) << text;
    if (at != std::string::npos) changed.replace(at, text.size(), by);
    return subjects(differences(key_table(), changed));
  };
  EXPECT_EQ(after("365 days | `5m` |", "365 days | `10m` |"), Lines{"page: stale_after"});
  EXPECT_EQ(after("### `stale_after`", "### `stale_for`"), (Lines{"page: stale_for", "page: stale_after"}));
  EXPECT_EQ(after("### `stale_after`", "### `charge`"), (Lines{"page: charge", "page: stale_after"}));
}

TEST(Keys, AWordThatTheParserDoesNotKnowIsFound) {
  KeyTable table = key_table();
  for (Key& key : table.file)
    if (key.name == "order") key.type = "`strict`, `loose` or `weighted`";
  EXPECT_EQ(subjects(differences(table, read(k_page))), (Lines{"page: order", "parser: order"}));
}

TEST(Estimators, AreAllOnThePage) {
  const std::string page = read(k_page);
  for (const accounting::EstimatorRow& row : accounting::estimators()) {
    const std::string line = "\n| `" + std::string(row.name) + "` | " + std::string(row.meaning) + " |\n";
    EXPECT_NE(page.find(line), std::string::npos) << "configuration.md has no row" << line;
  }
}

TEST(Estimators, AreWhatTheParserAllows) {
  const auto refused = parse("contribution: another\norganizations: [{name: physics}]\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().front().remedy, "write " + join(accounting::estimator_names(), " or "));
  for (const accounting::EstimatorId id : accounting::estimator_ids()) {
    const auto chosen =
        parse("contribution: " + std::string(accounting::name_of(id)) + "\norganizations: [{name: a}]\n");
    ASSERT_TRUE(chosen) << format_faults(chosen.error(), "file");
    EXPECT_EQ(chosen->contribution, id);
  }
}

// Every ```yaml block of the page is a whole file or becomes one with an organization.
TEST(Page, ItsExamplesAreValid) {
  const std::string page = read(k_page);
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
  const std::string page = read(k_page);
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
  const std::string file = SHAPLEY_SOURCE_DIR "/etc/shapleyd.yaml";
  const auto loaded = load(file);
  ASSERT_TRUE(loaded.has_value()) << format_faults(loaded.error(), file);
}

TEST(Example, ItsConsortiumIsValid) {
  std::string yaml = read("etc/shapleyd.yaml");
  const std::size_t begin = yaml.find("# consortium:\n");
  ASSERT_NE(begin, std::string::npos);
  for (std::size_t line = begin; yaml[line] == '#'; line = yaml.find('\n', line) + 1) yaml.erase(line, 2);
  const auto configuration = parse(yaml);
  ASSERT_TRUE(configuration.has_value()) << format_faults(configuration.error(), "etc/shapleyd.yaml");
  EXPECT_EQ(configuration->consortium.clusters.size(), 1U);
}

// Programs that name a default in their --help take it from the table; their pages say the same.
TEST(Programs, PagesNameTheDefaultFileAndSocket) {
  const std::string file(k_default_file);
  const std::string socket = Configuration{}.socket.string();
  EXPECT_NE(read("docs/reference/shapleyd.md").find("default `" + file + "`"), std::string::npos);
  EXPECT_NE(read("packaging/man/shapleyd.8.in").find(file), std::string::npos);
  EXPECT_NE(read("docs/reference/configuration.md").find("by default `" + file + "`"), std::string::npos);
  EXPECT_NE(read("docs/reference/shapleyctl.md").find("| the daemon's socket | `" + socket + "` |"), std::string::npos);
  EXPECT_NE(read("packaging/man/shapleyctl.1.in").find(".IR " + socket), std::string::npos);
  EXPECT_NE(read("docs/internals/plugin.md").find("| shapleyd's Unix socket | `" + socket + "` |"), std::string::npos);
}

}  // namespace
}  // namespace shapley::config
