#include "scheduling/fair_schedules.hpp"

#include <bit>
#include <cmath>
#include <numeric>

namespace shapley::scheduling {

namespace {

constexpr std::int64_t k_not_yet = -1;
// In the calendar: an index of common_jobs_ follows. Single starts are c * k_max_lattice_organizations + u, 20 bits.
constexpr std::uint32_t k_common_entry = 1U << 31U;
// Doubles keep 53 bits; what is left of a difference of sums stays far within this.
constexpr double k_rounding = 1e-13;

constexpr Coalition bit(std::size_t organization) {
  return Coalition{1} << organization;
}
std::size_t lowest(Coalition c) {
  return static_cast<std::size_t>(std::countr_zero(c));
}
std::vector<std::uint32_t> pools_of(std::span<const std::uint32_t> processors) {
  SHAPLEY_REQUIRE(1 <= processors.size() && processors.size() <= game::k_max_lattice_organizations);
  std::vector<std::uint32_t> pool(std::size_t{1} << processors.size());
  for (Coalition c = 1; c < pool.size(); ++c) pool[c] = pool[c & (c - 1)] + processors[lowest(c)];
  return pool;
}
std::uint32_t calendar_entry(Coalition c, std::size_t u) {
  return c * game::k_max_lattice_organizations + static_cast<std::uint32_t>(u);
}

}  // namespace

FairSchedules::FairSchedules(std::span<const std::uint32_t> processors, const game::ServingRule& rule)
    : organizations_(processors.size()),
      terms_(key_terms(rule, game::k_assumed_residual)),
      weigh_running_(ServingTerms::does_weigh_running(rule)),
      rule_(rule),
      guaranteed_(processors, rule.guarantee),
      brakes_(processors, rule.pace),
      processors_(std::accumulate(processors.begin(), processors.end(), std::uint64_t{0})),
      pool_(pools_of(processors)),
      size_(pool_.size()),
      slots_(pool_.size()),
      members_(pool_.size() * organizations_),
      common_(organizations_),
      lines_(pool_.size() * organizations_),
      chosen_at_(pool_.size(), k_not_yet),
      queue_(organizations_),
      free_(pool_, organizations_),
      waiting_in_(organizations_, CoalitionSet(organizations_)),
      waiting_(organizations_),
      touched_(organizations_),
      at_once_(organizations_),
      potential_(organizations_),
      low_masks_(std::size_t{1} << (organizations_ / 2)),
      weights_(organizations_ + 1),
      by_size_(organizations_ / 2 + 1),
      unordered_masks_(low_masks_.size()) {
  for (Coalition c = 1; c < pool_.size(); ++c) size_[c] = static_cast<std::uint8_t>(size_[c & (c - 1)] + 1);
  for (std::size_t u = 0; u < organizations_; ++u) holders_.push_back(CoalitionSet::holders_of(u, organizations_));
  for (std::size_t size = 1; size <= organizations_; ++size) {
    weights_[size].resize(size + 1);
    for (std::size_t s = 1; s < size; ++s) weights_[size][s] = game::factorial(s - 1) * game::factorial(size - 1 - s);
  }
  for (std::size_t low = 0; low < by_size_.size(); ++low) {
    by_size_[low].resize(std::size_t{1} << low);
    std::iota(by_size_[low].begin(), by_size_[low].end(), 0U);
    std::stable_sort(by_size_[low].begin(), by_size_[low].end(),
                     [&](std::uint32_t a, std::uint32_t b) { return size_[a] < size_[b]; });
  }
  narrow_.resize(low_masks_.size() * (organizations_ + 2));
  wide_.resize(narrow_.size());
}

std::uint64_t FairSchedules::memory_bound(const Instance& instance) {
  const std::uint64_t coalitions = std::uint64_t{1} << instance.organizations();
  const std::uint64_t running = std::min<std::uint64_t>(instance.total_processors(), instance.jobs.size());
  // A processor serves half of all coalitions. Vectors that grow hold up to twice what they need.
  return coalitions * (64 + 40 * instance.organizations()) + coalitions / 2 * running * 2 * 16 +
         (std::uint64_t{2} << 20U);  // the calendar's wheel
}

std::int64_t FairSchedules::value_at(Coalition c, std::int64_t t) const {
  std::int64_t doubled = slots_[c].doubled_at(t);
  for (Coalition rest = c; rest != 0; rest &= rest - 1) doubled += common_[lowest(rest)].doubled_at(t);
  return doubled / 2;
}

void FairSchedules::release(const Job& job) {
  run_before(job.release.value);
  released_.push_back({job.organization, static_cast<std::uint32_t>(queue_[job.organization].size())});
  queue_[job.organization].push_back(job.duration.value);
}

// The jobs released at t join the queues, after the completions of t.
void FairSchedules::admit_released(std::int64_t t) {
  if (released_.size() > 1) touch_scarce();
  for (const Released& job : released_) admit(job, t);
  released_.clear();
}

// If the free processors do not suffice for all jobs released to several organizations at once, there is a choice.
void FairSchedules::touch_scarce() {
  const auto of_first = [&](const Released& job) { return job.organization == released_.front().organization; };
  if (std::all_of(released_.begin(), released_.end(), of_first)) return;
  for (std::size_t w = 0; w < touched_.words(); ++w) {
    CoalitionSet::visit_word(w, free_.some().word(w), [&](Coalition c) {
      if (free_[c] < released_.size()) touched_.insert(c);
    });
  }
}

// Where a processor is free and no job waits, the job starts at once. Elsewhere it joins the queue.
void FairSchedules::admit(const Released& job, std::int64_t t) {
  const std::size_t u = job.organization;
  std::size_t count = 0;
  for (std::size_t w = 0; w < at_once_.words(); ++w) {
    const std::uint64_t ready = holders_[u].word(w) & free_.some().word(w) & ~touched_.word(w);
    at_once_.set_word(w, ready);
    count += static_cast<std::size_t>(std::popcount(ready));
  }
  const std::size_t holders = slots_.size() / 2;
  if (count > 0) {
    const std::int64_t end = t + queue_[u][job.position];
    // What is kept in common stays below what all processors can do, so that no difference leaves 63 bits.
    if (2 * count >= holders && common_running_ < processors_) {
      start_in_common(u, t, end);
    } else {
      start_apart(u, t, end);
    }
  }
  if (count < holders) wait_for(job);
}

void FairSchedules::start_in_common(std::size_t u, std::int64_t t, std::int64_t end) {
  if (unused_common_jobs_.empty()) {
    unused_common_jobs_.push_back(static_cast<std::uint32_t>(common_jobs_.size()));
    common_jobs_.emplace_back();
  }
  const std::uint32_t index = unused_common_jobs_.back();
  unused_common_jobs_.pop_back();
  CommonJob& job = common_jobs_[index];
  job.organization = static_cast<std::uint32_t>(u);
  job.late.clear();
  common_[u].start(t);
  ++common_running_;
  free_.take_from_most(u, holders_[u], at_once_);
  for (std::size_t w = 0; w < at_once_.words(); ++w) {
    CoalitionSet::visit_word(w, holders_[u].word(w) & ~at_once_.word(w), [&](Coalition c) {
      complete(c, u, t);
      job.late.push_back(c);
    });
  }
  calendar_.add(end, k_common_entry | index);
}

void FairSchedules::start_apart(std::size_t u, std::int64_t t, std::int64_t end) {
  starting_.clear();
  for (std::size_t w = 0; w < at_once_.words(); ++w) {
    CoalitionSet::visit_word(w, at_once_.word(w), [&](Coalition c) {
      start(c, u, t);
      free_.take(c);
      starting_.push_back(calendar_entry(c, u));
    });
  }
  calendar_.add(end, starting_);
}

void FairSchedules::wait_for(const Released& job) {
  CoalitionSet& waiting_in = waiting_in_[job.organization];
  for (std::size_t w = 0; w < at_once_.words(); ++w) {
    const std::uint64_t late = holders_[job.organization].word(w) & ~at_once_.word(w);
    CoalitionSet::visit_word(w, late & ~waiting_in.word(w), [&](Coalition c) {
      slots_[c].waiting_members |= bit(job.organization);
      member(c, job.organization).head = job.position;
    });
    waiting_in.set_word(w, waiting_in.word(w) | late);
    waiting_.set_word(w, waiting_.word(w) | late);
  }
}

void FairSchedules::complete_all(std::int64_t t) {
  calendar_.take(t, [&](std::uint32_t entry) {
    if ((entry & k_common_entry) != 0) {
      complete_common(entry & ~k_common_entry, t);
    } else {
      complete_one(entry / game::k_max_lattice_organizations, entry % game::k_max_lattice_organizations, t);
    }
  });
}

// Schedules of one instant do not depend on each other's decisions: what starts or ends at t changes no psi at t, nor
// its slope. So a processor is handed on before other completions of that instant are known, unless releases are due,
// or decisions depend on the guarantee or on what runs.
void FairSchedules::complete_one(Coalition c, std::size_t u, std::int64_t t) {
  const bool somebody_waits = slots_[c].waiting_members != 0;
  if (somebody_waits && !decide_together() && (gone_.empty() || gone_[c] == 0)) {
    const std::size_t next = served_next(c, t);
    if (next != u) {
      member(c, u).complete(t);
      member(c, next).start(t);
    }
    run_head(c, next, t);
    return;
  }
  complete(c, u, t);
  if (is_gone(c)) return;
  free_.give(c);
  if (somebody_waits) touched_.insert(c);
}

void FairSchedules::complete_common(std::uint32_t index, std::int64_t t) {
  const CommonJob& job = common_jobs_[index];
  const std::size_t u = job.organization;
  common_[u].complete(t);
  --common_running_;
  at_once_ = holders_[u];
  for (const Coalition c : job.late) {
    at_once_.erase(c);
    start(c, u, t);
  }
  free_.give_to_most(u, holders_[u], at_once_);
  unused_common_jobs_.push_back(index);
  if (!gone_.empty()) {
    for (std::size_t w = 0; w < at_once_.words(); ++w) {
      CoalitionSet::visit_word(w, at_once_.word(w), [&](Coalition c) {
        if (is_gone(c)) free_.take(c);
      });
    }
  }
  for (std::size_t w = 0; w < at_once_.words(); ++w) {
    const std::uint64_t pending = at_once_.word(w) & waiting_.word(w);
    if (decide_together()) {
      touched_.set_word(w, touched_.word(w) | pending);
    } else {
      CoalitionSet::visit_word(w, pending, [&](Coalition c) { schedule(c, t); });
    }
  }
}

void FairSchedules::endow(std::int64_t t, std::span<const std::uint32_t> processors) {
  run_before(t);
  if (owned_.empty()) {
    owned_ = pool_;
    gone_.resize(pool_.size());
  }
  endowed_ = pools_of(processors);
  guaranteed_ = Guaranteed(processors, rule_.guarantee);
  brakes_ = Brakes(processors, rule_.pace);
}

void FairSchedules::change_owners() {
  for (Coalition c = 1; c < pool_.size(); ++c) {
    for (; owned_[c] < endowed_[c]; ++owned_[c]) {
      if (!is_gone(c)) free_.give(c);
    }
    for (; owned_[c] > endowed_[c]; --owned_[c]) {
      if (free_[c] > 0) {
        free_.take(c);
      } else {
        ++gone_[c];
      }
    }
    if (slots_[c].waiting_members != 0) touched_.insert(c);
    pool_[c] = std::max(pool_[c], owned_[c]);
  }
  std::fill(chosen_at_.begin(), chosen_at_.end(), k_not_yet);
  processors_ = std::max<std::uint64_t>(processors_, pool_.back());
  endowed_.clear();
}

bool FairSchedules::is_gone(Coalition c) {
  if (gone_.empty() || gone_[c] == 0) return false;
  --gone_[c];
  return true;
}

// In the order of the masks, so that a coalition comes after all its subcoalitions.
void FairSchedules::schedule_touched(std::int64_t t) {
  for (std::size_t w = 0; w < touched_.words(); ++w) {
    CoalitionSet::visit_word(w, touched_.word(w), [&](Coalition c) { schedule(c, t); });
    touched_.set_word(w, 0);
  }
}

void FairSchedules::run_before(std::int64_t t) {
  if (t <= time_) return;
  // What was released at time_ is scheduled there, after the completions of that instant.
  if (calendar_.next() == time_) complete_all(time_);
  if (decide_together()) {
    if (!endowed_.empty()) change_owners();
    admit_released(time_);
    schedule_touched(time_);
  }
  for (std::int64_t at = calendar_.next(); at < t; at = calendar_.next()) {
    complete_all(at);
    if (see_instant()) schedule_touched(at);
  }
  time_ = t;
}

void FairSchedules::schedule(Coalition c, std::int64_t t) {
  while (free_[c] > 0 && slots_[c].waiting_members != 0) {
    const std::size_t u = all_start(c) ? lowest(slots_[c].waiting_members) : served_next(c, t);
    free_.take(c);
    start(c, u, t);
    run_head(c, u, t);
  }
}

// Whether there is a processor for every job that waits.
bool FairSchedules::all_start(Coalition c) const {
  std::size_t waiting = 0;
  for (Coalition rest = slots_[c].waiting_members; rest != 0 && waiting <= free_[c]; rest &= rest - 1) {
    const std::size_t u = lowest(rest);
    waiting += queue_[u].size() - members_[u * slots_.size() + c].head;
  }
  return waiting <= free_[c];
}

std::size_t FairSchedules::served_next(Coalition c, std::int64_t t) {
  const Coalition waiting = guaranteed_.first_of(slots_[c].waiting_members, [&](std::size_t u) {
    return std::int64_t{members_[u * slots_.size() + c].running} + common_[u].running;
  });
  return (waiting & (waiting - 1)) == 0 ? lowest(waiting) : choose(c, waiting, t);
}

// The first waiting job of u gets a processor of c.
void FairSchedules::run_head(Coalition c, std::size_t u, std::int64_t t) {
  Member& own = member(c, u);
  calendar_.add(t + queue_[u][own.head], calendar_entry(c, u));
  if (++own.head < queue_[u].size()) return;
  slots_[c].waiting_members &= ~bit(u);
  waiting_in_[u].erase(c);
  if (slots_[c].waiting_members == 0) waiting_.erase(c);
}

std::size_t FairSchedules::choose(Coalition c, Coalition waiting, std::int64_t t) {
  if (weigh_running_) return choose_with_running(c, waiting, t);
  if (chosen_at_[c] == k_not_yet) return choose_exactly(c, waiting, t);
  const auto d = static_cast<double>(t - chosen_at_[c]);
  const Line* lines = &lines_[c * organizations_];
  std::size_t best = lowest(waiting);
  double best_value = lines[best].value + d * lines[best].slope;
  double second = HUGE_VAL;
  double magnitude = 0;
  for (Coalition rest = waiting; rest != 0; rest &= rest - 1) {
    const std::size_t u = lowest(rest);
    const double value = lines[u].value + d * lines[u].slope;
    magnitude = std::max(magnitude, std::abs(lines[u].value) + d * std::abs(lines[u].slope));
    if (u == lowest(waiting)) continue;
    if (value < best_value) {
      second = best_value;
      best_value = value;
      best = u;
    } else {
      second = std::min(second, value);
    }
  }
  // Twice F[best] may have grown beyond its line by d(d+1) + 2 d H times at most: the processors of C, through
  // psi[best], and those of the S that hold the other one, which are half of C's and at most half of its own.
  const double drift = d * (d + 1 + 2 * static_cast<double>(terms_.horizon.value)) * 2 * pool_[c];
  if (second - best_value > drift + k_rounding * magnitude) return best;
  return choose_exactly(c, waiting, t);
}

std::size_t FairSchedules::choose_exactly(Coalition c, Coalition waiting, std::int64_t t) {
  sum_potentials(c, t);
  const Int128 scale = game::factorial(size_[c] - std::size_t{1});
  for (Coalition rest = c; rest != 0; rest &= rest - 1) {
    Potential& own = potential_[lowest(rest)];
    const Member& psi = member(c, lowest(rest));
    own.value += scale * psi.doubled_at(t);
    own.slope += scale * psi.doubled_done_at(t);
    own.value = game::frozen_ahead(own.value, own.slope, terms_.horizon);
  }
  const Potential origin = potential_[lowest(c)];
  const double unit = 1.0 / static_cast<double>(scale);
  for (Coalition rest = c; rest != 0; rest &= rest - 1) {
    const Potential& own = potential_[lowest(rest)];
    lines_[c * organizations_ + lowest(rest)] = {static_cast<double>(own.value - origin.value) * unit,
                                                 static_cast<double>(own.slope - origin.slope) * unit};
  }
  chosen_at_[c] = t;

  std::size_t best = lowest(waiting);
  for (Coalition rest = waiting; rest != 0; rest &= rest - 1) {
    if (potential_[lowest(rest)].value < potential_[best].value) best = lowest(rest);
  }
  return best;
}

// As choose_exactly; no line is remembered, because any start may change it by much.
std::size_t FairSchedules::choose_with_running(Coalition c, Coalition waiting, std::int64_t t) {
  const auto ahead = [&](const Psi& psi) {
    return game::looked_ahead<Int128>(psi.doubled_at(t), psi.doubled_done_at(t), 2 * psi.running, terms_);
  };
  const Int128 scale = game::factorial(size_[c] - std::size_t{1});
  if (!brakes_.any()) {
    sum_subsets(c, wide_, [&](const Slot& slot) { return WideSum{ahead(slot), 0}; });
    return greatest(waiting, [&](std::size_t u) { return -(potential_[u].value + scale * ahead(member(c, u))); });
  }
  const auto work_ahead = [&](const Psi& psi) {
    return game::frozen_ahead<Int128>(psi.doubled_done_at(t), 2 * psi.running, terms_.horizon);
  };
  sum_subsets(c, wide_, [&](const Slot& slot) { return WideSum{ahead(slot), work_ahead(slot)}; });
  Potential sum{};
  for (Coalition rest = c; rest != 0; rest &= rest - 1) {
    Potential& own = potential_[lowest(rest)];
    own.value += scale * ahead(member(c, lowest(rest)));
    own.slope += scale * work_ahead(member(c, lowest(rest)));
    sum.value += own.value;
    sum.slope += own.slope;
  }
  const Int256 size = size_[c];
  return greatest(waiting, [&](std::size_t u) {
    return brakes_.key<Int256>(u, sum.value - size * potential_[u].value, sum.slope - size * potential_[u].slope,
                               2 * size * scale);
  });
}

// Omits the common parts, which add the same to every member's F: P of an additive game is its value, so u's part is in
// F[u] through psi[u] and in every other F through P.
void FairSchedules::sum_potentials(Coalition c, std::int64_t t) {
  // No v, and no part in common, is more than all processors can do; a sum has at most 2^|C| of them.
  const Int128 bound = static_cast<Int128>(processors_) * t * t * (Int128{1} << size_[c]);
  if (bound < Int128{1} << 62U) {
    sum_subsets(c, narrow_, [t](const Slot& slot) { return NarrowSum{slot.doubled_at(t), slot.doubled_done_at(t)}; });
  } else {
    sum_subsets(c, wide_, [t](const Slot& slot) { return WideSum{slot.doubled_at(t), slot.doubled_done_at(t)}; });
  }
}

// The sum over S in C\u is the sum over all S except C, the same for every member, minus the S that hold u. The
// members' sums are taken over two halves of C as rows and columns of a table, so that each S is visited once; they are
// added up by size first, because the weight depends on the size. worth(slot): the summand.
template <typename Sum, typename Worth>
void FairSchedules::sum_subsets(Coalition c, std::vector<Sum>& by_low, const Worth& worth) {
  const std::size_t low_members = size_[c] / 2U;
  Coalition low = 0;
  for (Coalition rest = c; size_[low] < low_members; rest &= rest - 1) low |= rest & (~rest + 1);
  const Coalition high = c ^ low;
  const std::size_t columns = std::size_t{1} << low_members;
  const std::vector<std::uint32_t>& by_size = by_size_[low_members];
  unordered_masks_[0] = 0;
  for (std::size_t l = 1; l < columns; ++l) unordered_masks_[l] = (unordered_masks_[l - 1] - low) & low;
  for (std::size_t l = 0; l < columns; ++l) low_masks_[l] = unordered_masks_[by_size[l]];
  std::fill_n(by_low.begin(), columns * (size_[high] + 1U), Sum{});
  for (Coalition rest = c; rest != 0; rest &= rest - 1) potential_[lowest(rest)] = {};

  const std::int64_t* weights = weights_[size_[c]].data();
  const auto add = [](Potential& to, Int128 weight, const Sum& sum) {
    to.value += weight * sum.value;
    to.slope += weight * sum.slope;
  };
  Potential all{};
  Coalition h = 0;
  do {
    Potential row{};
    Sum* column = &by_low[columns * size_[h]];
    for (std::size_t l = 0, size = 0; size <= low_members; ++size) {
      Sum of_size;
      for (; l < columns && size_[low_masks_[l]] == size; ++l) {
        const Sum added = worth(slots_[h | low_masks_[l]]);
        of_size.value += added.value;
        of_size.slope += added.slope;
        column[l].value += added.value;
        column[l].slope += added.slope;
      }
      add(row, weights[size_[h] + size], of_size);
    }
    all.value += row.value;
    all.slope += row.slope;
    for (Coalition rest = h; rest != 0; rest &= rest - 1) {
      potential_[lowest(rest)].value -= row.value;
      potential_[lowest(rest)].slope -= row.slope;
    }
    h = (h - high) & high;
  } while (h != 0);
  for (std::size_t l = 1; l < columns; ++l) {
    Potential column{};
    for (std::size_t size = 0; size <= size_[high]; ++size)
      add(column, weights[size + size_[low_masks_[l]]], by_low[columns * size + l]);
    for (Coalition rest = low_masks_[l]; rest != 0; rest &= rest - 1) {
      potential_[lowest(rest)].value -= column.value;
      potential_[lowest(rest)].slope -= column.slope;
    }
  }
  for (Coalition rest = c; rest != 0; rest &= rest - 1) {
    potential_[lowest(rest)].value += all.value;
    potential_[lowest(rest)].slope += all.slope;
  }
}

}  // namespace shapley::scheduling
