// The table of the reference page is written from the rows of the keys, and the example says of its keys what the rows
// say. The manual page is made of them.
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
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

const std::string k_page = "docs/reference/configuration.md";
const std::string k_example = "etc/shapleyd.yaml";
using Lines = std::vector<std::string>;

std::string path_of(const std::string& name) {
  return SHAPLEY_SOURCE_DIR "/" + name;
}

std::string read(const std::string& name) {
  std::ifstream stream(path_of(name));
  if (!stream.good()) throw std::runtime_error("cannot read " + name);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// A key, how the page calls it ("organizations: nodes: share"), and what is around "KEY: VALUE" in a file.
struct Place {
  Key key;
  std::string title;
  std::string before, after;
};

std::vector<Place> places() {
  const std::string organizations = "organizations: [{name: physics}]\n";
  const std::string consortium = organizations + "consortium: {name: uni, ";
  const std::string cluster = "clusters: [{name: south, standing: /s, public_key: /k";
  const std::map<std::string_view, std::pair<std::string, std::string>> around{
      {"", {organizations, "\n"}},
      {"workflows: ", {organizations + "workflows: {", "}\n"}},
      {"consortium: ", {consortium + cluster + "}], ", "}\n"}},
      {"consortium: clusters: ", {consortium + cluster + ", ", "}]}\n"}},
      {"organizations: ", {"organizations: [{name: physics, ", "}]\n"}},
      {"organizations: nodes: ", {"organizations: [{name: physics, nodes: [{nodes: n1, ", "}]}]\n"}}};
  std::vector<Place> all;
  for (const KeyTable& table : key_tables()) {
    const auto& [before, after] = around.at(table.within);
    for (const Key& key : table.keys) {
      all.push_back({key, std::string(table.within) + std::string(key.name), before, after});
    }
  }
  return all;
}

// Sections are about a key that is known, once; not every key has one.
std::set<std::string> sections_of(const std::string& page) {
  std::set<std::string> known;
  for (const Place& place : places()) known.insert(place.title);
  std::set<std::string> sections;
  const std::regex heading("(^|\n)### `([^`]+)`");
  for (std::sregex_iterator it(page.begin(), page.end(), heading), end; it != end; ++it) {
    const std::string title = (*it)[2];
    EXPECT_TRUE(known.erase(title) == 1) << title << ": a section of no key, or its second";
    sections.insert(title);
  }
  return sections;
}

// Without the colons and with hyphens, as the page's headings are linked to.
std::string anchor_of(const std::string& title) {
  std::string anchor;
  for (const char c : title) {
    if (c != ':') anchor += c == ' ' ? '-' : c;
  }
  return anchor;
}

// The page with the table as the rows of the keys have it.
std::string with_table(const std::string& page) {
  const std::set<std::string> sections = sections_of(page);
  std::string table = "| key | what may be written | default | what it is for |\n|---|---|---|---|\n";
  for (const Place& place : places()) {
    const std::string name = "`" + place.title + "`";
    table += "| " + (sections.contains(place.title) ? "[" + name + "](#" + anchor_of(place.title) + ")" : name) +
             " | " + place.key.type + " | " + place.key.fallback + " | " + place.key.meaning + " |\n";
  }
  const std::size_t begin = page.find("| key | what may be written |");
  const std::size_t end = page.find("\n\n", begin);
  if (end == std::string::npos) throw std::runtime_error("no table of keys on the page");
  return page.substr(0, begin) + table + page.substr(end + 1);
}

TEST(Keys, TheTableOfThePageIsWrittenFromTheRows) {
  const std::string page = read(k_page);
  const std::string written = with_table(page);
  if (std::getenv("SHAPLEY_WRITE_PAGES") != nullptr) std::ofstream(path_of(k_page)) << written;
  std::string changed = page;
  changed.replace(changed.find("`5m`"), 4, "`10m`");
  EXPECT_EQ(with_table(changed), written);
  EXPECT_EQ(page, written) << "SHAPLEY_WRITE_PAGES=1 ctest --preset dev -R '^config$' rewrites the table";
}

TEST(Keys, ADefaultThatIsWrittenOutIsTheOneThatHolds) {
  int written = 0;
  for (const Place& place : places()) {
    const std::string& value = place.key.fallback;
    if (!value.starts_with('`')) continue;
    const auto said =
        parse(place.before + std::string(place.key.name) + ": " + value.substr(1, value.size() - 2) + place.after);
    const auto unsaid = parse(place.before + place.after);  // "{name: physics, }" is YAML, too
    ASSERT_TRUE(said && unsaid) << place.title << ": " << value;
    EXPECT_EQ(*said, *unsaid) << place.title << ": " << value;
    ++written;
  }
  EXPECT_GT(written, 0);
}

// The lines of the example that say something else of a key than its row, where they name it first: behind it, or in
// the comment that ends before it. "consortium: clusters: name" is commented out as a whole.
Lines differing_comments(const std::string& example) {
  std::map<std::string, std::string> meanings;
  for (const Place& place : places()) meanings.emplace(place.title, place.key.meaning);
  const std::regex key_line("(# )?( *)(- )?([a-z_]+):( .*)?");
  std::string table, comment;
  Lines differing;
  std::istringstream lines(example);
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (!std::regex_match(line, parts, key_line)) {
      if (!line.starts_with("# ")) {
        comment.clear();
      } else if (comment.empty()) {
        comment = line.substr(2);
      }
      continue;
    }
    if (parts.length(2) == 0) table = parts[4].str() + ": ";
    const bool in_list = table == "consortium: " && parts.length(2) > 2;
    const std::string title =
        parts.length(2) == 0 ? parts[4].str() : table + (in_list ? "clusters: " : "") + parts[4].str();
    const std::size_t behind = line.find(" # ");
    std::string said = behind == std::string::npos ? comment : line.substr(behind + 3);
    if (!said.empty()) said[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(said[0])));
    const auto meaning = meanings.extract(title);
    if (!meaning.empty() && !said.starts_with(meaning.mapped())) differing.push_back(line);
    comment.clear();
  }
  return differing;
}

TEST(Keys, TheExampleSaysWhatTheRowsSay) {
  const std::string example = read(k_example);
  EXPECT_EQ(differing_comments(example), Lines{});
  for (const std::string meaning : {"Whether ranks act on priorities", "its ClusterName", "the name in the books"}) {
    std::string changed = example;
    changed.replace(changed.find(meaning), 3, "Why");
    EXPECT_EQ(differing_comments(changed).size(), 1U) << meaning;
  }
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
  const std::string file = path_of(k_example);
  const auto loaded = load(file);
  ASSERT_TRUE(loaded.has_value()) << format_faults(loaded.error(), file);
}

TEST(Example, ItsConsortiumIsValid) {
  std::string yaml = read(k_example);
  const std::size_t begin = yaml.find("# consortium:\n");
  ASSERT_NE(begin, std::string::npos);
  for (std::size_t line = begin; yaml[line] == '#'; line = yaml.find('\n', line) + 1) yaml.erase(line, 2);
  const auto configuration = parse(yaml);
  ASSERT_TRUE(configuration.has_value()) << format_faults(configuration.error(), k_example);
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
