// Workflows::report: the last cycle of the loop as JSON.
#include <algorithm>
#include <functional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "daemon/workflows/workflows.hpp"

namespace shapley::daemon {

namespace {

using nlohmann::json;
using workflow::ActivityView;
using workflow::Fraction;
using workflow::WorkflowView;

// A report is for people, any of whom may ask: those that wait most are enough of them.
constexpr std::size_t k_max_workflows = 1000;

// What an organization's workflows may still list, all together.
struct Room {
  std::size_t activities = 1000;
  std::size_t raised = 1000;
};

double number(const Fraction& fraction) {
  return fraction.convert_to<double>();
}

json number_or_null(const std::optional<Fraction>& fraction) {
  return fraction ? json(number(*fraction)) : json(nullptr);
}

std::string_view name_of(workflow::Mode mode) {
  return std::ranges::find(workflow::k_modes, mode, [](const auto& entry) { return entry.second; })->first;
}

json counts_of(const workflow::Counts& jobs) {
  return {
      {"blocked", jobs.blocked}, {"pending", jobs.eligible}, {"running", jobs.running}, {"finished", jobs.finished}};
}

json activity_json(const ActivityView& view) {
  json activity = counts_of(view.jobs);
  activity.update({{"activity", view.name},
                   {"waiting_processors", view.waiting},
                   {"running_processors", view.running},
                   {"median_s", number_or_null(view.median)},
                   {"performance", number(view.performance)},
                   {"relative_duration", number(view.relative_duration)},
                   {"pending_work", number(view.pending)},
                   {"delta", view.delta}});
  return activity;
}

json levels_json(const WorkflowView& view) {
  if (view.raised.empty()) return nullptr;
  return {view.raised.back().level, view.raised.front().level};
}

json raised_json(const WorkflowView& view, Room& room) {
  json raised = json::array();
  for (const workflow::JobLevel& job : view.raised) {
    if (room.raised == 0) break;
    --room.raised;
    raised.push_back({{"job", job.job}, {"level", job.level}});
  }
  return raised;
}

// The greatest w first where not all have room, else by name.
json activities_json(const WorkflowView& view, Room& room) {
  std::vector<const ActivityView*> views;
  for (const ActivityView& activity : view.activities) views.push_back(&activity);
  if (views.size() > room.activities) {
    std::ranges::stable_sort(views, std::ranges::greater{}, [](const ActivityView* a) { return a->pending; });
    views.resize(room.activities);
  }
  room.activities -= views.size();
  json activities = json::array();
  for (const ActivityView* activity : views) activities.push_back(activity_json(*activity));
  return activities;
}

json workflow_json(const WorkflowView& view, const json& before, Room& room) {
  json object = counts_of(view.jobs);
  object.update({{"workflow", view.name},
                 {"pending_work", number_or_null(view.pending)},
                 {"pending_work_before", before},
                 {"levels", levels_json(view)},
                 {"raised_jobs", view.raised.size()},
                 {"raised", raised_json(view, room)},
                 {"activities", activities_json(view, room)}});
  object["truncated"] =
      object["raised"].size() < view.raised.size() || object["activities"].size() < view.activities.size();
  return object;
}

// The greatest W first; those without one, of which nothing runs or could start, last.
std::vector<const WorkflowView*> most_behind(const workflow::Cycle& cycle) {
  std::vector<const WorkflowView*> views;
  for (const WorkflowView& view : cycle.workflows) views.push_back(&view);
  std::ranges::stable_sort(views, [](const WorkflowView* a, const WorkflowView* b) {
    return a->pending && (!b->pending || *a->pending > *b->pending);
  });
  return views;
}

}  // namespace

json Workflows::describe(const std::string& name, const Organization& organization, const Sees& sees) const {
  const workflow::Settings& settings = organization.tracker.settings();
  const auto is_hidden = [&](const WorkflowView* view) {
    return std::ranges::any_of(view->submitters, [&](std::uint32_t number) {
      return !sees(submitters_.at(number).user_id, submitters_.at(number).account);
    });
  };
  std::vector<const WorkflowView*> shown = most_behind(organization.now);
  std::erase_if(shown, is_hidden);
  json workflows = json::array();
  Room room;
  for (const WorkflowView* view : shown) {
    if (workflows.size() == k_max_workflows) break;
    json before = nullptr;
    if (organization.before) {
      const auto found = organization.before->pending.find(view->name);
      if (found != organization.before->pending.end()) before = number(found->second);
    }
    workflows.push_back(workflow_json(*view, before, room));
  }
  const auto cycle_json = [](const std::optional<PastCycle>& cycle) {
    return cycle ? json{{"eta", number(cycle->degree)}, {"at", cycle->at.value}} : json(nullptr);
  };
  return {{"organization", name},
          {"mode", name_of(settings.mode)},
          {"relative_duration", settings.relative_duration},
          {"threshold", static_cast<double>(settings.threshold_ppm) / 1e6},
          {"at", organization.now.at.value},
          {"eta", number(organization.now.degree)},
          {"least_pending_work", number(organization.now.least)},
          {"unfair", organization.now.unfair},
          {"before", cycle_json(organization.before)},
          {"highest", cycle_json(organization.highest)},
          {"truncated", shown.size() > k_max_workflows},
          {"hidden_workflows", organization.now.workflows.size() - shown.size()},
          {"workflows", std::move(workflows)}};
}

Expected<json> Workflows::report(const std::string& organization, const Sees& sees, Instant now) const {
  json report{{"at", now.value}, {"generation", levels_.generation}, {"organizations", json::array()}};
  for (const auto& [name, watched] : organizations_)
    if (organization.empty() || organization == name) report["organizations"].push_back(describe(name, watched, sees));
  if (!organization.empty() && report["organizations"].empty()) {
    return fail(Errc::invalid_argument,
                fmt::format("workflows: no organization '{}' orders its jobs by workflow fairness; the configuration "
                            "says so with within_organization: workflow_fairness",
                            organization));
  }
  return report;
}

}  // namespace shapley::daemon
