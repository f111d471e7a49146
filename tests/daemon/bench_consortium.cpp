// What a consortium of many clusters costs each of them: bench_consortium [CLUSTERS [ORGANIZATIONS [HOURS]]], by
// default 20, 50 and 6. The service runs without sockets and its time is passed in: every minute it states its own
// standing to each of the others and reads theirs, every second it ticks, as shapleyd does. The others' figures change
// at random each minute, so that almost every statement changes the ranks: the bound of what is recorded holds always.
// A second service, which is in no consortium, does the same otherwise. Not run by ctest: it asserts no time.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "daemon/service.hpp"
#include "ledger/consortium/standing.hpp"
#include "tests/daemon/records.hpp"

namespace shapley::daemon {
namespace {

constexpr std::int64_t k_minute = 60;

struct Size {
  int clusters;
  int organizations;
  int hours;
};

std::string organization_name(int number) {
  return "organization" + std::to_string(number);
}
std::string cluster_name(int number) {
  return "cluster" + std::to_string(number);
}

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Another cluster, as far as it is seen from here: its statements.
class Other {
 public:
  Other(int number, const Size& size) : random_(static_cast<unsigned>(number)) {
    EXPECT_TRUE(ledger::make_key_files(directory_ / "key").has_value());
    key_ = std::make_unique<ledger::SigningKey>(ledger::SigningKey::read(directory_ / "key").value());
    statement_.cluster = cluster_name(number);
    accounting::ClusterFigures& figures = statement_.figures;
    figures.consortium = "uni";
    figures.ledger = std::string(30, '1') + std::to_string(10 + number);
    figures.hash = std::string(64, 'a');
    figures.contribution = "direct_contr";
    for (int i = 0; i < size.clusters; ++i) figures.weights.push_back({cluster_name(i), accounting::k_whole_weight});
    for (int i = 0; i < size.organizations; ++i)
      figures.organizations.push_back({organization_name(i), {}, {}, {}, {}});
    std::ranges::sort(figures.weights, {}, &accounting::ClusterWeight::cluster);
    std::ranges::sort(figures.organizations, {}, &accounting::OrganizationElsewhere::organization);
  }

  [[nodiscard]] const std::string& name() const { return statement_.cluster; }
  [[nodiscard]] std::shared_ptr<const ledger::PublicKey> public_key() const {
    return std::make_shared<const ledger::PublicKey>(ledger::PublicKey::read(directory_ / "key.pub").value());
  }

  // A minute later: some of its processors have gone to other organizations.
  std::string next(Instant now) {
    constexpr std::int64_t k_processors = 1'000;
    std::uniform_int_distribution<std::int64_t> processors(-k_processors, k_processors);
    accounting::ClusterFigures& figures = statement_.figures;
    figures.event += k_minute;
    figures.time = now;
    for (accounting::OrganizationElsewhere& row : figures.organizations) {
      row.figures.balance.value += k_minute * row.figures.given_less_got.value;
      row.figures.given_less_got.value += k_minute * row.figures.rate_less_used.value;
      row.figures.rate_less_used.value = processors(random_) * k_micro;
      row.owned.value = row.used.value = row.waiting.value = k_processors * k_micro;
    }
    EXPECT_TRUE(ledger::sign(statement_, *key_).has_value());
    return statement_.text();
  }

 private:
  TempDirectory directory_;
  std::unique_ptr<ledger::SigningKey> key_;
  ledger::StandingStatement statement_;
  std::mt19937 random_;
};

// The cluster that is measured.
class Measured {
 public:
  Measured(const Size& size, const std::vector<std::unique_ptr<Other>>& others) : site_(site_in(directory_)) {
    site_.configuration.organizations.clear();
    site_.rules.clear();
    for (int i = 0; i < size.organizations; ++i) {
      site_.configuration.organizations.push_back(
          organization(organization_name(i), account(i), "n" + std::to_string(i)));
      site_.rules.push_back({organization_name(i), RuleKind::account, account(i), 0});
    }
    EXPECT_TRUE(ledger::make_key_files(directory_ / "key").has_value());
    site_.signing_key =
        std::make_shared<const ledger::SigningKey>(ledger::SigningKey::read(directory_ / "key").value());
    if (!others.empty()) site_.configuration.consortium.name = "uni";
    for (const auto& other : others) {
      config::OtherClusterConfig known;
      known.name = other->name();
      known.standing = (directory_ / known.name).string();
      site_.configuration.consortium.clusters.push_back(known);
      site_.consortium_keys.push_back(other->public_key());
    }
    service_ = std::move(Service::start(site_, {}, Instant{k_begin}).value());
    see(size);
    began_with_ = bytes();
  }

  void tick(Instant now) {
    const double before = processor_seconds();
    service_->tick(now);
    ticks_ += processor_seconds() - before;
  }
  // The statement that the others ask for, each on its own.
  void state(std::size_t times, Instant now) {
    const double before = processor_seconds();
    for (std::size_t i = 0; i < times; ++i) {
      const auto made = service_->consortium().statement(service_->cluster().name(), site_.signing_key.get(), now);
      EXPECT_TRUE(made.has_value()) << made.error().what;
      static_cast<void>(made->text());
    }
    states_ += processor_seconds() - before;
  }
  void receive(const std::string& cluster, const std::string& text, Instant now) {
    const double before = processor_seconds();
    service_->receive_standing(cluster, read_statement(text, std::as_const(*service_).consortium().find(cluster)->key),
                               now);
    receives_ += processor_seconds() - before;
    const Consortium::Cluster* known = std::as_const(*service_).consortium().find(cluster);
    EXPECT_EQ(known->fault, "");
  }

  [[nodiscard]] double ticks() const { return ticks_; }
  [[nodiscard]] double states() const { return states_; }
  [[nodiscard]] double receives() const { return receives_; }
  // What the ledger has grown by.
  [[nodiscard]] std::int64_t grown() const { return bytes() - began_with_; }
  [[nodiscard]] std::string recorded() const {
    return rows_of(service_->books().ledger(), "SELECT count(*) FROM events WHERE kind = 'standing_received'")[0];
  }

 private:
  static std::string account(int number) { return "account" + std::to_string(number); }

  // Each organization runs on the node of another one.
  void see(const Size& size) {
    protocol::Hello hello = feeder_hello(1);
    hello.cluster = cluster_name(0);
    EXPECT_TRUE(service_->cluster().admit(hello, false, Instant{k_begin}).has_value());
    service_->begin_session(hello, Instant{k_begin});
    protocol::Observations o;
    o.sequence = 2;
    o.observed_at = k_begin;
    for (int i = 0; i < size.organizations; ++i) {
      o.nodes.push_back(node_record("n" + std::to_string(i)));
      o.jobs.push_back(running({.id = static_cast<std::uint32_t>(i + 1),
                                .account = account(i),
                                .node = "n" + std::to_string((i + 1) % size.organizations),
                                .cpus = 1U + static_cast<std::uint32_t>(i % 8),
                                .start = k_begin}));
    }
    service_->receive(protocol::SnapshotBegin{1, k_begin}, Instant{k_begin});
    service_->receive(std::move(o), Instant{k_begin});
    service_->receive(protocol::SnapshotEnd{3, k_begin}, Instant{k_begin});
    service_->process(Instant{k_begin});
  }
  [[nodiscard]] std::int64_t bytes() const {
    const auto pages =
        rows_of(service_->books().ledger(), "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
    return std::stoll(pages[0]);
  }

  TempDirectory directory_;
  Site site_;
  std::unique_ptr<Service> service_;
  std::int64_t began_with_ = 0;
  double ticks_ = 0;
  double states_ = 0;
  double receives_ = 0;
};

void measure(const Size& size) {
  std::vector<std::unique_ptr<Other>> others;
  for (int i = 1; i < size.clusters; ++i) others.push_back(std::make_unique<Other>(i, size));
  Measured in(size, others);
  Measured alone(size, {});
  const std::int64_t seconds = size.hours * std::int64_t{3600};
  for (std::int64_t t = 1; t <= seconds; ++t) {
    const Instant now{k_begin + t};
    in.tick(now);
    alone.tick(now);
    // The others are asked one after the other within the minute.
    const auto asked = static_cast<std::size_t>(t % k_minute);
    for (std::size_t i = asked; i < others.size(); i += k_minute)
      in.receive(others[i]->name(), others[i]->next(now), now);
    if (asked == 0) in.state(others.size(), now);
  }
  const auto percent = [&](double spent) { return 100 * spent / static_cast<double>(seconds); };
  const double ticks = std::max(0.0, in.ticks() - alone.ticks());
  std::printf(
      "%d clusters, %d organizations, processor time: %.2f %% of a core; statements read %.2f, own ones %.2f, ranks "
      "%.2f\n",
      size.clusters, size.organizations, percent(in.receives() + in.states() + ticks), percent(in.receives()),
      percent(in.states()), percent(ticks));
  std::printf("%d clusters, %d organizations, ledger: %.0f bytes a second, %s statements in %d h\n", size.clusters,
              size.organizations, static_cast<double>(in.grown() - alone.grown()) / static_cast<double>(seconds),
              in.recorded().c_str(), size.hours);
}

}  // namespace
}  // namespace shapley::daemon

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  spdlog::set_level(spdlog::level::warn);
  shapley::daemon::Size size{20, 50, 6};
  if (argc > 1) size.clusters = std::stoi(argv[1]);
  if (argc > 2) size.organizations = std::stoi(argv[2]);
  if (argc > 3) size.hours = std::stoi(argv[3]);
  shapley::daemon::measure(size);
  return testing::Test::HasFailure() ? 1 : 0;
}
