#include "ctl/slurm/place.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/text.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// Slurm tries equal priorities by number, and an array's record after the tasks that have records of their own.
auto turn_of(const PendingRecord& record) {
  return std::tuple(-record.priority, record.array, record.is_rest, record.job);
}

struct Demand {
  std::int64_t jobs = 0;
  std::int64_t processors = 0;
};

// How many processors `other` may start before a job of `own` that has `cum` processors of its own organization before
// it, as the plugin's line has it (plugin/client/places/serving_line.hpp).
std::int64_t may_start(const json& other, const json& own, std::int64_t cum) {
  const auto lacking = std::max<std::int64_t>(0, other["lacking"].get<std::int64_t>());
  const std::int64_t by_lead =
      std::max<std::int64_t>(0, other["lead"].get<std::int64_t>() - own["lead"].get<std::int64_t>() + cum);
  const bool is_below = cum < own["lacking"].get<std::int64_t>();
  return is_below ? std::min(by_lead, lacking) : std::max(by_lead, lacking);
}

json leads_before(const json& rows, const std::string& organization, std::int64_t cum) {
  json leads = json::array();
  const json* own = nullptr;
  double all = 0;
  for (const json& row : rows) {
    all += row["owned"].get<double>();
    if (row["name"] == organization) own = &row;
  }
  const auto has_lead = [](const json& row) {
    return row.value("lead", json()).is_number_integer() && row.value("lacking", json()).is_number_integer();
  };
  if (own == nullptr || !has_lead(*own)) return leads;
  for (const json& row : rows) {
    if (&row == own || !has_lead(row) || row["waiting_jobs"] == 0) continue;
    const std::int64_t processors = may_start(row, *own, cum);
    if (processors == 0) continue;
    leads.push_back({{"organization", row["name"]},
                     {"processors", static_cast<double>(processors) > all ? json(nullptr) : json(processors)}});
  }
  return leads;
}

}  // namespace

Expected<std::vector<PendingRecord>> pending_records(const ProgramRunner& run) {
  SHAPLEY_TRY_ASSIGN(const std::string output,
                     run({"squeue", "--noheader", "--all", "--states=PENDING", "--format=%A|%F|%K|%Q"}));
  std::vector<PendingRecord> records;
  for (const std::string_view line : split(output, '\n')) {
    const std::vector<std::string_view> cells = split(line, '|');
    PendingRecord record;
    if (cells.size() != 4 || !read_number(trimmed(cells[0]), record.job) ||
        !read_number(trimmed(cells[1]), record.array) || !read_number(trimmed(cells[3]), record.priority))
      continue;
    std::uint32_t task = 0;
    record.is_rest = trimmed(cells[2]) != "N/A" && !read_number(trimmed(cells[2]), task);
    records.push_back(record);
  }
  return records;
}

json place_not_known(const std::string& why) {
  return {{"known", false}, {"why", why}};
}

json place_of(std::uint32_t job, const std::string& organization, const std::vector<PendingRecord>& records,
              const json& queue, const json& rows) {
  std::unordered_map<std::uint32_t, const json*> startable;
  for (const json& each : queue["jobs"]) startable.emplace(each["job"].get<std::uint32_t>(), &each);
  const auto itself = std::ranges::find(records, job, &PendingRecord::job);
  if (!startable.contains(job) && queue.value("truncated", false))
    return place_not_known("so many jobs wait that the daemon lists only those of the lowest numbers");
  if (!startable.contains(job)) return place_not_known("it is not in the daemon's queue of jobs that could start");
  if (itself == records.end()) return place_not_known("squeue does not list it among those that wait");

  std::map<std::string, Demand> before;
  std::int64_t position = 1;
  std::int64_t all = 0;
  for (const PendingRecord& record : records) {
    const auto found = startable.find(record.job);
    if (found == startable.end()) continue;
    const auto tasks = (*found->second)["tasks"].get<std::int64_t>();
    all += tasks;
    if (turn_of(record) >= turn_of(*itself)) continue;
    position += tasks;
    Demand& demand = before[(*found->second)["organization"].get<std::string>()];
    demand.jobs += tasks;
    demand.processors += tasks * (*found->second)["processors"].get<std::int64_t>();
  }
  json told = json::array();
  for (const auto& [name, demand] : before)
    told.push_back({{"organization", name}, {"jobs", demand.jobs}, {"processors", demand.processors}});
  std::stable_sort(told.begin(), told.end(), [](const json& a, const json& b) { return a["jobs"] > b["jobs"]; });
  return {{"known", true},
          {"position", position},
          {"of", all},
          {"truncated", queue.value("truncated", false)},
          {"before", std::move(told)},
          {"leads", leads_before(rows, organization, before[organization].processors)}};
}

}  // namespace shapley::ctl
