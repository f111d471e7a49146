#include "plugin/client/places/places.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace shapley::client {

namespace {

// The minimum time for which the order of jobs that are not in line is kept, per waiting job: ten minutes for ten
// thousand. So it changes at most some sixteen priorities a second. If an organization leads by more than any cluster
// has, it is kept for a second only.
constexpr std::int64_t k_rest_order_ms_a_job = 60;
constexpr std::int64_t k_longest_rest_order_ms = 600'000;
constexpr std::int64_t k_shortest_rest_order_ms = 1'000;
constexpr std::int64_t k_any_cluster = std::int64_t{1} << 30U;
// If nothing started or ended for this time, or for so many times the usual time between two events, the whole line is
// corrected.
constexpr std::int64_t k_least_quiet_ms = 2'000;
constexpr std::int64_t k_longest_quiet_ms = 30'000;
constexpr std::int64_t k_quiet_intervals = 8;
// The number of scans for which leads may still arrive.
constexpr std::size_t k_max_remembered_scans = 256;
// The most splits of one array in one scan.
constexpr std::uint32_t k_max_splits = 64;
constexpr std::size_t k_max_splits_a_scan = 1024;
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
  ranking_ = std::move(ranking);
  scan_ = scan;
  labels_ = labels;
  reach_ = reach;
  now_ms_ = now_ms;
  waiting_.clear();
  runs_.clear();
  decisions_ = Decisions();
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

void Places::hold(std::uint32_t job_id, std::uint32_t organization, std::uint32_t processors) {
  runs_.push_back({job_id, organization, processors});
}

const Places::Decisions& Places::end(bool complete) {
  if (!complete || ranking_.contenders.empty()) return decisions_;
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

void Places::begin_runs(std::uint64_t scan) {
  scan_ = scan;
  runs_.clear();
}

void Places::end_runs() {
  std::sort(runs_.begin(), runs_.end());
  note_used();
}

void Places::count_events() {
  std::sort(runs_.begin(), runs_.end());
  std::size_t same = 0;
  for (std::size_t i = 0, j = 0; i < runs_.size() && j < runs_before_.size();) {
    if (runs_[i].job_id == runs_before_[j].job_id) {
      ++same, ++i, ++j;
    } else {
      ++(runs_[i].job_id < runs_before_[j].job_id ? i : j);
    }
  }
  decisions_.events = runs_.size() + runs_before_.size() - 2 * same;
  if (decisions_.events > 0) {
    const std::int64_t interval = (now_ms_ - last_event_ms_) / static_cast<std::int64_t>(decisions_.events);
    interval_ms_ = last_event_ms_ == 0 ? 0 : (3 * interval_ms_ + std::min(interval, k_longest_quiet_ms)) / 4;
    last_event_ms_ = now_ms_;
    events_ += decisions_.events;
  }
  runs_before_ = runs_;
}

const std::vector<std::int64_t>& Places::note_used() {
  std::vector<std::int64_t> used(ranking_.contenders.size(), 0);
  for (const Run& run : runs_) {
    if (run.organization < used.size()) used[run.organization] += run.processors;
  }
  if (used_.empty() || used_.back().processors != used) used_.push_back({scan_, std::move(used)});
  if (used_.size() > k_max_remembered_scans) used_.pop_front();
  return used_.back().processors;
}

void Places::correct_leads() {
  const std::vector<std::int64_t>& used = note_used();
  // The use in the last scan that the leads include; scans without changes are not remembered.
  const std::uint64_t reflected = reflected_.load(std::memory_order_relaxed);
  while (used_.size() > 1 && used_[1].scan <= reflected) used_.pop_front();
  if (used_.front().scan > reflected) return;
  for (std::size_t u = 0; u < used.size(); ++u) {
    const std::int64_t more = used[u] - used_.front().processors[u];
    ranking_.contenders[u].lead -= more;
    ranking_.contenders[u].lacking -= more;
  }
}

bool Places::is_rest_far_off() const {
  // From the last label up: no organization may lead one before it by more than any cluster has.
  std::vector<std::int64_t> leads(rest_label_.size());
  for (std::size_t u = 0; u < rest_label_.size(); ++u) leads[rest_label_[u]] = ranking_.contenders[u].lead;
  std::int64_t greatest_behind = leads.front();
  for (const std::int64_t lead : leads) {
    if (greatest_behind - lead > k_any_cluster) return true;
    greatest_behind = std::max(greatest_behind, lead);
  }
  return false;
}

void Places::order_rest() {
  const bool is_new = rest_label_.size() != ranking_.contenders.size();
  const auto kept_for = static_cast<std::int64_t>(waiting_.size()) * k_rest_order_ms_a_job;
  const std::int64_t least = is_new              ? 0
                             : is_rest_far_off() ? k_shortest_rest_order_ms
                                                 : std::min(kept_for, k_longest_rest_order_ms);
  if (!is_new && now_ms_ - rest_ordered_ms_ < least) return;
  rest_ordered_ms_ = now_ms_;
  rest_label_.resize(ranking_.contenders.size());
  const auto count = static_cast<std::uint32_t>(rest_label_.size());
  for (std::size_t u = 0; u < rest_label_.size(); ++u) {
    rest_label_[u] = count - 1 - std::min(ranking_.contenders[u].rank, count - 1);
  }
}

std::size_t Places::depth() {
  const bool quiet = is_due(now_ms_);
  if (whole_is_due_ || quiet) {
    whole_is_due_ = false;
    events_looked_at_ = events_;
    return k_whole_line;
  }
  const std::size_t depth = depth_after(events_looked_at_, events_);
  events_looked_at_ = events_;
  // Leads may have changed without a start or an end.
  return std::max<std::size_t>(depth, 1);
}

bool Places::is_due(std::int64_t now_ms) const {
  const std::int64_t quiet = std::clamp(k_quiet_intervals * interval_ms_, k_least_quiet_ms, k_longest_quiet_ms);
  return unfinished_ && now_ms - last_event_ms_ >= quiet;
}

void Places::decide() {
  const auto organizations = static_cast<std::uint32_t>(ranking_.contenders.size());
  const LabelRange range{std::min(organizations, labels_), labels_};
  const std::uint32_t room = range.end - range.first;

  // Each organization's own queue, as far as it can matter. Jobs that wait for a partition count up to what that has.
  std::vector<std::vector<const shapley_waiting_t*>> own(organizations);
  for (const shapley_waiting_t* waiting : waiting_) {
    if (waiting->startable && waiting->organization < organizations) own[waiting->organization].push_back(waiting);
  }
  std::vector<const shapley_waiting_t*> in_queue;
  std::vector<std::vector<Asking>> queues(organizations);
  for (std::uint32_t u = 0; u < organizations; ++u) {
    std::vector<const shapley_waiting_t*>& jobs = own[u];
    const auto before = [](const shapley_waiting_t* a, const shapley_waiting_t* b) { return goes_before(*a, *b); };
    std::map<std::uint32_t, std::int64_t> asked;  // by partition
    std::int64_t total = 0;
    // Sorted piece by piece: of a hundred thousand jobs the first few hundred matter.
    for (std::size_t done = 0; done < jobs.size() && total < reach_ && queues[u].size() < room / 2;) {
      const std::size_t piece = std::min(jobs.size(), done + std::max<std::size_t>(256, done));
      const auto from = jobs.begin() + static_cast<std::ptrdiff_t>(done);
      const auto to = jobs.begin() + static_cast<std::ptrdiff_t>(piece);
      std::partial_sort(from, to, jobs.end(), before);
      for (; done < piece && total < reach_ && queues[u].size() < room / 2; ++done) {
        const shapley_waiting_t& waiting = *jobs[done];
        std::int64_t& in_partition = asked[waiting.partition];
        if (in_partition >= waiting.partition_processors) continue;
        const std::int64_t processors = std::max<std::int64_t>(1, waiting.processors);
        const std::int64_t left = (waiting.partition_processors - in_partition + processors - 1) / processors;
        const auto tasks =
            static_cast<std::uint32_t>(std::clamp<std::int64_t>(left, 1, std::max<std::uint32_t>(1, waiting.tasks)));
        in_partition += processors * tasks;
        total += processors * tasks;
        queues[u].push_back({static_cast<std::uint32_t>(in_queue.size()), processors, tasks, waiting.nodes_available});
        in_queue.push_back(&waiting);
      }
    }
  }
  const std::size_t longest = room >= k_least_room ? room / 2 : 0;
  const std::vector<LinePlace> line = serving_line(ranking_.contenders, queues, reach_, longest);
  decisions_.in_line = line.size();
  decisions_.cut = line.size() == longest && in_queue.size() > longest;

  std::vector<std::uint32_t> labels;
  labels.reserve(line.size());
  for (const LinePlace& place : line) labels.push_back(in_queue[place.job]->label);
  const std::size_t looked_at = depth();
  const std::vector<std::uint32_t> wanted = relabel(labels, range, looked_at);
  decisions_.looked_at = std::min(looked_at, line.size());
  const std::uint32_t strays_above = boundary(wanted, looked_at);
  unfinished_ = looked_at < line.size();

  std::unordered_map<const shapley_waiting_t*, std::uint32_t> placed;
  placed.reserve(line.size());
  std::size_t splits = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const shapley_waiting_t& job = *in_queue[line[i].job];
    placed.emplace(&job, wanted[i]);
    if (line[i].parted && job.splittable > 0 && splits < k_max_splits_a_scan) {
      const std::uint32_t tasks = std::min({line[i].tasks, job.splittable, k_max_splits});
      decisions_.splits.push_back({job.job_id, tasks});
      splits += tasks;
    }
  }
  if (splits > 0) unfinished_ = true;  // they are in a row, with the label of their array
  for (const shapley_waiting_t* job : waiting_) {
    const std::uint32_t rest = rest_label_[std::min(job->organization, organizations - 1)];
    std::uint32_t label = rest;
    if (const auto place = placed.find(job); place != placed.end()) {
      label = place->second;
    } else if (job->label >= range.first && job->label < range.end && job->label < strays_above) {
      label = job->label;  // it was in line, and is behind the part that is corrected
      unfinished_ = true;
    }
    if (label != job->label) decisions_.labels.push_back({job->job_id, label});
  }
}

namespace {

struct Task {
  bool below = false;
  std::int64_t lead = 0;  // lead - cum
  std::uint32_t rank = 0;
  std::uint32_t organization = 0;
  const Asking* asking = nullptr;
  std::size_t number = 0;  // ascends with its place in its organization's queue
};

bool is_served_before(const Task& a, const Task& b) {
  if (a.below != b.below) return a.below;
  if (a.lead != b.lead) return a.lead > b.lead;
  if (a.rank != b.rank) return a.rank < b.rank;
  return a.number < b.number;
}

void add_tasks(std::uint32_t organization, const Contender& contender, std::span<const Asking> queue,
               std::int64_t reach, std::vector<Task>& tasks) {
  std::int64_t available = 0;
  std::int64_t all = 0;
  for (const Asking& asking : queue) {
    for (std::uint32_t task = 0; task < asking.tasks; ++task) {
      const std::int64_t cum = asking.nodes_available ? available : all;
      if (cum >= reach) break;
      tasks.push_back(
          {cum < contender.lacking, contender.lead - cum, contender.rank, organization, &asking, tasks.size()});
      if (asking.nodes_available) available += asking.processors;
      all += asking.processors;
    }
  }
}

}  // namespace

std::vector<LinePlace> serving_line(std::span<const Contender> contenders, std::span<const std::vector<Asking>> queues,
                                    std::int64_t reach, std::size_t longest) {
  std::vector<Task> tasks;
  for (std::uint32_t u = 0; u < contenders.size(); ++u) add_tasks(u, contenders[u], queues[u], reach, tasks);
  std::sort(tasks.begin(), tasks.end(), is_served_before);

  std::vector<LinePlace> line;
  struct Begun {
    std::size_t place = 0;
    std::size_t last_task = 0;
  };
  std::unordered_map<const Asking*, Begun> arrays;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < tasks.size() && total < reach; ++i) {
    const Task& task = tasks[i];
    total += task.asking->processors;
    if (task.asking->tasks == 1) {
      if (line.size() == longest) break;
      line.push_back({task.asking->job, task.organization, 1, false});
      continue;
    }
    const auto [known, is_first] = arrays.try_emplace(task.asking, Begun{line.size(), i});
    if (is_first) {
      if (line.size() == longest) break;
      line.push_back({task.asking->job, task.organization, 1, false});
      continue;
    }
    LinePlace& place = line[known->second.place];
    ++place.tasks;
    for (std::size_t between = known->second.last_task + 1; between < i && !place.parted; ++between) {
      place.parted = tasks[between].organization != task.organization;
    }
    known->second.last_task = i;
  }
  return line;
}

}  // namespace shapley::client
