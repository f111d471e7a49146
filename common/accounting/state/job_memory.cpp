#include "accounting/state/job_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <utility>

#include "accounting/checkpoint/fact_text.hpp"
#include "accounting/checkpoint/text_format.hpp"
#include "accounting/events/event_check.hpp"
#include "base/contract.hpp"
#include "base/text.hpp"

namespace shapley::accounting {

namespace {

constexpr std::int64_t k_last_job = std::numeric_limits<std::uint32_t>::max();

bool is_before(const SegmentRecord& record, const SegmentKey& key) {
  return record.live.opened.key < key;
}

std::uint64_t hash_number(std::uint64_t number, std::uint64_t seed) {
  char bytes[sizeof number];
  for (std::size_t i = 0; i < sizeof number; ++i) bytes[i] = static_cast<char>(number >> (8 * i));
  return fnv1a({bytes, sizeof bytes}, seed);
}

// The last instant that a closed record concerns; k_end_of_time for an open one. If the anchor of its key is at or
// after the memory horizon, facts from after the horizon may still name it.
Instant last_instant(const SegmentRecord& record) {
  const SegmentOpened& opened = record.live.opened;
  const Instant over = record.retracted ? record.retracted_at : record.end();
  return std::max({over, opened.key.anchor, record.opened ? opened.begin : over});
}

Instant last_instant(const RememberedJob& job) {
  Instant last = job.descriptions.empty() ? k_beginning_of_time : job.descriptions.back().submit;
  for (const JobChange& change : job.changes) last = std::max(last, change.at);
  for (const SegmentRecord& record : job.segments) last = std::max(last, last_instant(record));
  return last;
}

void save_segment(TextWriter& out, const SegmentRecord& record) {
  const SegmentOpened& opened = record.live.opened;
  out.line("segment").word(name_of(opened.key.kind)).instant(opened.key.anchor).number(opened.key.ordinal);
  if (record.opened) {
    out.line("opened").word(opened.organization).instant(opened.begin).number(opened.processors.value);
    write_records(out, opened.nodes);
    if (!opened.placement.empty()) out.line("placed").word(opened.placement);
    if (opened.released) out.line("released").instant(*opened.released);
    if (opened.waited_as.value != 0) out.line("waited_as").number(opened.waited_as.value);
    if (opened.tasks != 0) out.line("tasks").number(opened.tasks);
  }
  if (record.live.end) {
    out.line("closed").instant(*record.live.end).word(name_of(record.reason)).number(Int128{record.job_state_hash});
  }
  if (record.retracted) out.line("retracted").instant(record.retracted_at);
}

Instant load_instant(TextReader& in) {
  return in.instant({0}, k_last_instant);
}

void load_opened(TextReader& in, Instant now, const Organizations& organizations, SegmentRecord& record) {
  SegmentOpened& opened = record.live.opened;
  record.opened = true;
  opened.organization = in.word();
  if (!organizations.find(opened.organization)) in.fault("an organization that is not in the books");
  opened.begin = load_instant(in);
  opened.processors = {in.small(0, k_max_wanted.value)};
  read_records(in, opened.nodes);
  if (in.next("placed")) opened.placement = in.word();
  if (in.next("released")) opened.released = load_instant(in);
  if (in.next("waited_as")) opened.waited_as = {static_cast<std::uint32_t>(in.small(1, k_last_job))};
  if (in.next("tasks"))
    opened.tasks = static_cast<std::uint32_t>(in.small(1, std::numeric_limits<std::uint32_t>::max()));
  accept(in, opened, now);
}

SegmentRecord load_segment(TextReader& in, JobId job, Instant now, const Organizations& organizations) {
  SegmentRecord record;
  SegmentKey& key = record.live.opened.key;
  key.job = job;
  read_value(in, key.kind);
  key.anchor = load_instant(in);
  read_value(in, key.ordinal);
  if (in.next("opened")) load_opened(in, now, organizations, record);
  if (in.next("closed")) {
    record.live.end = load_instant(in);
    read_value(in, record.reason);
    read_value(in, record.job_state_hash);
    if (*record.live.end > now) in.fault("a fact from the future");
    if (record.opened && *record.live.end < record.live.opened.begin) in.fault("a segment ends before it begins");
  }
  if (in.next("retracted")) {
    record.retracted = true;
    record.retracted_at = in.instant({0}, now);
  }
  return record;
}

}  // namespace

const SegmentRecord* RememberedJob::find(const SegmentKey& key) const {
  const auto it = std::lower_bound(segments.begin(), segments.end(), key, is_before);
  return it == segments.end() || it->live.opened.key != key ? nullptr : &*it;
}

SegmentRecord& RememberedJob::obtain(const SegmentKey& key) {
  auto it = std::lower_bound(segments.begin(), segments.end(), key, is_before);
  if (it == segments.end() || it->live.opened.key != key) {
    it = segments.insert(it, SegmentRecord{});
    it->live.opened.key = key;
  }
  return *it;
}

void RememberedJob::refresh() {
  memory.segments.clear();
  memory.retracted.clear();
  memory.wait_ended.reset();
  const SegmentOpened* latest = nullptr;
  for (const SegmentRecord& record : segments) {
    const bool is_wait = record.live.opened.key.kind == SegmentKind::wait;
    if (is_wait && record.live.end && record.reason == CloseReason::ended)
      memory.wait_ended = std::max(memory.wait_ended.value_or(*record.live.end), *record.live.end);
    if (record.retracted) memory.retracted.push_back({record.live.opened.key, record.retracted_at});
    if (!record.counts()) continue;
    memory.segments.push_back(record.live.opened.key);
    if (latest == nullptr || record.live.opened.begin >= latest->begin) latest = &record.live.opened;
  }
  memory.organization = latest != nullptr ? latest->organization : std::string{};
  memory.array = {};
  memory.description.reset();
  if (!descriptions.empty()) {
    const JobDescription& last = descriptions.back();
    memory.organization = last.organization;
    memory.array = last.array;
    memory.description = {.submit = last.submit, .content = last.content_hash};
  }
  if (changes.empty() || (memory.description && changes.back().submit < memory.description->submit)) return;
  const JobChange& last = changes.back();
  memory.organization = last.organization;
  memory.description = {.submit = last.submit, .since = last.at, .content = last.content_hash};
}

std::uint64_t content_hash(const JobDescribed& description) {
  std::uint64_t hash = fnv1a(description.organization);
  for (const std::string* text :
       {&description.account, &description.partition, &description.qos, &description.name, &description.wckey}) {
    hash = fnv1a(*text, hash_number(text->size(), hash));
  }
  const std::uint64_t task = description.array_task ? std::uint64_t{*description.array_task} + 1 : 0;
  for (const std::uint64_t number : {std::uint64_t{description.array_job}, task, std::uint64_t{description.het_job},
                                     std::uint64_t{description.user_id}, std::uint64_t{description.group_id}}) {
    hash = hash_number(number, hash);
  }
  return hash;
}

const RememberedJob* Jobs::find(JobId job) const {
  const auto known = jobs_.find(job);
  return known == jobs_.end() ? nullptr : &known->second;
}

const SegmentRecord* Jobs::find(const SegmentKey& key) const {
  const RememberedJob* job = find(key.job);
  return job == nullptr ? nullptr : job->find(key);
}

std::vector<JobId> Jobs::tasks_of(JobId array) const {
  std::vector<JobId> tasks;
  const auto known = tasks_.find(array);
  if (known == tasks_.end()) return tasks;
  for (const JobId task : known->second) {
    // Its number may have been given to another job since.
    const RememberedJob* job = find(task);
    if (job != nullptr && job->memory.array == array) tasks.push_back(task);
  }
  return tasks;
}

std::vector<JobId> Jobs::with_open_segments() const {
  std::vector<JobId> open;
  for (const auto& [id, job] : jobs_) {
    if (std::any_of(job.segments.begin(), job.segments.end(),
                    [](const SegmentRecord& record) { return record.counts() && !record.live.end; })) {
      open.push_back(id);
    }
  }
  std::sort(open.begin(), open.end());
  return open;
}

std::optional<bool> Jobs::repeats(const SegmentOpened& event) const {
  const SegmentRecord* known = find(event.key);
  if (known == nullptr || !known->opened) return std::nullopt;
  return known->live.opened == event;
}

std::optional<bool> Jobs::repeats(const SegmentClosed& event) const {
  const SegmentRecord* known = find(event.key);
  if (known == nullptr || !known->live.end) return std::nullopt;
  return known->live.end == event.end && known->reason == event.reason &&
         known->job_state_hash == fnv1a(event.job_state);
}

std::optional<bool> Jobs::repeats(const SegmentRetracted& event) const {
  const SegmentRecord* known = find(event.key);
  if (known == nullptr || !known->retracted) return std::nullopt;
  return known->retracted_at == event.at;
}

std::optional<bool> Jobs::repeats(const JobDescribed& event) const {
  const RememberedJob* job = find(event.job);
  if (job == nullptr) return std::nullopt;
  for (const JobDescription& known : job->descriptions) {
    if (known.submit == event.submit) return known.content_hash == content_hash(event);
  }
  return std::nullopt;
}

std::optional<bool> Jobs::repeats(const JobChanged& event) const {
  const RememberedJob* job = find(event.job);
  if (job == nullptr) return std::nullopt;
  for (const JobChange& known : job->changes) {
    if (known.submit == event.submit && known.at == event.at)
      return known.content_hash == content_hash(event.description());
  }
  return std::nullopt;
}

void Jobs::note(const JobDescribed& event) {
  SHAPLEY_REQUIRE(!repeats(event));
  RememberedJob& job = jobs_[event.job];
  const auto later = std::find_if(job.descriptions.begin(), job.descriptions.end(),
                                  [&](const JobDescription& d) { return d.submit > event.submit; });
  job.descriptions.insert(later, {event.submit, content_hash(event), event.organization, {event.array_job}});
  job.refresh();
  note_task(event.job, {event.array_job});
}

void Jobs::note(const JobChanged& event) {
  SHAPLEY_REQUIRE(!repeats(event));
  RememberedJob& job = jobs_[event.job];
  const auto later = std::find_if(job.changes.begin(), job.changes.end(), [&](const JobChange& c) {
    return std::pair(c.submit, c.at) > std::pair(event.submit, event.at);
  });
  job.changes.insert(later, {event.submit, event.at, content_hash(event.description()), event.organization});
  job.refresh();
}

void Jobs::note_task(JobId job, JobId array) {
  if (array.value != 0 && array != job) tasks_[array].insert(job);
}

void Jobs::forget_task(JobId id, const RememberedJob& job) {
  for (const JobDescription& description : job.descriptions) {
    const auto known = tasks_.find(description.array);
    if (known == tasks_.end()) continue;
    known->second.erase(id);
    if (known->second.empty()) tasks_.erase(known);
  }
}

Instant Jobs::begin_of_latest(std::size_t most) const {
  SHAPLEY_REQUIRE(most > 0);
  if (jobs_.size() <= most) return k_beginning_of_time;
  std::vector<Instant> ends;
  ends.reserve(jobs_.size());
  for (const auto& [id, job] : jobs_) {
    if (const Instant end = last_instant(job); end != k_end_of_time) ends.push_back(end);
  }
  if (ends.size() <= most) return k_beginning_of_time;
  const auto oldest = ends.begin() + static_cast<std::ptrdiff_t>(most) - 1;
  std::nth_element(ends.begin(), oldest, ends.end(), std::greater<>());
  return *oldest;
}

Instant Jobs::first_release() const {
  Instant first = k_end_of_time;
  for_each_counted(
      [&](const SegmentRecord& record) { first = std::min(first, could_start_since(record.live.opened)); });
  return first;
}

void Jobs::forget_before(Instant horizon, const std::function<void(const SegmentRecord&)>& forgotten) {
  const auto is_old = [&](const SegmentRecord& record) {
    if (last_instant(record) >= horizon) return false;
    forgotten(record);
    return true;
  };
  for (auto entry = jobs_.begin(); entry != jobs_.end();) {
    RememberedJob& job = entry->second;
    if (std::erase_if(job.segments, is_old) > 0) job.refresh();
    if (last_instant(job) >= horizon) {
      ++entry;
      continue;
    }
    forget_task(entry->first, job);
    entry = jobs_.erase(entry);
  }
}

void Jobs::save(TextWriter& out, const std::atomic<bool>* stop) const {
  std::vector<JobId> ids;
  for (const auto& [id, job] : jobs_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const JobId id : ids) {
    if (is_set(stop)) return;
    const RememberedJob& job = *find(id);
    out.line("job").number(id.value);
    write_records(out, job.descriptions);
    write_records(out, job.changes);
    for (const SegmentRecord& record : job.segments) save_segment(out, record);
  }
}

void Jobs::load(TextReader& in, Instant now, const Organizations& organizations,
                const std::function<void(const SegmentRecord&)>& entered, const std::atomic<bool>* stop) {
  while (!is_set(stop) && in.next("job")) load_job(in, now, organizations, entered);
}

void Jobs::load_job(TextReader& in, Instant now, const Organizations& organizations,
                    const std::function<void(const SegmentRecord&)>& entered) {
  const JobId id{static_cast<std::uint32_t>(in.small(0, k_last_job))};
  if (jobs_.contains(id)) return in.fault("a job twice");
  RememberedJob& job = jobs_[id];
  read_records(in, job.descriptions);
  read_records(in, job.changes);
  const auto is_dated = [](Instant t) { return t >= Instant{0} && t <= k_last_instant; };
  for (const JobDescription& description : job.descriptions) {
    if (!is_dated(description.submit)) in.fault("a description of no time");
    note_task(id, description.array);
  }
  for (const JobChange& change : job.changes) {
    if (!is_dated(change.submit) || !is_dated(change.at)) in.fault("a change of no time");
  }
  while (in.next("segment")) {
    SegmentRecord record = load_segment(in, id, now, organizations);
    if (!in.ok()) return;
    if (job.find(record.live.opened.key) != nullptr) return in.fault("a segment twice");
    entered(record);
    job.obtain(record.live.opened.key) = std::move(record);
  }
  job.refresh();
}

}  // namespace shapley::accounting
