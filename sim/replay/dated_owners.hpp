// Who owned how many processors when: the configuration's spans over the sizes of the nodes.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "config/configuration.hpp"
#include "history/site_nodes.hpp"
#include "scheduling/easy.hpp"

namespace shapley::sim {

// Of every stretch of [begin, end) between two changes, its `at` counted from `begin`. Whole processors by largest
// remainder, ties to the first of `organizations`, in whose order they are; what is nobody's is the last one's
// (commons). Errc::not_found when the nodes together have no processor.
[[nodiscard]] Expected<std::vector<scheduling::Endowment>> dated_owners(const config::Configuration& configuration,
                                                                        const history::SiteNodes& nodes,
                                                                        const std::vector<std::string>& organizations,
                                                                        Instant begin, Instant end);

}  // namespace shapley::sim
