// Spans and the check of sums against the definition: at every instant, add up the claims that hold.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "config/configuration.hpp"
#include "config/settings.hpp"

namespace shapley::config {
namespace {

constexpr std::int64_t k_last_instant = 12;  // claims begin and end within 0 .. 10
constexpr std::int64_t k_units = 420;        // a multiple of every denominator below

Configuration pick_configuration() {
  Configuration configuration;
  const auto count = *rc::gen::inRange<std::size_t>(1, 4);
  for (std::size_t i = 0; i < count; ++i) {
    OrganizationConfig& organization = configuration.organizations.emplace_back();
    organization.name = "o" + std::to_string(i);
    organization.nodes.resize(*rc::gen::inRange<std::size_t>(0, 4));
    for (NodeClaim& claim : organization.nodes) {
      claim.nodes = *rc::gen::element(std::vector<std::string>{"m"}, std::vector<std::string>{"n"},
                                      std::vector<std::string>{"m", "n"});
      claim.share.denominator = *rc::gen::element<std::int64_t>(1, 2, 3, 4, 6, 7, 10);
      claim.share.numerator = *rc::gen::inRange<std::int64_t>(1, claim.share.denominator + 1);
      if (*rc::gen::arbitrary<bool>()) claim.from = Instant{*rc::gen::inRange<std::int64_t>(0, 10)};
      if (*rc::gen::arbitrary<bool>()) {
        claim.until = Instant{std::max<std::int64_t>(claim.from.value, -1) + *rc::gen::inRange<std::int64_t>(1, 8)};
      }
    }
  }
  return configuration;
}

// organization -> units of a node, k_units of which are the whole, by going through all claims.
std::map<std::string, std::int64_t> naive_units(const Configuration& configuration, const std::string& node,
                                                Instant t) {
  std::map<std::string, std::int64_t> owners;
  for (const OrganizationConfig& organization : configuration.organizations) {
    for (const NodeClaim& claim : organization.nodes) {
      const bool names_it = std::find(claim.nodes.begin(), claim.nodes.end(), node) != claim.nodes.end();
      if (names_it && claim.from <= t && t < claim.until)
        owners[organization.name] += k_units / claim.share.denominator * claim.share.numerator;
    }
  }
  return owners;
}

// organization -> parts per million: one after the other to the one that lacks most of its exact share, of equals to
// the last, until every whole part is given and, if the organizations own all of the node, every part of it.
std::map<std::string, std::int64_t> naive_owners(const std::map<std::string, std::int64_t>& units) {
  std::int64_t all = 0;
  std::map<std::string, std::int64_t> parts;
  std::int64_t given = 0;
  for (const auto& [name, own] : units) {
    all += own;
    given += parts[name] = own * 1'000'000 / k_units;
  }
  for (; all == k_units && given < 1'000'000; ++given) {
    std::string next;
    std::int64_t most = -k_units;
    for (const auto& [name, own] : units) {
      const std::int64_t lacks = own * 1'000'000 - parts[name] * k_units;
      if (lacks >= most) {
        next = name;
        most = lacks;
      }
    }
    ++parts[next];
  }
  return parts;
}

RC_GTEST_PROP(Ownership, IsAtEveryInstantTheSumOfTheClaimsThatHold, ()) {
  const Configuration configuration = pick_configuration();
  for (const accounting::OwnershipStated& statement : ownership_statements(configuration, Instant{7})) {
    RC_ASSERT(statement.effective == Instant{7});
    RC_ASSERT(statement.spans.front().from == k_beginning_of_time);
    for (std::int64_t second = -1; second <= k_last_instant; ++second) {
      const accounting::OwnershipSpan* now = nullptr;
      for (const accounting::OwnershipSpan& span : statement.spans) now = span.from.value <= second ? &span : now;
      std::map<std::string, std::int64_t> owners;
      for (const accounting::OwnerPart& part : now->owners) {
        RC_ASSERT(part.parts_per_million > 0);
        RC_ASSERT(owners.emplace(part.organization, part.parts_per_million).second);
      }
      RC_ASSERT(owners == naive_owners(naive_units(configuration, statement.node, Instant{second})));
    }
    for (std::size_t i = 1; i < statement.spans.size(); ++i) {
      RC_ASSERT(statement.spans[i - 1].from < statement.spans[i].from);
      RC_ASSERT(statement.spans[i - 1].owners != statement.spans[i].owners);
    }
  }
}

RC_GTEST_PROP(Ownership, BeyondTheWholeIsReportedExactlyWhenSomeInstantHasIt, ()) {
  const Configuration configuration = pick_configuration();
  bool beyond = false;
  for (const std::string node : {"m", "n"}) {
    for (std::int64_t second = -1; second <= k_last_instant; ++second) {
      std::int64_t sum = 0;
      for (const auto& [name, units] : naive_units(configuration, node, Instant{second})) sum += units;
      beyond = beyond || sum > k_units;
    }
  }
  FaultList faults;
  check_claims(configuration.organizations, faults);
  RC_CLASSIFY(beyond);
  RC_ASSERT(faults.empty() == !beyond);
}

// Fractions of random numerators over their sum, as they are written in the file.
RC_GTEST_PROP(Ownership, OfFractionsThatSumToOneIsAllTheNodeAndOfFewerLeavesTheRest, ()) {
  const auto numerators = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::int64_t>>(
      rc::gen::inRange<std::int64_t>(1, *rc::gen::element<std::int64_t>(3, 100, 3'000))));
  RC_PRE(numerators.size() <= 300U);
  std::int64_t denominator = 0;
  for (const std::int64_t numerator : numerators) denominator += numerator;
  std::string yaml = "organizations:\n";
  for (std::size_t i = 0; i < numerators.size(); ++i) {
    yaml += "  - {name: o" + std::to_string(i) + ", nodes: [{nodes: n, share: " + std::to_string(numerators[i]) + "/" +
            std::to_string(denominator) + "}]}\n";
  }
  const auto sum = [](const Configuration& configuration) {
    std::int64_t parts = 0;
    const auto statements = ownership_statements(configuration, Instant{7});
    if (statements.empty()) return parts;
    for (const accounting::OwnerPart& part : statements.front().spans.front().owners) parts += part.parts_per_million;
    return parts;
  };
  auto configuration = parse(yaml);
  RC_ASSERT(configuration.has_value());
  RC_ASSERT(sum(*configuration) == 1'000'000);
  std::size_t next = 0;
  const auto statements = ownership_statements(*configuration, Instant{7});
  for (const accounting::OwnerPart& part : statements.front().spans.front().owners) {
    const std::int64_t exact = numerators[next++] * 1'000'000;  // parts times the denominator
    RC_ASSERT(part.parts_per_million * denominator > exact - denominator);
    RC_ASSERT(part.parts_per_million * denominator < exact + denominator);
  }
  configuration->organizations.front().nodes.clear();
  const std::int64_t rest = denominator - numerators.front();
  const std::int64_t least = rest * 1'000'000 / denominator - static_cast<std::int64_t>(numerators.size());
  RC_ASSERT(sum(*configuration) <= rest * 1'000'000 / denominator);
  RC_ASSERT(sum(*configuration) >= least);
}

// Whatever the bytes: an answer, and every fault with words and a line of the file.

void check_answer(const std::string& yaml) {
  const auto configuration = parse(yaml);
  if (configuration) {
    RC_ASSERT(!configuration->organizations.empty());
    return;
  }
  RC_ASSERT(!configuration.error().empty());
  const auto last_line = std::count(yaml.begin(), yaml.end(), '\n') + 1;
  for (const Fault& fault : configuration.error()) {
    RC_ASSERT(!fault.what.empty());
    RC_ASSERT(!fault.remedy.empty());
    RC_ASSERT(fault.line >= 0 && fault.line <= last_line);
  }
}

RC_GTEST_PROP(HostileFiles, OfRandomBytesAreAnswered, ()) {
  check_answer(*rc::gen::arbitrary<std::string>());
}

// Pieces of YAML and of our own file in any order.
RC_GTEST_PROP(HostileFiles, OfRandomPiecesAreAnswered, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "\n", "\n", "\n  ", "\n    - ", "\n  - ", " ", "\t", ":", ": ", "[", "]", "{", "}", ",", "'", "\"", "#", "|\n",
      ">\n", "&a ", "*a", "!!str ", "? ", "---\n", "...\n", "~", "%", "organizations:", "name: a", "nodes: ", "n[1-4]",
      "share: 1/3", "from: 2026-01-01", "accounts: ", "weights: ", "cpu: 1",
      "consortium: ", "clusters: ", "standing: /x", "as: ", "ledger: /x", "\xff", "ä"));
  std::string yaml;
  for (const std::string& piece : pieces) yaml += piece;
  check_answer(yaml);
}

// A good file with one byte changed, as a slip of the editor leaves it.
RC_GTEST_PROP(HostileFiles, WithOneWrongByteAreAnswered, ()) {
  std::string yaml = R"(ledger: "/var/lib/shapley/ledger.db"
weights: {cpu: 1, gres/gpu: 32}
consortium: {name: uni, weight: 1.5, every: 30s,
  clusters: [{name: s, standing: "c:7020", public_key: /k, weight: 2, stale_after: auto, as: {physics: physik}}]}
organizations:
  - name: physics
    accounts: [physics, 'astro']
    nodes:
      - n[1-4]
      - {nodes: "gpu[1-2]", share: 1/3, from: 2026-01-01, until: 2030-01-01}
  - name: biology
    accounts: &x [biology]
    nodes: []
)";
  RC_ASSERT(parse(yaml).has_value());
  yaml[*rc::gen::inRange<std::size_t>(0, yaml.size())] = *rc::gen::arbitrary<char>();
  check_answer(yaml);
}

}  // namespace
}  // namespace shapley::config
