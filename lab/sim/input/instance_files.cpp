#include "sim/input/instance_files.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/files.hpp"
#include "sim/json.hpp"
#include "workload/trace.hpp"

namespace shapley::sim {

namespace {

// The document, or the member `within` of a file that also has the expected results.
Expected<Json> parse_document(std::string_view text, const char* within) {
  Json parsed = parse_json<Json>(text);
  if (parsed.is_discarded()) return fail(Errc::invalid_argument, "not JSON");
  if (!parsed.is_object() || !parsed.contains(within)) return parsed;
  Json member = std::move(parsed[within]);
  return member;
}

template <typename Parse>
auto read_with(const std::filesystem::path& file, Parse&& parse) -> decltype(parse(std::string_view{})) {
  const auto text = read_text_file(file, k_max_document);
  if (!text) return with_context("instance", text.error());
  auto read = parse(std::string_view(*text));
  if (!read) return with_context("instance: " + file.string(), read.error());
  return read;
}

constexpr std::int64_t k_max_processors = 10'000'000;
constexpr std::size_t k_max_jobs = 10'000'000;

// The first four members.
Expected<scheduling::Job> parse_job_members(const Json& entry, const std::string& name) {
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

Expected<scheduling::Job> parse_job(const Json& entry, const std::string& name) {
  if (!entry.is_array() || entry.size() < 3 || entry.size() > 4) {
    return fail(
        Errc::invalid_argument,
        name + ": expected [release, duration, organization] or one more, its processors; found " + entry.dump() +
            (entry.is_array() && entry.size() > 4 ? "; `shapley-sim value` reads kinds and requested times" : ""));
  }
  return parse_job_members(entry, name);
}

Expected<std::uint32_t> parse_processors(const Json& value, const std::string& name) {
  SHAPLEY_TRY_ASSIGN(const std::int64_t count, integer(value, name));
  if (count < 0 || count > k_max_processors)
    return fail(Errc::invalid_argument, name + ": expected 0 to 10,000,000 processors");
  return static_cast<std::uint32_t>(count);
}

// Processors by kind and organization.
Expected<std::vector<std::vector<std::uint32_t>>> parse_owned_kinds(const Json& machines) {
  std::vector<std::vector<std::uint32_t>> kinds;
  if (machines[0].is_array() && machines[0].size() > scheduling::k_most_kinds) {
    return fail(Errc::invalid_argument, "machines[0]: processors are of more than " +
                                            std::to_string(scheduling::k_most_kinds) + " kinds; put kinds together");
  }
  for (std::size_t u = 0; u < machines.size(); ++u) {
    const std::string name = "machines[" + std::to_string(u) + "]";
    const Json of_one = machines[u].is_array() ? machines[u] : Json::array({machines[u]});
    if (u == 0) kinds.resize(of_one.size(), std::vector<std::uint32_t>(machines.size()));
    if (of_one.size() != kinds.size() || kinds.empty()) {
      return fail(Errc::invalid_argument, name + ": has processors of " + std::to_string(of_one.size()) +
                                              " kinds, and machines[0] of " + std::to_string(kinds.size()) +
                                              "; list a number for each kind, 0 where there are none");
    }
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      const std::string place = machines[u].is_array() ? name + "[" + std::to_string(kind) + "]" : name;
      SHAPLEY_TRY_ASSIGN(kinds[kind][u], parse_processors(of_one[kind], place));
    }
  }
  return kinds;
}

Expected<scheduling::KindOrder> parse_kind_order(const Json& value, std::size_t kinds, const std::string& name) {
  const Json listed = value.is_array() ? value : Json::array({value});
  std::vector<std::uint32_t> order;
  for (const Json& entry : listed) {
    SHAPLEY_TRY_ASSIGN(const std::int64_t kind, integer(entry, name));
    if (kind < 0 || static_cast<std::size_t>(kind) >= kinds) {
      return fail(Errc::invalid_argument, name + ": there is no kind " + std::to_string(kind) + "; by machines[0], " +
                                              "kinds are 0 to " + std::to_string(kinds - 1));
    }
    if (std::find(order.begin(), order.end(), kind) != order.end())
      return fail(Errc::invalid_argument, name + ": kind " + std::to_string(kind) + " is there twice; name it once");
    order.push_back(static_cast<std::uint32_t>(kind));
  }
  return scheduling::KindOrder(order);
}

Expected<void> add_whole_job(const Json& entry, const std::string& name, scheduling::EasyInstance& into) {
  constexpr std::size_t k_kinds = 4;
  constexpr std::size_t k_requested = 5;
  if (!entry.is_array() || entry.size() < 3 || entry.size() > k_requested + 1) {
    return fail(Errc::invalid_argument,
                name +
                    ": expected [release, duration, organization, processors, kinds, requested], the last three or "
                    "fewer left out; found " +
                    entry.dump());
  }
  SHAPLEY_TRY_ASSIGN(scheduling::Job job, parse_job_members(entry, name));
  Duration requested = job.duration;
  if (entry.size() > k_kinds) {
    SHAPLEY_TRY_ASSIGN(job.kinds, parse_kind_order(entry[k_kinds], into.kinds.size(), name + "[4]"));
  }
  if (entry.size() > k_requested) {
    SHAPLEY_TRY_ASSIGN(requested.value, integer(entry[k_requested], name + "[5]"));
  }
  into.jobs.push_back(job);
  into.requested.push_back(requested);
  return {};
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

Expected<std::int64_t> integer_member(const Json& object, const char* key, const std::string& name) {
  if (!object.contains(key)) return fail(Errc::invalid_argument, name + ": member \"" + key + "\" is missing");
  return integer(object[key], name + "." + key);
}

Expected<void> add_job(const Json& entry, std::size_t position, NamedGrid& into) {
  const std::string name = "jobs[" + std::to_string(position) + "]";
  if (!entry.is_object())
    return fail(Errc::invalid_argument, name + ": expected {\"owner\", \"p\", \"q\"}, found " + entry.dump());
  SHAPLEY_TRY_ASSIGN(const std::int64_t owner, integer_member(entry, "owner", name));
  SHAPLEY_TRY_ASSIGN(const std::int64_t length, integer_member(entry, "p", name));
  SHAPLEY_TRY_ASSIGN(const std::int64_t processors, integer_member(entry, "q", name));
  std::int64_t id = static_cast<std::int64_t>(position);
  if (entry.contains("id")) {
    SHAPLEY_TRY_ASSIGN(id, integer(entry["id"], name + ".id"));
  }
  if (owner < 0 || owner > 0xffff) return fail(Errc::invalid_argument, name + ".owner: no such organization");
  into.grid.jobs.push_back({static_cast<std::uint32_t>(owner), length, processors});
  into.ids.push_back(id);
  return {};
}

Expected<void> check_grid_members(const Json& root) {
  if (!root.is_object() || !root.contains("m") || !root["m"].is_array() || !root.contains("jobs") ||
      !root["jobs"].is_array())
    return fail(Errc::invalid_argument, "expected an object with arrays \"m\" and \"jobs\"");
  return {};
}

std::optional<std::int64_t> natural(const std::string& text) {
  if (text.empty() || text.size() > 15 || text.find_first_not_of("0123456789") != std::string::npos) return {};
  return std::stoll(text);
}

Expected<workflow::Fraction> fraction(const Json& value, const std::string& name) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const std::size_t slash = text.find('/');
  const auto numerator = natural(text.substr(0, slash));
  const auto denominator =
      slash == std::string::npos ? std::optional<std::int64_t>(1) : natural(text.substr(slash + 1));
  if (!numerator || !denominator || *denominator == 0)
    return fail(Errc::invalid_argument, name + ": expected a fraction as \"1/5\", found " + value.dump());
  return workflow::Fraction(*numerator) / *denominator;
}

Expected<std::int64_t> whole(const Json& object, const char* key, std::int64_t otherwise, const std::string& name) {
  if (!object.contains(key)) return otherwise;
  const Json& value = object[key];
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0 || value.get<std::int64_t>() > (1LL << 53))
    return fail(Errc::invalid_argument, name + "." + key + ": expected an integer, 0 to 2^53, found " + value.dump());
  return value.get<std::int64_t>();
}

Expected<const Json*> array(const Json& object, const char* key, const std::string& name) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_array())
    return fail(Errc::invalid_argument, name + ": expected an object with an array \"" + key + "\"");
  return &object[key];
}

Expected<std::vector<workflow::Phases>> tasks(const Json& activity, const char* key, const std::string& name) {
  SHAPLEY_TRY_ASSIGN(const Json* entries, array(activity, key, name));
  std::vector<workflow::Phases> result;
  for (const Json& entry : *entries) {
    if (!entry.is_object()) return fail(Errc::invalid_argument, name + "." + key + ": expected objects of phases");
    workflow::Phases phases{};
    constexpr const char* k_names[] = {"setup", "input", "exec", "output"};
    for (std::size_t i = 0; i < phases.size(); ++i) {
      SHAPLEY_TRY_ASSIGN(phases[i], whole(entry, k_names[i], 0, name + "." + key));
    }
    result.push_back(phases);
  }
  return result;
}

Expected<std::vector<WaitingTask>> waiting_tasks(const Json& activity, const std::string& name) {
  SHAPLEY_TRY_ASSIGN(const Json* entries, array(activity, "waiting", name));
  std::vector<WaitingTask> result;
  for (const Json& entry : *entries) {
    if (!entry.is_object() || !entry.contains("id"))
      return fail(Errc::invalid_argument, name + ".waiting: expected objects with an id");
    WaitingTask task;
    SHAPLEY_TRY_ASSIGN(task.id, whole(entry, "id", 0, name + ".waiting"));
    SHAPLEY_TRY_ASSIGN(task.priority, whole(entry, "priority", 1, name + ".waiting"));
    result.push_back(task);
  }
  return result;
}

Expected<void> add_workflow(const Json& entry, const std::string& name, WorkflowState& state) {
  SHAPLEY_TRY_ASSIGN(const Json* activities, array(entry, "activities", name));
  workflow::Workflow& added = state.workflows.emplace_back();
  auto& waiting = state.waiting.emplace_back();
  for (std::size_t j = 0; j < activities->size(); ++j) {
    const std::string part = name + ".activities[" + std::to_string(j) + "]";
    SHAPLEY_TRY_ASSIGN(auto queue, waiting_tasks((*activities)[j], part));
    workflow::Activity activity;
    activity.waiting = static_cast<std::int64_t>(queue.size());
    SHAPLEY_TRY_ASSIGN(activity.running, tasks((*activities)[j], "running", part));
    SHAPLEY_TRY_ASSIGN(activity.completed, tasks((*activities)[j], "completed", part));
    added.activities.push_back(std::move(activity));
    waiting.push_back(std::move(queue));
  }
  return {};
}

Expected<WorkflowState> parse_workflow_state(std::string_view text) {
  SHAPLEY_TRY_ASSIGN(const Json root, parse_document(text, "input"));
  SHAPLEY_TRY_ASSIGN(const Json* workflows, array(root, "workflows", "instance"));
  WorkflowState state;
  SHAPLEY_TRY_ASSIGN(state.threshold, fraction(root.contains("tau") ? root["tau"] : Json("1/5"), "tau"));
  for (std::size_t i = 0; i < workflows->size(); ++i)
    SHAPLEY_TRY(add_workflow((*workflows)[i], "workflows[" + std::to_string(i) + "]", state));
  return state;
}

}  // namespace

Expected<scheduling::Instance> parse_instance_json(std::string_view text, workload::ParallelJobs parallel) {
  SHAPLEY_TRY_ASSIGN(const Json root, parse_document(text, "instance"));
  SHAPLEY_TRY(check_instance_members(root));
  scheduling::Instance instance;
  for (std::size_t i = 0; i < root["machines"].size(); ++i) {
    const std::string name = "machines[" + std::to_string(i) + "]";
    if (root["machines"][i].is_array()) {
      return fail(Errc::invalid_argument,
                  name + ": expected a number of processors; `shapley-sim value` reads processors of several kinds");
    }
    SHAPLEY_TRY_ASSIGN(const std::uint32_t count, parse_processors(root["machines"][i], name));
    instance.processors.push_back(count);
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
  return read_with(file, [parallel](std::string_view text) { return parse_instance_json(text, parallel); });
}

Expected<scheduling::EasyInstance> parse_easy_instance_json(std::string_view text) {
  SHAPLEY_TRY_ASSIGN(const Json root, parse_document(text, "instance"));
  SHAPLEY_TRY(check_instance_members(root));
  if (root["machines"].empty()) return fail(Errc::invalid_argument, "machines: no organization; list their processors");
  scheduling::EasyInstance instance;
  SHAPLEY_TRY_ASSIGN(instance.kinds, parse_owned_kinds(root["machines"]));
  for (std::size_t i = 0; i < root["jobs"].size(); ++i)
    SHAPLEY_TRY(add_whole_job(root["jobs"][i], "jobs[" + std::to_string(i) + "]", instance));
  SHAPLEY_TRY_ASSIGN(instance.until.value, integer(root["t_end"], "t_end"));
  SHAPLEY_TRY(scheduling::finish_kinds(instance));
  return instance;
}

Expected<scheduling::EasyInstance> read_easy_instance(const std::filesystem::path& file) {
  return read_with(file, parse_easy_instance_json);
}

Expected<NamedGrid> parse_grid_json(std::string_view text) {
  SHAPLEY_TRY_ASSIGN(const Json root, parse_document(text, "input"));
  SHAPLEY_TRY(check_grid_members(root));
  NamedGrid result;
  for (std::size_t k = 0; k < root["m"].size(); ++k) {
    SHAPLEY_TRY_ASSIGN(const std::int64_t size, integer(root["m"][k], "m[" + std::to_string(k) + "]"));
    result.grid.clusters.push_back(size);
  }
  for (std::size_t i = 0; i < root["jobs"].size(); ++i) SHAPLEY_TRY(add_job(root["jobs"][i], i, result));
  SHAPLEY_TRY(planning::validate(result.grid));
  return result;
}

Expected<NamedGrid> read_grid(const std::filesystem::path& file) {
  return read_with(file, parse_grid_json);
}

Expected<PendingGrid> read_pending(const PendingQueue& queue) {
  SHAPLEY_TRY_ASSIGN(const workload::Trace trace, load_workload(queue.source));
  const std::int64_t total = queue.processors > 0 ? queue.processors : trace.processors;
  SHAPLEY_TRY_ASSIGN(const auto parts, workload::endow(workload::Endowment::uniform, queue.organizations, total));
  PendingGrid pending;
  planning::Grid& grid = pending.named.grid;
  grid.clusters.assign(parts.begin(), parts.end());
  const std::int64_t smallest = *std::min_element(grid.clusters.begin(), grid.clusters.end());
  const auto assignment = workload::deal_users(trace, queue.organizations, queue.seed);
  const std::int64_t begin = queue.begin.value_or(trace.jobs.front().submit.value);
  for (const workload::TraceJob& job : trace.jobs) {
    if (job.submit.value < begin || job.submit.value - begin >= queue.length.value) continue;
    if (job.processors > smallest) {
      ++pending.too_wide;
      continue;
    }
    grid.jobs.push_back({assignment.of(job), job.run.value, job.processors});
    pending.named.ids.push_back(job.id);
  }
  if (grid.jobs.empty()) {
    return fail(Errc::not_found, "trace: no job that fits " + std::to_string(smallest) +
                                     " processors was submitted in " + std::to_string(queue.length.value) +
                                     " s from second " + std::to_string(begin) + " on");
  }
  SHAPLEY_TRY(planning::validate(grid));
  return pending;
}

Expected<WorkflowState> read_workflow_state(const std::filesystem::path& file) {
  return read_with(file, parse_workflow_state);
}

}  // namespace shapley::sim
