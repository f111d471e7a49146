#include "slurmctld.hpp"

#include <stdexcept>
#include <utility>
#include <variant>

namespace shapley::daemon {

namespace {

constexpr std::int64_t k_min_job_age = 300;

std::uint64_t number_of(const FeederFrame& frame) {
  return std::visit([](const auto& f) { return f.sequence; }, frame);
}

}  // namespace

void Slurmctld::connect(std::uint64_t instance) {
  instance_ = instance;
  sent_ = 0;
  snapshot_wanted_ = true;
  snapshot_after_ = sequence_;
  if (!host_.service) return;
  reading_generation_ = host_.service->reading_generation();
  protocol::Hello hello = feeder_hello(instance_);
  hello.backlog = backlog_.size();
  host_.service->begin_session(hello, host_.now());
  exchange(false);
}

void Slurmctld::pass(std::int64_t seconds) {
  host_.clock.pass(seconds);
  purge();
  if (!host_.service) {
    scan(false);
    return;
  }
  const bool whole = snapshot_wanted_ && (backlog_.empty() || number_of(backlog_.front()) > snapshot_after_);
  scan(whole);
  if (whole) snapshot_wanted_ = false;
  exchange(true);
}

void Slurmctld::set_wall_by(std::int64_t seconds) {
  host_.clock.set_wall_by(seconds);
  pass(1);
}

void Slurmctld::settle() {
  for (int i = 0; i < 30; ++i) pass(1);
}

void Slurmctld::start(std::uint32_t job, const std::string& account, const std::string& node) {
  jobs_[job] = running({.id = job, .account = account, .node = node, .cpus = 2, .start = host_.clock.wall()});
  records_.start(job, account, node, host_.clock.truth);
}

void Slurmctld::submit(std::uint32_t job, const std::string& account) {
  jobs_[job] = waiting({.id = job, .account = account, .cpus = 2, .start = host_.clock.wall()});
}

void Slurmctld::end(std::uint32_t job) {
  protocol::JobUpdate& record = jobs_.at(job);
  record.state = protocol::JobState::ended;
  record.slurm_state = "COMPLETED";
  record.end_time = host_.clock.wall();
  records_.end(job, host_.clock.truth);
}

bool Slurmctld::runs(std::uint32_t job) const {
  const auto found = jobs_.find(job);
  return found != jobs_.end() && found->second.state == protocol::JobState::running;
}

void Slurmctld::purge() {
  std::erase_if(jobs_, [&](const auto& entry) {
    const protocol::JobUpdate& record = entry.second;
    // What the plugin has not scanned yet is not purged: slurmctld does that later than once a second.
    const auto seen = seen_.find(entry.first);
    return record.state == protocol::JobState::ended && seen != seen_.end() && seen->second == record &&
           host_.clock.wall() - record.end_time >= k_min_job_age;
  });
}

void Slurmctld::add(FeederFrame frame) {
  std::visit(
      [this](auto& f) {
        f.sequence = ++sequence_;
        f.observed_at = host_.clock.wall();
      },
      frame);
  backlog_.push_back(std::move(frame));
}

void Slurmctld::scan(bool whole) {
  protocol::Observations changes;
  for (const auto& [id, record] : jobs_) {
    const auto seen = seen_.find(id);
    if (whole || seen == seen_.end() || seen->second != record) changes.jobs.push_back(record);
  }
  for (const auto& [id, record] : seen_) {
    if (!jobs_.contains(id)) changes.gone.push_back(id);
  }
  if (whole) changes.nodes = {node_record("n1"), node_record("n2")};
  seen_ = jobs_;
  if (whole) add(protocol::SnapshotBegin{});
  if (!changes.jobs.empty() || !changes.gone.empty() || !changes.nodes.empty()) add(std::move(changes));
  if (whole) add(protocol::SnapshotEnd{});
}

void Slurmctld::exchange(bool tick) {
  while (sent_ < backlog_.size() && host_.service->accepting()) {
    host_.service->receive(backlog_[sent_++], host_.now());
    if (!host_.service->accepting()) host_.service->process(host_.now());
  }
  if (tick) {
    host_.service->tick(host_.now());
  } else {
    host_.service->process(host_.now());
  }
  const std::uint64_t acknowledged = host_.service->acknowledged(instance_);
  while (!backlog_.empty() && sent_ > 0 && number_of(backlog_.front()) <= acknowledged) {
    backlog_.pop_front();
    --sent_;
  }
  if (host_.service->reading_generation() == reading_generation_) return;
  host_.service->end_session();
  connect(instance_);
}

void Slurmctld::import_records() {
  if (host_.service) throw std::logic_error("shapleyd runs");
  records_.import_into(host_.directory, Instant{host_.clock.truth});
}

}  // namespace shapley::daemon
