#include "slurmctld.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

namespace shapley::daemon {

namespace {

constexpr std::int64_t k_min_job_age = 300;
constexpr std::int64_t k_sign_of_life = 30;

std::int64_t observed_at(const FeederFrame& frame) {
  return std::visit([](const auto& f) { return f.observed_at; }, frame);
}

std::uint64_t number_of(const FeederFrame& frame) {
  return std::visit([](const auto& f) { return f.sequence; }, frame);
}

}  // namespace

void Slurmctld::connect(std::uint64_t instance) {
  instance_ = instance;
  sent_ = 0;
  snapshot_wanted_ = true;
  snapshot_after_ = sequence_;
  is_connected_ = false;
  if (!host_->service) return;
  if (Controllers* controllers = host_->service->controllers()) return controllers->hold_feeder();
  if (begins_session()) exchange(false);
}

bool Slurmctld::begins_session() {
  if (!host_->service) return is_connected_ = false;
  if (is_connected_) return true;
  if (!host_->service->is_active()) {
    Controllers& controllers = *host_->service->controllers();
    if (!controllers.refusal().empty()) controllers.feeder_left(), controllers.hold_feeder();
    return false;
  }
  protocol::Hello hello = feeder_hello(instance_);
  hello.cluster = cluster_;
  hello.backlog = backlog().size();
  hello.sign_of_life_s = static_cast<std::uint32_t>(k_sign_of_life);
  hello.observing_since = begun_;
  hello.observed_before = observed_before_;
  hello.controller_ran_at = ran_before_;
  if (!host_->service->cluster().admit(hello, false, host_->now())) return false;
  reading_generation_ = host_->service->reading_generation();
  host_->service->begin_session(hello, host_->now());
  return is_connected_ = true;
}

void Slurmctld::move_to(Host& host) {
  // The plugin's farewell: its last scan was a second ago, maybe without a change.
  add(protocol::Observations{});
  std::get<protocol::Observations>(backlog().back()).observed_at = std::max(last_scan_, host_->clock.wall() - 1);
  ran_before_ = host_->clock.wall();
  if (host_ != &host && host_->service && host_->service->controllers() != nullptr)
    host_->service->feeder_left(host_->now());
  if (host_ != &host) seen_.clear();
  host_ = &host;
  begun_ = host_->clock.wall();
  observed_before_ = backlog().empty() ? 0 : observed_at(backlog().back());
  connect(instance_ + 1);
}

void Slurmctld::pass(std::int64_t seconds) {
  host_->clock.pass(seconds);
  look();
}

void Slurmctld::look() {
  purge();
  if (!begins_session()) {
    scan(false);
    if (host_->service) host_->service->tick(host_->now());
    return;
  }
  const bool whole = snapshot_wanted_ && (backlog().empty() || number_of(backlog().front()) > snapshot_after_);
  scan(whole);
  if (whole) snapshot_wanted_ = false;
  exchange(true);
}

void Slurmctld::set_wall_by(std::int64_t seconds) {
  host_->clock.set_wall_by(seconds);
  pass(1);
}

void Slurmctld::settle() {
  for (int i = 0; i < 30; ++i) pass(1);
}

void Slurmctld::start(std::uint32_t job, const std::string& account, const std::string& node) {
  jobs_[job] = running({.id = job, .account = account, .node = node, .cpus = 2, .start = host_->clock.wall()});
  records_.start(job, account, node, host_->clock.truth);
}

void Slurmctld::submit(std::uint32_t job, const std::string& account) {
  jobs_[job] = waiting({.id = job, .account = account, .cpus = 2, .start = host_->clock.wall()});
}

void Slurmctld::end(std::uint32_t job) {
  protocol::JobUpdate& record = jobs_.at(job);
  record.state = protocol::JobState::ended;
  record.slurm_state = "COMPLETED";
  record.end_time = host_->clock.wall();
  records_.end(job, host_->clock.truth);
}

void Slurmctld::cancel(std::uint32_t job) {
  protocol::JobUpdate& record = jobs_.at(job);
  record.state = protocol::JobState::ended;
  record.slurm_state = "CANCELLED";
  record.end_time = host_->clock.wall();
}

bool Slurmctld::is(std::uint32_t job, protocol::JobState state) const {
  const auto found = jobs_.find(job);
  return found != jobs_.end() && found->second.state == state;
}

std::vector<std::string> Slurmctld::lost() const {
  std::map<std::uint32_t, Booked> booked;
  for (Booked& run : host_->runs()) booked.emplace(run.job, std::move(run));
  std::vector<std::string> lost;
  for (const auto& [job, run] : plugins_.at(host_).acknowledged) {
    const auto found = booked.find(job);
    if (found == booked.end() || found->second.begin != run.start - k_scene_zero) {
      lost.push_back("job " + std::to_string(job) + ": its start was acknowledged and is gone");
    } else if (run.end != 0 && found->second.end != run.end - k_scene_zero) {
      lost.push_back("job " + std::to_string(job) + ": its end was acknowledged and is gone");
    }
  }
  return lost;
}

void Slurmctld::purge() {
  std::erase_if(jobs_, [&](const auto& entry) {
    const protocol::JobUpdate& record = entry.second;
    // What the plugin has not scanned yet is not purged: slurmctld does that later than once a second.
    const auto seen = seen_.find(entry.first);
    return record.state == protocol::JobState::ended && seen != seen_.end() && seen->second == record &&
           host_->clock.wall() - record.end_time >= k_min_job_age;
  });
}

void Slurmctld::add(FeederFrame frame) {
  std::visit(
      [this](auto& f) {
        f.sequence = ++sequence_;
        f.observed_at = last_message_ = host_->clock.wall();
      },
      frame);
  backlog().push_back(std::move(frame));
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
  last_scan_ = host_->clock.wall();
  if (whole) add(protocol::SnapshotBegin{});
  // Connected, it gives a sign of life.
  const bool is_due = is_connected_ && host_->clock.wall() - last_message_ >= k_sign_of_life;
  if (!changes.jobs.empty() || !changes.gone.empty() || !changes.nodes.empty() || is_due) add(std::move(changes));
  if (whole) add(protocol::SnapshotEnd{});
}

void Slurmctld::exchange(bool tick) {
  while (sent_ < backlog().size() && host_->service->accepting()) {
    host_->service->receive(backlog()[sent_++], host_->now());
    if (!host_->service->accepting()) host_->service->process(host_->now());
  }
  if (tick) {
    host_->service->tick(host_->now());
  } else {
    host_->service->process(host_->now());
  }
  // An acknowledgement that comes when the power is gone does not arrive.
  const std::uint64_t acknowledged = host_->has_lost_power() ? 0 : host_->service->acknowledged(instance_);
  while (!backlog().empty() && sent_ > 0 && number_of(backlog().front()) <= acknowledged) {
    note_acknowledged(backlog().front());
    backlog().pop_front();
    --sent_;
  }
  if (host_->service->reading_generation() == reading_generation_) return;
  host_->service->end_session();
  connect(instance_);
}

void Slurmctld::note_acknowledged(const FeederFrame& frame) {
  const auto* seen = std::get_if<protocol::Observations>(&frame);
  if (seen == nullptr) return;
  for (const protocol::JobUpdate& record : seen->jobs) {
    // Within the second of a look a record says nothing of that second yet.
    if (record.start_time == 0 || record.start_time >= seen->observed_at) continue;
    const bool is_over = record.state == protocol::JobState::ended && record.end_time < seen->observed_at;
    plugins_[host_].acknowledged[record.job_id] = {record.start_time, is_over ? record.end_time : 0};
  }
}

std::string Slurmctld::import_records() {
  if (host_->service) throw std::logic_error("shapleyd runs");
  return records_.import_into(host_->directory, host_->site.configuration.ledger, Instant{host_->clock.truth});
}

}  // namespace shapley::daemon
