#include "ledger/reports/compare_report.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/int128.hpp"
#include "ledger/reports/explain_report.hpp"
#include "ledger/reports/report.hpp"

namespace shapley::ledger {

namespace {

using accounting::Outlook;
using nlohmann::json;

std::optional<std::size_t> course_of(const accounting::State& state, const Outlook& outlook,
                                     const std::string& organization) {
  const auto id = state.find_organization(organization);
  if (!id) return std::nullopt;
  const auto found = std::ranges::find(outlook.courses, *id, &accounting::Course::organization);
  if (found == outlook.courses.end()) return std::nullopt;
  return static_cast<std::size_t>(found - outlook.courses.begin());
}

// Of the guarantee nothing is left: keys alone order.
Outlook without_guarantee(Outlook outlook) {
  for (accounting::Course& course : outlook.courses) course.below_guarantee = false;
  return outlook;
}

// The last instant of [outlook.at, end) since which the present order has held; `last` becomes the order at its end.
void follow(const Outlook& outlook, std::size_t a, std::size_t b, Instant end, std::optional<bool>& last,
            Instant& since) {
  const bool at_first = accounting::goes_first(outlook, a, b, Duration{0});
  if (last != at_first) since = outlook.at;
  last = at_first;
  for (const Instant turn : accounting::turns(outlook, a, b)) {
    if (turn >= end) break;
    since = turn;
    last = !*last;
  }
}

// Nothing runs: what was done by now orders.
Outlook without_what_runs(Outlook outlook) {
  outlook.terms.running_factor = 0;
  return outlook;
}

json forecast_limits(const Moment& moment) {
  json report{{"report_version", k_report_version},
              {"contribution", moment.status["contribution"]},
              {"ranked_by", moment.status["ranked_by"]},
              {"ranking", moment.status["ranking"]},
              {"by_date", moment.outlook.by_date}};
  add_instant(report, "at", moment.at);
  add_instant(report, "until", moment.outlook.until);
  return report;
}

json organization_side(const Moment& moment, const Side& side) {
  const json row = moment.row(side.organization);
  json out{{"organization", side.organization}, {"job", side.job}};
  for (const char* member :
       {"rank", "standing_core_hours", "sentence", "key", "key_core_hours", "below_guarantee", "lacking", "gives",
        "owned", "used", "lent", "borrowed", "waiting", "running_jobs", "waiting_jobs"}) {
    out[member] = row.is_null() ? json(nullptr) : row[member];
  }
  return out;
}

}  // namespace

json forecast_report(const Moment& moment) {
  const Outlook& outlook = moment.outlook;
  const auto name = [&](std::size_t course) { return moment.names[outlook.courses[course].organization.value]; };
  json turns = json::array();
  std::size_t pairs = 0;
  for (std::size_t a = 0; a < outlook.courses.size(); ++a) {
    for (std::size_t b = a + 1; b < outlook.courses.size(); ++b) {
      ++pairs;
      bool a_is_first = accounting::goes_first(outlook, a, b, Duration{0});
      for (const Instant turn : accounting::turns(outlook, a, b)) {
        a_is_first = !a_is_first;
        json row{{"first", name(a_is_first ? a : b)}, {"then", name(a_is_first ? b : a)}};
        row["in_s"] = (turn - moment.at).value;
        add_instant(row, "at", turn);
        turns.push_back(std::move(row));
      }
    }
  }
  std::stable_sort(turns.begin(), turns.end(), [](const json& a, const json& b) { return a["at"] < b["at"]; });
  json rows = json::array();
  for (const std::size_t course : accounting::order_after(outlook, Duration{0})) {
    const json row = moment.row(name(course));
    json out;
    for (const char* member : {"name", "rank", "standing_core_hours", "key_core_hours", "below_guarantee"}) {
      out[member] = row[member];
    }
    // Core-hours that it gives more than it gets, each hour.
    out["rate"] = static_cast<double>(outlook.courses[course].rate_less_used.value) / static_cast<double>(k_micro);
    rows.push_back(std::move(out));
  }
  json report = forecast_limits(moment);
  report["organizations"] = std::move(rows);
  report["pairs"] = pairs;
  report["turns"] = std::move(turns);
  return report;
}

void PairWatch::watch(accounting::State& books, Instant next) {
  // What is declared of all times ("this node is physics'") stands at the beginning of time, where nothing happens.
  if (books.period_begin() == k_beginning_of_time) return;
  const accounting::EstimatorId estimator = ranking_estimator(books);
  for (Instant t = std::max(books.now(), books.period_begin()); t < next;) {
    const Outlook outlook = accounting::outlook(books, t, estimator);
    const Instant end = std::min(next, outlook.until);
    const auto a = course_of(books, outlook, a_);
    const auto b = course_of(books, outlook, b_);
    if (a && b && *a != *b) {
      if (!history_) history_ = PairHistory{t, t};
      std::optional<bool> order = last_ ? std::optional(last_->order) : std::nullopt;
      std::optional<bool> keys = last_ ? std::optional(last_->keys) : std::nullopt;
      follow(outlook, *a, *b, end, order, history_->order);
      follow(without_guarantee(outlook), *a, *b, end, keys, history_->keys);
      last_ = Standing{*order, *keys};
    }
    t = end;
  }
}

Expected<std::optional<PairHistory>> pair_history(const Ledger& ledger, const PastQuestion& question,
                                                  const std::string& a, const std::string& b) {
  PairWatch watch(a, b);
  SHAPLEY_TRY(books_then(ledger, question, [&](accounting::State& books, Instant next) { watch.watch(books, next); }));
  return watch.history();
}

Expected<Side> side_of(const Moment& moment, const Ledger& ledger, const std::string& name, QueryBudget budget) {
  if (moment.course(name) < moment.outlook.courses.size()) return Side{name, nullptr};
  const auto job = parse_job_name(name);
  if (!job) {
    std::string known;
    for (const json& row : moment.status["organizations"]) {
      if (!row["rank"].is_null()) known += (known.empty() ? "" : ", ") + row["name"].get<std::string>();
    }
    return fail(Errc::invalid_argument,
                "'" + name + "' is no organization with a rank (" + known + ") and no job (4711, 4711_3, or 4711+1)");
  }
  SHAPLEY_TRY_ASSIGN(json described, job_at(moment, ledger, *job, budget));
  return Side{described["organization"].get<std::string>(), std::move(described)};
}

json compare_report(const Moment& moment, const Side& a, const Side& b, const std::optional<PairHistory>& history) {
  const Outlook& outlook = moment.outlook;
  json report = forecast_limits(moment);
  report["past"] = moment.is_past;
  report["sides"] = {organization_side(moment, a), organization_side(moment, b)};
  report["same_organization"] = a.organization == b.organization;
  report["period_begin"] = moment.status["period"]["begin"];
  for (const char* member : {"first", "because", "by_what_runs", "difference", "difference_core_hours",
                             "turning_processors", "turning_core_hours"}) {
    report[member] = nullptr;
  }
  report["turns"] = json::array();
  report["since"] = nullptr;
  const std::size_t one = moment.course(a.organization);
  const std::size_t two = moment.course(b.organization);
  if (one == two || std::max(one, two) >= outlook.courses.size()) return report;

  const bool a_is_first = accounting::goes_first(outlook, one, two, Duration{0});
  const std::size_t first = a_is_first ? one : two;
  const std::size_t second = a_is_first ? two : one;
  const Utility difference{accounting::key_after(outlook, first, Duration{0}).value -
                           accounting::key_after(outlook, second, Duration{0}).value};
  const json& ahead = report["sides"][a_is_first ? 0 : 1];
  const json& behind = report["sides"][a_is_first ? 1 : 0];
  report["first"] = ahead["organization"];
  if (ahead["below_guarantee"] != behind["below_guarantee"]) {
    report["because"] = "guarantee";
  } else {
    report["because"] = difference.value == 0 ? "order" : "key";
  }
  report["by_what_runs"] =
      report["because"] == "key" && accounting::goes_first(without_what_runs(outlook), second, first, Duration{0});
  report["difference"] = format_micro(difference.value);
  report["difference_core_hours"] = ahead["key_core_hours"].get<double>() - behind["key_core_hours"].get<double>();
  if (outlook.terms.running_factor > 0) {
    const Int128 processor = Int128{outlook.terms.running_factor} * k_micro;
    report["turning_processors"] = static_cast<std::int64_t>(
        std::min<Int128>(floor_of_quotient(difference.value, processor), accounting::k_longest_lead));
  }
  if (outlook.terms.horizon.value > 0) {
    report["turning_core_hours"] = static_cast<double>(difference.value) / static_cast<double>(k_micro) /
                                   static_cast<double>(outlook.terms.horizon.value) / 3600.0;
  }
  bool is_a = a_is_first;
  for (const Instant turn : accounting::turns(outlook, one, two)) {
    is_a = !is_a;
    json row{{"first", is_a ? a.organization : b.organization}};
    add_instant(row, "at", turn);
    report["turns"].push_back(std::move(row));
  }
  if (history) {
    json since;
    add_instant(since, "order", history->order);
    add_instant(since, "keys", history->keys);
    report["since"] = std::move(since);
  }
  return report;
}

}  // namespace shapley::ledger
