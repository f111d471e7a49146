// What runs held of each of their nodes: by hand, against a naive division, and against random sites of which the
// parts are known.
#include "sacct/spreading.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "tests/sacct/true_site.hpp"

namespace shapley::sacct {
namespace {

using testing::k_seconds;
using testing::TrueSite;
using Amounts = std::vector<std::int64_t>;

// One at a time, to the node that has the fewest and has room, the first one of these.
Amounts naive_parts(std::int64_t whole, const Amounts& rooms) {
  Amounts parts(rooms.size());
  for (; whole > 0; --whole) {
    std::size_t chosen = rooms.size();
    for (std::size_t i = 0; i < rooms.size(); ++i) {
      if (parts[i] < rooms[i] && (chosen == rooms.size() || parts[i] < parts[chosen])) chosen = i;
    }
    ++parts[chosen];
  }
  return parts;
}

TEST(PartsWithin, are_even_as_far_as_there_is_room) {
  std::mt19937 random(41);
  const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(random() % n); };
  for (int round = 0; round < 5'000; ++round) {
    Amounts rooms(1 + random() % 6);
    std::int64_t all = 0;
    for (std::int64_t& room : rooms) all += room = below(40);
    const std::int64_t whole = below(static_cast<std::uint32_t>(all) + 1);
    ASSERT_EQ(parts_within(whole, rooms, Amounts(rooms.size(), 1)), naive_parts(whole, rooms));
    // By weights: what is asked, within the rooms, and no node in proportion above one that has room for more.
    Amounts weights(rooms.size());
    for (std::int64_t& weight : weights) weight = below(5);
    const Amounts parts = parts_within(whole, rooms, weights);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      sum += parts[i];
      ASSERT_TRUE(parts[i] >= 0 && parts[i] <= rooms[i]);
      for (std::size_t j = 0; j < parts.size(); ++j) {
        if (parts[j] < rooms[j] && parts[i] > 0) ASSERT_LE((parts[i] - 1) * weights[j], (parts[j] + 1) * weights[i]);
      }
    }
    ASSERT_EQ(sum, whole);
  }
}

TEST(Room, is_the_least_since_then) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Room room(20);
    std::array<std::int64_t, 30> free;
    free.fill(20);
    for (std::int64_t now = 0; now < 30; ++now) {
      // Now, or moved away to elsewhere since before: what was free then is known as a lower bound.
      const auto since = random() % 3 == 0 ? static_cast<std::int64_t>(random() % (now + 1)) : now;
      const std::int64_t amount =
          since < now ? -static_cast<std::int64_t>(random() % 3) : static_cast<std::int64_t>(random() % 9) - 4;
      room.add(Instant{since}, amount);
      for (auto t = static_cast<std::size_t>(since); t < free.size(); ++t) free[t] += amount;
      for (std::int64_t t = 0; t <= now; ++t)
        ASSERT_EQ(room.since(Instant{t}), *std::min_element(free.begin() + t, free.begin() + now + 1));
    }
  }
}

SacctRow run_on(std::vector<std::string> nodes, std::uint32_t cpus, std::int64_t start, std::int64_t end) {
  SacctRow row;
  row.nodes = std::move(nodes);
  row.cpus = cpus;
  row.start = row.submit = Instant{start};
  if (end > 0) row.end = Instant{end};
  row.state = end > 0 ? "COMPLETED" : "RUNNING";
  return row;
}

struct Spread {
  std::map<std::uint32_t, std::vector<std::uint64_t>> parts;  // by job: of its last row
  std::vector<std::int64_t> without_room;
};

Spread spread(std::vector<SacctRow> rows, const SiteNodes& nodes) {
  SortedRows sorted(std::filesystem::temp_directory_path());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].line = static_cast<std::int64_t>(i + 2);
    if (rows[i].job == 0) rows[i].job = static_cast<std::uint32_t>(i + 1);
    EXPECT_TRUE(sorted.add(rows[i]));
  }
  Spreading spreading(sorted, nodes);
  EXPECT_TRUE(for_each_run(sorted, [&](Run& run) { return spreading.add(run); }));
  Spread result;
  EXPECT_TRUE(spreading.for_each([&](const Run& run) -> Expected<void> {
    result.parts[run.last().job] = run.last().parts;
    return {};
  }));
  result.without_room = spreading.without_room();
  return result;
}

SiteNodes site(const std::vector<std::uint32_t>& cpus) {
  SiteNodes nodes;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    protocol::NodeRecord& node = nodes["n" + std::to_string(i + 1)];
    node.cpus = cpus[i];
    node.memory = 1000 * cpus[i];
  }
  return nodes;
}

// The CPUs of a job on each of its nodes.
Amounts cpus_of(const Spread& spread, std::uint32_t job, std::size_t nodes = 2) {
  const auto& parts = spread.parts.at(job);
  return {parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(nodes)};
}

TEST(Spreading, fills_no_node_beyond_its_cpus) {
  const std::vector<std::string> both{"n1", "n2"};
  const SiteNodes nodes = site({128, 8});
  EXPECT_EQ(cpus_of(spread({run_on(both, 130, 0, 10)}, nodes), 1), (Amounts{122, 8}));
  EXPECT_EQ(cpus_of(spread({run_on(both, 136, 0, 10)}, nodes), 1), (Amounts{128, 8})) << "all of both";
  EXPECT_EQ(cpus_of(spread({run_on(both, 5, 0, 10)}, nodes), 1), (Amounts{3, 2}));
  // Less what others hold there: which began before, or while it ran, or when it had ended.
  EXPECT_EQ(cpus_of(spread({run_on({"n2"}, 6, 0, 10), run_on(both, 20, 5, 15)}, nodes), 2), (Amounts{18, 2}));
  EXPECT_EQ(cpus_of(spread({run_on(both, 20, 0, 10), run_on({"n2"}, 6, 5, 15)}, nodes), 1), (Amounts{18, 2}));
  EXPECT_EQ(cpus_of(spread({run_on(both, 20, 0, 10), run_on({"n2"}, 6, 10, 15)}, nodes), 1), (Amounts{12, 8}));
  EXPECT_EQ(cpus_of(spread({run_on(both, 20, 0, -1), run_on({"n2"}, 6, 5, -1)}, nodes), 1), (Amounts{18, 2}));
  // What was full once since it began takes nothing.
  const Spread moved = spread({run_on({"n1"}, 120, 1, 3), run_on(both, 12, 0, 10), run_on({"n2"}, 4, 5, 15)}, nodes);
  EXPECT_EQ(cpus_of(moved, 2), (Amounts{8, 4}));
  EXPECT_EQ(moved.without_room, std::vector<std::int64_t>{});
  // Nodes of which nothing is known take any part.
  SiteNodes unknown;
  unknown["n1"].cpus = unknown["n2"].cpus = 0;
  EXPECT_EQ(cpus_of(spread({run_on(both, 130, 0, 10)}, unknown), 1), (Amounts{65, 65}));
}

// To make room on n2 the first run goes to n3, for which the second one goes to n4.
TEST(Spreading, moves_what_has_to_make_room_for_what_has_to_make_room) {
  const Spread moved = spread({run_on({"n2", "n3"}, 8, 0, 10), run_on({"n3", "n4"}, 8, 0, 10), run_on({"n2"}, 3, 5, 9)},
                              site({1, 4, 8, 8}));
  EXPECT_EQ(cpus_of(moved, 1), (Amounts{1, 7}));
  EXPECT_EQ(cpus_of(moved, 2), (Amounts{1, 7}));
}

TEST(Spreading, memory_goes_with_the_cpus_and_generic_resources_where_they_are) {
  SiteNodes nodes = site({128, 8, 8});
  nodes["n1"].gres = {{"gres/gpu", 8}};
  nodes["n2"].gres = {{"gres/gpu", 2}};
  SacctRow row = run_on({"n1", "n2", "n3"}, 60, 0, 10);
  row.memory = 60'000;
  row.gres = {{"gres/gpu", 7}};
  EXPECT_EQ(spread({row}, nodes).parts.at(1), (std::vector<std::uint64_t>{44, 8, 8, 44'000, 8'000, 8'000, 5, 2, 0}));
  // A run beside it holds most of the memory of n2, and one of its GPUs.
  SacctRow beside = run_on({"n2"}, 1, 0, 10);
  beside.memory = 7'000;
  beside.gres = {{"gres/gpu", 1}};
  EXPECT_EQ(spread({row, beside}, nodes).parts.at(1),
            (std::vector<std::uint64_t>{45, 7, 8, 51'000, 1'000, 8'000, 6, 1, 0}));
}

TEST(Spreading, a_run_for_which_there_is_no_room_is_named) {
  const std::vector<std::string> both{"n1", "n2"};
  const Spread spread_ = spread({run_on(both, 12, 0, 10), run_on(both, 8, 5, 10)}, site({8, 8}));
  EXPECT_EQ(spread_.without_room, (std::vector<std::int64_t>{3}));
  EXPECT_EQ(cpus_of(spread_, 1), (Amounts{6, 6}));
  EXPECT_EQ(cpus_of(spread_, 2), (Amounts{4, 4}));
}

TEST(Spreading, a_resized_run_holds_what_each_row_says) {
  SacctRow first = run_on({"n1", "n2"}, 20, 0, 5);
  first.state = "RESIZING";
  SacctRow second = run_on({"n2"}, 2, 5, 10);
  second.start = Instant{0};
  first.job = second.job = 7;
  const Spread resized = spread({first, second, run_on({"n2"}, 6, 5, 10)}, site({128, 8}));
  EXPECT_EQ(cpus_of(resized, 7, 1), (Amounts{2}));
  EXPECT_TRUE(resized.without_room.empty());
}

// So much of a resource is held in all, and beyond what the nodes have, in units times seconds.
struct Sums {
  std::int64_t held = 0, beyond = 0;
  Sums& operator+=(const Sums& other) {
    held += other.held;
    beyond += other.beyond;
    return *this;
  }
};

Sums sums_of(const TrueSite& site, const std::map<std::uint32_t, std::vector<std::uint64_t>>& parts,
             std::size_t resource) {
  std::map<std::string, Amounts> used;
  for (std::size_t r = 0; r < site.rows.size(); ++r) {
    const SacctRow& row = site.rows[r];
    if (resource >= 2 + row.gres.size()) continue;
    for (std::size_t i = 0; i < row.nodes.size(); ++i) {
      Amounts& of_node = used[row.nodes[i]];
      of_node.resize(k_seconds + 1);
      const std::uint64_t part = parts.at(static_cast<std::uint32_t>(r + 1))[resource * row.nodes.size() + i];
      for (std::int64_t t = row.start->value; t < row.end->value; ++t)
        of_node[static_cast<std::size_t>(t)] += static_cast<std::int64_t>(part);
    }
  }
  Sums sums;
  for (const auto& [name, of_node] : used) {
    const protocol::NodeRecord& node = site.nodes.at(name);
    const std::uint64_t gpus = node.gres.empty() ? 0 : node.gres[0].count;
    const std::uint64_t size = resource == 0 ? node.cpus : resource == 1 ? node.memory : gpus;
    for (const std::int64_t held : of_node)
      sums += {held, std::max<std::int64_t>(0, held - static_cast<std::int64_t>(size))};
  }
  return sums;
}

// Each run has what it held, and at least a CPU of each of its nodes.
void expect_whole(const TrueSite& site, const Spread& found) {
  for (std::size_t r = 0; r < site.rows.size(); ++r) {
    const SacctRow& row = site.rows[r];
    const auto& parts = found.parts.at(static_cast<std::uint32_t>(r + 1));
    const std::size_t count = row.nodes.size();
    ASSERT_EQ(parts.size(), count * (2 + row.gres.size()));
    Amounts sums(2 + row.gres.size());
    for (std::size_t i = 0; i < parts.size(); ++i) sums[i / count] += static_cast<std::int64_t>(parts[i]);
    ASSERT_EQ(sums[0], row.cpus);
    ASSERT_EQ(sums[1], static_cast<std::int64_t>(row.memory));
    if (!row.gres.empty()) ASSERT_EQ(sums[2], static_cast<std::int64_t>(row.gres[0].count));
    for (std::size_t i = 0; i < count; ++i) ASSERT_GE(parts[i], 1U);
  }
}

// Sites that are much fuller than real ones, with most runs on several nodes in parts at random, which are not always
// found: what no room was found for is small, and its runs are named.
TEST(Spreading, finds_parts_for_nearly_all_that_had_room) {
  std::array<Sums, 3> found_sums, even_sums;
  int complete = 0;
  constexpr int k_sites = 1'000;
  for (std::uint32_t seed = 1; seed <= k_sites; ++seed) {
    const TrueSite site = testing::SiteMaker(seed).make();
    const Spread found = spread(site.rows, site.nodes);
    expect_whole(site, found);
    std::map<std::uint32_t, std::vector<std::uint64_t>> even;
    for (std::size_t r = 0; r < site.rows.size(); ++r) {
      const SacctRow& row = site.rows[r];
      for (const std::uint64_t whole :
           {std::uint64_t{row.cpus}, row.memory, row.gres.empty() ? 0 : row.gres[0].count}) {
        const std::size_t count = row.nodes.size();
        for (std::size_t i = 0; i < count; ++i)
          even[static_cast<std::uint32_t>(r + 1)].push_back(whole / count + (i < whole % count ? 1 : 0));
      }
    }
    for (std::size_t resource = 0; resource < 3; ++resource) {
      const Sums sums = sums_of(site, found.parts, resource);
      found_sums[resource] += sums;
      even_sums[resource] += sums_of(site, even, resource);
      if (resource == 0) ASSERT_TRUE(sums.beyond == 0 || !found.without_room.empty()) << seed;
    }
    if (found.without_room.empty()) ++complete;
  }
  for (std::size_t resource = 0; resource < 3; ++resource) {
    EXPECT_LT(found_sums[resource].beyond, found_sums[resource].held / 500) << resource;
    EXPECT_LT(found_sums[resource].beyond, even_sums[resource].beyond / 20) << resource;
  }
  EXPECT_GT(complete, k_sites * 3 / 4);
}

}  // namespace
}  // namespace shapley::sacct
