#include "accounting/estimators/closed_shares.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "accounting/checkpoint/text_format.hpp"

namespace shapley::accounting {

namespace {

constexpr std::int64_t k_most_periods = 1'000'000'000;
constexpr std::size_t k_most_digits = 76;  // fit into 256 bits with a sign, whatever they are

bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.size() <= k_most_digits &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
         (text.size() == 1 || text.front() != '0');
}

hindsight::Int256 read_wide(TextReader& in) {
  const std::string text = in.word();
  if (!is_number(text)) {
    in.fault("not a number of at most 76 digits");
    return 0;
  }
  return hindsight::Int256(text);
}

}  // namespace

void ClosedShares::save(TextWriter& out) const {
  for (const PeriodShares& period : periods_) {
    out.line("closed_shares").number(static_cast<Int128>(period.phi.size())).number(static_cast<Int128>(period.exact));
    for (const hindsight::Int256& share : period.phi) out.word(share.str());
    for (const hindsight::Int256& share : period.given) out.word(share.str());
  }
}

void ClosedShares::load(TextReader& in, std::size_t players) {
  while (in.next("closed_shares")) {
    const std::int64_t count = in.small(0, static_cast<std::int64_t>(players));
    PeriodShares period;
    period.exact = static_cast<std::size_t>(in.small(0, static_cast<std::int64_t>(hindsight::k_exact_players)));
    for (std::int64_t i = 0; i < count && in.ok(); ++i) period.phi.push_back(read_wide(in));
    for (std::int64_t i = 0; i < count && in.ok(); ++i) period.given.push_back(read_wide(in));
    periods_.push_back(std::move(period));
  }
}

void save_gap(TextWriter& out, const GapOfPeriods& gap) {
  for (const auto& [period, shares] : gap) {
    for (std::size_t organization = 0; organization < shares.size(); ++organization) {
      const hindsight::Done<hindsight::Int256> part = shares.of(organization);
      if (part == hindsight::Done<hindsight::Int256>{}) continue;
      out.line("gap").number(static_cast<Int128>(period)).number(static_cast<Int128>(organization));
      out.word(part.work.str()).word(part.moment.str());
    }
  }
}

GapOfPeriods load_gap(TextReader& in, std::size_t organizations) {
  GapOfPeriods gap;
  while (in.next("gap")) {
    const auto period = static_cast<std::size_t>(in.small(0, k_most_periods));
    const auto organization = static_cast<std::size_t>(in.small(0, static_cast<std::int64_t>(organizations) - 1));
    const hindsight::Int256 work = read_wide(in);
    gap[period].add_part(organization, {work, read_wide(in)});
  }
  return gap;
}

}  // namespace shapley::accounting
