#include "accounting/estimators/period_shares.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "accounting/checkpoint/text_format.hpp"
#include "accounting/estimators/coalition_books.hpp"

namespace shapley::accounting {

namespace {

// u's part of the gap, times k_gap_parts, instead of an equal part.
template <typename PartOf>
void add_gap(std::vector<hindsight::Int256>& shares, const hindsight::GapShares& gap, std::span<const OrgId> players,
             std::size_t exact, PartOf&& part_of) {
  std::vector<hindsight::Int256> parts;
  for (const OrgId player : players) parts.push_back(part_of(gap.of(player.value)));
  hindsight::add_gap(shares, parts, part_of(gap.sum()), exact);
}

}  // namespace

PeriodShares shares_in(const CoalitionBooks& books, const PeriodAsked& asked, const GapOfPeriods& ran,
                       const Attendance::Span* now) {
  const std::size_t players = asked.players.size();
  if (players == 0) return {};
  std::vector<Int128> utility;
  std::vector<Int128> work;
  std::vector<Int128> running;
  for (const std::size_t slot : books.slots_of(players)) {
    const Produced produced = books.produced(slot, asked.begin, asked.end);
    utility.push_back(produced.utility.value);
    work.push_back(produced.work.value);
    running.push_back(books.schedules().running(slot));
  }
  const std::size_t exact = books.exact();
  PeriodShares shares{.phi = hindsight::shares_of(utility, players, exact),
                      .given = hindsight::shares_of(work, players, exact),
                      .rate = {},
                      .exact = exact};
  const auto entry = ran.find(asked.period);
  hindsight::GapShares gap = entry == ran.end() ? hindsight::GapShares{} : entry->second;
  gap -= books.did_in(asked.period);
  using Part = hindsight::Done<hindsight::Int256>;
  const auto work_of = [](const Part& part) { return part.work; };
  add_gap(shares.phi, gap, asked.players, exact, [&](const Part& part) { return part.utility_at(asked.end.value); });
  add_gap(shares.given, gap, asked.players, exact, work_of);
  if (now == nullptr) return shares;
  shares.rate = hindsight::shares_of(running, players, exact);
  hindsight::GapShares rate;
  rate.add(now->present, {.work = now->running - running.back()});
  add_gap(shares.rate, rate, asked.players, exact, work_of);
  return shares;
}

void credit(const PeriodShares& shares, std::span<const OrgId> players, std::span<const std::uint32_t> ranks,
            const Estimator::Question& question, std::span<Credit> credits) {
  Int128 utility = 0;
  Int128 work = 0;
  Int128 running = 0;
  for (std::size_t i = 0; i < credits.size(); ++i) {
    const game::UtilitySum& got = question.got[i];
    const Credit is{.phi = got.utility_at(question.t), .given = got.work_at(question.t), .rate = got.running()};
    utility += is.phi.value;
    work += is.given.value;
    running += is.rate.value;
    credits[i] = players.empty() ? is : Credit{};
  }
  if (players.empty()) return;
  const std::vector<Int128> phi = hindsight::contributions_of(shares.phi, utility, ranks, shares.exact);
  const std::vector<Int128> given = hindsight::contributions_of(shares.given, work, ranks, shares.exact);
  for (std::size_t u = 0; u < players.size(); ++u) {
    Credit& credit = credits[players[u].value];
    credit.phi = {phi[u]};
    credit.given = {given[u]};
  }
  if (shares.rate.empty()) return;
  const std::vector<Int128> rate = hindsight::contributions_of(shares.rate, running, ranks, shares.exact);
  for (std::size_t u = 0; u < players.size(); ++u)
    credits[players[u].value].rate = {static_cast<std::int64_t>(rate[u])};
}

namespace {

constexpr std::int64_t k_most_periods = 1'000'000'000;
constexpr std::size_t k_most_digits = 76;  // that many digits and a sign always fit into 256 bits

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
