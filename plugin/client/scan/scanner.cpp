#include "plugin/client/scan/scanner.hpp"

#include <algorithm>
#include <bit>
#include <unordered_set>
#include <utility>

#include "plugin/client/scan/records.hpp"

namespace shapley::client {

namespace {
// The most records of a message: the daemon commits and acknowledges message by message, and neither side should hold
// large ones. The bytes matter for jobs on thousands of nodes.
constexpr std::size_t k_records_a_chunk = 1000;
constexpr std::size_t k_bytes_a_chunk = 1U << 20U;
constexpr std::size_t k_gone_a_chunk = 20'000;
}  // namespace

void Scanner::begin(std::int64_t now) {
  ++number_;
  ++scan_;
  seen_jobs_ = 0;
  first_chunk_ = true;
  snapshot_for_ = inbox_.snapshot_wanted_for();
  if (snapshot_for_ != 0) ++epoch_;
  chunk_ = ScanChunk();
  chunk_.changes.observed_at = now;
  requests_.note_time(now);
  if (snapshot_for_ != 0 && privacy_) pass_privacy();
}

bool Scanner::begin_runs(std::int64_t now) {
  // scan_ does not count it: the time between whole readings of a record is counted in whole scans.
  if (inbox_.snapshot_wanted_for() != 0) return false;
  ++number_;
  first_chunk_ = true;
  snapshot_for_ = 0;
  chunk_ = ScanChunk();
  chunk_.changes.observed_at = now;
  requests_.note_time(now);
  chunk_.changes.runs_only = true;
  return true;
}

void Scanner::mark_seen(FingerprintTable::Entry& entry) {
  if (entry.seen != scan_) ++seen_jobs_;
  entry.seen = scan_;
}

bool Scanner::same_quick_hash(std::uint32_t job_id, std::uint64_t quick_hash) {
  // Each scan reads an equal part of the records completely, so that no scan costs much more than another.
  if (quick_hash == 0 || job_id == 0 || (job_id + scan_) % (k_shapley_quick_hashes_in_a_row + 1) == 0) return false;
  FingerprintTable::Entry& entry = jobs_.at(job_id);
  if (entry.epoch != epoch_ || entry.quick_hash != quick_hash) return false;
  mark_seen(entry);
  return true;
}

bool Scanner::job_changed(std::uint32_t job_id, std::uint64_t fingerprint, std::uint64_t quick_hash) {
  if (job_id == 0) return false;
  FingerprintTable::Entry& entry = jobs_.at(job_id);
  mark_seen(entry);
  entry.quick_hash = quick_hash;
  if (entry.epoch == epoch_ && entry.fingerprint == fingerprint) return false;
  changed_job_ = job_id;
  changed_job_fingerprint_ = fingerprint;
  return true;
}

void Scanner::add(const shapley_job_t& job) {
  chunk_.changes.jobs.push_back(to_record(job));
  chunk_.bytes += approximate_bytes(chunk_.changes.jobs.back());
  requests_.note(chunk_.changes.jobs.back(), least_part(job), job.one_user);
  if (job.job_id == changed_job_ && job.job_id != 0) {
    FingerprintTable::Entry& entry = jobs_.at(job.job_id);
    entry.fingerprint = changed_job_fingerprint_;
    entry.epoch = epoch_;
  }
  flush_if_full();
}

bool Scanner::node_changed(std::uint32_t index, std::uint64_t fingerprint) {
  if (index >= nodes_.size()) nodes_.resize(index + 1U);
  Node& node = nodes_[index];
  node.seen = scan_;
  if (node.epoch == epoch_ && node.fingerprint == fingerprint) return false;
  changed_node_fingerprint_ = fingerprint;
  return true;
}

void Scanner::add(std::uint32_t index, const shapley_node_t& node) {
  protocol::NodeRecord record = to_record(node);
  Node& known = nodes_.at(index);
  if (known.name != record.name) {
    if (!known.name.empty()) replaced_nodes_.push_back(known.name);
    known.name = record.name;
  }
  chunk_.bytes += approximate_bytes(record);
  requests_.note(record, facts_of(node));
  chunk_.changes.nodes.push_back(std::move(record));
  known.fingerprint = changed_node_fingerprint_;
  known.epoch = epoch_;
  flush_if_full();
}

void Scanner::note_privacy(const shapley_privacy_t& privacy) {
  protocol::Privacy noted = to_record(privacy);
  if (privacy_ == noted) return;
  privacy_ = std::move(noted);
  pass_privacy();
}

void Scanner::pass_privacy() {
  chunk_.changes.privacy = {*privacy_};
  chunk_.bytes += approximate_bytes(*privacy_);
}

void Scanner::end(bool complete) {
  requests_.note_closed(std::exchange(closed_, {}));
  if (complete) {
    collect_gone_jobs();
    collect_gone_nodes();
  }
  flush(true, complete);
  if (complete) inbox_.note_scan(chunk_.changes.observed_at);
  if (complete && snapshot_for_ != 0) inbox_.snapshot_taken_for(snapshot_for_);
}

void Scanner::give_up() noexcept {
  ++epoch_;
  snapshot_for_ = 0;  // a scan with missing records must not count as a snapshot
  chunk_ = ScanChunk();
  closed_.clear();
  requests_.clear();
  inbox_.mark_lost();
}

void Scanner::flush_if_full() {
  const protocol::Observations& changes = chunk_.changes;
  if (changes.jobs.size() >= k_records_a_chunk || changes.nodes.size() >= k_records_a_chunk ||
      changes.gone.size() >= k_gone_a_chunk || chunk_.bytes >= k_bytes_a_chunk) {
    flush(false, true);
  }
}

void Scanner::flush(bool last, bool complete) {
  const protocol::Observations& changes = chunk_.changes;
  const bool empty = !tells_anything(changes);
  // A scan without changes sends nothing; but a snapshot has a begin and an end even without jobs and nodes.
  if (empty && !(last && (snapshot_for_ != 0 || !first_chunk_))) return;
  const std::int64_t observed_at = changes.observed_at;
  const bool runs_only = changes.runs_only;
  chunk_.snapshot_for = snapshot_for_;
  chunk_.scan = number_;
  chunk_.first = std::exchange(first_chunk_, false);
  chunk_.last = last;
  chunk_.complete = complete;
  inbox_.push(std::exchange(chunk_, ScanChunk()));
  chunk_.changes.observed_at = observed_at;
  chunk_.changes.runs_only = runs_only;
}

void Scanner::collect_gone_jobs() {
  if (seen_jobs_ == jobs_.size()) return;
  const std::vector<std::uint32_t> gone = jobs_.unseen(scan_);
  jobs_.remove_unseen(scan_);
  for (const std::uint32_t job_id : gone) {
    chunk_.changes.gone.push_back(job_id);
    requests_.forget(job_id);
    chunk_.bytes += sizeof job_id;
    flush_if_full();
  }
}

void Scanner::collect_gone_nodes() {
  // After a reconfiguration nodes have other indices, so a name is gone only when no index has it any more.
  std::vector<std::string> candidates = std::move(replaced_nodes_);
  replaced_nodes_.clear();
  for (Node& node : nodes_) {
    if (node.seen == scan_ || node.name.empty()) continue;
    candidates.push_back(std::exchange(node.name, std::string()));
    node.epoch = 0;
  }
  if (candidates.empty()) return;
  std::unordered_set<std::string> present;
  for (const Node& node : nodes_) present.insert(node.name);
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  for (std::string& name : candidates) {
    if (present.contains(name)) continue;
    requests_.forget_node(name);
    chunk_.changes.gone_nodes.push_back(std::move(name));
  }
}

namespace {
constexpr std::size_t k_smallest_table = 256;
}

FingerprintTable::Entry& FingerprintTable::at(std::uint32_t job_id) {
  if (slots_.empty()) rebuild(k_smallest_table, 0, false);
  std::size_t slot = slot_of(slots_, job_id);
  if (slots_[slot].job_id == job_id) return slots_[slot];
  if (2 * (size_ + 1) > slots_.size()) {
    rebuild(2 * slots_.size(), 0, false);
    slot = slot_of(slots_, job_id);
  }
  ++size_;
  slots_[slot] = Entry{.job_id = job_id};
  return slots_[slot];
}

std::vector<std::uint32_t> FingerprintTable::unseen(std::uint32_t scan) const {
  std::vector<std::uint32_t> ids;
  for (const Entry& entry : slots_) {
    if (entry.job_id != 0 && entry.seen != scan) ids.push_back(entry.job_id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

void FingerprintTable::remove_unseen(std::uint32_t scan) {
  const auto kept = static_cast<std::size_t>(std::count_if(
      slots_.begin(), slots_.end(), [&](const Entry& entry) { return entry.job_id != 0 && entry.seen == scan; }));
  rebuild(std::max(k_smallest_table, std::bit_ceil(2 * (kept + 1))), scan, true);
}

void FingerprintTable::rebuild(std::size_t slots, std::uint32_t only_seen_by, bool filter) {
  FingerprintTable bigger;
  bigger.slots_.resize(slots);
  for (const Entry& entry : slots_) {
    if (entry.job_id == 0 || (filter && entry.seen != only_seen_by)) continue;
    bigger.slots_[slot_of(bigger.slots_, entry.job_id)] = entry;
    ++bigger.size_;
  }
  *this = std::move(bigger);
}

}  // namespace shapley::client
