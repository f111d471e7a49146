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

namespace shapley::exporter {

namespace {

using nlohmann::json;
using prometheus::MetricFamily;
using prometheus::MetricType;

void got_by_user(const Status& status, MetricFamily& family) {
  std::set<std::string> listed;  // --top leaves the others out
  for (const json& row : at(status.report, "/organizations")) listed.insert(text_at(row, "/name"));
  for (const json& row : at(status.report, "/users/rows")) {
    const auto got = number(at(row, "/got"));
    if (got && listed.contains(text_at(row, "/organization"))) {
      add(family, *got,
          {{"organization", text_at(row, "/organization")},
           {"account", text_at(row, "/account")},
           {"user", text_at(row, "/user")}});
    }
  }
}

// The statement of the period so far; null: the period begins now, or PrivateData hides users.
Expected<json> ask_statement(const rpc_client::Endpoint& endpoint) {
  SHAPLEY_TRY_ASSIGN(rpc_client::Client client, rpc_client::Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(const json status, client.ask({{"request", "status"}}));
  const auto now = number(at(status, "/at"));
  const json begin = at(status, "/period/begin");
  if (hides_users(status) || !begin.is_number_integer() || !now || begin.get<double>() >= *now) return json();
  return client.ask({{"request", "statement"}, {"since", begin}});
}

}  // namespace

std::vector<Metric> user_metrics() {
  return {
      {"shapley_user_got_core_seconds", MetricType::Gauge, "organization, account, user",
       "Work of this user's jobs under this account this period; only with --users", got_by_user},
      {"shapley_users", MetricType::Gauge, "",
       "Users by account that got something this period, those that --users leaves out, too",
       in_report("/users/count")},
      {"shapley_users_left_out", MetricType::Gauge, "",
       "How many of them --users leaves out: 0, unless its bound is reached", in_report("/users/left_out")},
      {"shapley_users_timestamp_seconds", MetricType::Gauge, "", "The instant that the figures of users are of",
       in_report("/users/at")},
  };
}

bool hides_users(const json& status) {
  return at(status, "/daemon/privacy/jobs") != json(false) || at(status, "/daemon/privacy/usage") != json(false);
}

json chosen_users(const json& statement, std::size_t most) {
  // Users of one name are one time series: Prometheus refuses a page that has the same one twice.
  std::map<std::tuple<std::string, std::string, std::string>, double> sums;
  for (const json& organization : at(statement, "/organizations")) {
    for (const json& row : at(organization, "/users")) {
      const json account = at(row, "/account");
      const auto got = number(at(row, "/got/processor_seconds"));
      if (!account.is_string() || !at(row, "/user_id").is_number_integer() || !got || *got <= 0) continue;
      sums[{text_at(organization, "/name"), account.get<std::string>(), text_at(row, "/user")}] += *got;
    }
  }
  std::vector<std::pair<double, Labels>> users;
  for (const auto& [who, got] : sums) {
    const auto& [organization, account, user] = who;
    users.push_back({got, {{"organization", organization}, {"account", account}, {"user", user}}});
  }
  std::ranges::stable_sort(users, std::ranges::greater(), &std::pair<double, Labels>::first);
  const std::size_t count = users.size();
  users.resize(std::min(count, most));
  json rows = json::array();
  for (const auto& [got, labels] : users) {
    json& row = rows.emplace_back(json{{"got", got}});
    for (const auto& label : labels) row[label.name] = label.value;
  }
  return {
      {"at", at(statement, "/until")}, {"count", count}, {"left_out", count - users.size()}, {"rows", std::move(rows)}};
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
  const Expected<json> statement = ask_statement(endpoint_);
  Latest latest{.figures = {}, .state = "users are exported"};
  if (!statement) latest.state = "no figures of users: " + statement.error().what;
  if (statement && statement->is_object()) latest.figures = chosen_users(*statement, most_);
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

UserFigures::Latest UserFigures::latest(const json& status) const {
  if (hides_users(status))
    return {json(), "no user is exported: PrivateData in slurm.conf hides jobs or usage, or is not known yet"};
  const MutexLock lock(mutex_);
  return latest_;
}

}  // namespace shapley::exporter
