// Which nodes a job may use, and what --constraint admits.
#include "request/placement.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "small_cluster.hpp"

namespace shapley::request {
namespace {

using Names = std::vector<std::string>;
using protocol::JobUpdate;

TEST(Placement, SaysWhatTheJobAsksFor) {
  JobUpdate record;
  EXPECT_EQ(placement_of(record), "");
  record.partition = "batch,gpu";
  EXPECT_EQ(placement_of(record), "partition=batch,gpu");
  record.features = "gpu & ( ib | opa )";
  record.reservation = "maint";
  record.excluded_nodes = "n3";
  record.required_nodes = "n[1-2]";
  EXPECT_EQ(placement_of(record),
            "partition=batch,gpu nodes=n[1-2] exclude=n3 features=gpu&(ib|opa) reservation=maint");
  record.partition = "gpu, batch,gpu";
  EXPECT_TRUE(placement_of(record).starts_with("partition=batch,gpu nodes=")) << "in whatever order";
  record.partition.clear();
  record.required_nodes.clear();
  EXPECT_EQ(placement_of(record), "exclude=n3 features=gpu&(ib|opa) reservation=maint");
}

TEST(Placement, AListThatMayHaveBeenCutAdmitsNoNode) {
  JobUpdate record;
  while (record.excluded_nodes.size() + 5 < protocol::k_max_placement_text) record.excluded_nodes += "n9,";
  record.excluded_nodes += "n9";
  EXPECT_EQ(usable_nodes(placement_of(record), small_cluster()).size(), 3U);
  record.excluded_nodes.insert(0, protocol::k_max_placement_text - record.excluded_nodes.size(), 'n');
  EXPECT_EQ(placement_of(record), "exclude=*");
  EXPECT_EQ(usable_nodes(placement_of(record), small_cluster()), Names{});
  record = {};
  record.features = std::string(protocol::k_max_placement_text, 'f');
  EXPECT_EQ(usable_nodes(placement_of(record), small_cluster()), Names{});
}

TEST(Placement, NodesThatJobsMayUse) {
  const NodeTable nodes = small_cluster();
  const auto usable = [&](const char* placement) { return usable_nodes(placement, nodes); };
  EXPECT_EQ(usable(""), (Names{"n1", "n2", "n3"}));
  EXPECT_EQ(usable("partition=batch"), (Names{"n1", "n2"}));
  EXPECT_EQ(usable("partition=batch,gpu"), (Names{"n1", "n2", "n3"}));
  EXPECT_EQ(usable("partition=none"), Names{});
  EXPECT_EQ(usable("partition=batch nodes=n[2-3]"), Names{"n2"});
  EXPECT_EQ(usable("partition=gpu exclude=n2"), Names{"n3"});
  EXPECT_EQ(usable("features=ib&a100"), Names{"n2"});
  EXPECT_EQ(usable("partition=batch reservation=maint"), Names{"n4"});
  EXPECT_EQ(usable("partition=gpu reservation=maint"), Names{});
  EXPECT_EQ(usable("reservation=other,maint"), Names{"n4"});
}

TEST(Placement, WhatCannotBeReadAdmitsNoNode) {
  for (const char* placement :
       {"nodes=n[1-", "nodes=*", "exclude=n1,,n2", "features=ib&", "colour=red", "n1", "nodes=n[1-1000000]"}) {
    EXPECT_EQ(usable_nodes(placement, small_cluster()), Names{}) << placement;
  }
}

TEST(Placement, AFeederThatSendsNoPartitionsIsNotAskedForThem) {
  const NodeTable nodes = table_of({node_of("n1", {}), node_of("n2", {})});
  EXPECT_EQ(usable_nodes("partition=batch nodes=n2", nodes), Names{"n2"});
}

// Of a node with the features "big", "gpu" and "ib".
std::optional<bool> admitted(std::string_view constraint) {
  static const std::vector<std::string> features{"big", "gpu", "ib"};
  return admits(constraint, features);
}

TEST(Constraint, OneFeature) {
  EXPECT_EQ(admitted("gpu"), true);
  EXPECT_EQ(admitted("gp"), false);
  EXPECT_EQ(admitted("opa"), false);
}

TEST(Constraint, IsEvaluatedFromTheLeftToTheRight) {
  EXPECT_EQ(admitted("gpu&ib"), true);
  EXPECT_EQ(admitted("gpu,opa"), false);
  EXPECT_EQ(admitted("opa|ib"), true);
  EXPECT_EQ(admitted("opa&gpu|ib"), true);
  EXPECT_EQ(admitted("gpu|ib&opa"), false) << "as Slurm does: (gpu|ib)&opa";
  EXPECT_EQ(admitted("gpu|(ib&opa)"), true);
  EXPECT_EQ(admitted("(opa|ib)&(gpu|red)"), true);
  EXPECT_EQ(admitted("(opa|ib)&(blue|red)"), false);
}

TEST(Constraint, OfAlternativesAnyWillDo) {
  EXPECT_EQ(admitted("[opa|ib]"), true);
  EXPECT_EQ(admitted("[opa|red]"), false);
  EXPECT_EQ(admitted("big&[opa|ib]"), true);
  EXPECT_EQ(admitted("red&[opa|ib]"), false);
  EXPECT_EQ(admitted("gpu*2"), true);
  EXPECT_EQ(admitted("[gpu*2&opa*4]"), true);
  EXPECT_EQ(admitted("opa*4&gpu*2"), true);
  EXPECT_EQ(admitted("[(opa&gpu)*2&red*1]"), false);
}

TEST(Constraint, WhatIsNoneIsSaid) {
  for (const std::string_view text :
       {"",   "&",  "gpu&", "|gpu",  "gpu||ib", "(gpu",  "gpu)", "[gpu",    "gpu]",    "(gpu]",
        "()", "[]", "gpu*", "gpu*0", "gpu*2*2", "gpu*x", "*",    "gpu(ib)", "gpu[ib]", "(((((((((gpu)))))))))"}) {
    EXPECT_EQ(admitted(text), std::nullopt) << text;
  }
  EXPECT_EQ(admitted("((((((((gpu))))))))"), true);
}

}  // namespace
}  // namespace shapley::request
