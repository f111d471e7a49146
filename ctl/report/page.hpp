// The page: one file of HTML that needs no other file. Pure, except that gnuplot is run. The same report gives the same
// page, byte for byte.
#pragma once

#include <string>

#include "base/error.hpp"
#include "charts/picture.hpp"
#include "ctl/report/sheets.hpp"

namespace shapley::ctl {

enum class Charts { drawn, left_out };

// Errors are those of the charts; there are none without charts.
[[nodiscard]] Expected<std::string> report_page(const SiteReport& report, Charts charts);

// The charts of the page, drawn by gnuplot (common/charts), each with a note if it shows less than its table. If there
// is nothing to draw, a note alone.

// Errors of all charts: Errc::unavailable when gnuplot is not installed, Errc::io when it fails.
[[nodiscard]] Expected<charts::Figure> standings_figure(const SiteReport& report);
[[nodiscard]] Expected<charts::Figure> lending_figure(const SiteReport& report);
[[nodiscard]] Expected<charts::Figure> waiting_figure(const SiteReport& report);
[[nodiscard]] Expected<charts::Figure> months_figure(const SiteReport& report);

}  // namespace shapley::ctl
