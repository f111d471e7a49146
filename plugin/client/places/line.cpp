#include "plugin/client/places/line.hpp"

#include <algorithm>
#include <queue>
#include <utility>

#include "base/types.hpp"

namespace shapley::client {

namespace {

// Into how many steps the ends of all that runs are divided.
constexpr std::int64_t k_steps = 32;
// In front of the line, the ends of single runs are what is expected, and no return of nodes.
constexpr std::int64_t k_first_places = 2 * k_micro;

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

OwnQueue::OwnQueue(const NodeSetTable& sets, std::int64_t reach) : sets_(&sets), reach_(reach), streams_(k_hindrances) {
  for (Now& now : now_) now.taken.resize(sets.size());
}

std::uint32_t OwnQueue::tasks_now(const Asking& asking) const {
  const std::vector<std::int64_t>& taken = now_[asking.hindrance].taken;
  std::int64_t tasks = asking.tasks;
  for (NodeSetId outer = 0; outer < sets_->size() && tasks > 0; ++outer) {
    if (!sets_->contains(outer, asking.nodes)) continue;
    tasks = std::min(tasks, quotient_up((*sets_)[outer].free - taken[outer], asking.task.blocked));
  }
  return static_cast<std::uint32_t>(tasks);
}

void OwnQueue::add_now(const Asking& asking, std::uint32_t tasks) {
  if (tasks == 0) return;
  streams_[asking.hindrance].push_back({asking.job, asking.task, tasks, now_[asking.hindrance].asked});
  for (std::size_t with = asking.hindrance; with < k_hindrances; ++with) {
    client::add(now_[with].asked, asking.task, tasks);
    for (NodeSetId outer = 0; outer < sets_->size(); ++outer) {
      if (sets_->contains(outer, asking.nodes)) now_[with].taken[outer] += asking.task.blocked * tasks;
    }
  }
  asked_ += asking.task.blocked * tasks;
}

OwnQueue::Later& OwnQueue::later_of(const Asking& asking) {
  const auto known = std::find_if(later_.begin(), later_.end(), [&](const Later& later) {
    return later.nodes == asking.nodes && later.hindrance == asking.hindrance;
  });
  if (known != later_.end()) return *known;
  streams_.emplace_back();
  return later_.emplace_back(Later{asking.nodes, asking.hindrance, {}, streams_.size() - 1});
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

bool OwnQueue::add(const Asking& asking) {
  const std::uint32_t now = tasks_now(asking);
  add_now(asking, now);
  const bool later = now < asking.tasks && add_later(asking, asking.tasks - now);
  return now > 0 || later;
}

namespace {

// What has happened by the time that a part of the line is served.
struct Outlook {
  std::int64_t step = 0;        // so many of k_steps parts of all runs have ended
  bool nodes_are_back = false;  // those that are away now
  friend bool operator==(const Outlook&, const Outlook&) = default;
};

// The next task of a stream.
struct Head {
  const OwnQueue::Stream* stream = nullptr;
  std::uint32_t organization = 0;
  std::size_t number = 0;  // of the stream, among all: the order of equals
  std::size_t piece = 0;
  std::uint32_t task = 0;
  bool below = false;
  std::int64_t lead = 0;
  std::uint32_t rank = 0;

  [[nodiscard]] const OwnQueue::Piece& at() const { return (*stream)[piece]; }
  [[nodiscard]] bool is_over() const { return piece == stream->size(); }
  void advance() {
    if (++task < at().tasks) return;
    task = 0;
    ++piece;
  }
  void look(const Contender& contender, const Outlook& outlook) {
    const std::int64_t blocks = at().before.blocked + at().task.blocked * task;
    const std::int64_t cum = at().before.charge + at().task.charge * task;
    const std::int64_t ended = contender.running.blocked / k_steps * outlook.step;
    below = blocks < contender.lacking + ended + (outlook.nodes_are_back ? contender.returning : 0);
    lead = contender.lead + contender.running.charge / k_steps * outlook.step - cum;
    rank = contender.rank;
  }
};

bool is_served_before(const Head& a, const Head& b) {
  if (a.below != b.below) return a.below;
  if (a.lead != b.lead) return a.lead > b.lead;
  if (a.rank != b.rank) return a.rank < b.rank;
  return a.number < b.number;
}

struct ServedLater {
  bool operator()(const Head& a, const Head& b) const { return is_served_before(b, a); }
};

class Merge {
 public:
  Merge(std::span<const Contender> contenders, std::span<const OwnQueue> queues, const Room& room)
      : contenders_(contenders), room_(room) {
    for (const Contender& contender : contenders) {
      running_ += contender.running.blocked;
      returning_ += contender.returning;
    }
    std::size_t number = 0;
    for (std::uint32_t u = 0; u < contenders.size(); ++u) {
      for (const OwnQueue::Stream& stream : queues[u].streams()) {
        if (!stream.empty()) push({.stream = &stream, .organization = u, .number = number});
        ++number;
      }
    }
  }

  [[nodiscard]] bool is_over() const { return heads_.empty(); }
  [[nodiscard]] std::int64_t served() const { return served_; }

  // The next task of all.
  Head take() {
    const Head head = heads_.top();
    heads_.pop();
    served_ += head.at().task.blocked;
    Head next = head;
    next.advance();
    if (!next.is_over()) push(next);
    expect();
    return head;
  }

 private:
  void push(Head head) {
    head.look(contenders_[head.organization], outlook_);
    heads_.push(head);
  }
  void expect() {
    const std::int64_t freed = served_ - room_.free;
    if (freed <= 0) return;
    Outlook now;
    const std::int64_t ended = freed - room_.widest_run;
    if (ended > 0) now.step = std::min(k_steps, ended / std::max<std::int64_t>(1, running_ / k_steps));
    now.nodes_are_back = returning_ > 0 && freed >= std::max(k_first_places, returning_ / 8);
    if (now == outlook_) return;
    outlook_ = now;
    Heads before;
    std::swap(before, heads_);
    for (; !before.empty(); before.pop()) push(before.top());
  }

  using Heads = std::priority_queue<Head, std::vector<Head>, ServedLater>;
  std::span<const Contender> contenders_;
  Room room_;
  std::int64_t running_ = 0;
  std::int64_t served_ = 0;
  std::int64_t returning_ = 0;
  Outlook outlook_;
  Heads heads_;
};

}  // namespace

std::vector<LinePlace> serving_line(std::span<const Contender> contenders, std::span<const OwnQueue> queues,
                                    const Room& room, std::int64_t reach, std::size_t longest) {
  std::vector<LinePlace> line;
  for (Merge merge(contenders, queues, room); !merge.is_over() && merge.served() < reach;) {
    const Head head = merge.take();
    if (!line.empty() && line.back().job == head.at().job) {
      ++line.back().tasks;
    } else if (line.size() < longest) {
      line.push_back({head.at().job, head.organization, 1});
    } else {
      break;
    }
  }
  return line;
}

}  // namespace shapley::client
