#include "accounting/estimators/books.hpp"

#include <algorithm>

namespace shapley::accounting {

namespace {

struct Share {
  MicroProcessors processors;
  Instant begin;
  Instant end;
  bool running = false;
};

void fold_share(int sign, const Share& share, game::UtilitySum& sum) {
  if (share.running) {
    sign > 0 ? sum.add_running(share.processors, share.begin) : sum.remove_running(share.processors, share.begin);
  } else {
    sign > 0 ? sum.add_finished(share.processors, share.begin, share.end)
             : sum.remove_finished(share.processors, share.begin, share.end);
  }
}

}  // namespace

void Books::join(std::size_t organizations) {
  for (PeriodAccounts& period : periods_) period.accounts.resize(organizations);
}

void Books::fold(int sign, const Piece& piece) {
  for (auto period = periods_.rbegin(); period != periods_.rend() && period->end > piece.begin; ++period) {
    const Share share{piece.processors, std::max(piece.begin, period->begin), piece.end, piece.end >= period->end};
    if (share.begin >= piece.end) continue;
    Account& user = period->accounts[piece.organization.value];
    Account& owner = period->accounts[piece.owner.value];
    fold_share(sign, share, user.got);
    fold_share(sign, share, owner.given);
    if (share.running && piece.organization == piece.owner) user.on_own.value += sign * piece.processors.value;
  }
}

void Books::close_period(Instant boundary) {
  PeriodAccounts next{boundary, k_end_of_time, {}};
  for (const Account& account : periods_.back().accounts) {
    Account& fresh = next.accounts.emplace_back();
    fresh.got.add_running(account.got.running(), boundary);
    fresh.given.add_running(account.given.running(), boundary);
    fresh.on_own = account.on_own;
  }
  periods_.back().end = boundary;
  periods_.push_back(std::move(next));
}

void Books::set_boundaries(const std::vector<Instant>& boundaries) {
  const std::size_t organizations = periods_.back().accounts.size();
  std::vector<PeriodAccounts> periods;
  for (std::size_t i = 0; i <= boundaries.size(); ++i) {
    const Instant begin = i == 0 ? k_beginning_of_time : boundaries[i - 1];
    const Instant end = i == boundaries.size() ? k_end_of_time : boundaries[i];
    const bool known = i < periods_.size() && periods_[i].begin == begin;
    periods.push_back({begin, end, known ? std::move(periods_[i].accounts) : std::vector<Account>(organizations)});
  }
  periods_ = std::move(periods);
}

}  // namespace shapley::accounting
