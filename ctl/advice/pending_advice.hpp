// "Would our pending jobs be done sooner together?" [MO11]: the daemon's queue, time limits as run times, on every
// organization's own nodes alone, and planned together by MOCCA followed by ILBA.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace shapley::ctl {

// `queue`: the daemon's answer to the request of that name. docs/reference/shapleyctl.md lists the report's members.
// Errc::limit above 100,000 tasks.
[[nodiscard]] Expected<nlohmann::json> pending_advice_report(const nlohmann::json& queue);

// The text for people of such a report.
[[nodiscard]] std::string render_pending_advice(const nlohmann::json& report);

}  // namespace shapley::ctl
