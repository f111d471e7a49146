#include "workflow/settings.hpp"

#include <optional>

namespace shapley::workflow {

namespace {

std::optional<std::string> prefix_of(std::string_view name, const Settings& settings, Grouping grouping) {
  const std::string& delimiter = settings.name_delimiter;
  const std::size_t at = grouping == Grouping::workflow ? name.find(delimiter) : name.rfind(delimiter);
  if (at == std::string_view::npos || at == 0 || at + delimiter.size() >= name.size()) return std::nullopt;
  return "name " + std::string(name.substr(0, at));
}

std::optional<std::string> by_rule(KeyRule rule, const Naming& job, const Settings& settings, Grouping grouping) {
  switch (rule) {
    case KeyRule::wckey:
      if (job.wckey.empty() || job.wckey.front() == '*') return std::nullopt;
      return "wckey " + std::string(job.wckey);
    case KeyRule::array:
      if (job.array_job == 0) return std::nullopt;
      return "array " + std::to_string(job.array_job);
    case KeyRule::job_name_prefix:
      return prefix_of(job.name, settings, grouping);
    case KeyRule::dependency:
      break;
  }
  return std::nullopt;
}

}  // namespace

Key key_of(const Naming& job, const Settings& settings, Grouping grouping) {
  Key key;
  for (const KeyRule rule : grouping == Grouping::workflow ? settings.workflow_key : settings.activity_key) {
    if (rule == KeyRule::dependency) {
      key.component = true;
      continue;
    }
    if (auto found = by_rule(rule, job, settings, grouping)) {
      (key.component ? key.after : key.before) = std::move(*found);
      return key;
    }
  }
  if (grouping == Grouping::activity) key.after = "name " + std::string(job.name);
  return key;
}

std::string resolve(const Key& key, std::uint32_t component, bool tied) {
  if (!key.before.empty()) return key.before;
  if ((key.component && tied) || key.after.empty()) return "job " + std::to_string(component);
  return key.after;
}

}  // namespace shapley::workflow
