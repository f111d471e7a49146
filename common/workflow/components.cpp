#include "workflow/components.hpp"

#include <algorithm>
#include <utility>

namespace shapley::workflow {

std::vector<Components::Renamed> Components::observe(std::uint32_t job, const std::vector<std::uint32_t>& depends_on) {
  std::vector<Renamed> renamed;
  if (component_of_.try_emplace(job, next_).second) {
    components_[next_++] = {.name = job, .tied = false, .jobs = {job}, .present = 1};
    const auto dependents = dependents_of_absent_.extract(job);
    if (!dependents.empty()) {
      for (const std::uint32_t dependent : dependents.mapped()) tie(job, dependent, renamed);
    }
  }
  forget_unresolved(job);
  for (const std::uint32_t other : depends_on) {
    if (other == job) continue;
    if (component_of_.contains(other)) {
      tie(job, other, renamed);
    } else {
      unresolved_[job].push_back(other);
      dependents_of_absent_[other].insert(job);
    }
  }
  return renamed;
}

void Components::tie(std::uint32_t a, std::uint32_t b, std::vector<Renamed>& renamed) {
  std::uint64_t kept = component_of_.at(a);
  std::uint64_t gone = component_of_.at(b);
  if (kept == gone) return;
  // The smaller list moves, so that a job moves a logarithmic number of times.
  if (components_.at(kept).jobs.size() < components_.at(gone).jobs.size()) std::swap(kept, gone);
  Component& into = components_.at(kept);
  Component from = std::move(components_.at(gone));
  components_.erase(gone);
  for (const std::uint32_t job : from.jobs) {
    const auto entry = component_of_.find(job);
    if (entry == component_of_.end() || entry->second != gone) continue;  // ended meanwhile
    entry->second = kept;
    into.jobs.push_back(job);
  }
  into.present += from.present;
  into.tied = true;
  renamed.push_back({.from = std::max(into.name, from.name), .to = std::min(into.name, from.name)});
  into.name = renamed.back().to;
}

void Components::remove(std::uint32_t job) {
  forget_unresolved(job);
  const auto entry = component_of_.find(job);
  if (entry == component_of_.end()) return;
  const auto component = components_.find(entry->second);
  component_of_.erase(entry);
  if (--component->second.present == 0) {
    components_.erase(component);
    return;
  }
  // An endless chain of jobs must not need endless memory.
  std::vector<std::uint32_t>& jobs = component->second.jobs;
  if (jobs.size() < 2 * component->second.present) return;
  std::erase_if(jobs, [&](std::uint32_t other) {
    const auto found = component_of_.find(other);
    return found == component_of_.end() || found->second != component->first;
  });
}

void Components::forget_unresolved(std::uint32_t job) {
  const auto unresolved = unresolved_.find(job);
  if (unresolved == unresolved_.end()) return;
  for (const std::uint32_t other : unresolved->second) {
    const auto dependents = dependents_of_absent_.find(other);
    if (dependents == dependents_of_absent_.end()) continue;  // observed meanwhile
    dependents->second.erase(job);
    if (dependents->second.empty()) dependents_of_absent_.erase(dependents);
  }
  unresolved_.erase(unresolved);
}

std::uint32_t Components::name(std::uint32_t job) const {
  const auto entry = component_of_.find(job);
  return entry == component_of_.end() ? job : components_.at(entry->second).name;
}

bool Components::tied(std::uint32_t job) const {
  const auto entry = component_of_.find(job);
  return entry != component_of_.end() && components_.at(entry->second).tied;
}

}  // namespace shapley::workflow
