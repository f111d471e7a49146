// The page: one file of HTML that needs nothing else. Pure but for gnuplot. The same report is the same page, byte for
// byte.
#pragma once

#include <string>

#include "base/error.hpp"
#include "ctl/report/site_report.hpp"

namespace shapley::ctl {

enum class Charts { drawn, left_out };

// Errors are those of figures.hpp; none without charts.
[[nodiscard]] Expected<std::string> report_page(const SiteReport& report, Charts charts);

}  // namespace shapley::ctl
