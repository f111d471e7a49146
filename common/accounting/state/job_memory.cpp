#include "accounting/state/job_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>

#include "base/fnv1a.hpp"

namespace shapley::accounting {

namespace {

bool is_before(const SegmentRecord& record, const SegmentKey& key) {
  return record.live.opened.key < key;
}

std::uint64_t hash_number(std::uint64_t number, std::uint64_t seed) {
  char bytes[sizeof number];
  for (std::size_t i = 0; i < sizeof number; ++i) bytes[i] = static_cast<char>(number >> (8 * i));
  return fnv1a({bytes, sizeof bytes}, seed);
}

// The last instant that a record that is over speaks of; k_end_of_time for an open one. A key whose anchor is at or
// after the horizon may still be spoken of by facts from after it.
Instant last_instant(const SegmentRecord& record) {
  const SegmentOpened& opened = record.live.opened;
  const Instant over = record.retracted ? record.retracted_at : record.end();
  return std::max({over, opened.key.anchor, record.opened ? opened.begin : over});
}

Instant last_instant(const JobRecord& job) {
  Instant last = job.descriptions.empty() ? k_beginning_of_time : job.descriptions.back().submit;
  for (const JobChange& change : job.changes) last = std::max(last, change.at);
  for (const SegmentRecord& record : job.segments) last = std::max(last, last_instant(record));
  return last;
}

}  // namespace

const SegmentRecord* JobRecord::find(const SegmentKey& key) const {
  const auto it = std::lower_bound(segments.begin(), segments.end(), key, is_before);
  return it == segments.end() || it->live.opened.key != key ? nullptr : &*it;
}

SegmentRecord& JobRecord::obtain(const SegmentKey& key) {
  auto it = std::lower_bound(segments.begin(), segments.end(), key, is_before);
  if (it == segments.end() || it->live.opened.key != key) {
    it = segments.insert(it, SegmentRecord{});
    it->live.opened.key = key;
  }
  return *it;
}

void JobRecord::refresh() {
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

Instant begin_of_latest(const Jobs& jobs, std::size_t most) {
  if (jobs.size() <= most) return k_beginning_of_time;
  std::vector<Instant> ends;
  ends.reserve(jobs.size());
  for (const auto& [id, job] : jobs) {
    if (const Instant end = last_instant(job); end != k_end_of_time) ends.push_back(end);
  }
  if (ends.size() <= most) return k_beginning_of_time;
  const auto oldest = ends.begin() + static_cast<std::ptrdiff_t>(most) - 1;
  std::nth_element(ends.begin(), oldest, ends.end(), std::greater<>());
  return *oldest;
}

void forget_before(Jobs& jobs, Instant horizon, const std::function<void(const SegmentRecord&)>& forgotten,
                   const std::function<void(JobId, const JobRecord&)>& forgotten_job) {
  const auto is_old = [&](const SegmentRecord& record) {
    if (last_instant(record) >= horizon) return false;
    forgotten(record);
    return true;
  };
  for (auto entry = jobs.begin(); entry != jobs.end();) {
    JobRecord& job = entry->second;
    if (std::erase_if(job.segments, is_old) > 0) job.refresh();
    if (last_instant(job) >= horizon) {
      ++entry;
      continue;
    }
    forgotten_job(entry->first, job);
    entry = jobs.erase(entry);
  }
}

}  // namespace shapley::accounting
