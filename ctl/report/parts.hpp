// What the pages of `shapleyctl report` have in common: the templates (templates/), and values of their parts. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "charts/picture.hpp"
#include "ctl/report/sheets.hpp"
#include "tables/page.hpp"

namespace shapley::ctl {

[[nodiscard]] std::span<const tables::Template> page_templates();

// The whole lines of a text.
[[nodiscard]] std::vector<std::string> text_lines(const std::string& text);

// "1 November 2026 to 1 December 2026", for a page's title.
[[nodiscard]] std::string time_in_words(const ledger::IntervalHeading& of);

// Of sheet.mustache: the table, and a link that saves its exact values.
[[nodiscard]] nlohmann::json values_of(const Sheet& sheet);

// Of balances.mustache, of balances in this unit; null: there are none.
[[nodiscard]] nlohmann::json values_of_balances(const std::vector<Sheet>& sheets, const ledger::AmountUnit& in);

// Of beside.mustache. null as a figure: the page has no charts.
[[nodiscard]] nlohmann::json values_of(const std::optional<charts::Figure>& figure, const Sheet& sheet);

// Of proof.mustache: every examination with what it found, and the head of the chain. Of files only the names are
// shown.
[[nodiscard]] nlohmann::json values_of(const Proof& proof);

// In place of a chart, if there is nothing to draw.
[[nodiscard]] charts::Figure note_alone(const std::string& text);

// The indices of the `most` largest amounts, ascending.
[[nodiscard]] std::vector<std::size_t> largest_of(const std::vector<double>& amounts, std::size_t most);

}  // namespace shapley::ctl
