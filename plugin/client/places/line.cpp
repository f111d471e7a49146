#include "plugin/client/places/line.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

#include "base/types.hpp"

namespace shapley::client {

namespace {

// Into how many steps the ends of all that runs are divided.
constexpr std::size_t k_steps = 32;
// Into how many steps what is taken of idle processors is divided: fewer lose up to a processor of what is given.
constexpr std::int64_t k_taken_steps = 1024;
// In front of the line, the ends of single runs are what is expected, and no return of nodes.
constexpr std::int64_t k_first_places = 2 * k_micro;

// The number of jobs that are looked at, beyond those that wait for ends, for one that could take what is free.
constexpr std::size_t k_most_beyond = 16'384;

std::int64_t quotient_up(std::int64_t of, std::int64_t by) {
  return of <= 0 ? 0 : (of + by - 1) / by;
}

void add(Measure& to, const Measure& task, std::int64_t tasks) {
  to.charge += task.charge * tasks;
  to.blocked += task.blocked * tasks;
}

}  // namespace

NodeSetTable::NodeSetTable(std::vector<Set> sets)
    : sets_(std::move(sets)), overlap_(sets_.size() * sets_.size(), true), contains_(overlap_.size(), true) {}

// A set is itself, though none of its nodes is known.
NodeSetTable NodeSetTable::of(const Requests& requests) {
  std::vector<Set> sets;
  for (NodeSetId id = 0; id < requests.node_sets(); ++id) sets.push_back({requests.free(id), requests.all(id)});
  return NodeSetTable(
      std::move(sets), [&](NodeSetId a, NodeSetId b) { return a == b || requests.overlap(a, b); },
      [&](NodeSetId outer, NodeSetId inner) { return outer == inner || requests.contains(outer, inner); });
}

OwnQueue::OwnQueue(const NodeSetTable& sets, std::int64_t reach)
    : sets_(&sets), reach_(kept_reach(reach)), streams_(k_hindrances) {
  for (Now& now : now_) now.taken.resize(sets.size());
}

std::int64_t OwnQueue::free_now(const Asking& asking) const {
  const std::vector<std::int64_t>& taken = now_[asking.hindrance].taken;
  std::int64_t free = std::numeric_limits<std::int64_t>::max();
  for (NodeSetId outer = 0; outer < sets_->size(); ++outer) {
    if (sets_->contains(outer, asking.nodes)) free = std::min(free, (*sets_)[outer].free - taken[outer]);
  }
  for (const Later& later : later_) {
    if (later.nodes == asking.nodes && later.hindrance <= asking.hindrance) free -= later.begun;
  }
  const auto taken_of_room = of_rooms_.find({asking.nodes, asking.room});
  free = std::min(free, asking.room - (taken_of_room == of_rooms_.end() ? 0 : taken_of_room->second));
  return std::max<std::int64_t>(0, free);
}

void OwnQueue::add_now(const Asking& asking, std::uint32_t tasks, std::int64_t free) {
  if (tasks == 0) return;
  Measure all;
  client::add(all, asking.task, tasks);
  Measure part = all;
  if (all.blocked > free) {
    part = Measure();
    client::add(part, asking.task, std::int64_t{tasks} - 1);
    Later& own = later_of(asking);
    client::add(own.asked, asking.task, 1);
    own.begun += free - part.blocked;
  }
  if (asking.room != Requests::k_any_room) of_rooms_[{asking.nodes, asking.room}] += std::min(free, all.blocked);
  streams_[asking.hindrance].push_back({asking.job, asking.task, tasks, now_[asking.hindrance].asked});
  for (std::size_t with = asking.hindrance; with < k_hindrances; ++with) {
    client::add(now_[with].asked, part, 1);
    for (NodeSetId outer = 0; outer < sets_->size(); ++outer) {
      if (sets_->contains(outer, asking.nodes)) now_[with].taken[outer] += part.blocked;
    }
  }
  asked_ += all.blocked;
}

OwnQueue::Later& OwnQueue::later_of(const Asking& asking) {
  const auto known = std::find_if(later_.begin(), later_.end(), [&](const Later& later) {
    return later.nodes == asking.nodes && later.hindrance == asking.hindrance;
  });
  if (known != later_.end()) return *known;
  streams_.emplace_back();
  return later_.emplace_back(Later{asking.nodes, asking.hindrance, {}, 0, streams_.size() - 1});
}

bool OwnQueue::add_later(const Asking& asking, std::uint32_t tasks) {
  const std::int64_t all = (*sets_)[asking.nodes].all;
  const std::int64_t most = all == 0 ? reach_ : std::min(reach_, all + all / 8 + 16 * k_micro);
  Later& own = later_of(asking);
  tasks = static_cast<std::uint32_t>(
      std::min<std::int64_t>(tasks, quotient_up(most - own.asked.blocked, asking.task.blocked)));
  if (tasks == 0) return false;
  Measure before = now_[asking.hindrance].asked;
  for (const Later& other : later_) {
    const bool counts = other.hindrance <= asking.hindrance && sets_->overlap(asking.nodes, other.nodes);
    if (counts) client::add(before, other.asked, 1);
  }
  streams_[own.stream].push_back({asking.job, asking.task, tasks, before});
  client::add(own.asked, asking.task, tasks);
  asked_ += asking.task.blocked * tasks;
  return true;
}

bool OwnQueue::is_full() const {
  if (!is_asked()) return false;
  return now_[SHAPLEY_HINDRANCE_NONE].taken[k_any_node] >= (*sets_)[k_any_node].free || beyond_ >= k_most_beyond;
}

bool OwnQueue::add(const Asking& asking) {
  if (is_asked()) ++beyond_;
  if (asking.array == 0) return add_tasks(asking);
  std::uint32_t& taken = of_arrays_[asking.array];
  Asking limited = asking;
  limited.tasks = std::min(asking.tasks, asking.array_room - std::min(asking.array_room, taken));
  taken += limited.tasks;
  return limited.tasks > 0 && add_tasks(limited);
}

bool OwnQueue::add_tasks(const Asking& asking) {
  const std::int64_t free = free_now(asking);
  auto now = static_cast<std::uint32_t>(std::min<std::int64_t>(asking.tasks, quotient_up(free, asking.task.blocked)));
  Asking rest = asking;
  if (asking.licenses != 0 && asking.hindrance < SHAPLEY_HINDRANCE_LICENSES) {
    std::uint32_t& taken = of_licenses_[asking.licenses];
    const std::uint32_t licensed = asking.license_room - std::min(asking.license_room, taken);
    if (licensed < now) rest.hindrance = SHAPLEY_HINDRANCE_LICENSES;
    now = std::min(now, licensed);
    taken += now;
  }
  add_now(asking, now, free);
  rest.tasks -= now;
  bool later = false;
  if (rest.tasks > 0) {
    if (rest.hindrance != asking.hindrance) {
      later = add_tasks(rest);
    } else if (!is_asked()) {
      later = add_later(rest, rest.tasks);
    }
  }
  return now > 0 || later;
}

namespace {

// What has happened by the time that a part of the line is served.
struct Outlook {
  std::size_t step = 0;         // so many of k_steps parts of all runs have ended
  bool nodes_are_back = false;  // those that are away now
  // Of what is idle, in k_taken_steps parts, wherever it is: first of what is free now, then of the rest.
  std::int64_t taken = 0;
  std::int64_t taken_later = 0;
  friend bool operator==(const Outlook&, const Outlook&) = default;
};

// What has ended of each organization's runs when `step` of k_steps parts of all runs have.
std::vector<Measure> ended_at(std::span<const Contender> contenders, std::size_t step) {
  std::vector<RunsByAge> runs;
  std::int64_t running = 0;
  for (const Contender& u : contenders) {
    runs.push_back(u.runs);
    running += u.runs.all();
  }
  const auto freed = static_cast<std::int64_t>(static_cast<Int128>(running) * step / k_steps);
  const std::vector<std::int64_t> ended = expected_ends(runs, freed);
  std::vector<Measure> measured(contenders.size());
  for (std::size_t u = 0; u < contenders.size(); ++u) {
    const Measure& all = contenders[u].running;
    if (all.blocked <= 0) continue;
    measured[u] = {static_cast<std::int64_t>(static_cast<Int128>(all.charge) * ended[u] / all.blocked), ended[u]};
  }
  return measured;
}

// The next task of a stream.
struct Head {
  const OwnQueue::Stream* stream = nullptr;
  std::uint32_t organization = 0;
  std::size_t number = 0;  // of the stream, among all: the order of equals
  bool could_start = false;
  bool is_beyond = false;
  std::size_t piece = 0;
  std::uint32_t task = 0;
  bool below = false;
  Int128 key = 0;
  std::uint32_t rank = 0;

  [[nodiscard]] const OwnQueue::Piece& at() const { return (*stream)[piece]; }
  [[nodiscard]] bool is_over() const { return piece == stream->size(); }
  void advance() {
    if (++task < at().tasks) return;
    task = 0;
    ++piece;
  }
  void look(const Contender& contender, const Measure& ended, const Outlook& outlook) {
    const std::int64_t blocks = at().before.blocked + at().task.blocked * task;
    const std::int64_t cum = at().before.charge + at().task.charge * task;
    below = blocks < contender.lacking + ended.blocked + (outlook.nodes_are_back ? contender.returning : 0);
    const auto part = [](std::int64_t of, std::int64_t steps) {
      return static_cast<std::int64_t>(Int128{of} * steps / k_taken_steps);
    };
    const std::int64_t given =
        part(contender.free, outlook.taken) + part(contender.idle - contender.free, outlook.taken_later);
    key = contender.key_at(cum - ended.charge - given);
    rank = contender.rank;
  }
};

bool is_served_before(const Head& a, const Head& b) {
  if (a.below != b.below) return a.below;
  if (a.key != b.key) return a.key > b.key;
  if (a.rank != b.rank) return a.rank < b.rank;
  return a.number < b.number;
}

struct ServedLater {
  bool operator()(const Head& a, const Head& b) const { return is_served_before(b, a); }
};

class Merge {
 public:
  Merge(std::span<const Contender> contenders, std::span<const OwnQueue> queues, const Room& room, std::int64_t reach)
      : contenders_(contenders), ended_(contenders.size()), room_(room), reach_(reach) {
    for (const Contender& contender : contenders) {
      running_ += contender.running.blocked;
      returning_ += contender.returning;
      idle_ += contender.idle;
    }
    std::size_t number = 0;
    for (std::uint32_t u = 0; u < contenders.size(); ++u) {
      const std::span<const OwnQueue::Stream> streams = queues[u].streams();
      for (std::size_t i = 0; i < streams.size(); ++i, ++number) {
        const bool could_start = i < k_hindrances;
        if (!streams[i].empty())
          push({.stream = &streams[i], .organization = u, .number = number, .could_start = could_start});
      }
    }
    drop_beyond();
  }

  [[nodiscard]] bool is_over() const { return heads_.empty(); }

  // The next task of all.
  Head take() {
    Head head = heads_.top();
    heads_.pop();
    head.is_beyond = served_ >= reach_ && !is_for_what_is_free(head);
    served_ += head.at().task.blocked;
    if (head.could_start) could_start_ += head.at().task.blocked;
    Head next = head;
    next.advance();
    if (!next.is_over()) push(next);
    expect();
    drop_beyond();
    return head;
  }

 private:
  [[nodiscard]] bool is_for_what_is_free(const Head& head) const {
    return head.could_start && could_start_ < room_.free;
  }
  void drop_beyond() {
    if (served_ < kept_reach(reach_)) return;
    while (!heads_.empty() && !is_for_what_is_free(heads_.top())) heads_.pop();
  }
  void push(Head head) {
    const std::uint32_t u = head.organization;
    head.look(contenders_[u], ended_[u], outlook_);
    heads_.push(head);
  }
  void expect() {
    const std::int64_t freed = served_ - room_.free;
    if (freed <= 0 && idle_ == 0) return;
    Outlook now;
    // What is idle and what is free differ where nodes are away from some jobs, or the daemon has not seen an end yet.
    const std::int64_t later = std::max(room_.free, idle_) - room_.now;
    const auto steps = [](std::int64_t served, std::int64_t of) {
      return of <= 0 ? k_taken_steps : std::clamp<std::int64_t>(served, 0, of) * k_taken_steps / of;
    };
    if (idle_ > 0) {
      now.taken = steps(served_, room_.now);
      now.taken_later = steps(served_ - room_.now, later);
    }
    const std::int64_t ended = freed - room_.widest_run;
    if (ended > 0) {
      const auto a_step = std::max<std::int64_t>(1, running_ / std::int64_t{k_steps});
      now.step = std::min(k_steps, static_cast<std::size_t>(ended / a_step));
    }
    now.nodes_are_back = returning_ > 0 && freed >= std::max(k_first_places, returning_ / 8);
    if (now == outlook_) return;
    if (now.step != outlook_.step) ended_ = ended_at(contenders_, now.step);
    outlook_ = now;
    Heads before;
    std::swap(before, heads_);
    for (; !before.empty(); before.pop()) push(before.top());
  }

  using Heads = std::priority_queue<Head, std::vector<Head>, ServedLater>;
  std::span<const Contender> contenders_;
  std::vector<Measure> ended_;  // by organization, as of outlook_.step
  Room room_;
  std::int64_t running_ = 0;
  std::int64_t reach_ = 0;
  std::int64_t served_ = 0;
  std::int64_t could_start_ = 0;  // of it
  std::int64_t returning_ = 0;
  std::int64_t idle_ = 0;
  Outlook outlook_;
  Heads heads_;
};

}  // namespace

std::vector<LinePlace> serving_line(std::span<const Contender> contenders, std::span<const OwnQueue> queues,
                                    const Room& room, std::int64_t reach, std::size_t longest) {
  std::vector<LinePlace> line;
  for (Merge merge(contenders, queues, room, reach); !merge.is_over();) {
    const Head head = merge.take();
    if (!line.empty() && line.back().job == head.at().job) {
      ++line.back().tasks;
      line.back().beyond = head.is_beyond ? line.back().beyond + 1 : 0;
    } else if (line.size() < longest) {
      line.push_back({head.at().job, head.organization, 1, head.is_beyond ? 1U : 0U});
    } else {
      break;
    }
  }
  return line;
}

}  // namespace shapley::client
