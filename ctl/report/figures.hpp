// The charts of the page, drawn by gnuplot (common/charts), each as markup: the picture for wide and narrow pages, and
// a line where it shows less than its table. Where there is nothing to draw, a sentence instead.
#pragma once

#include <string>

#include "base/error.hpp"
#include "ctl/report/site_report.hpp"

namespace shapley::ctl {

// Errors of all: Errc::unavailable when gnuplot is not installed, Errc::io when it fails.
[[nodiscard]] Expected<std::string> standings_figure(const SiteReport& report);
[[nodiscard]] Expected<std::string> lending_figure(const SiteReport& report);
[[nodiscard]] Expected<std::string> waiting_figure(const SiteReport& report);
[[nodiscard]] Expected<std::string> months_figure(const SiteReport& report);

}  // namespace shapley::ctl
