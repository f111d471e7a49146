#include "exporter/users.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>

#include "exporter/samples.hpp"
#include "reports/requests.hpp"

namespace shapley::exporter {

namespace {

using ledger::AccountReport;
using ledger::StatusReport;
using prometheus::MetricFamily;
using prometheus::MetricType;

void got_by_user(const Status& status, MetricFamily& family) {
  if (!status.users) return;
  std::set<std::string> listed;  // --top leaves the others out
  for (const ledger::OrganizationRow& row : status.report.organizations) listed.insert(row.is.name);
  for (const ChosenUsers::Row& row : status.users->rows) {
    if (!listed.contains(row.organization)) continue;
    add(family, row.got, {{"organization", row.organization}, {"account", row.account}, {"user", row.user}});
  }
}

template <typename Type>
Fill of_users(Type ChosenUsers::*member) {
  return figure(
      [=](const Status& status) { return status.users ? std::optional<Type>((*status.users).*member) : std::nullopt; });
}

// The statement of the period so far; nullopt: the period begins now, or PrivateData hides users.
Expected<std::optional<AccountReport>> ask_statement(const rpc_client::Endpoint& endpoint) {
  SHAPLEY_TRY_ASSIGN(rpc_client::Client client, rpc_client::Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(const nlohmann::json answer, client.ask(ledger::request_of(ledger::StatusRequest{})));
  SHAPLEY_TRY_ASSIGN(const Status status, read_status(answer));
  const StatusReport& now = status.report;
  if (hides_users(now) || !now.period.begin.is_known() || now.period.begin >= now.at) return std::nullopt;
  const ledger::StatementRequest request{.of = {.since = now.period.begin}};
  SHAPLEY_TRY_ASSIGN(const nlohmann::json statement, client.ask(ledger::request_of(request)));
  auto report = from_json<AccountReport>(statement);
  if (!report) return with_context("statement", report.error());
  return std::optional(*std::move(report));
}

}  // namespace

std::vector<Metric> user_metrics() {
  return {
      {"shapley_user_got_core_seconds", MetricType::Gauge, "organization, account, user",
       "Work of this user's jobs under this account this period; only with --users", got_by_user},
      {"shapley_users", MetricType::Gauge, "",
       "Users by account that got something this period, those that --users leaves out, too",
       of_users(&ChosenUsers::count)},
      {"shapley_users_left_out", MetricType::Gauge, "",
       "How many of them --users leaves out: 0, unless its bound is reached", of_users(&ChosenUsers::left_out)},
      {"shapley_users_timestamp_seconds", MetricType::Gauge, "", "The instant that the figures of users are of",
       of_users(&ChosenUsers::at)},
  };
}

bool hides_users(const StatusReport& status) {
  if (!status.daemon) return true;
  const protocol::PrivacyReport& hidden = status.daemon->privacy;
  return hidden.jobs.value_or(true) || hidden.usage.value_or(true);
}

ChosenUsers chosen_users(const AccountReport& statement, std::size_t most) {
  // Users of one name are one time series: Prometheus refuses a page that has the same one twice.
  std::map<std::tuple<std::string, std::string, std::string>, double> sums;
  for (const ledger::AccountRow& organization : statement.organizations) {
    for (const ledger::UserRow& row : organization.users) {
      const double got = from_micro(row.got.work.value);
      if (!row.account || !row.user_id || got <= 0) continue;
      sums[{organization.name, *row.account, row.user}] += got;
    }
  }
  ChosenUsers users{.at = statement.of.until, .count = sums.size()};
  for (const auto& [who, got] : sums) {
    const auto& [organization, account, user] = who;
    users.rows.push_back({.organization = organization, .account = account, .user = user, .got = got});
  }
  std::ranges::stable_sort(users.rows, std::ranges::greater(), &ChosenUsers::Row::got);
  users.rows.resize(std::min(users.count, most));
  users.left_out = users.count - users.rows.size();
  return users;
}

UserFigures::UserFigures(rpc_client::Endpoint endpoint, std::size_t most)
    : stop_(::eventfd(0, EFD_CLOEXEC)), endpoint_(std::move(endpoint)), most_(most) {
  endpoint_.wake_up = stop_.get();
}

UserFigures::~UserFigures() {
  ::eventfd_write(stop_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

void UserFigures::ask() {
  const auto statement = ask_statement(endpoint_);
  Latest latest{.figures = {}, .state = "users are exported"};
  if (!statement) latest.state = "no figures of users: " + statement.error().what;
  if (statement && *statement) latest.figures = chosen_users(**statement, most_);
  const MutexLock lock(mutex_);
  latest_ = std::move(latest);
}

void UserFigures::ask_every(std::chrono::seconds interval) {
  thread_ = std::thread([this, interval] {
    while (true) {
      ask();
      pollfd stop{.fd = stop_.get(), .events = POLLIN, .revents = 0};
      const auto wait = std::chrono::milliseconds(interval);
      if (::poll(&stop, 1, static_cast<int>(wait.count())) != 0) return;
    }
  });
}

UserFigures::Latest UserFigures::latest(const StatusReport& status) const {
  if (hides_users(status))
    return {std::nullopt, "no user is exported: PrivateData in slurm.conf hides jobs or usage, or is not known yet"};
  const MutexLock lock(mutex_);
  return latest_;
}

}  // namespace shapley::exporter
