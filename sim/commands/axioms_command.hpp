// `shapley-sim axioms`: which utilities satisfy the axioms of Theorem 4.1 of [SR13], with counterexamples.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace shapley::sim {

struct AxiomsArguments {
  std::vector<std::string> utilities;  // empty: all
};

// Prints one line per utility and axiom, and for a violated one the schedules that violate it, drawn second by second.
[[nodiscard]] Expected<void> check_axioms(const AxiomsArguments& arguments, std::ostream& out);

}  // namespace shapley::sim
