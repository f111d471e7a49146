#include "plugin/client/places/line.hpp"

#include <algorithm>
#include <queue>
#include <utility>

#include "base/types.hpp"

namespace shapley::client {

namespace {

// Into how many steps the ends of all that runs are divided.
constexpr std::int64_t k_steps = 32;

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

NodeSetTable NodeSetTable::of(const Requests& requests) {
  std::vector<Set> sets;
  for (NodeSetId id = 0; id < requests.node_sets(); ++id) sets.push_back({requests.free(id), requests.all(id)});
  return NodeSetTable(
      std::move(sets), [&](NodeSetId a, NodeSetId b) { return requests.overlap(a, b); },
      [&](NodeSetId outer, NodeSetId inner) { return requests.contains(outer, inner); });
}

OwnQueue::OwnQueue(const NodeSetTable& sets, std::int64_t reach)
    : sets_(&sets), reach_(reach), taken_(sets.size()), streams_(1) {}

std::uint32_t OwnQueue::tasks_now(const Asking& asking) const {
  if (!asking.nodes_available) return 0;
  std::int64_t tasks = asking.tasks;
  for (NodeSetId outer = 0; outer < sets_->size() && tasks > 0; ++outer) {
    if (!sets_->contains(outer, asking.nodes)) continue;
    tasks = std::min(tasks, quotient_up((*sets_)[outer].free - taken_[outer], asking.task.blocked));
  }
  return static_cast<std::uint32_t>(tasks);
}

void OwnQueue::add_now(const Asking& asking, std::uint32_t tasks) {
  if (tasks == 0) return;
  streams_.front().push_back({asking.job, asking.task, tasks, now_});
  client::add(now_, asking.task, tasks);
  for (NodeSetId outer = 0; outer < sets_->size(); ++outer) {
    if (sets_->contains(outer, asking.nodes)) taken_[outer] += asking.task.blocked * tasks;
  }
  asked_ += asking.task.blocked * tasks;
}

OwnQueue::Later& OwnQueue::later_of(const Asking& asking) {
  const auto known = std::find_if(later_.begin(), later_.end(), [&](const Later& later) {
    return later.nodes == asking.nodes && later.nodes_available == asking.nodes_available;
  });
  if (known != later_.end()) return *known;
  streams_.emplace_back();
  return later_.emplace_back(Later{asking.nodes, asking.nodes_available, {}, streams_.size() - 1});
}

bool OwnQueue::add_later(const Asking& asking, std::uint32_t tasks) {
  const std::int64_t all = (*sets_)[asking.nodes].all;
  const std::int64_t most = all == 0 ? reach_ : std::min(reach_, all + all / 8 + 16 * k_micro);
  Later& own = later_of(asking);
  tasks = static_cast<std::uint32_t>(
      std::min<std::int64_t>(tasks, quotient_up(most - own.asked.blocked, asking.task.blocked)));
  if (tasks == 0) return false;
  Measure before = now_;
  for (const Later& other : later_) {
    const bool counts = other.nodes_available || !asking.nodes_available;
    if (counts && sets_->overlap(asking.nodes, other.nodes)) client::add(before, other.asked, 1);
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
  // `step` of k_steps parts of all runs have ended.
  void look(const Contender& contender, std::int64_t step) {
    const std::int64_t blocks = at().before.blocked + at().task.blocked * task;
    const std::int64_t cum = at().before.charge + at().task.charge * task;
    below = blocks < contender.lacking + contender.running.blocked / k_steps * step;
    lead = contender.lead + contender.running.charge / k_steps * step - cum;
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
  Merge(std::span<const Contender> contenders, std::span<const OwnQueue> queues, std::int64_t free)
      : contenders_(contenders), free_(free) {
    for (const Contender& contender : contenders) running_ += contender.running.blocked;
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
    end_runs();
    return head;
  }

 private:
  void push(Head head) {
    head.look(contenders_[head.organization], step_);
    heads_.push(head);
  }
  void end_runs() {
    if (running_ <= 0 || served_ <= free_) return;
    const std::int64_t ended = std::min(served_ - free_, running_);
    const std::int64_t step = ended / std::max<std::int64_t>(1, running_ / k_steps);
    if (std::min(step, k_steps) == step_) return;
    step_ = std::min(step, k_steps);
    Heads before;
    std::swap(before, heads_);
    for (; !before.empty(); before.pop()) push(before.top());
  }

  using Heads = std::priority_queue<Head, std::vector<Head>, ServedLater>;
  std::span<const Contender> contenders_;
  std::int64_t free_;
  std::int64_t running_ = 0;
  std::int64_t served_ = 0;
  std::int64_t step_ = 0;
  Heads heads_;
};

}  // namespace

std::vector<LinePlace> serving_line(std::span<const Contender> contenders, std::span<const OwnQueue> queues,
                                    std::int64_t free, std::int64_t reach, std::size_t longest) {
  std::vector<LinePlace> line;
  for (Merge merge(contenders, queues, free); !merge.is_over() && merge.served() < reach;) {
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
