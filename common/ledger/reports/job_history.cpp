#include "ledger/reports/job_history.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "ledger/reports/report.hpp"
#include "ledger/store/query.hpp"

namespace shapley::ledger {

namespace {

using nlohmann::json;
using Row = std::vector<std::string>;

std::string name_of(const Moment& moment, const std::string& organization) {
  return organization.empty() ? std::string(accounting::k_guests) : moment.row_name(organization);
}

// The last run of a submission.
struct LastRun {
  Instant start;
  std::int64_t first_event = 0;
  std::optional<Instant> released;
  std::optional<Instant> end;  // nullopt: it goes on
  Duration held;               // of the segments that have ended
  MicroProcessors processors;
};

Expected<std::optional<LastRun>> last_run(const Ledger& ledger, const json& job, QueryBudget budget) {
  const std::string of_job = "s.job = " + job["job"].dump() + " AND s.kind = 0 AND s.retracted IS NULL";
  SHAPLEY_TRY_ASSIGN(
      const auto rows,
      query(ledger,
            "SELECT o.at, c.at, o.processors, o.released, s.opened, s.anchor FROM segment_events s "
            "JOIN event_rows o ON o.seq = s.opened LEFT JOIN event_rows c ON c.seq = s.closed WHERE " +
                of_job + " AND s.anchor >= " + job["submit"].dump() +
                " AND s.anchor = (SELECT MAX(s.anchor) FROM segment_events s WHERE " + of_job + ") ORDER BY o.at",
            budget));
  if (rows.empty()) return std::nullopt;
  LastRun run{.start = Instant{integer_of(rows.front()[5]).value_or(0)},
              .first_event = integer_of(rows.front()[4]).value_or(0),
              .released = std::nullopt,
              .end = std::nullopt,
              .held = {},
              .processors = {}};
  if (const auto released = integer_of(rows.front()[3])) run.released = Instant{*released};
  for (const Row& row : rows) {
    const auto end = integer_of(row[1]);
    run.end = end ? std::optional(Instant{*end}) : std::nullopt;
    if (end) run.held = run.held + Duration{*end - integer_of(row[0]).value_or(*end)};
    run.processors = std::max(run.processors, MicroProcessors{integer_of(row[2]).value_or(0)});
  }
  return run;
}

// Runs that began from `since` on and were recorded before this one, or a little later: one look at the cluster sees
// several starts, in any order.
std::string earlier_starts(const LastRun& run, Instant since, const json& job) {
  constexpr std::int64_t k_of_one_look = 10'000;
  const std::string array = job["array_job"].is_number_integer() ? "," + job["array_job"].dump() : "";
  const std::string own = std::to_string(run.first_event);
  const std::string start = std::to_string(run.start.value);
  return " FROM event_rows e JOIN segment_events s ON s.job = e.job AND s.anchor = e.anchor AND s.kind = 0 AND "
         "s.ordinal = e.ordinal JOIN words w ON w.word = e.organization WHERE e.kind = 2 AND s.retracted IS NULL AND "
         "e.anchor = e.at AND e.at >= " +
         std::to_string(since.value) + " AND (e.at < " + start + " OR (e.at = " + start + " AND e.seq < " + own +
         ")) AND e.job <> " + job["job"].dump() + " AND e.seq < " + own + " + " + std::to_string(k_of_one_look) +
         " AND e.seq > (SELECT COALESCE(MIN(seq), " + own + ") FROM event_jobs WHERE job IN (" + job["job"].dump() +
         array + ") AND submit = " + job["submit"].dump() + ")";
}

Expected<json> started_meanwhile(const Moment& moment, const Ledger& ledger, const std::string& earlier,
                                 QueryBudget budget) {
  SHAPLEY_TRY_ASSIGN(
      const auto sums,
      query(ledger, "SELECT w.text, COUNT(*), SUM(e.processors)" + earlier + " GROUP BY w.text ORDER BY 2 DESC, 1",
            budget));
  SHAPLEY_TRY_ASSIGN(const auto last,
                     query(ledger,
                           "SELECT w.text, e.job, e.at, e.processors" + earlier +
                               " ORDER BY e.at DESC, e.seq DESC LIMIT " + std::to_string(k_listed_earlier_starts),
                           budget));
  json organizations = json::array();
  for (const Row& row : sums) {
    organizations.push_back({{"organization", name_of(moment, row[0])},
                             {"jobs", integer_of(row[1]).value_or(0)},
                             {"processors", processor_count({integer_of(row[2]).value_or(0)})}});
  }
  json jobs = json::array();
  for (const Row& row : last) {
    json start{{"job", integer_of(row[1]).value_or(0)},
               {"organization", name_of(moment, row[0])},
               {"processors", processor_count({integer_of(row[3]).value_or(0)})}};
    add_instant(start, "begin", Instant{integer_of(row[2]).value_or(0)});
    jobs.push_back(std::move(start));
  }
  return json{{"organizations", std::move(organizations)}, {"last", std::move(jobs)}};
}

}  // namespace

Expected<json> job_history(const Moment& moment, const Ledger& ledger, const json& job, QueryBudget budget) {
  SHAPLEY_TRY_ASSIGN(const std::optional<LastRun> run, last_run(ledger, job, budget));
  if (!run) return json(nullptr);
  json history{{"processors", processor_count(run->processors)},
               {"held_s", run->held.value},
               {"waited_s", run->released ? json((run->start - *run->released).value) : json(nullptr)},
               {"meanwhile", nullptr}};
  add_instant(history, "begin", run->start);
  add_instant(history, "end", run->end.value_or(k_end_of_time));
  add_instant(history, "waited_since", run->released.value_or(k_end_of_time));
  if (!run->released || *run->released == run->start) return history;
  auto meanwhile = started_meanwhile(moment, ledger, earlier_starts(*run, *run->released, job), budget);
  if (!meanwhile && meanwhile.error().code != Errc::limit) return meanwhile;
  if (meanwhile) history["meanwhile"] = *std::move(meanwhile);
  return history;
}

}  // namespace shapley::ledger
