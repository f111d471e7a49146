// A cell of comma-separated values (RFC 4180), for spreadsheets.
#pragma once

#include <string>
#include <string_view>

namespace shapley {

// Quoted where it must be. A spreadsheet takes a cell that begins with =, +, -, @, a tab or a carriage return for a
// formula, and calculates it: whoever chooses an organization's name or a reason would choose what it does. Such a
// cell, unless it is a number, is written behind an apostrophe, by which spreadsheets know text; so is one that begins
// with an apostrophe. Without the first apostrophe, if there is one, it is what it was.
[[nodiscard]] std::string csv_cell(std::string_view text);

}  // namespace shapley
