// What the pages of `shapleyctl report` have in common, as markup. Text that is passed is escaped. Pure, except that
// gnuplot is run.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "charts/plot.hpp"
#include "ctl/commands/audit.hpp"
#include "ctl/report/sheets.hpp"

namespace shapley::ctl {

[[nodiscard]] std::string paragraph(const std::string& text);
[[nodiscard]] std::string item(const std::string& text);
[[nodiscard]] std::string note(const std::string& text);

// The table, and a link that saves its exact values.
[[nodiscard]] std::string sheet_html(const Sheet& sheet);

using DrawShape = std::function<Expected<void>(const std::filesystem::path& file, charts::Shape shape)>;
// The picture for wide and for narrow pages; `label` is its name for readers who do not see it. Errors are those of
// `draw`.
[[nodiscard]] Expected<std::string> both_shapes(const std::string& label, const DrawShape& draw);

// The indices of the `most` largest amounts, ascending.
[[nodiscard]] std::vector<std::size_t> largest_of(const std::vector<double>& amounts, std::size_t most);

// Every examination with what it found, and the head of the chain. Of files only the names are shown.
[[nodiscard]] std::string audit_html(const Examined& audit);

}  // namespace shapley::ctl
