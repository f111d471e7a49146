#include "fairness/fair_schedules.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace shapley::fairness {

namespace {

__extension__ using UInt128 = unsigned __int128;

constexpr std::int64_t k_not_yet = -1;
// Doubles keep 53 bits; what is left of a difference of sums stays far within this.
constexpr double k_rounding = 1e-13;

constexpr Coalition bit(std::size_t organization) {
  return Coalition{1} << organization;
}
std::size_t lowest(Coalition c) {
  return static_cast<std::size_t>(std::countr_zero(c));
}

}  // namespace

FairSchedules::FairSchedules(std::span<const std::uint32_t> processors)
    : organizations_(processors.size()),
      processors_(processors.begin(), processors.end()),
      pool_(std::size_t{1} << organizations_),
      size_(pool_.size()),
      slots_(pool_.size()),
      members_(pool_.size() * organizations_),
      lines_(pool_.size() * organizations_),
      chosen_at_(pool_.size(), k_not_yet),
      queue_(organizations_),
      potential_(organizations_),
      by_low_(std::size_t{1} << ((organizations_ + 1) / 2)),
      low_masks_(by_low_.size()),
      weights_(organizations_ + 1) {
  for (Coalition c = 1; c < pool_.size(); ++c) {
    pool_[c] = pool_[c & (c - 1)] + processors[lowest(c)];
    size_[c] = static_cast<std::uint8_t>(size_[c & (c - 1)] + 1);
    slots_[c].free = pool_[c];
  }
  for (std::size_t size = 1; size <= organizations_; ++size) {
    weights_[size].resize(size + 1);
    for (std::size_t s = 1; s < size; ++s) weights_[size][s] = factorial(s - 1) * factorial(size - 1 - s);
  }
}

std::uint64_t FairSchedules::memory_bound(const Instance& instance) {
  const std::uint64_t coalitions = std::uint64_t{1} << instance.organizations();
  const std::uint64_t running = std::min<std::uint64_t>(instance.total_processors(), instance.jobs.size());
  // A processor serves half of all coalitions. Vectors that grow hold up to twice what they need.
  return coalitions * (64 + 40 * instance.organizations()) + coalitions / 2 * running * 2 * 16 +
         (std::uint64_t{2} << 20U);  // the calendar's wheel
}

void FairSchedules::touch(Coalition c) {
  if (slots_[c].is_touched) return;
  slots_[c].is_touched = true;
  touched_.push_back(c);
}

void FairSchedules::release(const Job& job) {
  run_before(job.release.value);
  queue_[job.organization].push_back(job.duration.value);
  released_.push_back(job.organization);
}

// The jobs released at t join the queues, after the completions of t.
void FairSchedules::admit_released(std::int64_t t) {
  if (released_.size() == 1) {
    admit_single(released_.front(), t);
  } else {
    for (const std::size_t u : released_) {
      for (Coalition c = bit(u); c < slots_.size(); c = (c + 1) | bit(u)) {
        Slot& slot = slots_[c];
        ++slot.waiting;
        slot.waiting_members |= bit(u);
        if (slot.free > 0) touch(c);
      }
    }
  }
  released_.clear();
}

// Where a processor is free and nobody waits, a job that comes alone starts at once; most do, and they end together.
void FairSchedules::admit_single(std::size_t u, std::int64_t t) {
  const std::int64_t end = t + queue_[u].back();
  starting_.clear();
  for (Coalition c = bit(u); c < slots_.size(); c = (c + 1) | bit(u)) {
    Slot& slot = slots_[c];
    if (slot.free == 0 || slot.is_touched) {
      ++slot.waiting;
      slot.waiting_members |= bit(u);
      continue;
    }
    Member& own = member(c, u);
    slot.start(static_cast<std::uint64_t>(t));
    own.start(static_cast<std::uint64_t>(t));
    ++own.head;
    --slot.free;
    starting_.push_back(c * k_max_lattice_organizations + static_cast<std::uint32_t>(u));
  }
  calendar_.add(end, starting_);
}

void FairSchedules::complete(std::int64_t t) {
  calendar_.take(t, [&](std::uint32_t running) {
    const Coalition c = running / k_max_lattice_organizations;
    Slot& slot = slots_[c];
    slot.complete(static_cast<std::uint64_t>(t));
    member(c, running % k_max_lattice_organizations).complete(static_cast<std::uint64_t>(t));
    ++slot.free;
    if (slot.waiting > 0) touch(c);
  });
}

// Schedules of one instant do not see each other's decisions: a job started at t adds nothing to any psi at t.
void FairSchedules::schedule_touched(std::int64_t t) {
  for (const Coalition c : touched_) {
    slots_[c].is_touched = false;
    schedule(c, t);
  }
  touched_.clear();
}

void FairSchedules::run_before(std::int64_t t) {
  if (t <= time_) return;
  // What was released at time_ is scheduled there, after the completions of that instant.
  if (calendar_.next() == time_) complete(time_);
  admit_released(time_);
  schedule_touched(time_);
  for (std::int64_t at = calendar_.next(); at < t; at = calendar_.next()) {
    complete(at);
    schedule_touched(at);
  }
  time_ = t;
}

void FairSchedules::start_waiting(Coalition c, std::size_t u, std::int64_t t) {
  Slot& slot = slots_[c];
  Member& own = member(c, u);
  const std::vector<std::int64_t>& queue = queue_[u];
  while (slot.free > 0 && own.head < queue.size()) {
    calendar_.add(t + queue[own.head++], c * k_max_lattice_organizations + static_cast<std::uint32_t>(u));
    slot.start(static_cast<std::uint64_t>(t));
    own.start(static_cast<std::uint64_t>(t));
    --slot.free;
    --slot.waiting;
  }
  if (own.head == queue.size()) slot.waiting_members &= ~bit(u);
}

void FairSchedules::schedule(Coalition c, std::int64_t t) {
  Slot& slot = slots_[c];
  while (slot.free > 0 && slot.waiting > 0) {
    const Coalition waiting = slot.waiting_members;
    const bool forced = slot.free >= slot.waiting || (waiting & (waiting - 1)) == 0;
    start_waiting(c, forced ? lowest(waiting) : choose(c, waiting, t), t);
  }
}

std::size_t FairSchedules::choose(Coalition c, Coalition waiting, std::int64_t t) {
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
  // Twice F[best] may have grown beyond its line by d(d+1) times at most: the processors of C, through psi[best], and
  // those of the S that hold the other one, which are half of C's and no more than half of its own.
  const double drift = d * (d + 1) * 2 * pool_[c];
  if (second - best_value > drift + k_rounding * magnitude) return best;
  return choose_exactly(c, waiting, t);
}

std::size_t FairSchedules::choose_exactly(Coalition c, Coalition waiting, std::int64_t t) {
  sum_potentials(c, t);
  const Int128 scale = factorial(size_[c] - std::size_t{1});
  for (Coalition rest = c; rest != 0; rest &= rest - 1) {
    Potential& own = potential_[lowest(rest)];
    const Member& psi = member(c, lowest(rest));
    own.value += scale * psi.doubled_at(t);
    own.slope += scale * psi.doubled_done_at(t);
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

// The sum over S in C\u is the sum over all S but C, the same for everybody, less the S that hold u. The members' sums
// are taken over two halves of C as rows and columns of a table, so that each S is touched once.
void FairSchedules::sum_potentials(Coalition c, std::int64_t t) {
  const std::size_t low_members = size_[c] / 2U;
  Coalition low = 0;
  for (Coalition rest = c; size_[low] < low_members; rest &= rest - 1) low |= rest & (~rest + 1);
  const Coalition high = c ^ low;
  const std::size_t columns = std::size_t{1} << low_members;
  low_masks_[0] = 0;
  for (std::size_t l = 1; l < columns; ++l) low_masks_[l] = (low_masks_[l - 1] - low) & low;
  std::fill_n(by_low_.begin(), columns, Potential{});
  for (Coalition rest = c; rest != 0; rest &= rest - 1) potential_[lowest(rest)] = {};

  const std::int64_t* weights = weights_[size_[c]].data();
  Potential all{};
  Coalition h = 0;
  do {
    Potential row{};
    for (std::size_t l = 0; l < columns; ++l) {
      const Coalition s = h | low_masks_[l];
      const auto weight = static_cast<UInt128>(weights[size_[s]]);
      const auto value = static_cast<Int128>(weight * slots_[s].doubled_at(t));
      const auto slope = static_cast<Int128>(weight * slots_[s].doubled_done_at(t));
      row.value += value;
      row.slope += slope;
      by_low_[l].value += value;
      by_low_[l].slope += slope;
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
    for (Coalition rest = low_masks_[l]; rest != 0; rest &= rest - 1) {
      potential_[lowest(rest)].value -= by_low_[l].value;
      potential_[lowest(rest)].slope -= by_low_[l].slope;
    }
  }
  for (Coalition rest = c; rest != 0; rest &= rest - 1) {
    potential_[lowest(rest)].value += all.value;
    potential_[lowest(rest)].slope += all.slope;
  }
}

}  // namespace shapley::fairness
