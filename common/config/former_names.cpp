#include "config/former_names.hpp"

#include <string>

#include "base/calendar.hpp"

namespace shapley::config {

std::vector<Fault> former_name_faults(const Configuration& configuration, const accounting::FormerNames& former) {
  constexpr std::size_t k_date = 10;  // of "2026-11-03T07:00:00Z"
  std::vector<Fault> faults;
  for (const OrganizationConfig& organization : configuration.organizations) {
    const auto found = former.find(organization.name);
    if (found == former.end()) continue;
    const auto& [name, now] = *found;
    faults.push_back({organization.line,
                      "organization '" + name + "' was " + (now.merged ? "merged into " : "renamed to ") + now.today +
                          " by a correction of the books of " + format_instant(now.at).substr(0, k_date),
                      "write " + now.today});
  }
  return faults;
}

}  // namespace shapley::config
