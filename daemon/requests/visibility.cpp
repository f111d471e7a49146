#include "daemon/requests/visibility.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/int128.hpp"
#include "base/types.hpp"
#include "ledger/reports/report.hpp"

namespace shapley::daemon {

namespace {

using nlohmann::json;

// Of each the sum of what the rows say.
constexpr std::array k_amounts{"got", "own", "borrowed"};

bool is_visible(const json& row, const Visibility& visible) {
  return visible.sees_usage(row.at("user_id").get<std::uint32_t>(), row.at("account").get_ref<const std::string&>());
}

// The inverse of ledger::format_micro, for what a report holds.
Int128 micro_of(const std::string& decimal) {
  const std::size_t point = std::min(decimal.find('.'), decimal.size());
  const std::string digits = decimal.substr(0, point);
  std::string fraction = point < decimal.size() ? decimal.substr(point + 1) : std::string();
  constexpr std::size_t k_places = 6;
  fraction.resize(k_places, '0');
  return parse_int128(digits + fraction).value_or(0);
}

json sum_of(const std::vector<json>& rows) {
  json sum{{"account", nullptr}, {"user_id", nullptr}};
  for (const char* amount : k_amounts) {
    CpuTime all;
    for (const json& row : rows)
      all += CpuTime{micro_of(row.at(amount).at("processor_seconds").get_ref<const std::string&>())};
    sum[amount] = {{"core_hours", ledger::core_hours(all)}, {"processor_seconds", ledger::format_micro(all.value)}};
  }
  return sum;
}

}  // namespace

Visibility Visibility::of(const std::optional<protocol::Privacy>& privacy, std::uint32_t user_id) {
  Visibility visible;
  if (privacy && !privacy->jobs && !privacy->usage) return visible;
  ledger::JobsViewer viewer{.user_id = user_id, .accounts = {}};
  if (privacy) {
    const auto user = std::ranges::lower_bound(privacy->users, user_id, {}, &protocol::PrivilegedUser::user_id);
    if (user != privacy->users.end() && user->user_id == user_id) {
      if (user->is_operator) return visible;
      viewer.accounts = user->accounts;
    }
  }
  if (!privacy || privacy->jobs) visible.jobs_ = viewer;
  visible.usage_ = std::move(viewer);
  return visible;
}

Error no_visible_job(std::string_view name) {
  return {
      Errc::invalid_argument,
      fmt::format("job {} is not in the ledger, or it is another user's: jobs are private here (PrivateData)", name)};
}

void hide_users(json& report, const Visibility& visible) {
  if (visible.sees_all_usage() || !report.contains("organizations")) return;
  for (json& organization : report["organizations"]) {
    if (!organization.contains("users")) continue;
    report["private"] = true;
    json shown = json::array();
    std::vector<json> hidden;
    for (json& row : organization["users"]) {
      if (is_visible(row, visible)) {
        shown.push_back(std::move(row));
      } else {
        hidden.push_back(std::move(row));
      }
    }
    if (!hidden.empty()) shown.push_back(sum_of(hidden));
    organization["users"] = std::move(shown);
  }
}

void hide_adjusted_runs(json& report, const Visibility& visible) {
  if (visible.sees_all_jobs() || !report.contains("adjustments")) return;
  for (json& adjustment : report["adjustments"]) {
    if (adjustment.contains("work")) adjustment["work"] = nullptr;
    if (adjustment["kind"] == "attribute") adjustment["what"] = "runs that are private here";
    if (adjustment["kind"] == "reverse") {
      adjustment["what"] = "adjustment " + adjustment["reverses"].dump() + " does not hold";
    }
  }
}

}  // namespace shapley::daemon
