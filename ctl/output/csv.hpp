// Tables as comma-separated values (RFC 4180), for spreadsheets: a header, then a line for each row.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "ctl/output/table.hpp"

namespace shapley::ctl {

// `rows`: a JSON array of objects; values as programs get them (table.hpp). Cells
// as of base/csv.hpp. Lines end with a newline alone.
[[nodiscard]] std::string render_csv(std::span<const Field> fields, const nlohmann::json& rows);

}  // namespace shapley::ctl
