// A table of bad files: for each the faults that must be reported, all of them, with line, words and remedy.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "config/configuration.hpp"

namespace shapley::config {
namespace {

struct ExpectedFault {
  int line;
  std::string what;    // a part of it
  std::string remedy;  // a part of it
};

struct BadFile {
  std::string why;
  std::string yaml;
  std::vector<ExpectedFault> faults;
};

std::ostream& operator<<(std::ostream& out, const BadFile& file) {
  return out << file.why;
}

// The first line of most cases, so that organizations are no fault; their own text begins in line 2.
const std::string k_ok = "organizations: [{name: ok}]\n";

class BadFiles : public testing::TestWithParam<BadFile> {};

TEST_P(BadFiles, ReportEveryFaultAndNothingElse) {
  const BadFile& file = GetParam();
  const auto configuration = parse(file.yaml);
  ASSERT_FALSE(configuration.has_value()) << file.yaml;
  const std::vector<Fault>& faults = configuration.error();
  const std::string all = format_faults(faults, "file");
  ASSERT_EQ(faults.size(), file.faults.size()) << all;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    EXPECT_EQ(faults[i].line, file.faults[i].line) << all;
    EXPECT_NE(faults[i].what.find(file.faults[i].what), std::string::npos) << all << "\nlacks: " << file.faults[i].what;
    EXPECT_NE(faults[i].remedy.find(file.faults[i].remedy), std::string::npos)
        << all << "\nlacks: " << file.faults[i].remedy;
    EXPECT_FALSE(faults[i].remedy.empty());
    EXPECT_EQ(faults[i].what.find('\n'), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(
    WholeFile, BadFiles,
    testing::Values(
        BadFile{"empty", "", {{0, "the file is empty", "shapleyctl init"}}},
        BadFile{"comments only", "# nothing\n\n", {{0, "the file is empty", ""}}},
        BadFile{"null", "~\n", {{0, "the file is empty", ""}}},
        BadFile{"text", "\nhello\n", {{2, "the file is text where a list of 'key: value' is expected", ""}}},
        BadFile{"list", "- a\n- b\n", {{1, "the file is a list where", ""}}},
        BadFile{"two documents", k_ok + "---\nledger: /x\n", {{2, "is it a second YAML document?", "'---'"}}},
        BadFile{
            "no YAML: bad mapping", k_ok + "ledger: /a: b\n", {{2, "this is no YAML: illegal map value", "syntax"}}},
        BadFile{"a key without its colon",
                k_ok + "mode observe\nperiod: monthly\n",
                {{2, "'mode' is not followed by ': '", "write 'mode: ...'"}}},
        BadFile{"a key without its colon in the first line",
                "mode observe\norganizations: []\n",
                {{1, "'mode' is not followed by ': '", ""}}},
        BadFile{"a key whose colon has no blank behind it, comments below",
                k_ok + "mode:observe # so\n\n# period: that rules\n\nperiod: monthly\n",
                {{2, "'mode' is not followed by ': '", ""}}},
        BadFile{"a key of a table without its colon",
                "organizations:\n  - name: a\n    accounts [x]\n    nodes: [n1]\n",
                {{3, "'accounts' is not followed by ': '", ""}}},
        BadFile{"a first key without its colon",
                "organizations:\n  - name a\n    accounts: [x]\n",
                {{2, "'name' is not followed by ': '", ""}}},
        BadFile{"a table's key without its colon", "organizations\n  - name: a\n", {{1, "'organizations' is not", ""}}},
        BadFile{"the key of a list without its colon",
                "organizations:\n  - name: a\n    nodes\n      - n1\n      - n2\n    accounts: [x]\n",
                {{3, "'nodes' is not followed by ': '", ""}}},
        BadFile{"the last key of a table without its colon",
                "organizations:\n  - name: a\n    nodes [n1]\n  - name: b\n",
                {{3, "'nodes' is not followed by ': '", ""}}},
        BadFile{"no YAML: tab", k_ok + "weights:\n\tcpu: 1\n", {{3, "this is no YAML", "never tabs"}}},
        BadFile{"no YAML: brackets within a flow list",
                "organizations:\n  - name: a\n    nodes: [n[1-4]]\n",
                {{3, "this is no YAML", "a node list needs quotes (\"n[1-4]\")"}}},
        BadFile{"no YAML: unknown alias", k_ok + "ledger: *x\n", {{2, "this is no YAML: the referenced anchor", ""}}},
        BadFile{"no YAML: nested beyond reason", std::string(5000, '['), {{1, "this is no YAML", ""}}},
        BadFile{
            "stray commas, on which yaml-cpp 0.7 never returns", ",]", {{1, "belongs to no key above", "indentation"}}},
        BadFile{"text after a list", k_ok + "...\n  , mode: observe\n", {{3, "belongs to no key above", ""}}},
        BadFile{"binary",
                std::string("\x7f"
                            "ELF\x02\x01\x01\0\0",
                            9),
                {{1, "this is no YAML", ""}}},
        BadFile{"too large", std::string((4U << 20U) + 1, '\n'), {{0, "more than 4 MiB", ""}}},
        BadFile{"no organizations", "mode: observe\n", {{0, "organizations: missing", "shapleyctl init"}}}));

INSTANTIATE_TEST_SUITE_P(
    Keys, BadFiles,
    testing::Values(
        BadFile{"unknown", k_ok + "colour: red\n", {{2, "unknown key 'colour'", "known keys: ledger, socket, "}}},
        BadFile{"former",
                k_ok + "horizon: 30d\nrunning_weight: 0.1\n",
                {{2, "horizon: ranks do not look a fixed time ahead any more", "rule: published"},
                 {3, "running_weight: what runs counts in full", "leave it out"}}},
        BadFile{"a former estimator",
                k_ok + "shapley_rate: off\ncontribution: shapley_rate\n",
                {{2, "shapley_rate: there is no such estimator any more", "leave it out"},
                 {3, "contribution: shapley_rate: there is no such estimator any more", "write hindsight"}}},
        BadFile{"misspelt", k_ok + "leger: /x\n", {{2, "unknown key 'leger'", "did you mean 'ledger'?"}}},
        BadFile{"capitals", k_ok + "Mode: observe\n", {{2, "unknown key 'Mode'", "did you mean 'mode'?"}}},
        BadFile{"merge key", k_ok + "<<: {mode: observe}\n", {{2, "unknown key '<<'", ""}}},
        BadFile{"twice",
                k_ok + "mode: observe\nperiod: none\nmode: priorities\n",
                {{4, "key 'mode' was given already in line 2", "keep one"}}},
        BadFile{"key that is a list", k_ok + "? [a, b]\n: 1\n", {{2, "a key is a list", "key: value"}}},
        BadFile{"of an organization",
                "organizations:\n  - name: a\n    acounts: [x]\n    node: []\n",
                {{3, "organization 'a': unknown key 'acounts'", "did you mean 'accounts'?"},
                 {4, "organization 'a': unknown key 'node'", "did you mean 'nodes'?"}}},
        BadFile{"of an organization, twice",
                "organizations:\n  - name: a\n    users: [x]\n    users: [y]\n",
                {{4, "organization 'a': key 'users' was given already in line 3", ""}}},
        BadFile{"of a claim",
                "organizations:\n  - name: a\n    nodes:\n      - {nodes: n1, shares: 1/3}\n",
                {{4, "organization 'a': nodes: unknown key 'shares'", "did you mean 'share'?"}}},
        BadFile{"of the weights, twice",
                k_ok + "weights:\n  cpu: 1\n  cpu: 2\n",
                {{4, "weights: key 'cpu' was given already in line 3", ""}}},
        BadFile{
            "quote never closed",
            "ledger: \"/x\nmode: observe\norganizations: [{name: ok}]\n",
            {{0, "organizations: missing", ""}, {1, "ledger: the quote that opens here is not closed", "close it"}}},
        BadFile{"quote never closed behind other letters",
                "# ä\n" + k_ok + "slurm_user: 'it''s\nmode: observe\n",
                {{3, "slurm_user: the quote that opens here is not closed", ""}}}));

INSTANTIATE_TEST_SUITE_P(
    Settings, BadFiles,
    testing::Values(
        BadFile{"relative path", k_ok + "ledger: books.db\n", {{2, "ledger: 'books.db' is no absolute path", "'/'"}}},
        BadFile{"empty path", k_ok + "socket: \"\"\n", {{2, "socket: '' is no absolute path", ""}}},
        BadFile{"socket path too long",
                k_ok + "socket: /" + std::string(107, 's') + "\n",
                {{2, "socket: a path of 108 characters", "at most 107"}}},
        BadFile{"its own peer",
                k_ok + "socket: /run/a.sock\npeer: /run/a.sock\n",
                {{3, "peer: is this daemon's own socket", "the other controller's"}}},
        BadFile{"a peer that is neither a path nor a place",
                k_ok + "peer: ctl2\nlisten: 7020\n",
                {{2, "peer: 'ctl2' is no place to listen or connect", "write HOST:PORT"},
                 {3, "listen: '7020' is no place to listen or connect", "write HOST:PORT"}}},
        BadFile{"missing values",
                k_ok + "ledger:\nmode:\nweights:\n",
                {{2, "ledger is nothing where text is expected", ""},
                 {3, "mode is nothing where text is expected", "priorities or observe"},
                 {4, "weights is nothing where a mapping is expected", "{cpu: 1"}}},
        BadFile{"wrong types",
                k_ok + "ledger: [/x]\nperiod: {a: b}\nweights: 1\nstale_after: [5]\n",
                {{2, "ledger is a list where text is expected", "absolute path"},
                 {3, "period is a mapping where text is expected", "none, monthly, quarterly or yearly"},
                 {4, "weights is text where a mapping is expected", ""},
                 {5, "stale_after is a list where text is expected", ""}}},
        BadFile{"user", k_ok + "slurm_user: \"slurm user\"\n", {{2, "slurm_user: 'slurm user' is no user name", ""}}},
        BadFile{"choices",
                k_ok + "contribution: direct\norder: stric\nmode: off\nperiod: weekly\n",
                {{2, "contribution: 'direct' is not known", "write direct_contr"},
                 {3, "order: 'stric' is not known", "did you mean strict?"},
                 {4, "mode: 'off' is not known", "write priorities or observe"},
                 {5, "period: 'weekly' is not known", "none, monthly, quarterly or yearly"}}},
        BadFile{"hindsight neither on nor off",
                k_ok + "hindsight: always\n",
                {{2, "hindsight: 'always' is not known", "write on or off"}}},
        BadFile{"ranks by what is not kept",
                k_ok + "contribution: hindsight\nhindsight: off\n",
                {{3, "hindsight: off, but contribution: hindsight makes the ranks by it",
                  "write hindsight: on, or another contribution"}}},
        BadFile{"more organizations than hindsight can rank",
                "contribution: hindsight\norganizations:\n" +
                    [] {
                      std::string lines;
                      for (int i = 1; i <= 32; ++i) lines += "  - name: o" + std::to_string(i) + "\n";
                      return lines;
                    }(),
                {{33, "organization 'o31' is one more than contribution: hindsight can rank, which are 30",
                  "write another contribution, such as direct_contr, or name fewer organizations"}}},
        BadFile{"rank weight",
                k_ok + "rank_weight: 1000000001\n",
                {{2, "rank_weight: '1000000001' is no such number", "from 1 to 1000000000"}}},
        BadFile{"rank weight with a fraction", k_ok + "rank_weight: 1.5\n", {{2, "rank_weight: '1.5'", ""}}},
        BadFile{"durations",
                k_ok + "stale_after: 5 minutes\n",
                {{2, "stale_after: '5 minutes' is no such duration", "write seconds (300) or"}}},
        BadFile{"memory of a unit there is not",
                k_ok + "hindsight_memory: 1GB\n",
                {{2, "hindsight_memory: '1GB' is no such amount of memory", "K, M, G or T, from 16M to 1T, or auto"}}},
        BadFile{"duration of zero", k_ok + "stale_after: 0s\n", {{2, "stale_after: '0s'", "1 second to 365 days"}}},
        BadFile{"weights",
                k_ok + "weights:\n  cpu: 0\n  gres/gpu: 1001\n  gres/fpga: many\n  mem: 1\n  gres/: 1\n  CPU: 1\n",
                {{3, "weights: cpu: '0' is no such number", "from 1 to 1000"},
                 {4, "weights: gres/gpu: '1001' is no such number", ""},
                 {5, "weights: gres/fpga: 'many' is no such number", ""},
                 {6, "weights: mem: a resource of this name has no weight", "cpu, gres/NAME"},
                 {7, "weights: gres/: a resource of this name", ""},
                 {8, "weights: CPU: a resource of this name", ""}}},
        BadFile{
            "weights of another charge",
            k_ok + "charge: billing\nweights: {cpu: 2}\nnode_weights: {n1: 2}\n",
            {{3, "weights: is not read with charge: billing", "write charge: weights, or remove weights"},
             {4,
              "node_weights: is not read with charge: billing, where slurmctld says (TRESBillingWeights) what a node "
              "is worth",
              "write charge: dominant or charge: cpu"}}},
        BadFile{"no weight", k_ok + "weights: {}\n", {{2, "weights: the table is empty", ""}}},
        BadFile{"control characters are not passed on",
                k_ok + "mode: \"a\\eb\\n\"\n",
                {{2, "mode: 'a\\x1bb\\x0a' is not known", ""}}}));

// Behind two organizations in lines 1 to 3.
const std::string k_two_organizations = "organizations:\n  - name: physics\n  - name: biology\n";

INSTANTIATE_TEST_SUITE_P(
    Consortia, BadFiles,
    testing::Values(
        BadFile{"no table",
                k_two_organizations + "consortium: uni\n",
                {{4, "consortium is text where a mapping is expected", "name, "}}},
        BadFile{"nothing in it",
                k_two_organizations + "consortium: {}\n",
                {{4, "consortium: has no name", "the same on all clusters"},
                 {4, "consortium: has no clusters", "- name: ..."}}},
        BadFile{"no clusters",
                k_two_organizations + "consortium:\n  name: uni\n  clusters: []\n",
                {{6, "consortium: clusters: the list is empty", "- name: ..."}}},
        BadFile{"its own keys",
                k_two_organizations +
                    "consortium:\n  name: a b\n  weight: 1001\n  every: 61m\n  evry: 1\n  clusters: south\n",
                {{5, "consortium: name: 'a b' is no allowed name", "1 to 64"},
                 {6, "consortium: weight: '1001' is no such weight", "0.001 to 1000"},
                 {7, "consortium: every: '61m' is no such duration", "allowed are 1 second to 1 hour"},
                 {8, "consortium: unknown key 'evry'", "did you mean 'every'?"},
                 {9, "consortium: clusters is text where a list is expected", ""}}},
        BadFile{"a cluster of which nothing is said",
                k_two_organizations + "consortium:\n  name: uni\n  clusters:\n    - {}\n",
                {{7, "consortium: cluster 1: has no name", "ClusterName"},
                 {7, "consortium: cluster 1: has no standing", "HOST:PORT, or the path"},
                 {7, "consortium: cluster 1: has no public_key", "/..."}}},
        BadFile{
            "a cluster's keys",
            k_two_organizations +
                "consortium:\n  name: uni\n  clusters:\n    - name: south\n      standing: south.json\n"
                "      public_key: south.pub\n      weight: 1/2\n      stale_after: 9s\n      az: {}\n"
                "    - {name: no rth, standing: \"n:0\", public_key: [x], weight: 0.0009, stale_after: 366d}\n",
            {{8, "cluster 'south': standing: 'south.json' is neither HOST:PORT nor an absolute path", "its shapleyd"},
             {9, "cluster 'south': public_key: 'south.pub' is no absolute path", "begins with '/'"},
             {10, "cluster 'south': weight: '1/2' is no such weight", "a decimal"},
             {11, "cluster 'south': stale_after: '9s' is no such duration", "10 seconds to 365 days"},
             {12, "cluster 'south': unknown key 'az'", "did you mean 'as'?"},
             {13, "cluster 'no rth': name: 'no rth' is no allowed name", ""},
             {13, "cluster 'no rth': standing: 'n:0'", ""},
             {13, "cluster 'no rth': public_key is a list where text is expected", ""},
             {13, "cluster 'no rth': weight: '0.0009' is no such weight", ""},
             {13, "cluster 'no rth': stale_after: '366d' is no such duration", ""}}},
        BadFile{"a cluster twice, a file twice",
                k_two_organizations +
                    "consortium:\n  name: uni\n  clusters:\n    - {name: south, standing: /s, public_key: /k}\n"
                    "    - {name: South, standing: /t, public_key: /k}\n"
                    "    - {name: north, standing: /s, public_key: /k}\n",
                {{8, "cluster 'South': is the cluster of line 7 again", "capitals"},
                 {9, "cluster 'north': its standing is where that of the cluster of line 7 is", "of one cluster"}}},
        BadFile{"too old before the next one is due",
                k_two_organizations +
                    "consortium:\n  name: uni\n  clusters:\n"
                    "    - {name: south, standing: /s, public_key: /k, stale_after: 59}\n  every: 60s\n",
                {{7, "cluster 'south': stale_after: 59 seconds is less than `every`", "1 minute or more"}}},
        BadFile{"more clusters than a hundred",
                k_two_organizations + "consortium:\n  name: uni\n  clusters:\n" +
                    [] {
                      std::string lines;
                      for (int i = 0; i < 101; ++i)
                        lines += "    - {name: c" + std::to_string(i) + ", standing: /" + std::to_string(i) +
                                 ", public_key: /k}\n";
                      return lines;
                    }(),
                {{6, "consortium: clusters: 101 clusters", "at most 100"}}},
        BadFile{"names elsewhere",
                k_two_organizations + "consortium:\n  name: uni\n  clusters:\n    - name: south\n      standing: /s\n"
                                      "      public_key: /k\n      as:\n        fysics: x\n        physics: Guests\n"
                                      "        commons: y\n        biology: a b\n        astro: z\n",
                {{11, "as: fysics: the file has no organization 'fysics'", "did you mean 'physics'?"},
                 {12, "as: physics: 'Guests' is no organization", "same name everywhere"},
                 {13, "as: commons: 'commons' is no organization", ""},
                 {14, "as: biology: 'a b' is no allowed name", ""},
                 {15, "as: astro: the file has no organization 'astro'", "then its name there"}}},
        BadFile{"two of one name there",
                k_two_organizations +
                    "consortium:\n  name: uni\n  clusters:\n    - name: south\n      standing: /s\n"
                    "      public_key: /k\n      as: {physics: nature,\n           biology: nature}\n",
                {{11, "as: biology: 'nature' is there the name of 'physics' already", "a name of its own"}}},
        BadFile{"two of one name there, one of which has it here, too",
                k_two_organizations + "consortium:\n  name: uni\n  clusters:\n    - name: south\n      standing: /s\n"
                                      "      public_key: /k\n      as: {physics: biology}\n",
                {{10, "as: physics: 'biology' is there the name of 'biology' already", "a name of its own"}}},
        BadFile{"no table of names",
                k_two_organizations + "consortium:\n  name: uni\n  clusters:\n    - name: south\n      standing: /s\n"
                                      "      public_key: /k\n      as: [physics]\n",
                {{10, "as is a list where a mapping is expected", "{physics: physik}"}}}));

INSTANTIATE_TEST_SUITE_P(
    Organizations, BadFiles,
    testing::Values(
        BadFile{"no list",
                "organizations: physics\n",
                {{1, "organizations is text where a list is expected", "- name: ..."}}},
        BadFile{"empty list", "organizations: []\n", {{1, "organizations: the list is empty", ""}}},
        BadFile{"element that is no mapping",
                "organizations:\n  - name: a\n  - physics\n",
                {{3, "organization 2 is text where a mapping is expected", "known keys: name, title"}}},
        BadFile{"without name", "organizations:\n  - title: x\n", {{2, "organization 1: has no name", "name: ..."}}},
        BadFile{"bad names",
                "organizations:\n  - name: a b\n  - name: \"\"\n  - name: [x]\n  - name: phys/ics\n  - name: ünis\n  - "
                "name: " +
                    std::string(65, 'x') + "\n",
                {{2, "'a b' is no allowed name", "letters A-Z and a-z, digits"},
                 {3, "'' is no allowed name", ""},
                 {4, "name is a list where text is expected", ""},
                 {5, "'phys/ics' is no allowed name", ""},
                 {6, "'ünis' is no allowed name", "use 1 to 64 letters A-Z and a-z, digits, '.', '_' and '-'"},
                 {7, "' is no allowed name", "1 to 64"}}},
        BadFile{"reserved names",
                "organizations:\n  - name: guests\n  - name: Commons\n",
                {{2, "'guests' is reserved", "choose another"}, {3, "'Commons' is reserved", ""}}},
        BadFile{"declared twice",
                "organizations:\n  - name: a\n  - name: b\n  - name: a\n  - name: B\n",
                {{4, "organization 'a' was declared already in line 2", "merge"},
                 {5, "organization 'B' was declared already in line 3 as 'b'", ""}}},
        BadFile{"title",
                "organizations:\n  - {name: a, title: \"two\\nlines\"}\n",
                {{2, "organization 'a': title: this is no title", "one line"}}},
        BadFile{"rules that are no lists",
                "organizations:\n  - name: a\n    accounts: physics\n    users:\n    qos: {a: b}\n",
                {{3, "organization 'a': accounts is text where a list is expected", "[a, b]"},
                 {4, "organization 'a': users is nothing where a list is expected", "[] for none"},
                 {5, "organization 'a': qos is a mapping where a list is expected", ""}}},
        BadFile{"rule names",
                "organizations:\n  - name: a\n    accounts: [\"a,b\", \" a\"]\n    users: [\"a b\", \"\"]\n    groups: "
                "[[x]]\n",
                {{3, "'a,b' is no account name", "one element"},
                 {3, "' a' is no account name", "without blanks around it"},
                 {4, "'a b' is no user name", ""},
                 {4, "'' is no user name", ""},
                 {5, "groups is a list where text is expected", ""}}}));

INSTANTIATE_TEST_SUITE_P(
    OverlappingRules, BadFiles,
    testing::Values(
        BadFile{"account of two",
                "organizations:\n  - {name: a, accounts: [x]}\n  - {name: b, accounts: [y,\n      X]}\n",
                {{4, "organization 'b': account 'x' was claimed already by organization 'a' in line 2",
                  "leave the account in one place"}}},
        BadFile{"the same twice within one",
                "organizations:\n  - name: a\n    users:\n      - u\n      - u\n",
                {{5, "organization 'a': user 'u' was claimed already in line 4", ""}}},
        BadFile{
            "of organizations with bad names",
            "organizations:\n  - {title: x, accounts: [x], nodes: [n]}\n  - {name: a b, accounts: [x], nodes: [n]}\n",
            {{2, "organization 1: has no name", ""},
             {3, "'a b' is no allowed name", ""},
             {3, "the organization of line 3: account 'x' was claimed already by the organization of line 2", ""},
             {3, "node n is owned to 200 %: the organization of line 2 100 % (line 2), the organization of line 3",
              ""}}},
        BadFile{"every kind",
                "organizations:\n  - {name: a, partitions: [p], qos: [q], users: [u], groups: [g]}\n"
                "  - {name: b, partitions: [p], qos: [Q], users: [u], groups: [g]}\n",
                {{3, "partition 'p' was claimed already by organization 'a'", ""},
                 {3, "QOS 'q' was claimed already by organization 'a'", ""},
                 {3, "user 'u' was claimed already by organization 'a'", ""},
                 {3, "group 'g' was claimed already by organization 'a'", ""}}}));

INSTANTIATE_TEST_SUITE_P(
    Nodes, BadFiles,
    testing::Values(
        BadFile{"no list",
                "organizations:\n  - name: a\n    nodes: n[1-4]\n",
                {{3, "organization 'a': nodes is text where a list is expected", "- n[1-4]"}}},
        BadFile{"bad brackets",
                "organizations:\n  - name: a\n    nodes:\n      - n[1-4\n      - {nodes: \"m[2-1]\"}\n",
                {{4, "nodes: 'n[1-4': character 2: '[' without ']'", "n[1-4,7]"},
                 {5, "nodes: 'm[2-1]': character 3: range 2-1 runs backwards", ""}}},
        BadFile{"too many nodes",
                "organizations:\n  - name: a\n    nodes:\n      - n[1-99999999999]\n",
                {{4, "character 1: more than 1000000 nodes", ""}}},
        BadFile{
            "too many nodes together",
            "organizations:\n  - name: a\n    nodes:\n      - n[1-600000]\n      - m[1-600000]\n      - k[1-600000]\n",
            {{5, "the file names more than 1000000 nodes", ""}}},
        BadFile{"named twice in one expression",
                "organizations:\n  - name: a\n    nodes:\n      - n[1-3],n2\n",
                {{4, "node n2 is named twice in 'n[1-3],n2'", "once"}}},
        BadFile{"claim without nodes",
                "organizations:\n  - name: a\n    nodes:\n      - {share: 1/3}\n      -\n",
                {{3, "nodes is nothing where text is expected", ""}, {4, "a claim names no nodes", ""}}},
        BadFile{
            "shares",
            "organizations:\n  - name: a\n    nodes:\n      - {nodes: n1, share: 4/3}\n      - {nodes: n2, share: 0}\n"
            "      - {nodes: n3, share: half}\n      - {nodes: n4, share: [1, 3]}\n",
            {{4, "share: '4/3' is no share", "at most 1"},
             {5, "share: '0' is no share", "at least one millionth"},
             {6, "share: 'half' is no share", "fraction (1/3)"},
             {7, "share is a list where text is expected", ""}}},
        BadFile{"dates",
                "organizations:\n  - name: a\n    nodes:\n      - {nodes: n1, from: 2026-02-30}\n"
                "      - {nodes: n2, until: tomorrow}\n      - {nodes: n3, from: 26-01-01}\n"
                "      - {nodes: n4, from: 2026-01-01T25:00:00}\n      - {nodes: n5, until: 1969-12-31}\n",
                {{4, "from: '2026-02-30' is no date", "YYYY-MM-DD"},
                 {5, "until: 'tomorrow' is no date", "UTC"},
                 {6, "from: '26-01-01' is no date", ""},
                 {7, "from: '2026-01-01T25:00:00' is no date", ""},
                 {8, "until: '1969-12-31' is no date", "from 1970 on"}}},
        BadFile{"from not before until",
                "organizations:\n  - name: a\n    nodes:\n      - {nodes: n1, from: 2026-01-02, until: 2026-01-01}\n"
                "      - {nodes: n2, from: 2026-01-01, until: 2026-01-01}\n",
                {{4, "until 2026-01-01T00:00:00Z is not after from 2026-01-02T00:00:00Z", "until is not"},
                 {5, "is not after from", ""}}},
        BadFile{"every fault of one claim",
                "organizations:\n  - name: a\n    nodes:\n      - nodes: \"n[\"\n        share: 2\n        from: x\n"
                "        until: y\n        untill: z\n",
                {{4, "a number is missing at the end", ""},
                 {5, "'2' is no share", ""},
                 {6, "'x' is no date", ""},
                 {7, "'y' is no date", ""},
                 {8, "unknown key 'untill'", "did you mean 'until'?"}}}));

INSTANTIATE_TEST_SUITE_P(
    OwnedBeyondTheWhole, BadFiles,
    testing::Values(
        BadFile{"by two",
                "organizations:\n  - name: physics\n    nodes:\n      - n[1-4]\n  - name: biology\n    nodes:\n      - "
                "n3\n",
                {{7, "node n3 is owned to 200 %: physics 100 % (line 4), biology 100 % (line 7)", "100 %"}}},
        BadFile{"by one, twice",
                "organizations:\n  - name: a\n    nodes:\n      - n[1-2]\n      - n2\n",
                {{5, "node n2 is owned to 200 %: a 100 % (line 4), a 100 % (line 5)", ""}}},
        BadFile{
            "by fractions",
            "organizations:\n  - {name: a, nodes: [{nodes: n1, share: 1/2}]}\n"
            "  - {name: b, nodes: [{nodes: n1, share: 1/3}]}\n  - {name: c, nodes: [{nodes: n1, share: 16.6668%}]}\n",
            {{4, "node n1 is owned to 100.0002 %: a 50 % (line 2), b 33.3333 % (line 3), c 16.6668 % (line 4)", ""}}},
        BadFile{"from a date on",
                "organizations:\n  - {name: a, nodes: [{nodes: n1, until: 2027-01-01}]}\n"
                "  - {name: b, nodes: [{nodes: n1, from: 2026-07-01, share: 1/4}]}\n",
                {{3, "node n1 is owned to 125 % from 2026-07-01T00:00:00Z: a 100 % (line 2), b 25 % (line 3)", ""}}},
        BadFile{"the owners of that date only",
                "organizations:\n  - {name: a, nodes: [{nodes: n1, until: 2026-01-01}]}\n"
                "  - {name: b, nodes: [{nodes: n1, from: 2026-01-01}]}\n  - {name: c, nodes: [{nodes: n1, from: "
                "2028-01-01}]}\n",
                {{4, "node n1 is owned to 200 % from 2028-01-01T00:00:00Z: b 100 % (line 3), c 100 % (line 4)", ""}}},
        BadFile{"many nodes of one claim are one fault",
                "organizations:\n  - {name: a, nodes: [\"n[1-2000]\"]}\n  - {name: b, nodes: [\"n[1-2000]\"]}\n",
                {{3, "nodes n1, n10, n100 and 1997 more are owned to 200 %", ""}}}));

TEST(ManyFaults, AreCutAtAThousand) {
  std::string yaml = k_ok;
  for (int i = 0; i < 5000; ++i) yaml += "x" + std::to_string(i) + ": 1\n";
  const auto configuration = parse(yaml);
  ASSERT_FALSE(configuration.has_value());
  ASSERT_EQ(configuration.error().size(), 1000U);
  EXPECT_EQ(configuration.error().back().what, "and more faults after 999");
}

TEST(AliasBombs, AreRefusedInsteadOfFollowed) {
  // 2,000 organizations share one list of 2,000 accounts: a short file that names four million values.
  std::string yaml = "organizations:\n  - name: o0\n    accounts: &all [";
  for (int i = 0; i < 2000; ++i) yaml += "a" + std::to_string(i) + ",";
  yaml += "]\n";
  for (int i = 1; i < 2000; ++i) yaml += "  - {name: o" + std::to_string(i) + ", accounts: *all}\n";
  const auto configuration = parse(yaml);
  ASSERT_FALSE(configuration.has_value());
  const std::string faults = format_faults(configuration.error(), "f");
  EXPECT_NE(faults.find("more than 1000000 values, aliases followed"), std::string::npos) << faults.substr(0, 500);
}

TEST(AliasBombs, NestedLaughsAreAWrongTypeAndNothingMore) {
  std::string yaml = k_ok + "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c <= 'z'; ++c) {
    const std::string before(1, static_cast<char>(c - 1));
    yaml += std::string(1, c) + ": &" + c + " [*" + before + ",*" + before + ",*" + before + ",*" + before + "]\n";
  }
  yaml += "ledger: *z\n";
  const auto configuration = parse(yaml);
  ASSERT_FALSE(configuration.has_value());
  EXPECT_EQ(configuration.error().size(), 27U);
  EXPECT_EQ(configuration.error().back().what, "ledger is a list where text is expected");
}

TEST(AliasBombs, AListWithinItselfIsAWrongType) {
  const auto configuration = parse("organizations:\n  - name: a\n    accounts: &x [*x]\n");
  ASSERT_FALSE(configuration.has_value());
  EXPECT_EQ(format_faults(configuration.error(), "f"),
            "f:3: organization 'a': accounts is a list where text is expected; write account names");
}

}  // namespace
}  // namespace shapley::config
