// The ranks of the organizations. They are computed again whenever the books may have changed, by the configured
// estimator, or by its stand-in while that estimator has not caught up. Single-threaded; time is passed in.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "accounting/estimators/table.hpp"
#include "accounting/state/state.hpp"
#include "base/types.hpp"
#include "daemon/books/books.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

class RankMaker {
 public:
  // `books` must outlive it. Generations begin with `generation` and rise by 1 whenever the ranks change.
  RankMaker(Books& books, std::uint64_t generation) : books_(books) { ranks_.generation = generation; }

  // While the books are incomplete the last ranks stay in force, because no estimator can catch up. `away`: nodes that
  // may come back (State::ranking).
  void refresh(const accounting::NodeNames& away, Instant now);
  [[nodiscard]] const protocol::Ranks& ranks() const { return ranks_; }
  // Who gives what runs, by the estimator that ranks, as of the last refresh (protocol::Rules). The generation rises
  // with every change.
  [[nodiscard]] const std::vector<protocol::OwnedNodes>& owners() const { return owners_; }
  [[nodiscard]] std::uint64_t owners_generation() const { return owners_generation_; }
  // Whether an estimator has work left; refresh() does a part of it.
  [[nodiscard]] bool is_behind() const { return is_behind_; }

 private:
  // Records the estimator that ranks, and logs a change of it.
  void note_able(const accounting::EstimatorSet& able);
  void refresh_owners(accounting::EstimatorId by);

  Books& books_;
  protocol::Ranks ranks_;
  std::vector<protocol::OwnedNodes> owners_;
  std::uint64_t owners_epoch_ = 0;  // of the books; 0: they do not matter
  std::uint64_t owners_generation_ = 0;
  std::vector<std::int64_t> to_zero_;  // by a rule that brakes, as ranks_: processors until its key is 0
  std::optional<accounting::EstimatorId> ranked_by_;
  bool is_behind_ = false;
};

}  // namespace shapley::daemon
