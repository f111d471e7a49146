#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/contract.hpp"
#include "game/shapley_value.hpp"
#include "game/utility.hpp"
#include "hindsight/contributions.hpp"
#include "hindsight/gap_shares.hpp"
#include "hindsight/lattice_keys.hpp"
#include "hindsight/virtual_schedules.hpp"
#include "scheduling/policies/policies.hpp"
#include "scheduling/serving_terms.hpp"

namespace shapley::scheduling {

namespace {

using hindsight::Int256;

// Organizations with processors are present. If no organization comes or goes, the gap to the virtual schedule of all
// is the same for every organization, and that schedule is not made.
bool may_anybody_come_or_go(const Instance& instance) {
  return instance.owners_change || std::ranges::find(instance.processors, 0U) != instance.processors.end();
}

std::vector<Coalition> and_all_where_it_matters(std::vector<Coalition> proper, const Instance& instance) {
  if (may_anybody_come_or_go(instance)) proper.push_back(game::grand_coalition(instance.organizations()));
  return proper;
}

class OverSchedules : public HindsightPolicy {
 public:
  OverSchedules(const Instance& instance, std::vector<Coalition> proper, const game::ServingRule& rule)
      : coalitions_(and_all_where_it_matters(std::move(proper), instance)),
        comes_and_goes_(may_anybody_come_or_go(instance)),
        schedules_(instance.organizations(), coalitions_),
        terms_(rule, instance.residual),
        guaranteed_(instance.processors, rule.guarantee),
        brakes_(instance.processors, rule.pace),
        rule_(rule),
        owned_(instance.processors),
        processors_(instance.total_processors()),
        own_(instance.organizations()),
        waiting_(instance.organizations()),
        head_(instance.organizations()),
        ended_of_(instance.organizations()),
        gap_(instance.organizations()),
        psi_(instance.organizations()),
        keys_(instance.organizations()) {
    for (std::size_t u = 0; u < instance.organizations(); ++u) {
      schedules_.change_capacity(u, 0, instance.processors[u]);
      if (instance.processors[u] > 0) owners_ |= Coalition{1} << u;
    }
    if (!comes_and_goes_) return;
    present_ = owners_;
    begin_stretch(0);
  }

  void regards(std::uint32_t job, std::size_t) final { regarded_ = job; }
  // The job's duration is not used.
  void released(std::int64_t t, const Job& job) final {
    if (ended_of_[job.organization] == waiting_[job.organization].size()) come_or_go(t, job.organization);
    waiting_[job.organization].push_back(schedules_.add(job.organization, t, 1));
    if (regarded_) requests_[*regarded_].push_back(waiting_[job.organization].back());
  }
  std::int32_t started(std::int64_t t, std::size_t organization) final {
    const hindsight::Request request = first_request(organization);
    schedules_.started(request, t);
    runs_.push_back({request, static_cast<std::uint32_t>(organization), t});
    own_[organization].change(t, 1);
    if (terms_.weigh_running()) evaluated_at_ = -1;  // a start changes psi with the terms of the key
    return k_any_owner;
  }
  [[nodiscard]] bool asks_which_ended() const final { return true; }
  void completed(std::int64_t, std::size_t, std::int32_t) final {}
  void ended(std::int64_t t, std::size_t start) final {
    const Run& run = runs_[start];
    schedules_.ended(run.request, t - run.began);
    own_[run.organization].change(t, -1);
    if (terms_.weigh_running()) terms_.ran({t - run.began});
    if (++ended_of_[run.organization] == waiting_[run.organization].size()) come_or_go(t, run.organization);
  }

  // What runs goes on in every schedule. An organization without processors is present as long as a job of it is open.
  [[nodiscard]] bool endowed(std::int64_t t, const std::vector<std::uint32_t>& processors) final {
    if (!comes_and_goes_) return false;
    Coalition present = 0;
    owners_ = 0;
    for (std::size_t u = 0; u < processors.size(); ++u) {
      schedules_.change_capacity(u, t, std::int64_t{processors[u]} - std::int64_t{owned_[u]});
      if (processors[u] > 0) owners_ |= Coalition{1} << u;
      if (processors[u] > 0 || ended_of_[u] < waiting_[u].size()) present |= Coalition{1} << u;
    }
    if (present != present_) change_present(t, present);
    owned_ = processors;
    processors_ = std::max(processors_, std::accumulate(owned_.begin(), owned_.end(), std::uint64_t{0}));
    guaranteed_ = Guaranteed(processors, rule_.guarantee);
    brakes_ = Brakes(processors, rule_.pace);
    evaluated_at_ = -1;
    return true;
  }

  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) final {
    if (!scarce) return static_cast<std::size_t>(std::countr_zero(waiting));
    const Coalition first = guaranteed_.first_of(waiting, [this](std::size_t u) { return own_[u].running; });
    // The keys below lack what is the same for every organization, and braking is not linear.
    if (brakes_.any()) {
      const Standings now = *standings(t);
      const game::KeyTerms& terms = terms_.now();
      return greatest(first, [&](std::size_t u) { return brakes_.key<Int256>(u, now.figures[u], terms, now.scale); });
    }
    const std::vector<Int128>& keys_now = keys(t);
    return greatest(first, [&](std::size_t u) { return -keys_now[u]; });
  }
  [[nodiscard]] const std::vector<Int128>& keys(std::int64_t t) final {
    if (evaluated_at_ != t) {
      see(t, terms_.now());
      make_keys(keys_);
      evaluated_at_ = t;
    }
    return keys_;
  }
  [[nodiscard]] std::optional<std::vector<Rational>> contributions(std::int64_t t) final {
    evaluated_at_ = -1;
    see(t, {});
    return shares();
  }
  [[nodiscard]] std::vector<std::pair<Coalition, std::int64_t>> virtual_values(std::int64_t t) final {
    evaluated_at_ = -1;
    see(t, {});
    std::vector<std::pair<Coalition, std::int64_t>> values;
    for (std::size_t slot = 0; slot < coalitions_.size(); ++slot) values.emplace_back(coalitions_[slot], value(slot));
    return values;
  }
  // A key is linear in its terms: each figure is the difference that its term makes.
  [[nodiscard]] std::optional<Standings> standings(std::int64_t t) final {
    evaluated_at_ = -1;
    Standings standings;
    standings.figures.resize(psi_.size());
    const auto ahead = [&](const game::KeyTerms& terms, Int128 KeyFigures::*figure) {
      see(t, terms);
      const std::vector<Rational> phi = shares();
      standings.scale = phi.front().denominator;
      for (std::size_t u = 0; u < phi.size(); ++u) {
        KeyFigures& of = standings.figures[u];
        of.*figure = phi[u].numerator - standings.scale * psi_[u] - (figure == &KeyFigures::balance ? 0 : of.balance);
      }
    };
    ahead({}, &KeyFigures::balance);
    ahead({.horizon = {1}}, &KeyFigures::given_less_got);
    ahead({.horizon = {}, .running_factor = 1}, &KeyFigures::rate_less_used);
    return standings;
  }

 protected:
  virtual void make_keys(std::vector<Int128>& keys) = 0;
  [[nodiscard]] virtual std::vector<Rational> shares() = 0;
  [[nodiscard]] std::span<const std::int64_t> psi() const { return psi_; }
  // v of a slot at seen_at_, with the terms of the key.
  [[nodiscard]] std::int64_t value(std::size_t slot) const {
    return game::looked_ahead(schedules_.utility(slot, seen_at_), schedules_.work(slot, seen_at_),
                              schedules_.running(slot), seen_ahead_);
  }
  // By organization, times k_gap_parts: its parts of the gap of all stretches in which some organization was not
  // present, at seen_at_ with the terms of the key.
  [[nodiscard]] const std::vector<Int256>& gap() const { return gap_; }
  // An upper bound of all values and psi.
  [[nodiscard]] Int128 greatest_value() const {
    const Int128 ahead = seen_at_ + seen_ahead_.horizon.value + 1;
    return static_cast<Int128>(processors_) * ahead * ahead;
  }

 private:
  struct Run {
    hindsight::Request request;
    std::uint32_t organization;
    std::int64_t began;
  };

  // Of the job that starts: the one that is regarded, or the first that waits.
  [[nodiscard]] hindsight::Request first_request(std::size_t organization) {
    if (!regarded_) return waiting_[organization][head_[organization]++];
    std::vector<hindsight::Request>& left = requests_[*regarded_];
    const hindsight::Request request = left.back();
    left.pop_back();
    return request;
  }

  void see(std::int64_t t, const game::KeyTerms& terms) {
    // What happens at t changes no v at t except through what runs, which is that of the second that begins at t.
    schedules_.advance(std::max(terms.running_factor > 0 ? t + 1 : t, schedules_.time()));
    schedules_.settle(t);
    seen_at_ = t;
    seen_ahead_ = terms;
    for (std::size_t u = 0; u < own_.size(); ++u)
      psi_[u] = game::looked_ahead(own_[u].psi_at(t), own_[u].done_at(t), own_[u].running, terms);
    if (comes_and_goes_) see_gap(t, terms);
  }

  using Done = hindsight::Done<Int128>;
  // The organizations that are present from `begin` on.
  struct Stretch {
    std::int64_t begin;
    Coalition present;
  };

  [[nodiscard]] Done really_done(std::int64_t t) const {
    Done done;
    for (const game::Accrual& own : own_) {
      done.work += own.done_at(t);
      done.moment += static_cast<Int128>(own.done_at(t)) * t - own.psi_at(t);
    }
    return done;
  }
  void share_out(hindsight::GapShares& shares, Coalition present, Done from, const Done& to) const {
    if (present == game::grand_coalition(own_.size())) return;
    Done done = to;
    done -= from;
    shares.add(present, done);
  }
  // Called when the organization got its first open job, or its last one ended.
  void come_or_go(std::int64_t t, std::size_t organization) {
    if ((owners_ >> organization & 1U) == 0) change_present(t, present_ ^ Coalition{1} << organization);
  }
  void change_present(std::int64_t t, Coalition present) {
    const Done done = really_done(t);
    share_out(ran_, present_, stretch_begun_, done);
    stretch_begun_ = done;
    present_ = present;
    begin_stretch(t);
  }
  void begin_stretch(std::int64_t t) {
    if (!stretches_.empty() && stretches_.back().begin == t) {
      stretches_.back().present = present_;
      return;
    }
    schedules_.set_cuts(stretches_.size(), std::span(&t, 1));
    stretches_.push_back({t, present_});
  }
  void see_gap(std::int64_t t, const game::KeyTerms& terms) {
    std::vector<Done> done = schedules_.done_at_cuts();
    const std::size_t all = coalitions_.size() - 1;
    const Int128 work = schedules_.work(all, t);
    done.push_back({work, work * t - schedules_.utility(all, t)});
    const std::size_t final = std::max<std::size_t>(schedules_.final_cuts(), 1) - 1;  // stretches
    for (std::size_t i = 0; i < final; ++i) share_out(did_, stretches_[i].present, done[i], done[i + 1]);
    hindsight::GapShares gap = ran_;
    gap -= did_;
    for (std::size_t i = final; i + 1 < done.size(); ++i) share_out(gap, stretches_[i].present, done[i + 1], done[i]);
    share_out(gap, present_, stretch_begun_, really_done(t));
    schedules_.forget_cuts(final);
    stretches_.erase(stretches_.begin(), stretches_.begin() + static_cast<std::ptrdiff_t>(final));

    hindsight::GapShares rate;
    Done running{.work = -static_cast<Int128>(schedules_.running(all))};
    for (const game::Accrual& own : own_) running.work += own.running;
    share_out(rate, present_, {}, running);
    for (std::size_t u = 0; u < gap_.size(); ++u)
      gap_[u] = game::looked_ahead<Int256>(gap.of(u).utility_at(t), gap.of(u).work, rate.of(u).work, terms);
  }

  std::vector<Coalition> coalitions_;
  bool comes_and_goes_;  // whether any organization does
  hindsight::VirtualSchedules<std::int64_t> schedules_;
  ServingTerms terms_;
  Guaranteed guaranteed_;
  Brakes brakes_;
  game::ServingRule rule_;
  std::vector<std::uint32_t> owned_;  // by organization
  std::uint64_t processors_;          // of all, at most so far
  std::vector<game::Accrual> own_;
  std::vector<std::vector<hindsight::Request>> waiting_;  // by organization, those that have started included
  std::vector<std::size_t> head_;                         // by organization: the first one that has not started
  std::vector<std::size_t> ended_of_;                     // by organization: how many of them have ended
  std::vector<Run> runs_;                                 // in the order of their starts
  std::optional<std::uint32_t> regarded_;                 // the job that the calls regard, where it is known
  std::map<std::uint32_t, std::vector<hindsight::Request>> requests_;  // of regarded jobs: those that have not started
  Coalition owners_ = 0;
  Coalition present_ = 0;
  std::vector<Stretch> stretches_;  // as many as the schedules' cuts; earlier ones are in did_
  Done stretch_begun_;              // what was really done when the last one began
  hindsight::GapShares ran_;        // in the stretches before the last one
  hindsight::GapShares did_;        // by the virtual schedule of all, as far as nothing changes any more
  std::vector<Int256> gap_;
  std::vector<std::int64_t> psi_;
  std::vector<Int128> keys_;
  std::int64_t seen_at_ = 0;
  game::KeyTerms seen_ahead_;
  std::int64_t evaluated_at_ = -1;
};

Int256 sum_of(const std::vector<Int256>& parts) {
  return std::accumulate(parts.begin(), parts.end(), Int256{0});
}

std::vector<Coalition> proper_coalitions(std::size_t k) {
  std::vector<Coalition> coalitions = game::all_coalitions(k);
  coalitions.pop_back();
  return coalitions;
}

class OverLattice final : public OverSchedules {
 public:
  OverLattice(const Instance& instance, const game::ServingRule& rule)
      : OverSchedules(instance, proper_coalitions(instance.organizations()), rule),
        lattice_(instance.organizations()),
        scale_(game::factorial(instance.organizations())),
        values_(std::size_t{1} << instance.organizations()),
        narrow_(instance.organizations()) {}

 private:
  void make_keys(std::vector<Int128>& keys) override {
    make_keys_without_gap(keys);
    const auto part = [this](const Int256& of_gap) {
      return static_cast<Int128>(of_gap * scale_ / gap().size() / hindsight::k_gap_parts);
    };
    for (std::size_t u = 0; u < keys.size(); ++u) keys[u] -= part(gap()[u]);
  }
  void make_keys_without_gap(std::vector<Int128>& keys) {
    for (std::size_t coalition = 1; coalition + 1 < values_.size(); ++coalition)
      values_[coalition] = value(coalition - 1);
    if (hindsight::width_for(greatest_value(), narrow_.size()) == hindsight::Width::bits_64) {
      lattice_.keys<std::int64_t, std::int64_t>(values_, psi(), narrow_);
      std::copy(narrow_.begin(), narrow_.end(), keys.begin());
    } else {
      lattice_.keys<Int128, std::int64_t>(values_, psi(), keys);
    }
  }
  [[nodiscard]] std::vector<Rational> shares() override {
    std::vector<Int128> keys(narrow_.size());
    std::vector<Int128> scaled(narrow_.size());
    make_keys_without_gap(keys);
    lattice_.scaled_contributions<Int128, std::int64_t>(keys, psi(), scaled);
    std::vector<Int256> shares(scaled.begin(), scaled.end());
    hindsight::add_gap(shares, gap(), sum_of(gap()));
    std::vector<Rational> phi;
    for (const Int256& share : shares) phi.push_back({static_cast<Int128>(share), scale_});
    return phi;
  }

  hindsight::LatticeKeys lattice_;
  std::int64_t scale_;
  std::vector<std::int64_t> values_;  // by coalition
  std::vector<std::int64_t> narrow_;  // keys
};

// The coalitions from which any organization's phi is computed, except the grand one, which is not virtual.
std::vector<Coalition> virtual_coalitions(const game::CoalitionWeights& weights) {
  std::set<Coalition> coalitions;
  for (const auto& of_one : weights.of) {
    for (const auto& [coalition, weight] : of_one) coalitions.insert(coalition);
  }
  coalitions.erase(game::grand_coalition(weights.of.size()));
  return {coalitions.begin(), coalitions.end()};
}

class OverPairs final : public OverSchedules {
 public:
  OverPairs(const Instance& instance, const game::CoalitionWeights& weights, const game::ServingRule& rule)
      : OverSchedules(instance, virtual_coalitions(weights), rule),
        weights_scale_(weights.scale),
        unit_(may_anybody_come_or_go(instance) ? hindsight::k_gap_parts : 1),
        scale_(weights_scale_ * unit_),
        terms_(instance.organizations()),
        of_grand_(instance.organizations()) {
    const std::vector<Coalition> coalitions = virtual_coalitions(weights);
    for (std::size_t u = 0; u < terms_.size(); ++u) {
      for (const auto& [coalition, weight] : weights.of[u]) {
        const auto slot = std::lower_bound(coalitions.begin(), coalitions.end(), coalition) - coalitions.begin();
        if (coalition == game::grand_coalition(terms_.size())) {
          of_grand_[u] = weight;
        } else {
          terms_[u].push_back({static_cast<std::size_t>(slot), weight});
        }
      }
    }
  }

 private:
  struct Term {
    std::size_t slot;
    std::int64_t weight;
  };

  [[nodiscard]] Int128 scaled_phi(std::size_t u) const {
    Int128 sum = 0;
    for (const std::int64_t psi_of_one : psi()) sum += psi_of_one;
    sum *= of_grand_[u];
    for (const auto& [slot, weight] : terms_[u]) sum += static_cast<Int128>(weight) * value(slot);
    const Int256 beyond_equal = gap()[u] - sum_of(gap()) / terms_.size();
    return sum * unit_ + weights_scale_ * static_cast<Int128>(beyond_equal);
  }
  void make_keys(std::vector<Int128>& keys) override {
    for (std::size_t u = 0; u < keys.size(); ++u) keys[u] = scale_ * psi()[u] - scaled_phi(u);
  }
  [[nodiscard]] std::vector<Rational> shares() override {
    std::vector<Rational> phi;
    for (std::size_t u = 0; u < terms_.size(); ++u) phi.push_back({scaled_phi(u), scale_});
    return phi;
  }

  Int128 weights_scale_;
  std::int64_t unit_;  // the factor of all values, so that parts of the gap are whole
  Int128 scale_;
  std::vector<std::vector<Term>> terms_;  // by organization
  std::vector<std::int64_t> of_grand_;    // by organization: its weight of v(N)
};

}  // namespace

std::unique_ptr<HindsightPolicy> make_hindsight_pair(const Instance& instance, const game::ServingRule& rule) {
  return std::make_unique<OverPairs>(instance, game::pair_weights(instance.organizations()), rule);
}

std::unique_ptr<HindsightPolicy> make_hindsight(const Instance& instance, const game::ServingRule& rule) {
  SHAPLEY_REQUIRE(1 <= instance.organizations() && instance.organizations() <= k_hindsight_organizations);
  return std::make_unique<OverLattice>(instance, rule);
}

}  // namespace shapley::scheduling
