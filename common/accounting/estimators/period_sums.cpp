#include "accounting/estimators/period_sums.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "accounting/checkpoint/text_format.hpp"
#include "accounting/events/event_check.hpp"
#include "base/contract.hpp"

namespace shapley::accounting {

namespace {

void fold_running(int sign, ProcessorMillionths processors, Instant begin, game::UtilitySum& sum) {
  sign > 0 ? sum.add_running(processors, begin) : sum.remove_running(processors, begin);
}

void fold_finished(int sign, const Work& work, game::UtilitySum& sum) {
  sign > 0 ? sum.add_finished(work.processors, work.begin, work.end)
           : sum.remove_finished(work.processors, work.begin, work.end);
}

}  // namespace

void PeriodSums::resize(std::size_t organizations) {
  for (Period& period : periods_) period.sums.resize(organizations);
}

void PeriodSums::fold(int sign, OrgId organization, const Work& work) {
  for (auto period = periods_.rbegin(); period != periods_.rend() && period->end > work.begin; ++period) {
    const Instant begin = std::max(work.begin, period->begin);
    if (begin >= work.end) continue;
    game::UtilitySum& sum = period->sums[organization.value];
    if (work.end >= period->end) {
      fold_running(sign, work.processors, begin, sum);
    } else {
      fold_finished(sign, {work.processors, begin, work.end}, sum);
    }
  }
}

void PeriodSums::close_period(Instant boundary) {
  SHAPLEY_REQUIRE(boundary > periods_.back().begin);
  Period next{boundary, k_end_of_time, {}};
  for (const game::UtilitySum& sum : periods_.back().sums)
    next.sums.emplace_back().add_running(sum.running(), boundary);
  periods_.back().end = boundary;
  periods_.push_back(std::move(next));
}

void PeriodSums::set_boundaries(const std::vector<Instant>& boundaries) {
  const std::size_t organizations = periods_.back().sums.size();
  std::vector<Period> periods;
  for (std::size_t i = 0; i <= boundaries.size(); ++i) {
    const Instant begin = i == 0 ? k_beginning_of_time : boundaries[i - 1];
    const Instant end = i == boundaries.size() ? k_end_of_time : boundaries[i];
    const bool known = i < periods_.size() && periods_[i].begin == begin;
    periods.push_back({begin, end, known ? std::move(periods_[i].sums) : std::vector<game::UtilitySum>(organizations)});
  }
  periods_ = std::move(periods);
}

void PeriodSums::save(TextWriter& out) const {
  for (const Period& period : periods_) {
    out.line("sums").instant(period.begin);
    for (std::size_t i = 0; i < period.sums.size(); ++i) {
      if (period.sums[i] == game::UtilitySum{}) continue;
      out.line("sum").number(static_cast<Int128>(i));
      write_sum(out, period.sums[i]);
    }
  }
}

void PeriodSums::load(TextReader& in) {
  for (Period& period : periods_) {
    if (!in.next("sums")) return in.fault("sums of a period are missing");
    if (in.instant(k_beginning_of_time, k_last_instant) != period.begin) return in.fault("another period's sums");
    // Forgotten work that went on to the end of a closed period counts as running there; in the present none does.
    const ProcessorMillionths most_running = period.end == k_end_of_time ? ProcessorMillionths{} : k_max_wanted;
    for (std::size_t next = 0; in.next("sum");) {
      const auto i = static_cast<std::size_t>(in.small(0, std::numeric_limits<std::uint32_t>::max()));
      if (i < next || i >= period.sums.size()) return in.fault("sums out of order");
      period.sums[i] += read_sum(in, most_running);
      next = i + 1;
    }
  }
}

}  // namespace shapley::accounting
