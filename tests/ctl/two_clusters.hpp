// The ledgers of two clusters of one consortium whose figures can be computed by hand.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "scripted_books.hpp"
#include "tests/ledger/ledger_fixture.hpp"

namespace shapley::ctl {

// north.db and south.db: what a lent to b on north, 2 core-hours of n1, is lent by b to a on south, n2, where a
// processor is worth half of one of north and b is called B. No statement was received.
inline void write_two_clusters(const std::filesystem::path& directory) {
  using namespace accounting;
  const std::int64_t begin = k_example_begin.value;
  const auto run_of = [&](const std::string& organization, const std::string& node) {
    return ledger::testing::opened(1, begin + 100, organization, 2, node);
  };
  const auto record = [&](const char* cluster, const std::string& b, const SegmentOpened& run,
                          const ConsortiumDeclared& consortium) {
    auto ledger = ledger::testing::writer(directory / (std::string(cluster) + ".db"));
    const Instant at{begin};
    ledger::testing::must(ledger.append(
        std::vector<Event>{ClusterNamed{at, cluster, "uid 0 (root)", ""},
                           OwnershipStated{"n1", at, {{k_beginning_of_time, {{"a", k_whole_node}}}}},
                           OwnershipStated{"n2", at, {{k_beginning_of_time, {{b, k_whole_node}}}}},
                           CapacityChanged{"n1", at, 0, {4 * k_micro}}, CapacityChanged{"n2", at, 0, {4 * k_micro}},
                           consortium, run, ledger::testing::closed(run, begin + 100 + 3600)},
        at + Duration{4000}));
  };
  ConsortiumDeclared declared{k_example_begin, "uni", 2 * k_whole_weight, {}};
  declared.clusters.push_back(
      {.cluster = "south", .weight = k_whole_weight, .key = "SHA256:" + std::string(64, '1'), .names = {{"b", "B"}}});
  ConsortiumDeclared none{k_example_begin, "", k_whole_weight, {}};
  record("north", "b", run_of("b", "n1"), declared);
  record("south", "B", run_of("a", "n2"), none);
}

}  // namespace shapley::ctl
