// Slurm's --constraint: which nodes it admits, by their features.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shapley::daemon {

// Whether a node with these features (ascending) may be one of a job's with this constraint: features joined by `&`
// (or `,`) and `|`, which Slurm evaluates from the left to the right, neither before the other, and groups of them in
// parentheses. Where nodes of several kinds serve one job, each kind will do: of alternatives in brackets
// ("[rack1|rack2]") and of counted features ("gpu*2&big*1") a node needs any one. nullopt: the text is no constraint.
[[nodiscard]] std::optional<bool> admits(std::string_view constraint, std::span<const std::string> features);

}  // namespace shapley::daemon
