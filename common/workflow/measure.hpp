// What of an activity's tasks is measured, and how (workflow/pending_work.hpp has the equations). Apart from them,
// because settings name it: whoever reads settings needs no fractions.
#pragma once

namespace shapley::workflow {

enum class Median { upper, middle };  // sorted[n/2], or the mean of the two in the middle

struct Measure {
  Median median = Median::upper;
  // Phases known: t~ sums the medians of the phases, t_u the greater of elapsed and median, phase by phase. Otherwise
  // the first entry of Phases holds the whole duration: t~ is its median, t_u = max(elapsed, t~).
  bool phases = true;
  // off: T^ is 1 always. On, a workflow of short tasks falls below every threshold for good once two have ended
  // (docs/experiments/workflow.md).
  bool relative_duration = true;
};

}  // namespace shapley::workflow
