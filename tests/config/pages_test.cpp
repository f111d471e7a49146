// The reference page and the example say what the parser knows: no more, no less.
#include <array>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "config/configuration.hpp"
#include "config/keys.hpp"

namespace shapley::config {
namespace {

const std::string k_root = SHAPLEY_SOURCE_DIR;

std::string read(const std::string& path) {
  std::ifstream stream(k_root + "/" + path);
  EXPECT_TRUE(stream.good()) << path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::set<std::string> known_keys() {
  std::set<std::string> keys;
  for (const auto key : k_file_keys) keys.emplace(key);
  for (const auto key : k_organization_keys) keys.emplace("organizations: " + std::string(key));
  for (const auto key : k_workflow_keys) keys.emplace("workflows: " + std::string(key));
  for (const auto key : k_claim_keys) keys.emplace("organizations: nodes: " + std::string(key));
  return keys;
}

TEST(Page, HasASectionForEveryKeyAndForNoOther) {
  // Each key is a heading of its own: "### `stale_after`", "### `organizations: title`".
  const std::string page = read("docs/reference/configuration.md");
  const std::regex heading("(^|\n)### `([^`]+)`");
  std::set<std::string> documented;
  for (std::sregex_iterator it(page.begin(), page.end(), heading), end; it != end; ++it) {
    EXPECT_TRUE(documented.insert((*it)[2]).second) << "twice: " << (*it)[2];
  }
  EXPECT_EQ(documented, known_keys());
}

// The documented defaults of `workflows`, read as a file that says them.
template <typename Documented>
workflow::Settings parse_defaults(const Documented& documented) {
  std::string yaml =
      "organizations: [{name: physics}]\nwithin_organization: " + documented("within_organization") + "\nworkflows:\n";
  for (const std::string_view key : k_workflow_keys)
    yaml += "  " + std::string(key) + ": " + documented("workflows: " + std::string(key)) + "\n";
  const auto configuration = parse(yaml);
  EXPECT_TRUE(configuration.has_value()) << yaml;
  return configuration ? configuration->workflows : workflow::Settings{.fairness = true};
}

TEST(Page, StatesEveryDefaultAsItIs) {
  const std::string page = read("docs/reference/configuration.md");
  const Configuration defaults;
  const auto documented_default = [&](const std::string& key) {
    const std::regex line("### `" + key + "`\n\n[^\n]*default:? `([^`]*)`");
    std::smatch match;
    return std::regex_search(page, match, line) ? match[1].str() : "none documented";
  };
  EXPECT_EQ(documented_default("ledger"), defaults.ledger.string());
  EXPECT_EQ(documented_default("socket"), defaults.socket.string());
  EXPECT_EQ(documented_default("slurm_user"), defaults.slurm_user);
  EXPECT_EQ(documented_default("rank_weight"), std::to_string(defaults.rank_weight));
  EXPECT_EQ(documented_default("contribution"), "direct_contr");
  EXPECT_EQ(documented_default("order"), "strict");
  EXPECT_EQ(documented_default("mode"), "priorities");
  EXPECT_EQ(documented_default("period"), "none");
  EXPECT_EQ(documented_default("stale_after"), "5m");
  EXPECT_EQ(documented_default("weights"), "{cpu: 1}");
  const workflow::Settings within = parse_defaults(documented_default);
  EXPECT_EQ(within, defaults.workflows);
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

TEST(Example, IsValidAndHoldsEveryKey) {
  const std::string file = k_root + "/etc/shapleyd.yaml";
  const auto loaded = load(file);
  ASSERT_TRUE(loaded.has_value()) << format_faults(loaded.error(), file);
  for (const auto& keys : {std::set<std::string_view>(k_file_keys.begin(), k_file_keys.end()),
                           std::set<std::string_view>(k_organization_keys.begin(), k_organization_keys.end()),
                           std::set<std::string_view>(k_workflow_keys.begin(), k_workflow_keys.end()),
                           std::set<std::string_view>(k_claim_keys.begin(), k_claim_keys.end())}) {
    for (const std::string_view key : keys) {
      const std::regex use("(^|\n)[^#\n]*\\b" + std::string(key) + ":");
      EXPECT_TRUE(std::regex_search(loaded->text, use)) << key << " is not shown in " << file;
    }
  }
}

TEST(Example, WritesTheDefaults) {
  const auto loaded = load(k_root + "/etc/shapleyd.yaml");
  ASSERT_TRUE(loaded.has_value());
  const Configuration& example = loaded->configuration;
  const Configuration defaults;
  EXPECT_EQ(example.ledger, defaults.ledger);
  EXPECT_EQ(example.socket, defaults.socket);
  EXPECT_EQ(example.slurm_user, defaults.slurm_user);
  EXPECT_EQ(example.contribution, defaults.contribution);
  EXPECT_EQ(example.order, defaults.order);
  EXPECT_EQ(example.rank_weight, defaults.rank_weight);
  EXPECT_EQ(example.mode, defaults.mode);
  EXPECT_EQ(example.period, defaults.period);
  EXPECT_EQ(example.stale_after, defaults.stale_after);
  EXPECT_EQ(example.weights, defaults.weights);
  EXPECT_EQ(example.workflows, defaults.workflows);
}

}  // namespace
}  // namespace shapley::config
