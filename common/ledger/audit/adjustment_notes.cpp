#include "ledger/audit/adjustment_notes.hpp"

#include <algorithm>

#include "base/calendar.hpp"
#include "base/counted.hpp"

namespace shapley::ledger {

namespace {

using AdjustmentsByNumber = std::map<std::uint32_t, accounting::AdjustmentMade>;

constexpr std::size_t k_most_notes = 20;

std::uint32_t reversed_by(const AdjustmentsByNumber& adjustments, std::uint32_t number) {
  for (const auto& [later, made] : adjustments) {
    if (made.reverses == number) return later;
  }
  return 0;
}

}  // namespace

std::vector<std::string> adjustment_notes(const AdjustmentsByNumber& adjustments) {
  std::vector<std::string> notes;
  const std::size_t passed_over = adjustments.size() - std::min(adjustments.size(), k_most_notes);
  if (passed_over > 0) notes.push_back(counted(passed_over, "adjustment") + " before the last ones");
  for (auto it = std::next(adjustments.begin(), static_cast<std::ptrdiff_t>(passed_over)); it != adjustments.end();
       ++it) {
    const auto& [number, made] = *it;
    const std::uint32_t reversal = reversed_by(adjustments, number);
    notes.push_back("adjustment " + std::to_string(number) + ", " + format_instant(made.at) + ", " + made.author +
                    ": " + made.what +
                    (made.kind == accounting::AdjustmentKind::attribute ? " are " + made.into + "'s" : "") +
                    (reversal == 0 ? "" : ", reversed by " + std::to_string(reversal)) + "; " + made.reason);
  }
  return notes;
}

std::string attribution_note(const AdjustmentsByNumber& adjustments) {
  std::string named;
  for (const auto& [number, made] : adjustments) {
    if (made.kind != accounting::AdjustmentKind::attribute || reversed_by(adjustments, number) != 0) continue;
    named += (named.empty() ? "" : "; ") + ("adjustment " + std::to_string(number)) + ": " + made.what + " are " +
             made.into + "'s";
  }
  return named.empty() ? named
                       : "whose a run is no record says: runs were given to other organizations and are compared as "
                         "they ran (" +
                             named + ")";
}

}  // namespace shapley::ledger
