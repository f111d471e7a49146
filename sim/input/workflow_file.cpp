#include "sim/input/workflow_file.hpp"

#include <optional>
#include <string>

#include "base/bounded_text.hpp"
#include "sim/json.hpp"

namespace shapley::sim {

namespace {

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

Expected<WorkflowState> parse(const Json& parsed) {
  if (parsed.is_discarded()) return fail(Errc::invalid_argument, "not JSON");
  const Json& root = parsed.is_object() && parsed.contains("input") ? parsed["input"] : parsed;
  SHAPLEY_TRY_ASSIGN(const Json* workflows, array(root, "workflows", "instance"));
  WorkflowState state;
  SHAPLEY_TRY_ASSIGN(state.threshold, fraction(root.contains("tau") ? root["tau"] : Json("1/5"), "tau"));
  for (std::size_t i = 0; i < workflows->size(); ++i)
    SHAPLEY_TRY(add_workflow((*workflows)[i], "workflows[" + std::to_string(i) + "]", state));
  return state;
}

}  // namespace

Expected<WorkflowState> read_workflow_state(const std::filesystem::path& file) {
  const auto text = read_text_file(file, k_max_document);
  if (!text) return with_context("instance", text.error());
  auto state = parse(Json::parse(*text, nullptr, false));
  if (!state) return with_context("instance: " + file.string(), state.error());
  return state;
}

}  // namespace shapley::sim
