#include "sim/input/instance_file.hpp"

#include <utility>

#include "base/bounded_text.hpp"
#include "sim/json.hpp"

namespace shapley::sim {

namespace {

constexpr std::int64_t k_max_processors = 10'000'000;
constexpr std::size_t k_max_jobs = 10'000'000;

Expected<scheduling::Job> parse_job(const Json& entry, const std::string& name) {
  if (!entry.is_array() || entry.size() < 3 || entry.size() > 4) {
    return fail(
        Errc::invalid_argument,
        name + ": expected [release, duration, organization] or one more, its processors; found " + entry.dump());
  }
  SHAPLEY_TRY_ASSIGN(const std::int64_t release, integer(entry[0], name + "[0]"));
  SHAPLEY_TRY_ASSIGN(const std::int64_t duration, integer(entry[1], name + "[1]"));
  SHAPLEY_TRY_ASSIGN(const std::int64_t organization, integer(entry[2], name + "[2]"));
  if (organization < 0 || organization > 0xffff)
    return fail(Errc::invalid_argument, name + "[2]: no such organization");
  scheduling::Job job{{release}, {duration}, static_cast<std::uint32_t>(organization)};
  if (entry.size() == 3) return job;
  SHAPLEY_TRY_ASSIGN(const std::int64_t processors, integer(entry[3], name + "[3]"));
  if (processors < 1 || processors > k_max_processors)
    return fail(Errc::invalid_argument, name + "[3]: expected 1 to 10,000,000 processors");
  job.processors = static_cast<std::uint32_t>(processors);
  return job;
}

Expected<void> add_job(scheduling::Instance& instance, scheduling::Job job, workload::ParallelJobs parallel) {
  std::size_t count = 1;
  if (parallel == workload::ParallelJobs::copies) count = std::exchange(job.processors, 1);
  if (count > k_max_jobs || instance.jobs.size() > k_max_jobs - count)
    return fail(Errc::limit, "jobs: more than " + std::to_string(k_max_jobs) +
                                 " with every parallel job as copies; use --parallel rigid");
  instance.jobs.insert(instance.jobs.end(), count, job);
  return {};
}

Expected<void> check_instance_members(const Json& root) {
  if (!root.is_object()) return fail(Errc::invalid_argument, "expected an object with machines, jobs and t_end");
  for (const char* member : {"machines", "jobs", "t_end"}) {
    if (!root.contains(member))
      return fail(Errc::invalid_argument, std::string("member \"") + member + "\" is missing");
  }
  if (!root["machines"].is_array())
    return fail(Errc::invalid_argument, "machines: expected an array of processor counts");
  if (!root["jobs"].is_array())
    return fail(Errc::invalid_argument, "jobs: expected an array of [release, duration, organization]");
  return {};
}

}  // namespace

Expected<scheduling::Instance> parse_instance_json(std::string_view text, workload::ParallelJobs parallel) {
  const Json parsed = Json::parse(text, nullptr, false);
  if (parsed.is_discarded()) return fail(Errc::invalid_argument, "not JSON");
  // The golden files wrap the instance beside its expected results.
  const Json& root = parsed.is_object() && parsed.contains("instance") ? parsed["instance"] : parsed;
  SHAPLEY_TRY(check_instance_members(root));
  scheduling::Instance instance;
  for (std::size_t i = 0; i < root["machines"].size(); ++i) {
    const std::string name = "machines[" + std::to_string(i) + "]";
    SHAPLEY_TRY_ASSIGN(const std::int64_t count, integer(root["machines"][i], name));
    if (count < 0 || count > k_max_processors)
      return fail(Errc::invalid_argument, name + ": expected 0 to 10,000,000 processors");
    instance.processors.push_back(static_cast<std::uint32_t>(count));
  }
  for (std::size_t i = 0; i < root["jobs"].size(); ++i) {
    SHAPLEY_TRY_ASSIGN(const scheduling::Job job, parse_job(root["jobs"][i], "jobs[" + std::to_string(i) + "]"));
    SHAPLEY_TRY(add_job(instance, job, parallel));
  }
  SHAPLEY_TRY_ASSIGN(instance.end.value, integer(root["t_end"], "t_end"));
  SHAPLEY_TRY(scheduling::validate(instance));
  return instance;
}

Expected<scheduling::Instance> read_instance(const std::filesystem::path& file, workload::ParallelJobs parallel) {
  const auto text = read_text_file(file, k_max_document);
  if (!text) return with_context("instance", text.error());
  auto instance = parse_instance_json(*text, parallel);
  if (!instance) return with_context("instance: " + file.string(), instance.error());
  return instance;
}

}  // namespace shapley::sim
