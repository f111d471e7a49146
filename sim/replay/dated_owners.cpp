#include "sim/replay/dated_owners.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace shapley::sim {

namespace {

using Spans = std::map<std::string, std::vector<accounting::OwnershipSpan>, std::less<>>;  // by node

const std::vector<accounting::OwnerPart>& owners_at(const Spans& spans, std::string_view node, Instant t) {
  static const std::vector<accounting::OwnerPart> k_nobody;
  const auto of_node = spans.find(node);
  if (of_node == spans.end()) return k_nobody;
  const std::vector<accounting::OwnerPart>* owners = &k_nobody;
  for (const accounting::OwnershipSpan& span : of_node->second) {
    if (span.from <= t) owners = &span.owners;
  }
  return *owners;
}

// `owned` in parts per million of a processor, their sum a whole number of processors.
std::vector<std::uint32_t> whole(const std::vector<std::int64_t>& owned) {
  std::vector<std::uint32_t> processors(owned.size());
  std::vector<std::size_t> by_remainder(owned.size());
  std::int64_t left = std::accumulate(owned.begin(), owned.end(), std::int64_t{0}) / accounting::k_whole_node;
  for (std::size_t u = 0; u < owned.size(); ++u) {
    processors[u] = static_cast<std::uint32_t>(owned[u] / accounting::k_whole_node);
    left -= processors[u];
  }
  std::iota(by_remainder.begin(), by_remainder.end(), std::size_t{0});
  std::stable_sort(by_remainder.begin(), by_remainder.end(), [&](std::size_t a, std::size_t b) {
    return owned[a] % accounting::k_whole_node > owned[b] % accounting::k_whole_node;
  });
  for (std::size_t i = 0; left > 0; ++i, --left) ++processors[by_remainder[i]];
  return processors;
}

}  // namespace

Expected<std::vector<scheduling::Endowment>> dated_owners(const config::Configuration& configuration,
                                                          const history::SiteNodes& nodes,
                                                          const std::vector<std::string>& organizations, Instant begin,
                                                          Instant end) {
  Spans spans;
  std::set<Instant> changes{begin};
  for (const accounting::OwnershipStated& stated : config::ownership_statements(configuration, k_beginning_of_time)) {
    spans[stated.node] = stated.spans;
    for (const accounting::OwnershipSpan& span : stated.spans) {
      if (span.from > begin && span.from < end) changes.insert(span.from);
    }
  }
  std::vector<scheduling::Endowment> endowments;
  for (const Instant t : changes) {
    std::vector<std::int64_t> owned(organizations.size());  // parts per million of a processor
    for (const auto& [name, node] : nodes) {
      std::int64_t left = std::int64_t{node.cpus} * accounting::k_whole_node;
      for (const accounting::OwnerPart& part : owners_at(spans, name, t)) {
        const auto place = std::find(organizations.begin(), organizations.end(), part.organization);
        const std::int64_t amount = std::int64_t{node.cpus} * part.parts_per_million;
        owned[static_cast<std::size_t>(place - organizations.begin())] += amount;
        left -= amount;
      }
      owned.back() += left;
    }
    scheduling::Endowment endowment{{(t - begin).value}, whole(owned)};
    if (endowments.empty() || endowments.back().processors != endowment.processors)
      endowments.push_back(std::move(endowment));
  }
  const auto& first = endowments.front().processors;
  if (endowments.size() == 1 && std::all_of(first.begin(), first.end(), [](std::uint32_t m) { return m == 0; }))
    return fail(Errc::not_found, "nodes: together they have no processor; give --nodes with all of them");
  return endowments;
}

}  // namespace shapley::sim
