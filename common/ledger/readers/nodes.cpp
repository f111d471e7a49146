#include "ledger/readers/nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

// How large a node was from when on: ascending, growing.
using Sizes = std::vector<std::pair<Instant, MicroProcessors>>;

Expected<std::map<std::string, Sizes, std::less<>>> read_sizes(const Database& database, Instant until) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT node, at, processors FROM capacity WHERE at <= ?1 "
                                                        "ORDER BY at, ordinal"));
  select.bind(1, until.value);
  std::map<std::string, Instant, std::less<>> heard_of;
  std::map<std::string, Sizes, std::less<>> sizes;
  std::optional<Instant> first;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return sizes;
    const std::string node(select.text(0));
    const Instant at{select.integer(1)};
    const MicroProcessors processors{select.integer(2)};
    if (!first) first = at;
    const Instant since = heard_of.emplace(node, at == *first ? k_beginning_of_time : at).first->second;
    Sizes& of_node = sizes[node];
    if (of_node.empty() && processors.value > 0) of_node.emplace_back(since, processors);
    if (!of_node.empty() && of_node.back().second < processors) of_node.emplace_back(at, processors);
  }
}

Expected<std::vector<OwnedPart>> read_owned_parts(const Database& database, Instant until) {
  SHAPLEY_TRY_ASSIGN(const auto sizes, read_sizes(database, until));
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT organization, node, parts_per_million, begin, end "
                                      "FROM ownership WHERE begin < ?1 ORDER BY organization, node, begin"));
  select.bind(1, until.value);
  std::vector<OwnedPart> all;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return all;
    const std::string node(select.text(1));
    const auto of_node = sizes.find(node);
    if (of_node == sizes.end()) continue;
    // The projection has no times before 0, and its first owners are those of ever.
    const Instant begin = select.integer(3) == 0 ? k_beginning_of_time : Instant{select.integer(3)};
    const Instant end = select.is_null(4) ? until : std::min(until, Instant{select.integer(4)});
    for (std::size_t i = 0; i < of_node->second.size(); ++i) {
      const Instant from = std::max(begin, of_node->second[i].first);
      const Instant to = i + 1 < of_node->second.size() ? std::min(end, of_node->second[i + 1].first) : end;
      if (to <= from) continue;
      all.push_back({.organization = std::string(select.text(0)),
                     .node = node,
                     .parts_per_million = select.integer(2),
                     .largest = of_node->second[i].second,
                     .begin = from,
                     .end = to});
    }
  }
}

}  // namespace

Expected<std::vector<OwnedPart>> owned_parts(const Ledger& ledger, Instant until) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto parts = read_owned_parts(impl.database, until);
  if (!parts) return impl.failed("read ownership", std::move(parts).error());
  return parts;
}

}  // namespace shapley::ledger
