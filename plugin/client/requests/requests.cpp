#include "plugin/client/requests/requests.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/types.hpp"
#include "plugin/client/scan/scanner.hpp"
#include "request/placement.hpp"

namespace shapley::client {

using protocol::JobState;
using protocol::JobUpdate;

namespace {

constexpr std::size_t k_fewest_slots = 256;
constexpr Measure k_one_processor{k_micro, k_micro};

bool holds_nodes(const JobUpdate& job) {
  const bool is_there = job.state == JobState::running || job.state == JobState::suspended || job.completing;
  return is_there && !job.nodes.empty();
}

// The generic resources that its nodes must have, with types and without, ascending.
std::vector<std::string> names_of(const request::Request& request, const request::LeastPart& least) {
  std::vector<std::string> names = least.types;
  for (const Resource& resource : request.gres) names.push_back(resource.name);
  std::ranges::sort(names);
  return names;
}

}  // namespace

const std::uint32_t* WaitingJobs::find(std::uint32_t job_id) const {
  if (slots_.empty() || job_id == 0) return nullptr;
  const Slot& slot = slots_[slot_of(slots_, job_id)];
  return slot.job_id == 0 ? nullptr : &slot.value;
}

void WaitingJobs::insert(std::uint32_t job_id, std::uint32_t value) {
  if (2 * (size_ + 1) > slots_.size()) rebuild(std::max(k_fewest_slots, 2 * slots_.size()));
  slots_[slot_of(slots_, job_id)] = {job_id, value};
  ++size_;
}

void WaitingJobs::erase(std::uint32_t job_id) {
  if (find(job_id) == nullptr) return;
  std::size_t free = slot_of(slots_, job_id);
  slots_[free] = Slot();
  --size_;
  // The jobs behind it, up to the next free slot, go where they would have gone without it.
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t next = (free + 1) & mask; slots_[next].job_id != 0; next = (next + 1) & mask) {
    const Slot moved = std::exchange(slots_[next], Slot());
    slots_[slot_of(slots_, moved.job_id)] = moved;
  }
  if (slots_.size() > k_fewest_slots && 8 * size_ < slots_.size()) rebuild(slots_.size() / 2);
}

void WaitingJobs::rebuild(std::size_t slots) {
  std::vector<Slot> bigger(slots);
  for (const Slot& slot : slots_) {
    if (slot.job_id != 0) bigger[slot_of(bigger, slot.job_id)] = slot;
  }
  slots_ = std::move(bigger);
}

void Requests::note(const JobUpdate& job, const request::LeastPart& least, bool one_user) {
  if (job.job_id == 0) return;
  const OnlyUser only = one_user ? OnlyUser{job.user_id} : k_any_user;
  if (job.state == JobState::pending && !job.completing) {
    forget_run(job.job_id);
    note_waiting(job, least, only);
  } else {
    forget_waiting(job.job_id);
    note_run(job, only);
  }
}

void Requests::forget(std::uint32_t job_id) {
  forget_waiting(job_id);
  forget_run(job_id);
}

void Requests::clear() noexcept {
  nodes_.clear();
  asks_.clear();
  runs_.clear();
  ask_ids_.clear();
  unused_asks_.clear();
  waiting_ = WaitingJobs();
}

void Requests::set_rule(ChargeRule rule) {
  if (rule == rule_) return;
  rule_ = std::move(rule);
  ++rule_number_;
  nodes_.set_rule(rule_);
  for (Ask& ask : asks_) ask.epoch = 0;
}

void Requests::note_waiting(const JobUpdate& job, const request::LeastPart& least, OnlyUser only) {
  const std::uint32_t ask = ask_of(job, least, only);
  ++asks_[ask].jobs;  // before the job's earlier request is given up, which may be the same
  forget_waiting(job.job_id);
  waiting_.insert(job.job_id, ask);
}

std::uint32_t Requests::ask_of(const JobUpdate& job, const request::LeastPart& least, OnlyUser only) {
  const request::Request request = nodes_.charging().request_of(job);
  const NodeSetId set = nodes_.set_of(request::placement_of(job), names_of(request, least));
  const auto [entry, is_new] = ask_ids_.try_emplace({request, least, set, only}, 0);
  if (is_new) {
    if (unused_asks_.empty()) {
      entry->second = static_cast<std::uint32_t>(asks_.size());
      asks_.emplace_back();
    } else {
      entry->second = unused_asks_.back();
      unused_asks_.pop_back();
    }
    asks_[entry->second] = Ask{.key = entry};
    nodes_.add_user(set);
  }
  Ask& ask = asks_[entry->second];
  if (std::exchange(ask.rule, rule_number_) != rule_number_) ask.epoch = 0;
  return entry->second;
}

void Requests::forget_waiting(std::uint32_t job_id) {
  const std::uint32_t* known = waiting_.find(job_id);
  if (known == nullptr) return;
  const std::uint32_t id = *known;
  waiting_.erase(job_id);
  Ask& ask = asks_[id];
  if (--ask.jobs > 0) return;
  nodes_.remove_user(ask.key->first.nodes);
  ask_ids_.erase(ask.key);
  unused_asks_.push_back(id);
}

void Requests::note_run(const JobUpdate& job, OnlyUser only) {
  forget_run(job.job_id);
  if (!holds_nodes(job)) return;
  const bool suspended = job.state == JobState::suspended;
  Run run{.held = {.shares = request::holdings_of(job),
                   .exclusive = job.exclusive && !suspended,
                   .partition = job.partition,
                   .reservation = job.reservation,
                   .only = only},
          .rule = rule_number_};
  if (suspended) {
    for (request::Share& share : run.held.shares) share.cpus = 0;
  }
  if (nodes_.charging().is_a_sum()) {
    const auto none = [](std::string_view) { return std::optional<request::NodeKind>(); };
    for (const request::Share& charged : nodes_.charging().shares_of(job, none)) {
      const auto same = [&](const request::Share& share) { return share.node == charged.node; };
      std::ranges::find_if(run.held.shares, same)->charge = charged.charge;
    }
  }
  nodes_.hold(run.held);
  runs_.emplace(job.job_id, std::move(run));
}

void Requests::forget_run(std::uint32_t job_id) {
  const auto run = runs_.find(job_id);
  if (run == runs_.end()) return;
  nodes_.release(run->second.held);
  runs_.erase(run);
}

Requests::Asked Requests::asked(std::uint32_t job_id, std::uint32_t time_limit_s) const {
  const std::uint32_t* known = waiting_.find(job_id);
  if (known == nullptr) return {k_one_processor, k_any_node};
  Ask& ask = asks_[*known];
  const std::uint64_t epoch = nodes_.kinds_epoch();
  if (std::exchange(ask.epoch, epoch) != epoch) ask.measure = measure_of(ask);
  const AskKey& key = ask.key->first;
  const bool is_limited = time_limit_s != std::numeric_limits<std::uint32_t>::max();
  const std::int64_t ends = is_limited ? now_ + time_limit_s : std::numeric_limits<std::int64_t>::max();
  const auto room = [&] {
    return nodes_.room(key.nodes, {key.least, key.request.exclusive, key.request.nodes, key.only}, ends);
  };
  // What depends on its time limit is not remembered.
  if (nodes_.is_reserved_before(ends)) return {ask.measure, key.nodes, room()};
  const std::uint64_t room_epoch = nodes_.room_epoch();
  if (std::exchange(ask.room_epoch, room_epoch) != room_epoch) ask.room = room();
  return {ask.measure, key.nodes, ask.room};
}

Measure Requests::measure_of(const Ask& ask) const {
  const AskKey& key = ask.key->first;
  Measure measure = nodes_.charging().task_of(key.request, nodes_.kinds(key.nodes));
  if (nodes_.charging().is_a_sum() && ask.rule != rule_number_) measure.charge = measure.blocked;
  return measure;
}

const Requests::Run* Requests::measured(std::uint32_t job_id) const {
  const auto known = runs_.find(job_id);
  if (known == runs_.end()) return nullptr;
  Run& run = known->second;
  if (std::exchange(run.epoch, nodes_.nodes_epoch()) != nodes_.nodes_epoch()) measure(run);
  return &run;
}

Measure Requests::held(std::uint32_t job_id) const {
  const Run* run = measured(job_id);
  return run == nullptr ? k_one_processor : run->measure;
}

std::span<const Requests::Given> Requests::given(std::uint32_t job_id) const {
  const Run* run = measured(job_id);
  return run == nullptr ? std::span<const Given>() : run->given;
}

void Requests::measure(Run& run) const {
  const request::Charging& charging = nodes_.charging();
  run.measure = {};
  run.given.clear();
  for (const request::Share& share : run.held.shares) {
    const request::NodeKind* kind = nodes_.kind_of(share.node);
    const std::int64_t blocked = request::blocked_by(share, run.held.exclusive, kind);
    std::int64_t charge = share.cpus == 0 ? 0 : charging.charge_of(share, run.held.exclusive, kind).value;
    if (charging.is_a_sum()) charge = run.rule == rule_number_ ? share.charge.value : blocked;
    run.measure.blocked += blocked;
    run.measure.charge += charge;
    if (const OwnerShares* owners = nodes_.owners_of(share.node)) {
      const std::size_t first = run.given.size();
      split_among(*owners, charge, [&](std::uint32_t organization, std::int64_t part) {
        run.given.push_back({organization, {part, 0}});
      });
      Given* given = run.given.data() + first;
      split_among(*owners, blocked, [&](std::uint32_t, std::int64_t part) { given++->part.blocked = part; });
    }
  }
  run.measure.charge = std::min(run.measure.charge, request::k_max_weighted.value);
}

}  // namespace shapley::client
