#include "accounting/estimators/period_shares.hpp"

#include "accounting/estimators/coalition_books.hpp"

namespace shapley::accounting {

namespace {

// What of the gap is u's, times k_gap_parts, instead of an equal part.
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

}  // namespace shapley::accounting
