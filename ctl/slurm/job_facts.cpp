#include "ctl/slurm/job_facts.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/text.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

json number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return number;
  return nullptr;
}

json text_or_null(const std::string& text) {
  return text.empty() || text == "N/A" || text == "(null)" ? json(nullptr) : json(text);
}

// Rows of as many cells as there are members.
template <std::size_t N>
json rows_of(const std::string& output, const std::array<const char*, N>& members) {
  json rows = json::array();
  for (const std::string_view line : split(output, '\n')) {
    const std::vector<std::string_view> cells = split(line, '|');
    if (cells.size() != N) continue;
    json row;
    for (std::size_t i = 0; i < N; ++i) row[members[i]] = trimmed(cells[i]);
    rows.push_back(std::move(row));
  }
  return rows;
}

json job_of(json row) {
  for (const char* member : {"priority", "nice"}) row[member] = number_in(row[member].get<std::string>());
  for (const char* member : {"reason", "dependency", "reservation", "start"}) {
    row[member] = text_or_null(row[member].get<std::string>());
  }
  return row;
}

// Of an array's id squeue lists every task that it knows; the pending rest is the one that was meant.
json chosen_job(const json& rows) {
  const json* chosen = nullptr;
  for (const json& row : rows) {
    if (chosen == nullptr || ((*chosen)["state"] != "PENDING" && row["state"] == "PENDING")) chosen = &row;
  }
  return chosen == nullptr ? json(nullptr) : job_of(*chosen);
}

json parts_of(const Expected<std::string>& output) {
  if (!output) return nullptr;
  json parts = rows_of(*output, std::array{"id", "partition", "priority", "site", "age", "assoc", "fairshare",
                                           "jobsize", "part_weight", "qos", "nice", "tres"});
  json out = json::array();
  for (json& row : parts) {
    if (row["id"] != parts[0]["id"]) continue;  // of an array the first line: all its tasks have the same parts
    for (const char* member :
         {"priority", "site", "age", "assoc", "fairshare", "jobsize", "part_weight", "qos", "nice"}) {
      row[member] = number_in(row[member].get<std::string>());
    }
    row.erase("id");
    row["tres"] = text_or_null(row["tres"].get<std::string>());
    out.push_back(std::move(row));
  }
  return out;
}

// "cpu=1000,gres/gpu=5000": what the numbers sum up to, as the plugin sums them.
double weights_sum(std::string_view text) {
  double sum = 0;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string number(equals == std::string_view::npos ? "0" : part.substr(equals + 1));
    const double weight = std::strtod(number.c_str(), nullptr);
    if (std::isfinite(weight) && weight > 0) sum += weight;
  }
  return sum;
}

json weights_of(const Expected<std::string>& output) {
  if (!output) return nullptr;
  double others = 0;
  json weights{{"type", nullptr}, {"bounded", true}};
  for (const std::string_view line : split(*output, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = trimmed(line.substr(0, equals));
    const std::string value(trimmed(line.substr(equals + 1)));
    if (key == "PriorityType") weights["type"] = value;
    if (key == "PriorityFlags" && value.find("NO_NORMAL") != std::string::npos) weights["bounded"] = false;
    if (key == "PriorityWeightTRES") {
      others += weights_sum(value);
    } else if (key.starts_with("PriorityWeight")) {
      others += std::strtod(value.c_str(), nullptr);
    }
  }
  if (weights["type"].is_null()) return nullptr;
  weights["others_max"] = static_cast<std::int64_t>(std::ceil(others));
  return weights;
}

// "PartitionName=main ... PriorityTier=1 ..." a line.
json tiers_of(const Expected<std::string>& output) {
  if (!output) return nullptr;
  json tiers = json::object();
  for (const std::string_view line : split(*output, '\n')) {
    std::string name;
    for (const std::string_view word : split(trimmed(line), ' ')) {
      if (word.starts_with("PartitionName=")) name = word.substr(word.find('=') + 1);
      if (word.starts_with("PriorityTier=") && !name.empty()) {
        tiers[name] = number_in(word.substr(word.find('=') + 1));
      }
    }
  }
  return tiers;
}

}  // namespace

json slurm_not_asked(const std::string& why) {
  return {{"asked", false}, {"why", why}};
}

json slurm_facts(const std::string& job, const ProgramRunner& run) {
  if (!run) return slurm_not_asked("this program runs no others here");
  const auto queue =
      run({"squeue", "--noheader", "--states=all", "--jobs=" + job, "--format=%i|%T|%Q|%r|%E|%P|%q|%y|%v|%S"});
  // Of one job that it does not know squeue says so and fails; that is an answer, too.
  const bool is_unknown = !queue && queue.error().what.find("Invalid job id") != std::string::npos;
  if (!queue && !is_unknown) return slurm_not_asked(queue.error().what);
  const json rows = rows_of(queue.value_or(""), std::array{"id", "state", "priority", "reason", "dependency",
                                                           "partition", "qos", "nice", "reservation", "start"});
  return {{"asked", true},
          {"job", chosen_job(rows)},
          {"parts", parts_of(run({"sprio", "--noheader", "--jobs=" + job.substr(0, job.find('_')),
                                  "--format=%i|%r|%Y|%S|%A|%B|%F|%J|%P|%Q|%N|%T"}))},
          {"weights", weights_of(run({"scontrol", "show", "config"}))},
          {"tiers", tiers_of(run({"scontrol", "-o", "show", "partition"}))}};
}

}  // namespace shapley::ctl
