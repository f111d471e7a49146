// "Would we be better off alone?" [MO11]: a ledger's finished runs, as they ran, on every organization's own nodes
// alone, and planned together by MOCCA followed by ILBA.
#pragma once

#include <filesystem>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/types.hpp"

namespace shapley::ctl {

struct AdviceQuestion {
  std::filesystem::path ledger;
  std::optional<Instant> since;  // runs of jobs submitted then or later
  std::optional<Instant>
      until;  // runs that ended by then; what was owned is looked at so far; none: until the last run ended
};

// docs/reference/shapleyctl.md lists the members. Errc::invalid_argument when the ledger holds no finished run of an
// organization that owns processors.
[[nodiscard]] Expected<nlohmann::json> advice_report(const AdviceQuestion& question);

}  // namespace shapley::ctl
