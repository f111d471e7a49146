#include "ctl/slurm/wished_priority.hpp"

#include <algorithm>

namespace shapley::ctl {

namespace {

using nlohmann::json;

constexpr std::int64_t k_nice_headroom = 10'000;
constexpr std::int64_t k_max_level = 15;
constexpr std::int64_t k_max_site = (std::int64_t{1} << 31U) - 1;
constexpr std::int64_t k_max_labels = std::int64_t{1} << 20U;

json verdict(const json& agrees, const std::string& why) {
  return {{"agrees", agrees},       {"why", why.empty() ? json(nullptr) : json(why)},
          {"wished_site", nullptr}, {"place", nullptr},
          {"site", nullptr},        {"priority", nullptr},
          {"set_directly", false}};
}

// sprio lists what waits and could start by its own times: no job before its begin time, and none whose time Slurm has
// not set because of a dependency or its array's limit.
std::string why_without_parts(const json& slurm) {
  const json& reason = slurm["job"]["reason"];
  const bool is_early = reason == "BeginTime" || reason == "Dependency" || reason == "DependencyNeverSatisfied" ||
                        reason == "JobArrayTaskLimit";
  if (is_early) {
    return "sprio does not list it, because it is not its time yet (" + reason.get<std::string>() +
           "); Slurm gives it its place in the order when it could start";
  }
  const json type = slurm["weights"].is_null() ? json(nullptr) : slurm["weights"]["type"];
  if (type.is_string() && type != "priority/shapley" && type != "priority/multifactor")
    return "PriorityType is " + type.get<std::string>() + ": ranks do not order jobs";
  return "sprio does not list it: it is not its time yet, or sprio failed";
}

// Why ranks say nothing about this job's priority, whatever it is; "": they do.
std::string why_not_ranked(const json& priorities, const json& slurm, const std::string& organization) {
  if (priorities["mode"] == "observe") return "mode observe: shapleyd leaves priorities alone";
  if (slurm["job"].is_null()) return "Slurm does not know the job any more";
  if (slurm["job"]["state"] != "PENDING") return "it does not wait: ranks order waiting jobs only";
  if (slurm["job"]["priority"] == 0) return "it is held, and a held job has no priority; its release ranks it at once";
  const json& ranks = priorities["ranks"];
  if (std::ranges::find(ranks, json(organization)) == ranks.end()) return organization + " has no rank in force";
  if (slurm["parts"].is_null() || slurm["parts"].empty()) return why_without_parts(slurm);
  if (slurm["weights"].is_null()) return "scontrol does not tell the weights";
  return "";
}

// sprio then tells the priority and nothing else. The parts come rounded to whole numbers.
bool is_set_directly(const json& slurm) {
  const json& parts = slurm["parts"][0];
  if (!parts["priority"].is_number() || !parts["tres"].is_null()) return false;
  if (slurm["parts"].size() == 1 && parts["priority"] != slurm["job"]["priority"]) return true;
  std::int64_t sum = 0;
  for (const char* member : {"site", "age", "assoc", "fairshare", "jobsize", "part_weight", "qos"}) {
    if (parts[member].is_number()) sum += parts[member].get<std::int64_t>();
  }
  if (parts["nice"].is_number()) sum -= parts["nice"].get<std::int64_t>();
  constexpr std::int64_t k_rounding = 8;
  const auto priority = parts["priority"].get<std::int64_t>();
  return priority > 1 && (sum > priority + k_rounding || sum < priority - k_rounding);
}

std::string why_other(const json& priorities, const json& slurm) {
  if (priorities["plugin_connected"] == false) {
    return "slurmctld's plugin is not connected: it holds the ranks that it knows for a while (stale_after), then lets "
           "them go";
  }
  if (priorities["order"] == "weighted" &&
      slurm["job"]["partition"].get<std::string>().find(',') != std::string::npos) {
    return "it asks for several partitions: it is ranked with the worst-ranked organization that it may run for";
  }
  return "ranks may have changed a moment ago: ask again; if it stays so see slurmctld's log (grep shapley)";
}

}  // namespace

StrictSteps strict_steps(const RankRule& rule) {
  const std::int64_t gaps = rule.ranks - 1;
  const std::int64_t room = k_max_site - k_nice_headroom;
  const std::int64_t widest = gaps > 0 ? room / gaps : room;
  std::int64_t step = rule.others_max + k_nice_headroom + 1;
  std::int64_t level_step = 0;
  if (rule.levels && (gaps == 0 || step <= widest)) {
    level_step = std::min(rule.others_max + 2, (room - step * gaps) / (k_max_level * rule.ranks));
  }
  if (gaps > 0) step += k_max_level * level_step;
  step = std::min(step, widest);
  return {.step = step,
          .level_step = level_step,
          .labels = std::min((room - k_max_level * level_step) / step + 1, k_max_labels)};
}

std::optional<std::int64_t> label_in(std::int64_t site, const StrictSteps& steps, std::int64_t level) {
  const std::int64_t above = site - k_nice_headroom - steps.level_step * level;
  if (above < 0 || above % steps.step != 0 || above / steps.step >= steps.labels) return std::nullopt;
  return above / steps.step;
}

std::int64_t weighted_site(const RankRule& rule, std::int64_t position, std::int64_t level) {
  const std::int64_t weight = std::min(rule.weight, k_max_site);
  const std::int64_t gaps = rule.ranks - 1;
  const std::int64_t gap = gaps > 0 ? weight / gaps : weight;
  const std::int64_t level_step = rule.levels && gap > 0 ? std::min(gap - 1, k_max_site - weight) / k_max_level : 0;
  return (gaps > 0 ? weight * (gaps - position) / gaps : 0) + level_step * level;
}

namespace {

// Order strict. Steps leave room for levels only from the first level on.
json place_in(const json& site, const RankRule& rule, std::int64_t level) {
  if (!site.is_number_integer()) return nullptr;
  for (const bool levels : {rule.levels, false}) {
    if (!levels && level > 0) continue;
    RankRule with = rule;
    with.levels = levels;
    const StrictSteps steps = strict_steps(with);
    const auto label = label_in(site, steps, level);
    if (!label) continue;
    return {{"label", *label}, {"labels", steps.labels},         {"step", steps.step}, {"level_step", steps.level_step},
            {"level", level},  {"in_line", *label >= rule.ranks}};
  }
  return nullptr;
}

// Order weighted: what the job should have; where levels are not in use yet, what it has, if that is right then.
std::int64_t wished_site(const json& site, RankRule rule, std::int64_t position, std::int64_t level) {
  const std::int64_t wished = weighted_site(rule, position, level);
  if (site == wished || !rule.levels || level > 0) return wished;
  rule.levels = false;
  const std::int64_t narrow = weighted_site(rule, position, 0);
  return site == narrow ? narrow : wished;
}

}  // namespace

json compare_priority(const json& priorities, const json& slurm, const std::string& organization) {
  if (priorities.is_null()) return verdict(nullptr, "the ranks in force are the daemon's, which was not asked");
  if (slurm["asked"] == false) return verdict(nullptr, "Slurm was not asked");
  if (const std::string why = why_not_ranked(priorities, slurm, organization); !why.empty()) {
    return verdict(nullptr, why);
  }
  const json& ranks = priorities["ranks"];
  const RankRule rule{.strict = priorities["order"] == "strict",
                      .weight = priorities["rank_weight"].get<std::int64_t>(),
                      .others_max = slurm["weights"]["others_max"].get<std::int64_t>(),
                      .ranks = static_cast<std::int64_t>(ranks.size()),
                      .levels = priorities["levels"] == true};
  const auto level = priorities["level"].get<std::int64_t>();
  const json& site = slurm["parts"][0]["site"];
  json place = nullptr;
  json wished = nullptr;
  if (rule.strict) {
    place = place_in(site, rule, level);
  } else {
    wished = wished_site(site, rule, std::ranges::find(ranks, json(organization)) - ranks.begin(), level);
  }
  const bool is_direct = is_set_directly(slurm);
  const bool agrees = !is_direct && (rule.strict ? !place.is_null() : site == wished);
  json result = verdict(agrees, agrees ? "" : why_other(priorities, slurm));
  if (is_direct) {
    result["why"] = "its priority was set directly (scontrol update priority=, scontrol top), and ranks leave it alone";
  } else if (!agrees && rule.strict && priorities["plugin_connected"] != false &&
             slurm["weights"]["bounded"] == false) {
    result["agrees"] = nullptr;
    result["why"] =
        "PriorityFlags=NO_NORMAL_...: the steps between places follow the largest sum of factors that the plugin has "
        "seen, which is not known here";
  }
  result["set_directly"] = is_direct;
  result["wished_site"] = wished;
  result["place"] = is_direct ? json(nullptr) : place;
  result["site"] = site;
  result["priority"] = slurm["job"]["priority"];
  return result;
}

}  // namespace shapley::ctl
