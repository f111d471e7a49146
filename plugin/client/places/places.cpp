#include "plugin/client/places/places.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/types.hpp"

namespace shapley::client {

namespace {

// The minimum time for which the order of jobs that are not in line is kept, per waiting job: ten minutes for ten
// thousand. So it changes at most some sixteen priorities a second. Until there were four starts or ends for each of
// them it is kept ten times as long, so that at most one priority is written for four. If an organization leads by more
// than any cluster has, it is kept for a second only.
constexpr std::int64_t k_rest_order_ms_a_job = 60;
constexpr std::int64_t k_longer_without_events = 10;
constexpr std::uint64_t k_events_a_job = 4;
constexpr std::int64_t k_longest_rest_order_ms = 600'000;
constexpr std::int64_t k_shortest_rest_order_ms = 1'000;
constexpr std::int64_t k_any_cluster = game::k_most_started * k_micro;
// Scans with a change that are remembered, because leads that include them may still arrive: the first one that no
// leads have superseded, and the latest.
constexpr std::size_t k_max_remembered_scans = 256;
// The most splits of one array in one scan, and of all; and how far back in the line tasks get records of their own:
// more do not start between two scans.
constexpr std::uint32_t k_max_splits = 256;
constexpr std::size_t k_max_splits_a_scan = 1024;
constexpr std::uint32_t k_split_depth = 2048;
// With fewer labels for places, places are not used.
constexpr std::uint32_t k_least_room = 16;

bool goes_before(const shapley_waiting_t& a, const shapley_waiting_t& b) {
  return std::tie(b.tier, b.level, b.own_order, a.tie) < std::tie(a.tier, a.level, a.own_order, b.tie);
}

}  // namespace

void Places::begin(std::uint64_t scan, Ranking ranking, std::uint32_t labels, std::int64_t reach, std::int64_t now_ms) {
  if (labels != labels_ || ranking.membership != membership_) {
    whole_is_due_ = true;
    rest_label_.clear();
  }
  if (ranking.membership != membership_) {
    jobs_.clear();
    used_.clear();
    runs_before_.clear();
  }
  membership_ = ranking.membership;
  take(std::move(ranking));
  scan_ = scan;
  labels_ = labels;
  reach_ = reach * k_micro;
  now_ms_ = now_ms;
  is_of_runs_ = false;
  waiting_.clear();
  runs_.clear();
  decisions_ = Decisions();
}

void Places::take(Ranking ranking) {
  changed_hands_ = changed_hands_ || ranking.owners != ranking_.owners;
  ranking_ = std::move(ranking);
  requests_.set_owners(ranking_.owners);
}

void Places::add(const shapley_waiting_t& waiting) {
  Job& job = jobs_[waiting.job_id];
  job.waiting = waiting;
  job.scan = scan_;
  waiting_.push_back(&job.waiting);  // nodes of the map stay where they are
}

bool Places::add_again(std::uint32_t job_id, std::int64_t own_order, std::uint32_t level, std::uint32_t label) {
  const auto known = jobs_.find(job_id);
  if (known == jobs_.end()) return false;
  known->second.waiting.own_order = own_order;
  known->second.waiting.level = level;
  known->second.waiting.label = label;
  known->second.scan = scan_;
  waiting_.push_back(&known->second.waiting);
  return true;
}

void Places::hold(std::uint32_t job_id, std::uint32_t organization, std::int64_t age_s) {
  runs_.push_back({job_id, organization, age_s});
}

const Places::Decisions& Places::end(bool complete) {
  if (!complete || ranking_.contenders.empty()) return decisions_;
  measure_runs();
  forget_gone();
  count_events();
  correct_leads();
  order_rest();
  decide();
  return decisions_;
}

void Places::forget_gone() {
  if (jobs_.size() == waiting_.size()) return;
  std::erase_if(jobs_, [&](const auto& entry) { return entry.second.scan != scan_; });
}

void Places::begin_runs(std::uint64_t scan, Ranking ranking, std::int64_t now_ms) {
  scan_ = scan;
  now_ms_ = now_ms;
  is_of_runs_ = true;
  runs_.clear();
  decisions_ = Decisions();
  // Other members have other numbers: then the next whole scan decides.
  if (ranking.membership == membership_) {
    take(std::move(ranking));
  } else {
    waiting_.clear();
  }
}

void Places::end_runs() {
  measure_runs();
  note_used();
}

const Places::Decisions& Places::decide_by_runs() {
  if (waiting_.empty() || ranking_.contenders.empty()) return decisions_;
  count_events();
  correct_leads();
  if (decisions_.events == 0) return decisions_;
  forget_started();
  decide();
  return decisions_;
}

void Places::forget_started() {
  std::erase_if(waiting_, [&](const shapley_waiting_t* waiting) {
    const auto run = std::partition_point(runs_.begin(), runs_.end(),
                                          [&](const Run& before) { return before.job_id < waiting->job_id; });
    return run != runs_.end() && run->job_id == waiting->job_id;
  });
}

void Places::measure_runs() {
  for (Run& run : runs_) {
    const Measure held = requests_.held(run.job_id);
    run.charge = held.charge;
    run.blocked = held.blocked;
  }
  std::sort(runs_.begin(), runs_.end());
}

const std::vector<Places::Use>& Places::note_used() {
  std::vector<Use> used(ranking_.contenders.size());
  for (const Run& run : runs_) {
    for (const auto& [owner, part] : requests_.given(run.job_id)) {
      used[owner].given.charge += part.charge;
      used[owner].given.blocked += part.blocked;
    }
    if (run.organization >= used.size()) continue;
    used[run.organization].held.charge += run.charge;
    used[run.organization].held.blocked += run.blocked;
  }
  // The leads count by the new owners what runs on their nodes, whenever it began.
  if (std::exchange(changed_hands_, false)) {
    for (Used& before : used_) {
      for (std::size_t u = 0; u < used.size(); ++u) before.by[u].given = used[u].given;
    }
  }
  const std::int64_t usable = requests_.all(k_any_node);
  if (!used_.empty() && usable > used_.back().usable) whole_is_due_ = true;
  if (used_.empty() || used_.back().by != used || used_.back().usable != usable)
    used_.push_back({scan_, std::move(used), usable});
  // The first one is what the leads include, however long ago that was.
  if (used_.size() > k_max_remembered_scans) used_.erase(used_.begin() + 1);
  return used_.back().by;
}

void Places::correct_leads() {
  const std::vector<Use>& used = note_used();
  for (std::uint32_t u = 0; u < used.size(); ++u) {
    ranking_.contenders[u].running = used[u].held;
    const NodeSets::Owned owned = requests_.owned(u);
    ranking_.contenders[u].idle = std::max(owned.free, owned.all - used[u].given.blocked);
    ranking_.contenders[u].free = owned.free;
    ranking_.contenders[u].runs = {};
  }
  for (const Run& run : runs_) {
    if (run.organization < used.size()) ranking_.contenders[run.organization].runs.add(run.age_s, run.blocked);
  }
  // The use in the last scan that the leads include; scans without changes are not remembered.
  const std::uint64_t reflected = reflected_.load(std::memory_order_relaxed);
  while (used_.size() > 1 && used_[1].scan <= reflected) used_.pop_front();
  if (used_.front().scan > reflected) return;
  for (std::size_t u = 0; u < used.size(); ++u) {
    const Use& reflected_use = used_.front().by[u];
    ranking_.contenders[u].lead -= used[u].held.charge - reflected_use.held.charge;
    ranking_.contenders[u].lead += used[u].given.charge - reflected_use.given.charge;
    ranking_.contenders[u].lacking -= used[u].held.blocked - reflected_use.held.blocked;
  }
  // Nodes have come back since: all that are away, until the daemon says which. That concerns the whole line.
  if (used_.back().usable <= used_.front().usable) return;
  for (Contender& contender : ranking_.contenders) contender.lacking += std::exchange(contender.returning, 0);
}

bool Places::is_rest_far_off() const {
  // From the last label up: no organization may lead one before it by more than any cluster has.
  std::vector<const Contender*> by_label(rest_label_.size());
  for (std::size_t u = 0; u < rest_label_.size(); ++u) by_label[rest_label_[u]] = &ranking_.contenders[u];
  Int128 greatest_behind = by_label.front()->key_at(k_any_cluster);
  for (const Contender* contender : by_label) {
    if (greatest_behind > contender->key_at(0)) return true;
    greatest_behind = std::max(greatest_behind, contender->key_at(k_any_cluster));
  }
  return false;
}

void Places::order_rest() {
  const bool is_new = rest_label_.size() != ranking_.contenders.size();
  const bool was_much = (events_ - events_at_rest_order_) >= k_events_a_job * waiting_.size();
  const auto kept_for =
      static_cast<std::int64_t>(waiting_.size()) * k_rest_order_ms_a_job * (was_much ? 1 : k_longer_without_events);
  const std::int64_t least = is_new              ? 0
                             : is_rest_far_off() ? k_shortest_rest_order_ms
                                                 : std::min(kept_for, k_longest_rest_order_ms);
  if (!is_new && now_ms_ - rest_ordered_ms_ < least) return;
  rest_ordered_ms_ = now_ms_;
  events_at_rest_order_ = events_;
  rest_label_.resize(ranking_.contenders.size());
  const auto count = static_cast<std::uint32_t>(rest_label_.size());
  for (std::size_t u = 0; u < rest_label_.size(); ++u) {
    rest_label_[u] = count - 1 - std::min(ranking_.contenders[u].rank, count - 1);
  }
}

// Sorted piece by piece: of a hundred thousand jobs the first few hundred matter.
std::vector<OwnQueue> Places::own_queues(const NodeSetTable& sets, std::size_t longest) {
  const std::size_t organizations = ranking_.contenders.size();
  std::vector<std::vector<shapley_waiting_t*>> own(organizations);
  for (shapley_waiting_t* waiting : waiting_) {
    if (waiting->startable && waiting->organization < organizations) own[waiting->organization].push_back(waiting);
  }
  const auto before = [](const shapley_waiting_t* a, const shapley_waiting_t* b) { return goes_before(*a, *b); };
  std::vector<OwnQueue> queues;
  queues.reserve(organizations);
  in_line_.clear();
  for (std::vector<shapley_waiting_t*>& jobs : own) {
    OwnQueue& queue = queues.emplace_back(sets, reach_);
    const std::size_t first = in_line_.size();
    const auto is_full = [&] { return queue.is_full() || in_line_.size() - first >= longest; };
    for (std::size_t done = 0; done < jobs.size() && !is_full();) {
      const std::size_t piece = std::min(jobs.size(), done + std::max<std::size_t>(256, done));
      std::partial_sort(jobs.begin() + static_cast<std::ptrdiff_t>(done),
                        jobs.begin() + static_cast<std::ptrdiff_t>(piece), jobs.end(), before);
      for (; done < piece && !is_full(); ++done) {
        shapley_waiting_t& waiting = *jobs[done];
        const Requests::Asked asked = requests_.asked(waiting.job_id, waiting.time_limit_s);
        const bool added = queue.add({.job = static_cast<std::uint32_t>(in_line_.size()),
                                      .task = asked.task,
                                      .tasks = std::max<std::uint32_t>(1, waiting.tasks),
                                      .nodes = asked.nodes,
                                      .room = asked.room,
                                      .hindrance = waiting.hindrance,
                                      .array = waiting.array,
                                      .array_room = waiting.array_room,
                                      .licenses = waiting.licenses,
                                      .license_room = waiting.license_room});
        if (added) in_line_.push_back({.waiting = &waiting, .nodes = asked.nodes, .blocked = asked.task.blocked});
      }
    }
  }
  return queues;
}

// Backfill keeps nodes for each part of a heterogeneous job that could start, and all parts start together. Another job
// between two of them could keep the second one from its nodes, and the first one it from its own, without end. So each
// part has its place before the last one's, or behind all others while not all parts are in line.
void Places::keep_parts_together(std::vector<LinePlace>& line) const {
  const auto het_job_of = [this](const LinePlace& place) { return in_line_[place.job].waiting->het_job; };
  if (std::ranges::all_of(
          line, [](std::uint32_t het_job) { return het_job == 0; }, het_job_of))
    return;
  struct Parts {
    std::size_t left = 0;  // that did not have their turn in line
    std::vector<LinePlace> passed;
  };
  std::map<std::uint32_t, Parts> jobs;  // by the heterogeneous job
  for (const shapley_waiting_t* waiting : waiting_) {
    if (waiting->het_job != 0 && waiting->startable) ++jobs[waiting->het_job].left;
  }
  std::vector<LinePlace> together;
  together.reserve(line.size());
  for (const LinePlace& place : line) {
    const std::uint32_t het_job = het_job_of(place);
    if (het_job == 0) {
      together.push_back(place);
      continue;
    }
    Parts& parts = jobs[het_job];
    parts.passed.push_back(place);
    if (--parts.left > 0) continue;
    together.insert(together.end(), parts.passed.begin(), parts.passed.end());
  }
  for (const auto& [het_job, parts] : jobs) {
    if (parts.left > 0) together.insert(together.end(), parts.passed.begin(), parts.passed.end());
  }
  line = std::move(together);
}

// The tasks of an array that have no record of their own start one after the other, by the priority of their record.
// So where others stand between them, or after them while not all of them are in line, those in line get records of
// their own; the last ones may keep theirs. What is left of them in the record has the place of its last one, so that
// nothing starts by a place that is another task's.
void Places::choose_splits(std::span<const LinePlace> line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    InLine& job = in_line_[line[i].job];
    if (job.places++ == 0) job.first = i;
    job.last = i;
    job.tasks += line[i].tasks;
    job.in_last = line[i].tasks;
  }
  std::size_t left = is_of_runs_ ? 0 : k_max_splits_a_scan;
  std::uint32_t passed = 0;
  for (std::size_t i = 0; i < line.size() && passed < k_split_depth; passed += line[i++].tasks) {
    InLine& job = in_line_[line[i].job];
    const bool is_whole = job.tasks == std::max<std::uint32_t>(1, job.waiting->tasks);
    const bool is_together = job.places == 1 && (is_whole || i + 1 == line.size());
    if (job.first != i || is_together) continue;
    const std::uint32_t wanted = is_whole ? job.tasks - job.in_last : job.tasks;
    job.split = std::min({wanted, job.waiting->splittable, k_max_splits, static_cast<std::uint32_t>(left)});
    left -= job.split;
  }
}

std::vector<Places::Entry> Places::entries(std::span<const LinePlace> line) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < line.size(); ++i) {
    InLine& job = in_line_[line[i].job];
    for (std::uint32_t task = 0; task < line[i].tasks && job.passed < job.split; ++task, ++job.passed) {
      entries.push_back({line[i].job, true});
    }
    // Where tasks cannot be split off at all, they are served by the place of the first one.
    const bool is_served_whole = job.waiting->splittable == 0 && job.waiting->tasks > 1;
    const bool is_left = job.tasks > job.split;
    if (is_left && i == (is_served_whole ? job.first : job.last)) entries.push_back({line[i].job, false});
  }
  return entries;
}

Room Places::room_now(const NodeSetTable& sets) const {
  std::int64_t running = 0;
  Room room;
  for (const Run& run : runs_) {
    running += run.blocked;
    room.widest_run = std::max(room.widest_run, run.blocked);
  }
  // A run that has ended keeps its nodes until its epilog is over.
  room.now = sets[k_any_node].free;
  room.free = std::max(room.now, sets[k_any_node].all - running);
  return room;
}

void Places::decide() {
  const auto organizations = static_cast<std::uint32_t>(ranking_.contenders.size());
  const LabelRange range{std::min(organizations, labels_), labels_};
  const std::uint32_t room = range.end - range.first;
  const std::size_t longest = room >= k_least_room ? room / 2 : 0;

  const NodeSetTable sets = NodeSetTable::of(requests_);
  const std::vector<OwnQueue> queues = own_queues(sets, longest);
  std::vector<LinePlace> line = serving_line(ranking_.contenders, queues, room_now(sets), reach_, longest);
  // A place of an array's record is that of its last task in line.
  const auto has_place = [&](const LinePlace& place) {
    const shapley_waiting_t& waiting = *in_line_[place.job].waiting;
    return waiting.tasks <= 1 && waiting.label >= range.first && waiting.label < range.end;
  };
  while (!line.empty() && line.back().beyond > 0 && !has_place(line.back())) {
    line.back().tasks -= std::exchange(line.back().beyond, 0);
    if (line.back().tasks == 0) line.pop_back();
  }
  keep_parts_together(line);
  choose_splits(line);
  std::vector<Entry> in_line = entries(line);
  decisions_.cut = in_line.size() > longest || (line.size() == longest && in_line_.size() > longest);
  if (in_line.size() > longest) in_line.resize(longest);
  decisions_.in_line = in_line.size();

  std::vector<std::uint32_t> wanted = put_in_order(in_line, range);
  keep_own_order(in_line, sets, wanted);
  take_labels(in_line, wanted);
}

void Places::take_labels(std::span<const Entry> in_line, std::span<const std::uint32_t> wanted) {
  const auto organizations = static_cast<std::uint32_t>(ranking_.contenders.size());
  std::unordered_map<const shapley_waiting_t*, std::uint32_t> placed;
  placed.reserve(in_line.size());
  std::map<std::uint32_t, std::vector<std::uint32_t>> split;  // by index in in_line_
  for (std::size_t i = 0; i < in_line.size(); ++i) {
    if (in_line[i].is_split) {
      split[in_line[i].job].push_back(wanted[i]);
    } else {
      placed.emplace(in_line_[in_line[i].job].waiting, wanted[i]);
    }
  }
  const auto give = [&](shapley_waiting_t* job, std::uint32_t label) {
    if (label != job->label) decisions_.labels.push_back({job->job_id, label});
    job->label = label;  // for a scan of runs
  };
  for (shapley_waiting_t* job : waiting_) {
    const auto place = placed.find(job);
    give(job, place != placed.end() ? place->second : rest_label_[std::min(job->organization, organizations - 1)]);
  }
  for (const auto& [index, labels] : split) {
    shapley_waiting_t* job = in_line_[index].waiting;
    const std::uint32_t rest = rest_label_[std::min(job->organization, organizations - 1)];
    const auto place = placed.find(job);
    const auto tasks = static_cast<std::uint32_t>(labels.size());
    decisions_.splits.push_back({job->job_id, tasks, nullptr, place == placed.end() ? rest : place->second});
    job->tasks -= tasks;
    job->splittable -= tasks;
    decisions_.split_labels.insert(decisions_.split_labels.end(), labels.begin(), labels.end());
  }
  std::size_t first = 0;
  for (shapley_array_split_t& one : decisions_.splits) {
    one.labels = decisions_.split_labels.data() + first;
    first += one.tasks;
  }
}

}  // namespace shapley::client
