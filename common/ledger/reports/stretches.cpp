#include "ledger/reports/stretches.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/calendar.hpp"
#include "base/contract.hpp"

namespace shapley::ledger {

namespace {

using accounting::EstimatorId;
using accounting::Piece;
using accounting::SegmentKey;
using accounting::Standing;
using accounting::State;

// Midnights, at some of which a period may begin, and the caller's own cuts; up to `until`, which is the last.
std::vector<Instant> stops_between(Instant since, Instant until, const std::vector<Instant>& cuts) {
  std::vector<Instant> midnights;
  for (Instant t = day_begin(since) + Duration{k_day_s}; t < until; t = t + Duration{k_day_s}) midnights.push_back(t);
  std::vector<Instant> stops;
  std::ranges::set_union(midnights, cuts, std::back_inserter(stops));
  std::erase_if(stops, [&](Instant t) { return t <= since || t >= until; });
  stops.push_back(until);
  return stops;
}

class Collector {
 public:
  Collector(PastBooks& books, bool with_use, const VisitStretch& visit, const BeforeForgetting& before_forgetting)
      : books_(books), with_use_(with_use), visit_(visit), before_forgetting_(before_forgetting) {}

  Expected<void> begin_at(Instant t) {
    SHAPLEY_TRY(books_.advance_to(t));
    SHAPLEY_TRY(books_.forget());
    open(t);
    return {};
  }

  // Advances to t, and ends the stretch there if `cut` is set or a period ends.
  Expected<void> go_to(Instant t, bool cut, bool with_t) {
    SHAPLEY_TRY(books_.advance_to(t));
    State& state = books_.state();
    if (t <= books_.begin()) {
      if (cut) open(t);
      return {};
    }
    SHAPLEY_TRY(collect(t));
    if (before_forgetting_) before_forgetting_(books_);
    SHAPLEY_TRY(books_.forget());  // what has ended will not be asked for again
    // A ledger that begins at t has closed nothing.
    stretch_.closes_period =
        state.period_begin() == t && !state.closed_periods().empty() && state.closed_periods().back().end == t;
    if (cut || stretch_.closes_period) {
      if (stretch_.closes_period) {
        stretch_.closing = state.closed_periods().back().standings;
        stretch_.period_begin = state.closed_periods().back().begin;
      } else {
        stretch_.closing = with_t ? state.standings() : books_.rows();
        stretch_.period_begin = state.period_begin();
      }
      const bool closes_period = stretch_.closes_period;
      finish(t);
      open(t);
      if (closes_period && with_t) finish_instant(t);
    }
    return {};
  }

 private:
  // What was settled at the instant at which a period begins is of that period, of which nothing else is known.
  void finish_instant(Instant t) {
    stretch_.closing = books_.state().standings();
    const auto was_settled = [this](const Standing& row) {
      const Standing before =
          row.organization.value < stretch_.opening.size() ? stretch_.opening[row.organization.value] : Standing{};
      return row.settled_got != before.settled_got || row.settled_given != before.settled_given;
    };
    if (std::ranges::none_of(stretch_.closing, was_settled)) return;
    finish(t);
    open(t);
  }

  void open(Instant t) {
    stretch_ = {.begin = t,
                .end = t,
                .period_begin = t,
                .opening = books_.rows(),
                .closing = {},
                .held = {},
                .waited = {},
                .offered = {},
                .idle_wanted = {},
                .use = with_use_ ? std::optional<NodeUse>(std::in_place) : std::nullopt};
    collected_ = t;
  }

  Expected<void> collect(Instant t) {
    const State& state = books_.state();
    IdleSweep sweep;
    Expected<Submitter> submitter;
    state.visit_pieces(collected_, t, [&](const SegmentKey& run, const Piece& piece) {
      if (submitter) submitter = books_.submitter_of(run.job, run.anchor);
      if (!submitter) return;
      stretch_.held[{piece.organization, piece.owner, submitter->account, submitter->user_id}] +=
          piece.processors * (piece.end - piece.begin);
      sweep.idle(piece.owner, -piece.processors, piece.begin, piece.end);
    });
    if (!submitter) return tl::unexpected<Error>(std::move(submitter).error());
    for (std::vector<CpuTime>* const by_organization : {&stretch_.waited, &stretch_.offered, &stretch_.idle_wanted})
      by_organization->resize(state.organizations().size());
    state.visit_waits(collected_, t, [&](OrgId id, ProcessorMillionths processors, Instant begin, Instant end) {
      stretch_.waited[id.value] += processors * (end - begin);
      sweep.waits(processors, begin, end);
    });
    state.visit_nodes(collected_, t, [&](const accounting::NodeStretch& node) {
      if (node.offered.value == 0) return;
      node.split(node.offered, [&](OrgId id, ProcessorMillionths processors) {
        stretch_.offered[id.value] += processors * (node.end - node.begin);
        sweep.idle(id, processors, node.begin, node.end);
      });
    });
    std::move(sweep).add_wanted(stretch_.idle_wanted);
    if (stretch_.use) SHAPLEY_TRY(stretch_.use->collect(books_, collected_, t));
    collected_ = t;
    return {};
  }

  void finish(Instant t) {
    stretch_.end = t;
    stretch_.opens_period = stretch_.period_begin >= stretch_.begin;  // later: the ledger begins within the stretch
    // An organization that joined meanwhile had nothing before.
    for (std::size_t i = stretch_.opening.size(); i < stretch_.closing.size(); ++i) {
      stretch_.opening.emplace_back().organization = {static_cast<std::uint32_t>(i)};
    }
    visit_(stretch_, books_);
  }

  PastBooks& books_;
  const bool with_use_;
  const VisitStretch& visit_;
  const BeforeForgetting& before_forgetting_;
  Stretch stretch_;
  Instant collected_;
};

}  // namespace

void IdleSweep::idle(OrgId owner, ProcessorMillionths processors, Instant begin, Instant end) {
  changes_.push_back({begin, owner, processors.value});
  changes_.push_back({end, owner, -Int128{processors.value}});
}

void IdleSweep::waits(ProcessorMillionths processors, Instant begin, Instant end) {
  changes_.push_back({begin, std::nullopt, processors.value});
  changes_.push_back({end, std::nullopt, -Int128{processors.value}});
}

void IdleSweep::add_wanted(std::vector<CpuTime>& wanted) && {
  std::ranges::sort(changes_, {}, &Change::at);
  std::vector<Int128> idle(wanted.size());
  Int128 waiting = 0;
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const auto& [at, owner, delta] = changes_[i];
    (owner ? idle[owner->value] : waiting) += delta;
    if (i + 1 == changes_.size() || changes_[i + 1].at == at || waiting == 0) continue;
    Int128 all = 0;
    for (const Int128 processors : idle) all += std::max<Int128>(0, processors);
    const Int128 asked = std::min(all, waiting);
    if (asked == 0) continue;
    const std::int64_t length = (changes_[i + 1].at - at).value;
    for (std::size_t o = 0; o < idle.size(); ++o)
      wanted[o].value += std::max<Int128>(0, idle[o]) * asked / all * length;
  }
}

Expected<void> for_each_stretch(PastBooks& books, const StretchesAsked& asked, const VisitStretch& visit,
                                const BeforeForgetting& before_forgetting) {
  SHAPLEY_REQUIRE(asked.since < asked.until);
  Collector collector(books, asked.with_use, visit, before_forgetting);
  SHAPLEY_TRY(collector.begin_at(asked.since));
  for (const Instant stop : stops_between(asked.since, asked.until, asked.cuts)) {
    const bool is_last = stop == asked.until;
    SHAPLEY_TRY(
        collector.go_to(stop, is_last || std::ranges::binary_search(asked.cuts, stop), is_last && asked.with_until));
  }
  return {};
}

OwnerMatrix matrix_of(const Held& held, std::size_t organizations) {
  OwnerMatrix matrix(organizations, std::vector<CpuTime>(organizations));
  for (const auto& [key, work] : held) matrix[key.organization.value][key.owner.value] += work;
  return matrix;
}

accounting::EstimatorSet needed_for_stretches(EstimatorId wanted) {
  accounting::EstimatorSet needed = accounting::estimators_with(&accounting::EstimatorRow::by_owner);
  needed.insert(wanted);
  return needed;
}

bool is_exact(const Stretch& stretch) {
  const OwnerMatrix matrix = matrix_of(stretch.held, stretch.closing.size());
  const accounting::EstimatorSet by_owner = accounting::estimators_with(&accounting::EstimatorRow::by_owner);
  for (std::size_t u = 0; u < matrix.size(); ++u) {
    CpuTime got = stretch.closing[u].settled_got - stretch.opening[u].settled_got;
    CpuTime given = stretch.closing[u].settled_given - stretch.opening[u].settled_given;
    for (std::size_t other = 0; other < matrix.size(); ++other) {
      got += matrix[u][other];
      given += matrix[other][u];
    }
    if (got != stretch.closing[u].got - stretch.opening[u].got) return false;
    for (const EstimatorId estimator : accounting::estimator_ids()) {
      const CpuTime credited = stretch.closing[u].given(estimator) - stretch.opening[u].given(estimator);
      if (by_owner.contains(estimator) && given != credited) return false;
    }
  }
  return true;
}

}  // namespace shapley::ledger
