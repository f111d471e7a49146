// Slurm's texts about generic resources against texts put together here, whose sums are known.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "plugin/client/scan/records.hpp"

namespace shapley::client {
namespace {

using Gres = std::vector<protocol::Tres>;

TEST(Gres, OfARun) {
  EXPECT_EQ(read_gres("gpu:tesla:2(IDX:0-1)"), (Gres{{"gres/gpu", 2}}));
  EXPECT_EQ(read_gres("gpu:4(IDX:0,2,4-5),license(CNT:3)"), (Gres{{"gres/gpu", 4}, {"gres/license", 3}}));
  EXPECT_EQ(read_gres("gpu:a100:1(IDX:0),gpu:h100:2(IDX:1-2)"), (Gres{{"gres/gpu", 3}}));
  EXPECT_EQ(read_gres("gpu:tesla(CNT:4)"), (Gres{{"gres/gpu", 4}}));
  EXPECT_EQ(read_gres("gpu:4(CNT:4)"), (Gres{{"gres/gpu", 4}}));
  EXPECT_EQ(read_gres("shard:5(2/4,3/4),gpu:0(IDX:)"), (Gres{{"gres/shard", 5}}));  // from 23.11 on
  EXPECT_EQ(read_gres("bandwidth(CNT:0)"), Gres{});                                 // what no_consume looks like here
}

TEST(Gres, OfANode) {
  EXPECT_EQ(read_gres("gpu:tesla:4,license:2(S:0-1)"), (Gres{{"gres/gpu", 4}, {"gres/license", 2}}));
  EXPECT_EQ(read_gres("gpu,tape:lto"), (Gres{{"gres/gpu", 1}, {"gres/tape", 1}}));
  EXPECT_EQ(read_gres("gpu:1080ti:2,gpu:1080ti"), (Gres{{"gres/gpu", 3}}));
  EXPECT_EQ(read_gres("bandwidth:lustre:no_consume:4G,gpu:no_consume:2"), Gres{});
  EXPECT_EQ(read_gres("a:2K,b:2KB,c:2kib,d:3M,e:1G,f:1T,g:2Pb"), (Gres{{"gres/a", 2048},
                                                                       {"gres/b", 2000},
                                                                       {"gres/c", 2048},
                                                                       {"gres/d", 3ULL << 20U},
                                                                       {"gres/e", 1ULL << 30U},
                                                                       {"gres/f", 1ULL << 40U},
                                                                       {"gres/g", 2'000'000'000'000'000}}));
}

TEST(Gres, NothingIsReadOutOfWhatCannotBeRead) {
  for (const char* text : {"",
                           ",",
                           ",,",
                           ":",
                           "(",
                           ")",
                           "()",
                           "(null)",
                           ":4",
                           "gpu:",
                           "gpu::4",
                           "gpu:4:",
                           "gpu:tesla:",
                           "gpu:0",
                           "gpu:4(IDX:0",
                           "gpu:4(IDX:0)x",
                           "gpu(CNT:)",
                           "gpu(CNT:x)",
                           "gres:",
                           "gres/",
                           "gpu:99999999999999999999",
                           "gpu:9999999P",
                           "gpu=:4"}) {
    EXPECT_EQ(read_gres(text), Gres{}) << text;
  }
  EXPECT_EQ(read_gres(nullptr), Gres{});
  // One entry at fault spoils no other, unless it opens parentheses that nothing closes.
  EXPECT_EQ(read_gres("gpu::1,license:2,:3"), (Gres{{"gres/license", 2}}));
  EXPECT_EQ(read_gres("license:2,gpu:1(IDX:0,tape:3"), (Gres{{"gres/license", 2}}));
}

TEST(Gres, TimeAndMemoryAreBounded) {
  std::string text = "gpu:1";
  while (text.size() + 6 <= k_max_gres_text) text += ",gpu:1";
  EXPECT_EQ(read_gres(text.c_str()), (Gres{{"gres/gpu", (text.size() + 1) / 6}}));
  text.append(k_max_gres_text - text.size(), ',');
  EXPECT_EQ(read_gres(text.c_str()).size(), 1U);
  text += ',';
  EXPECT_EQ(read_gres(text.c_str()), Gres{});

  std::string kinds;
  for (std::size_t i = 0; i < k_max_gres_kinds + 3; ++i) kinds += "kind" + std::to_string(i) + ":2,";
  kinds += "kind0:5";
  const Gres read = read_gres(kinds.c_str());
  ASSERT_EQ(read.size(), k_max_gres_kinds);
  EXPECT_EQ(read.front(), (protocol::Tres{"gres/kind0", 7}));
  EXPECT_EQ(read.back(), (protocol::Tres{"gres/kind" + std::to_string(k_max_gres_kinds - 1), 2}));

  const std::string most = std::to_string(k_max_gres_count);
  EXPECT_EQ(read_gres(("gpu:" + most + ",gpu:a:" + most).c_str()), (Gres{{"gres/gpu", k_max_gres_count}}));
  EXPECT_EQ(read_gres(("gpu:" + std::to_string(k_max_gres_count + 1)).c_str()), Gres{});
}

shapley_gres_request_t request(const char* per_job, const char* per_node, const char* per_socket, const char* per_task,
                               std::uint32_t tasks) {
  return {.per_job = per_job, .per_node = per_node, .per_socket = per_socket, .per_task = per_task, .tasks = tasks};
}

TEST(RequestedGres, CountsNodesSocketsAndTasks) {
  EXPECT_EQ(requested_gres(request("gres:gpu:5", nullptr, nullptr, nullptr, 1), 3, {}), (Gres{{"gres/gpu", 5}}));
  EXPECT_EQ(requested_gres(request(nullptr, "gres/gpu:a100:2,gres/gpu:h100:1,gres/tape", nullptr, nullptr, 1), 3, {}),
            (Gres{{"gres/gpu", 9}, {"gres/tape", 3}}));
  EXPECT_EQ(requested_gres(request(nullptr, nullptr, "gres:gpu:2", nullptr, 1), 3, {}), (Gres{{"gres/gpu", 6}}));
  EXPECT_EQ(requested_gres(request(nullptr, nullptr, nullptr, "cpu:4,gres/gpu=2,license:7", 8), 3, {}),
            (Gres{{"gres/gpu", 16}}));
  EXPECT_EQ(requested_gres(request(nullptr, nullptr, nullptr, nullptr, 1), 3, {}), Gres{});
  const std::string most = "gres:gpu:" + std::to_string(k_max_gres_count);
  EXPECT_EQ(requested_gres(request(nullptr, most.c_str(), nullptr, nullptr, 1), 3, {}),
            (Gres{{"gres/gpu", k_max_gres_count}}));
}

TEST(GresTypes, AreNamedByJobsAndNodes) {
  using Names = std::vector<std::string>;
  const auto of_job = [](shapley_gres_request_t texts) {
    shapley_job_t job = {};
    job.gres_request = &texts;
    return least_part(job).types;
  };
  const auto of_node = [](const char* text) {
    shapley_node_t node = {};
    node.gres = text;
    return facts_of(node).types;
  };
  EXPECT_EQ(of_job(request("gres:gpu:tesla:5", nullptr, "gres:gpu:tesla", "gres/gpu=2", 1)), (Names{"gres/gpu:tesla"}));
  EXPECT_EQ(of_job(request("gres/gpu:h100=1,gres/gpu:a100=1", "cpu:4", nullptr, "gres:tape:lto", 1)),
            (Names{"gres/gpu:a100", "gres/gpu:h100", "gres/tape:lto"}));
  EXPECT_EQ(of_job(request("gres:gpu", "gres:gpu:3", nullptr, nullptr, 1)), Names{});
  EXPECT_EQ(of_node("gpu:tesla:4(S:0-1),gpu:1080ti,gpu:2,license(CNT:4),gpu:tesla:0"),
            (Names{"gres/gpu:1080ti", "gres/gpu:tesla"}));
  EXPECT_EQ(of_node("gpu:lustre:no_consume:4G,gpu::1,:3"), Names{});
  EXPECT_EQ(of_node(nullptr), Names{});
  std::string many;
  for (std::size_t i = 0; i < k_max_gres_kinds + 3; ++i) many += "gpu:type" + std::to_string(i) + ":2,";
  EXPECT_EQ(of_node(many.c_str()).size(), k_max_gres_kinds);
}

TEST(RequestedGres, SeveralTextsAboutOneResourceSayTheSame) {
  EXPECT_EQ(requested_gres(request("gres:gpu:8", "gres:gpu:4", nullptr, "gres:gpu:1", 8), 2, {}),
            (Gres{{"gres/gpu", 8}}));
  EXPECT_EQ(requested_gres(request("gres:gpu:2", "gres:gpu:4", nullptr, "gres:tape:1", 3), 2, {}),
            (Gres{{"gres/gpu", 8}, {"gres/tape", 3}}));
}

TEST(RequestedGres, WhatSlurmTracksStands) {
  const Gres tres = {{"cpu", 4},     {"gres/gpu", 6},          {"gres/gpu:tesla", 5}, {"gres/shard:x", 3},
                     {"license", 2}, {"gres/bandwidth", 1000}, {"gres:odd", 3}};
  EXPECT_EQ(requested_gres(request(nullptr, "gres:gpu:2,gres:shard:4", nullptr, nullptr, 1), 2, tres),
            (Gres{{"gres/gpu", 6}, {"gres/shard", 8}, {"gres/bandwidth", 1000}}));
}

// An entry as Slurm writes it, and the count that it stands for.
struct Written {
  std::string text, name;
  std::uint64_t count;
};

Written arbitrary_entry() {
  Written entry;
  entry.name = *rc::gen::element<std::string>("gpu", "shard", "license", "x", "gpu0");
  entry.count = *rc::gen::inRange<std::uint64_t>(0, 5000);
  const auto type = *rc::gen::element<std::string>("", ":tesla", ":1080ti", ":a-b_c");
  const auto prefix = *rc::gen::element<std::string>("", "gres:", "gres/");
  const auto note = *rc::gen::element<std::string>("", "(S:0-1)", "(IDX:0,2-3)", "(1/4,0/4)", "(CNT:77)");
  entry.text = prefix + entry.name + type;
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      entry.text += "(CNT:" + std::to_string(entry.count) + ")";
      break;
    case 1:
      entry.count = 1;
      break;
    case 2:
      entry.text += ":" + std::to_string(entry.count) + "k" + note;
      entry.count *= 1024;
      break;
    default:
      entry.text += ":" + std::to_string(entry.count) + note;
  }
  return entry;
}

RC_GTEST_PROP(GresProperty, EqualsTheSumsOfItsEntries, ()) {
  const auto entries = *rc::gen::inRange(0, 12);
  std::string text;
  std::map<std::string, std::uint64_t> expected;
  for (int i = 0; i < entries; ++i) {
    const Written entry = arbitrary_entry();
    text += (i > 0 ? "," : "") + entry.text;
    if (entry.count > 0) expected["gres/" + entry.name] += entry.count;
  }
  std::map<std::string, std::uint64_t> read;
  for (const auto& [name, count] : read_gres(text.c_str())) RC_ASSERT(read.emplace(name, count).second);
  RC_ASSERT(read == expected);
}

RC_GTEST_PROP(GresProperty, AnyTextGivesAListThatKeepsItsRules, ()) {
  const auto text =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("gpu:=,()/ 0129KMG\xff") + "resCNT"));
  std::set<std::string> names;
  for (const auto& [name, count] : read_gres(text.c_str())) {
    RC_ASSERT(name.rfind("gres/", 0) == 0U && name.size() > 5U);
    RC_ASSERT(count > 0U && count <= k_max_gres_count);
    RC_ASSERT(names.insert(name).second);
  }
  RC_ASSERT(names.size() <= k_max_gres_kinds);
}

}  // namespace
}  // namespace shapley::client
