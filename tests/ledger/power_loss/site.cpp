#include "site.hpp"

#include <memory>
#include <utility>

#include "tests/ledger/ledger_fixture.hpp"

namespace shapley::ledger::testing {

namespace {

config::OrganizationConfig organization(const std::string& name, const std::string& account, const std::string& node) {
  config::OrganizationConfig organization;
  organization.name = name;
  organization.rules = {{RuleKind::account, account, 0}};
  config::NodeClaim claim;
  claim.nodes = {node};
  organization.nodes = {claim};
  return organization;
}

// One key for the whole run: making one costs more than a round.
std::shared_ptr<const SigningKey> signing_key() {
  static const std::shared_ptr<const SigningKey> key = [] {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "key";
    static_cast<void>(must(make_key_files(file)));
    return std::make_shared<const SigningKey>(must(SigningKey::read(file)));
  }();
  return key;
}

}  // namespace

daemon::Site site_of(const std::filesystem::path& ledger) {
  daemon::Site site;
  site.configuration.ledger = ledger;
  site.configuration.organizations = {organization("physics", "phys", "n1"), organization("chemistry", "chem", "n2")};
  site.rules = {{"physics", RuleKind::account, "phys", 0}, {"chemistry", RuleKind::account, "chem", 0}};
  site.text = "two organizations";
  site.signing_key = signing_key();
  return site;
}

daemon::Service::Options options_of(Rng& rng) {
  daemon::Service::Options options;
  options.checkpoint_events = static_cast<std::int64_t>(5 + rng.below(60));
  return options;
}

protocol::Hello hello_of(std::uint64_t instance) {
  protocol::Hello hello;
  hello.role = protocol::Role::feeder;
  hello.program = "power loss";
  hello.instance = instance;
  hello.interval_ms = 1000;
  return hello;
}

std::uint64_t send_snapshot(daemon::Service& service, const World& world, Instant now) {
  std::uint64_t sequence = 0;
  service.receive(protocol::SnapshotBegin{++sequence, now.value}, now);
  Frame frame{.at = now, .runs = world.runs()};
  protocol::Observations observations = frame.observations(++sequence);
  observations.nodes = {{.name = "n1", .cpus = 8, .usable = true, .tres = {{"cpu", 8}}},
                        {.name = "n2", .cpus = 8, .usable = true, .tres = {{"cpu", 8}}}};
  service.receive(std::move(observations), now);
  service.receive(protocol::SnapshotEnd{++sequence, now.value}, now);
  service.process(now);
  return sequence;
}

}  // namespace shapley::ledger::testing
