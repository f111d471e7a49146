#include "accounting/events/event_check.hpp"

#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/slurm_text.hpp"
#include "base/text.hpp"
#include "game/serving_order.hpp"

namespace shapley::accounting {

namespace {

tl::unexpected<Error> refuse(std::string_view what) {
  return fail(Errc::invalid_argument, std::string(what));
}

bool in_range(Instant t) {
  return t >= Instant{0} && t <= k_last_instant;
}

constexpr std::string_view k_bad_instant = "its time must lie in the years 1970 to 9999";

bool all_distinct(const std::vector<std::string>& names) {
  return std::set<std::string_view>(names.begin(), names.end()).size() == names.size();
}

// Checks the resources of a node, or of a run on it.
Expected<void> check_resources(const std::string& node, std::int64_t memory, const std::vector<Resource>& gres) {
  if (memory < 0) return refuse(fmt::format("the memory of node {} must not be negative", node));
  for (std::size_t i = 0; i < gres.size(); ++i) {
    if (gres[i].name.empty()) return refuse(fmt::format("a resource of node {} needs a name", node));
    if (gres[i].count < 0) return refuse(fmt::format("the {} of node {} must not be negative", gres[i].name, node));
    if (i > 0 && gres[i - 1].name >= gres[i].name) {
      return refuse(fmt::format("the resources of node {} must ascend by name, each once", node));
    }
  }
  return {};
}

Expected<void> check_nodes(const SegmentOpened& event) {
  ProcessorMillionths sum;
  const std::string* previous = nullptr;
  for (const NodeShare& share : event.nodes) {
    if (share.node.empty()) return refuse("a node needs a name");
    if (previous != nullptr && *previous >= share.node) return refuse("nodes must ascend by name, each once");
    if (share.processors.value <= 0 || share.processors > k_max_held) {
      return refuse(fmt::format("the processors on node {} must be positive, a million at most", share.node));
    }
    SHAPLEY_TRY(check_resources(share.node, share.memory, share.gres));
    sum += share.processors;
    if (sum > k_max_held) return refuse("a run holds a million processors at most");
    previous = &share.node;
  }
  if (sum != event.processors) return refuse("its processors must be the sum over its nodes");
  return {};
}

Expected<void> check_release(const SegmentOpened& event) {
  const bool is_wait = event.key.kind == SegmentKind::wait;
  if (event.tasks != 0 && !is_wait) return refuse("a run is of one task");
  if (event.waited_as == event.key.job && event.waited_as.value != 0) {
    return refuse("that it waited as its own job is not said");
  }
  if (!event.released) {
    if (event.waited_as.value != 0 && !is_wait) return refuse("what waited as another job was released");
    return {};
  }
  if (is_wait) return refuse("a wait is released at its anchor");
  if (!in_range(*event.released)) return refuse(k_bad_instant);
  if (*event.released > event.begin) return refuse("a run cannot begin before it is released");
  return {};
}

Expected<void> check_owners(const OwnershipSpan& span) {
  std::set<std::string_view> seen;
  std::int64_t sum = 0;
  for (const OwnerPart& part : span.owners) {
    if (part.organization.empty()) return refuse("an owner needs a name");
    if (part.organization == k_guests) return refuse("guests own nothing; leave the part to commons");
    if (!seen.insert(part.organization).second) return refuse(part.organization + " owns twice; add its parts up");
    if (part.parts_per_million <= 0 || part.parts_per_million > k_whole_node) {
      return refuse(fmt::format("the part of {} must be 1 to 1000000 parts per million", part.organization));
    }
    sum += part.parts_per_million;
  }
  if (sum > k_whole_node) return refuse("the owners' parts exceed 100 %");
  return {};
}

// Checks beyond the range of times; a kind without an overload of its own needs none.
template <typename Fact>
Expected<void> check_content(const Fact& /*event*/) {
  return {};
}

Expected<void> check_content(const SegmentOpened& event) {
  if (event.organization.empty()) return refuse("the organization needs a name; jobs of none belong to guests");
  if (event.organization == k_commons) return refuse("commons runs nothing; jobs of no organization belong to guests");
  SHAPLEY_TRY(check_release(event));
  if (event.key.kind == SegmentKind::run) return check_nodes(event);
  if (!event.nodes.empty()) return refuse("a wait holds no nodes");
  if (event.processors.value < 0 || event.processors > k_max_wanted) {
    return refuse("a wait asks for 0 to a hundred million processors");
  }
  return {};
}

Expected<void> check_content(const OrganizationsDeclared& event) {
  for (const std::string& name : event.names) {
    if (name.empty()) return refuse("an organization needs a name");
  }
  if (!all_distinct(event.names)) return refuse("each organization may be named once");
  return {};
}

Expected<void> check_content(const OwnershipStated& event) {
  if (event.node.empty()) return refuse("the node needs a name");
  for (std::size_t i = 0; i < event.spans.size(); ++i) {
    if (i > 0 && event.spans[i - 1].from >= event.spans[i].from) return refuse("spans must ascend by their begin");
    SHAPLEY_TRY(check_owners(event.spans[i]));
  }
  return {};
}

Expected<void> check_content(const CapacityChanged& event) {
  if (event.node.empty()) return refuse("the node needs a name");
  if (event.processors.value < 0 || event.processors > k_max_held) {
    return refuse("a node offers 0 to a million processors");
  }
  if (event.whole.value < 0 || event.whole > k_max_held) {
    return refuse("a whole node is worth 0 to a million processors");
  }
  if (event.usable_cpus) {
    if (event.cpus == 0 || Int128{event.cpus} * k_micro > k_max_held.value) {
      return refuse("a node of which CPUs are counted has 1 to a million");
    }
    if (*event.usable_cpus != 0 && *event.usable_cpus != event.cpus) return refuse("jobs may use all CPUs or none");
  }
  return check_resources(event.node, event.memory, event.gres);
}

bool is_part(std::int64_t parts_per_million) {
  return parts_per_million >= 0 && parts_per_million <= k_whole_node;
}

Expected<void> check_content(const RankingDeclared& event) {
  if (event.contribution.empty()) return refuse("the contribution needs a name");
  if (event.horizon < 0 || event.horizon > game::k_longest_horizon.value) {
    return refuse("the horizon is 0 seconds to 365 days");
  }
  if (!is_part(event.guarantee)) return refuse("the guarantee is 0 to 1,000,000 parts per million");
  if (!is_part(event.running_weight)) return refuse("the weight of what runs is 0 to 1,000,000 parts per million");
  if (event.rule == KeyRule::braking && (event.horizon != 0 || event.running_weight != 0)) {
    return refuse("a rule that brakes has neither a horizon nor a weight of what runs");
  }
  for (std::size_t i = 0; i < event.exceptions.size(); ++i) {
    const GuaranteedPart& part = event.exceptions[i];
    if (part.organization.empty()) return refuse("an organization needs a name");
    if (!is_part(part.parts_per_million)) return refuse("a guarantee is 0 to 1,000,000 parts per million");
    if (i > 0 && event.exceptions[i - 1].organization >= part.organization) {
      return refuse("exceptions ascend by organization");
    }
  }
  return {};
}

Expected<void> check_content(const ResidualMeasured& event) {
  // A run that is longer than the longest horizon counts as one of that length.
  if (event.seconds <= 0 || event.seconds > game::k_longest_horizon.value) {
    return refuse("the mean residual run time is 1 second to 365 days");
  }
  if (event.runs <= 0) return refuse("it is measured over one run at least");
  return {};
}

// Concerns the weight of a processor of one cluster among those of others.
constexpr std::string_view k_bad_weight = "the weight of a processor is 0.001 to 1000";
bool is_weight(std::int64_t parts_per_million) {
  return parts_per_million >= k_least_weight && parts_per_million <= k_greatest_weight;
}

bool is_within(Int128 value, Int128 bound) {
  return value >= -bound && value <= bound;
}

bool in_bounds(const OrganizationElsewhere& row) {
  bool good = is_within(row.figures.balance.value, k_max_balance_elsewhere) &&
              is_within(row.figures.given_less_got.value, k_max_work_elsewhere) &&
              is_within(row.figures.rate_less_used.value, k_max_held.value);
  for (const CpuTime settled : {row.settled_given, row.settled_got})
    good = good && is_within(settled.value, k_max_work_elsewhere);
  for (const ProcessorMillionths held : {row.owned, row.used, row.waiting})
    good = good && is_within(held.value, k_max_wanted.value);
  return good;
}

Expected<void> check_content(const ChargeDeclared& event) {
  if (event.charge.empty()) return refuse("the charge needs a name");
  for (std::size_t i = 0; i < event.weights.size(); ++i) {
    if (event.weights[i].name.empty()) return refuse("a resource needs a name");
    if (event.weights[i].count <= 0) return refuse("a weight must be positive");
    if (i > 0 && event.weights[i - 1].name >= event.weights[i].name) return refuse("weights ascend by name");
  }
  for (const NodeWeight& weight : event.node_weights) {
    if (weight.nodes.empty()) return refuse("a weight needs nodes");
    if (weight.weight <= 0) return refuse("a weight must be positive");
  }
  return {};
}

constexpr std::size_t k_identity_digits = 32;
constexpr std::size_t k_hash_digits = 64;

Expected<void> check_content(const ControllerBegan& event) {
  if (event.host.empty()) return refuse("the host needs a name");
  if (event.after < 0) return refuse("events count from 1");
  if (!is_hex(event.hash, k_hash_digits)) return refuse("a hash has 64 hexadecimal digits");
  return {};
}

Expected<void> check_content(const ObservationGap& event) {
  if (event.end <= event.begin) return refuse("a gap ends after it begins");
  return {};
}

Expected<void> check_content(const StateLost& event) {
  if (event.seen > event.at) return refuse("a loss is learned after the records were seen");
  for (const std::int64_t count : {event.closed, event.closed_seconds, event.retracted, event.retracted_seconds}) {
    if (count < 0) return refuse("runs and processor-seconds count from 0");
  }
  return {};
}

Expected<void> check_content(const ClusterNamed& event) {
  return event.cluster.empty() ? refuse("the cluster needs a name") : Expected<void>{};
}

Expected<void> check_content(const UserNamed& event) {
  if (event.name.size() > k_most_user_name) return refuse("the name of a user has at most 255 bytes");
  return event.name.empty() ? refuse("the user needs a name") : Expected<void>{};
}

Expected<void> check_content(const HindsightBounded& event) {
  if (event.coalitions == Coalitions::all) return refuse("a bound leaves some coalitions out");
  if (event.needed < 0 || event.bound < 0) return refuse("bytes count from 0");
  return {};
}

Expected<void> check_content(const HindsightDefined& event) {
  if (event.kinds.size() > k_most_listed_kinds) return refuse("at most 63 kinds of nodes can be listed");
  std::set<std::string> listed;
  for (const std::string& nodes : event.kinds) {
    if (nodes.empty()) continue;
    const auto names = expand_brackets(nodes);
    if (!names) return refuse("nodes: " + names.error().what);
    for (const std::string& name : *names) {
      if (!listed.insert(name).second) return refuse("the node " + name + " is listed twice");
    }
  }
  return {};
}

Expected<void> check_content(const StandingReceived& event) {
  constexpr std::size_t k_signature_digits = 128;
  const ClusterFigures& figures = event.figures;
  if (event.cluster.empty()) return refuse("the cluster needs a name");
  if (figures.consortium.empty()) return refuse("the consortium needs a name");
  if (!is_hex(figures.ledger, k_identity_digits)) return refuse("a ledger's identity has 32 hexadecimal digits");
  if (!is_hex(figures.hash, k_hash_digits)) return refuse("a hash has 64 hexadecimal digits");
  if (!is_hex(event.signature, k_signature_digits)) return refuse("a signature has 128 hexadecimal digits");
  if (figures.event < 0) return refuse("events count from 1");
  if (figures.contribution.empty()) return refuse("the contribution needs a name");
  if (figures.period_begin > figures.time) return refuse("a period begins before its figures");
  if (figures.whole.value < 0) return refuse("a cluster has 0 processors or more");
  for (std::size_t i = 0; i < figures.weights.size(); ++i) {
    if (!is_weight(figures.weights[i].weight)) return refuse(k_bad_weight);
    if (i > 0 && figures.weights[i - 1].cluster >= figures.weights[i].cluster)
      return refuse("weights ascend by cluster");
  }
  for (std::size_t i = 0; i < figures.organizations.size(); ++i) {
    const OrganizationElsewhere& row = figures.organizations[i];
    if (row.organization.empty()) return refuse("an organization needs a name");
    if (i > 0 && figures.organizations[i - 1].organization >= row.organization) {
      return refuse("organizations ascend by name, each once");
    }
    if (!in_bounds(row))
      return refuse(fmt::format("the figures of {} are larger than any cluster's", row.organization));
  }
  return {};
}

Expected<void> check_content(const LedgerReplaced& event) {
  if (event.cluster.empty()) return refuse("the cluster needs a name");
  for (const std::string* ledger : {&event.former_ledger, &event.ledger}) {
    if (!is_hex(*ledger, k_identity_digits)) return refuse("a ledger's identity has 32 hexadecimal digits");
  }
  if (!is_hex(event.hash, k_hash_digits)) return refuse("a hash has 64 hexadecimal digits");
  if (event.former_event < 0 || event.event < 0) return refuse("events count from 1");
  if (event.author.empty()) return refuse("who found or accepted it is named");
  return {};
}

Expected<void> check_content(const ConsortiumDeclared& event) {
  if (event.consortium.empty() && !event.clusters.empty()) return refuse("the consortium needs a name");
  if (!is_weight(event.weight)) return refuse(k_bad_weight);
  for (std::size_t i = 0; i < event.clusters.size(); ++i) {
    const OtherCluster& other = event.clusters[i];
    if (other.cluster.empty()) return refuse("a cluster needs a name");
    if (i > 0 && event.clusters[i - 1].cluster >= other.cluster) return refuse("clusters ascend by name, each once");
    if (!is_weight(other.weight)) return refuse(k_bad_weight);
    if (other.stale_after < 0 || other.stale_after > game::k_longest_horizon.value) {
      return refuse("a statement is taken as new for 0 seconds to 365 days");
    }
    for (std::size_t k = 0; k < other.names.size(); ++k) {
      if (other.names[k].here.empty() || other.names[k].there.empty()) return refuse("an organization needs a name");
      if (k > 0 && other.names[k - 1].there >= other.names[k].there) return refuse("names ascend, each once");
    }
    for (std::size_t k = 0; k < other.earlier.size(); ++k) {
      const EarlierFigures& row = other.earlier[k];
      if (row.organization.empty()) return refuse("an organization needs a name");
      if (k > 0 && other.earlier[k - 1].organization >= row.organization)
        return refuse("organizations ascend by name, each once");
      if (!is_within(row.balance.value, k_max_balance_elsewhere) ||
          !is_within(row.given_less_got.value, k_max_work_elsewhere))
        return refuse(fmt::format("the earlier figures of {} are larger than any cluster's", row.organization));
    }
  }
  return {};
}

Expected<void> check_sides(const std::string& from, const std::string& to) {
  if (from.empty() || to.empty()) return refuse("an organization needs a name");
  if (from == to) return refuse("an organization cannot settle with itself");
  return {};
}

Expected<void> check_content(const WorkSettled& event) {
  if (event.adjustment == 0) return refuse("adjustments count from 1");
  if (event.work.value == 0 || event.work > k_max_settled || -event.work > k_max_settled) {
    return refuse("what is settled is more than nothing, and 277 million hours of a processor at most");
  }
  return check_sides(event.from, event.to);
}

Expected<void> check_content(const AdjustmentMade& event) {
  if (event.number == 0) return refuse("adjustments count from 1");
  if (event.author.empty()) return refuse("an adjustment has an author");
  if (event.reason.empty()) return refuse("an adjustment has a reason");
  if (event.runs < 0 || event.facts < 0) return refuse("runs and facts count from 0");
  const bool reverses = event.kind == AdjustmentKind::reverse;
  if (reverses != (event.reverses != 0) || event.reverses >= event.number) {
    return refuse("it reverses an earlier adjustment, or none");
  }
  if (event.kind == AdjustmentKind::settle) return check_sides(event.organization, event.into);
  if (event.kind != AdjustmentKind::rename && event.kind != AdjustmentKind::merge) return {};
  for (const std::string& name : {event.organization, event.into}) {
    if (name.empty()) return refuse("an organization needs a name");
    if (name == k_guests || name == k_commons) return refuse(name + " is always there, under this name");
  }
  if (event.organization == event.into) return refuse("an organization cannot become a part of itself");
  return {};
}

Expected<void> check_content(const PlacementResolved& event) {
  if (event.placement.empty()) return refuse("the placement needs a name");
  if (event.nodes.empty()) return {};
  if (const auto names = expand_brackets(event.nodes); !names) return refuse("nodes: " + names.error().what);
  return {};
}

// Whether the instants of the event itself are in range; those of the parts in its lists may lie anywhere.
template <typename Record>
bool times_in_range(const Record& record) {
  bool good = true;
  for_each_member(record, [&](std::string_view, const auto& value, auto) {
    if constexpr (std::is_same_v<decltype(value), const Instant&>) {
      good = good && in_range(value);
    } else if constexpr (Described<std::remove_cvref_t<decltype(value)>>) {
      good = good && times_in_range(value);
    }
  });
  return good;
}

}  // namespace

Expected<void> check_fact(const Event& event) {
  return std::visit(
      [](const auto& fact) -> Expected<void> {
        if (!times_in_range(fact)) return refuse(k_bad_instant);
        return check_content(fact);
      },
      event);
}

Expected<void> check(const Event& event) {
  auto sound = check_fact(event);
  if (!sound) return with_context(event_key(event), std::move(sound).error());
  return sound;
}

}  // namespace shapley::accounting
