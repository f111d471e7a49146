#include "ctl/import/held_runs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ledger/readers/runs.hpp"

namespace shapley::ctl {

namespace {

using accounting::Event;

// A segment of the ledger as a row with parts; of nodes that are not known nothing is said.
sacct::SacctRow row_of_segment(const accounting::SegmentOpened& opened, std::optional<Instant> end,
                               const sacct::SiteNodes& nodes) {
  sacct::SacctRow row;
  row.job = opened.key.job.value;
  row.start = opened.begin;
  row.end = end;
  std::map<std::string, std::vector<std::uint64_t>> parts;  // of generic resources, by name
  for (const accounting::NodeShare& share : opened.nodes) {
    if (!nodes.contains(share.node)) continue;
    row.nodes.push_back(share.node);
    for (const Resource& gres : share.gres) parts[gres.name];
  }
  std::vector<std::uint64_t> cpus, memory;
  for (const accounting::NodeShare& share : opened.nodes) {
    if (!nodes.contains(share.node)) continue;
    cpus.push_back(share.cpus);
    memory.push_back(static_cast<std::uint64_t>(share.memory));
    for (auto& [name, counts] : parts) {
      const auto held = std::ranges::find(share.gres, name, &Resource::name);
      counts.push_back(held == share.gres.end() ? 0 : static_cast<std::uint64_t>(held->count));
    }
  }
  row.parts = std::move(cpus);
  row.parts.insert(row.parts.end(), memory.begin(), memory.end());
  for (const auto& [name, counts] : parts) {
    row.gres.push_back({name, 0});
    row.parts.insert(row.parts.end(), counts.begin(), counts.end());
  }
  return row;
}

}  // namespace

Expected<void> add_held(const ledger::Ledger& ledger, std::span<const Event> more, const sacct::SiteNodes& nodes,
                        Instant since, Instant until,
                        const std::function<Expected<void>(const sacct::SacctRow&)>& add) {
  std::set<accounting::SegmentKey> retracted;
  for (const Event& event : more) {
    if (const auto* gone = std::get_if<accounting::SegmentRetracted>(&event)) retracted.insert(gone->key);
  }
  const auto visit = [&](const accounting::SegmentOpened& opened, std::optional<Instant> end) {
    if (end == opened.begin) return Expected<void>{};
    const sacct::SacctRow row = row_of_segment(opened, end, nodes);
    return row.nodes.empty() ? Expected<void>{} : add(row);
  };
  SHAPLEY_TRY(ledger::for_each_held(ledger, since, until, [&](const auto& opened, std::optional<Instant> end) {
    return retracted.contains(opened.key) ? Expected<void>{} : visit(opened, end);
  }));
  const accounting::SegmentOpened* opened = nullptr;
  for (const Event& event : more) {
    if (const auto* closed = std::get_if<accounting::SegmentClosed>(&event); closed != nullptr && opened != nullptr)
      SHAPLEY_TRY(visit(*opened, closed->end));
    opened = std::get_if<accounting::SegmentOpened>(&event);
  }
  return {};
}

}  // namespace shapley::ctl
