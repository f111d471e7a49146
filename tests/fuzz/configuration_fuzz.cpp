// A configuration file.
#include <algorithm>
#include <string>
#include <vector>

#include "accounting/events/event_check.hpp"
#include "config/configuration.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using shapley::fuzz::require;
  const std::string_view yaml = shapley::fuzz::text_of(data, size);
  const auto configuration = shapley::config::parse(yaml);
  if (!configuration) {
    require(!configuration.error().empty(), "a refusal names its faults");
    const auto last_line = std::count(yaml.begin(), yaml.end(), '\n') + 1;
    for (const auto& fault : configuration.error()) {
      require(!fault.what.empty() && !fault.remedy.empty(), "a fault has words and a remedy");
      require(fault.line >= 0 && fault.line <= last_line, "a fault's line is one of the file");
    }
    return 0;
  }
  require(!configuration->organizations.empty(), "there are organizations");
  const std::vector<std::string> keys(configuration->consortium.clusters.size(), "SHA256:1");
  const auto consortium = shapley::config::consortium_statement(*configuration, keys, shapley::Instant{1'700'000'000});
  require(shapley::accounting::check(consortium).has_value(), "an accepted file makes events that the books accept");
  // Large claims are legal; to check each of a million statements would only slow the search down.
  std::size_t nodes = 0;
  for (const auto& organization : configuration->organizations) {
    for (const auto& claim : organization.nodes) nodes += claim.nodes.size();
  }
  if (nodes > 10'000) return 0;
  for (const auto& statement : shapley::config::ownership_statements(*configuration, shapley::Instant{1'700'000'000})) {
    require(shapley::accounting::check(statement).has_value(), "an accepted file makes events that the books accept");
  }
  return 0;
}
