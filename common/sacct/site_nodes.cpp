#include "sacct/site_nodes.hpp"

#include <algorithm>
#include <istream>
#include <memory>
#include <optional>
#include <queue>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/slurm_text.hpp"
#include "base/text.hpp"
#include "sacct/runs.hpp"

namespace shapley::sacct {

namespace {

// The word after "NAME=" in a line of words; empty: there is no such word.
std::string_view value_of(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const std::size_t after = at + name.size();
    if ((at > 0 && line[at - 1] != ' ') || after >= line.size() || line[after] != '=') continue;
    return line.substr(after + 1, line.find(' ', after) - after - 1);
  }
  return {};
}

constexpr std::uint64_t k_most_gres = 1ULL << 60U;  // as the plugin's own reading has it

// "4", "3T", "10GB": Slurm writes counts of generic resources with K to P, of 1024, and takes KB to PB, of 1000, too.
std::optional<std::uint64_t> parse_count(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto value = parse_number<std::uint64_t>(text.substr(0, digits));
  const std::string suffix = lower(text.substr(digits));
  if (!value) return std::nullopt;
  std::uint64_t unit = 1;
  if (!suffix.empty()) {
    const std::size_t power = std::string_view("kmgtp").find(suffix.front());
    const bool is_decimal = suffix.size() == 2 && suffix[1] == 'b';
    if (power == std::string_view::npos || (suffix.size() > 1 && !is_decimal && suffix.substr(1) != "ib"))
      return std::nullopt;
    for (std::size_t i = 0; i <= power; ++i) unit *= is_decimal ? 1000 : 1024;
  }
  if (*value > k_most_gres / unit) return std::nullopt;
  return *value * unit;
}

// "gpu:tesla:2(S:0-1),shard:8": each name once, with the sum of its types. Uncounted ones (no_consume) are left out.
std::optional<std::vector<protocol::Tres>> parse_gres(std::string_view text) {
  std::map<std::string, std::uint64_t> sums;
  while (!text.empty() && text != "(null)") {
    // A parenthesis may hold commas.
    std::size_t depth = 0, end = 0;
    for (; end < text.size() && (text[end] != ',' || depth > 0); ++end) {
      if (text[end] == '(') ++depth;
      if (text[end] == ')' && depth > 0) --depth;
    }
    std::string_view item = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    item = item.substr(0, item.find('('));
    const std::vector<std::string_view> words = split(item, ':');
    if (std::find(words.begin(), words.end(), "no_consume") != words.end()) continue;
    std::uint64_t count = 1;
    // NAME[:TYPE][:COUNT]
    if (words.size() > 1) {
      const auto value = parse_count(words.back());
      const bool is_type = !value && words.size() == 2 && words[1].find_first_not_of("0123456789") != words[1].npos;
      if (!value && !is_type) return std::nullopt;
      count = value.value_or(1);
    }
    std::uint64_t& sum = sums["gres/" + std::string(words.front())];
    sum = std::min(k_most_gres, sum + count);
  }
  std::vector<protocol::Tres> gres;
  for (const auto& [name, count] : sums) {
    if (count > 0) gres.push_back({name, count});
  }
  return gres;
}

// "cpu=16,mem=64000M,billing=16,gres/gpu=4": what is counted in plain numbers.
std::vector<protocol::Tres> parse_configured(std::string_view text) {
  std::vector<protocol::Tres> tres;
  for (const std::string_view item : split(text, ',')) {
    const std::size_t equals = std::min(item.find('='), item.size());
    const auto count = parse_number<std::uint64_t>(item.substr(std::min(item.size(), equals + 1)));
    if (count) tres.push_back({std::string(item.substr(0, equals)), *count});
  }
  return tres;
}

std::optional<protocol::NodeRecord> read_scontrol_line(std::string_view line) {
  protocol::NodeRecord node;
  node.name = value_of(line, "NodeName");
  // From 22.05 on there are CPUs that jobs may not use.
  std::string_view cpus = value_of(line, "CPUEfctv");
  if (cpus.empty()) cpus = value_of(line, "CPUTot");
  const auto count = parse_number<std::uint32_t>(cpus);
  const auto memory = parse_number<std::uint64_t>(value_of(line, "RealMemory"));
  const auto kept = parse_number<std::uint64_t>(value_of(line, "MemSpecLimit")).value_or(0);
  const auto gres = parse_gres(value_of(line, "Gres"));
  if (node.name.empty() || !count || !gres) return std::nullopt;
  node.cpus = *count;
  node.memory = memory.value_or(0) > kept ? *memory - kept : 0;
  node.gres = *gres;
  node.tres = parse_configured(value_of(line, "CfgTRES"));
  return node;
}

std::optional<protocol::NodeRecord> read_sinfo_line(std::string_view line) {
  const std::size_t space = line.find_first_of(" \t");
  if (space == std::string_view::npos) return std::nullopt;
  const std::size_t digits = line.find_first_not_of(" \t", space);
  if (digits == std::string_view::npos) return std::nullopt;
  std::string_view cpus = line.substr(digits);
  cpus = cpus.substr(0, cpus.find_last_not_of(" \t") + 1);
  const auto count = parse_number<std::uint32_t>(cpus);
  if (!count) return std::nullopt;
  protocol::NodeRecord node;
  node.name = line.substr(0, space);
  node.cpus = *count;
  return node;
}

// `whole` in parts that differ by one at most, the greater ones first.
std::vector<std::uint32_t> parts_of(std::uint32_t whole, std::size_t parts) {
  std::vector<std::uint32_t> each(parts, whole / static_cast<std::uint32_t>(parts));
  for (std::size_t i = 0; i < whole % parts; ++i) ++each[i];
  return each;
}

}  // namespace

Expected<SiteNodes> read_nodes(std::istream& text) {
  SiteNodes nodes;
  std::string line;
  Lines lines(text);
  while (lines.next(line)) {
    if (line.empty()) continue;
    const bool scontrol = line.starts_with("NodeName=");
    auto node = scontrol ? read_scontrol_line(line) : read_sinfo_line(line);
    if (!node) {
      return fail(
          Errc::invalid_argument,
          fmt::format(
              "line {}: no line of scontrol show nodes --oneliner, nor NODE CPUS; export the nodes with one of them",
              lines.number()));
    }
    std::string name = node->name;
    nodes.insert_or_assign(std::move(name), *std::move(node));  // sinfo has a line for every partition
  }
  SHAPLEY_TRY(lines.end());
  if (nodes.empty()) return fail(Errc::invalid_argument, "no node; export them with scontrol show nodes --oneliner");
  return nodes;
}

Expected<SiteNodes> nodes_by_use(const SortedRows& rows) {
  using Held = std::pair<Instant, std::uint32_t>;  // until when, how many CPUs
  struct Use {
    std::uint64_t busy = 0;
    std::priority_queue<Held, std::vector<Held>, std::greater<>> held;  // the first to end is on top
  };
  std::map<std::string, Use, std::less<>> uses;
  SiteNodes nodes;
  const auto use = [&](const std::shared_ptr<Run>& run, std::size_t index) -> Expected<void> {
    const SacctRow& row = run->rows[index];
    const std::vector<std::uint32_t> cpus = parts_of(row.cpus, std::max<std::size_t>(1, row.nodes.size()));
    for (std::size_t i = 0; i < row.nodes.size(); ++i) {
      protocol::NodeRecord& node = nodes[row.nodes[i]];
      node.name = row.nodes[i];
      node.cpus = std::max(node.cpus, cpus[i]);
      if (row.suspended.value > 0) continue;
      auto& [busy, until] = uses[row.nodes[i]];
      // A part that ends in the second in which another one starts makes room for it.
      for (; !until.empty() && until.top().first <= run->begin_of(index); until.pop()) busy -= until.top().second;
      busy += cpus[i];
      until.emplace(row.end.value_or(k_end_of_time), cpus[i]);
      node.cpus = static_cast<std::uint32_t>(std::max<std::uint64_t>(node.cpus, busy));
    }
    return {};
  };
  SHAPLEY_TRY(for_each_part(
      rows, [](const Run&) { return true; }, use));
  return nodes;
}

}  // namespace shapley::sacct
