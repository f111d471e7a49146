#include "accounting/estimators/attendance.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/contract.hpp"

namespace shapley::accounting {

namespace {

constexpr std::size_t k_most_fresh = 4'096;

bool is_earlier(const Attendance::Change& a, const Attendance::Change& b) {
  return std::tie(a.at, a.organization) < std::tie(b.at, b.organization);
}

bool is_nothing(const Attendance::Change& change) {
  return change.requests == 0 && change.owned == 0 && change.running == 0;
}

}  // namespace

void Attendance::change(const Change& change) {
  SHAPLEY_REQUIRE(change.organization.value < 32);
  fresh_.push_back(change);
  fresh_.back().at = std::max(change.at, base_.at_);
  if (fresh_.size() >= k_most_fresh) tidy();
}

void Attendance::set_boundaries(const std::vector<Instant>& boundaries) {
  boundaries_ = boundaries;
  firm_ = base_;
}

// Merges the new changes into the sorted ones.
void Attendance::tidy() {
  if (fresh_.empty()) return;
  std::sort(fresh_.begin(), fresh_.end(), is_earlier);
  if (fresh_.front().at < firm_.at_) firm_ = base_;
  const auto first = std::lower_bound(changes_.begin(), changes_.end(), fresh_.front(), is_earlier);
  std::vector<Change> later(first, changes_.end());
  changes_.erase(first, changes_.end());
  const std::size_t kept = changes_.size();
  const auto add = [&](const Change& change) {
    const bool is_new = changes_.size() == kept || is_earlier(changes_.back(), change);
    if (is_new) {
      if (changes_.size() > kept && is_nothing(changes_.back())) changes_.pop_back();
      changes_.push_back(change);
      return;
    }
    Change& sum = changes_.back();
    sum.requests += change.requests;
    sum.owned += change.owned;
    sum.running += change.running;
  };
  auto of_later = later.begin();
  for (const Change& change : fresh_) {
    for (; of_later != later.end() && is_earlier(*of_later, change); ++of_later) add(*of_later);
    add(change);
  }
  for (; of_later != later.end(); ++of_later) add(*of_later);
  if (changes_.size() > kept && is_nothing(changes_.back())) changes_.pop_back();
  fresh_.clear();
}

// Applies all changes before `until`, and adds what runs until then.
void Attendance::go_on(Span& span, Instant until) const {
  auto change =
      std::lower_bound(changes_.begin(), changes_.end(), Change{.at = span.at_, .organization = {}}, is_earlier);
  hindsight::Done<Int128> ran;
  const auto share_out = [&] { span.ran[span.period_].add(span.sharing(), std::exchange(ran, {})); };
  while (true) {
    Instant next = until;
    if (change != changes_.end()) next = std::min(next, change->at);
    if (span.period_ < boundaries_.size()) next = std::min(next, boundaries_[span.period_]);
    if (span.running != 0) ran += hindsight::done_during(span.at_.value, next.value, span.running);
    span.at_ = next;
    if (next == until) return share_out();
    hindsight::Coalition present = span.present;
    for (; change != changes_.end() && change->at == next; ++change) {
      const std::size_t organization = change->organization.value;
      if (span.has_.size() <= organization) span.has_.resize(organization + 1);
      Span::Has& has = span.has_[organization];
      has.requests += change->requests;
      has.owned += change->owned;
      span.running += change->running;
      const hindsight::Coalition bit = hindsight::Coalition{1} << organization;
      present = has.requests > 0 || has.owned > 0 ? present | bit : present & ~bit;
    }
    const bool is_boundary = span.period_ < boundaries_.size() && boundaries_[span.period_] == next;
    if (present == span.present && !is_boundary) continue;
    share_out();
    span.present = present;
    span.ever_ |= present;
    if (is_boundary) ++span.period_;
    span.stretches.push_back({next, span.sharing(), span.period_});
  }
}

Attendance::Span Attendance::until(Instant t, Instant firm) {
  tidy();
  t = std::max(t, base_.at_);
  if (firm_.at_ < firm && firm <= t) go_on(firm_, firm);
  Span span = firm_.at_ <= t ? firm_ : base_;
  go_on(span, t);
  // The organizations that are present, and what runs, from t on.
  const std::size_t before = span.stretches.size();
  GapOfPeriods ran = span.ran;
  go_on(span, t + Duration{1});
  span.stretches.resize(before);
  span.ran = std::move(ran);
  span.present = span.sharing();
  return span;
}

void Attendance::forget_before(Instant horizon) {
  tidy();
  go_on(base_, horizon);
  base_.stretches.clear();
  changes_.erase(changes_.begin(), std::lower_bound(changes_.begin(), changes_.end(),
                                                    Change{.at = horizon, .organization = {}}, is_earlier));
  firm_ = base_;
}

void Attendance::forget_periods(std::size_t count) {
  const auto forget = [count](GapOfPeriods& ran) { ran.erase(ran.begin(), ran.lower_bound(count)); };
  forget(base_.ran);
  forget(firm_.ran);
}

void Attendance::restore(GapOfPeriods ran, hindsight::Coalition ever) {
  base_.ran = std::move(ran);
  base_.ever_ = ever;
  firm_ = base_;
}

}  // namespace shapley::accounting
