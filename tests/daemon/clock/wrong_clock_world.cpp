#include "wrong_clock_world.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/requests/queries.hpp"

namespace shapley::daemon {

namespace {

constexpr std::int64_t k_min_job_age = 300;

std::uint64_t number_of(const FeederFrame& frame) {
  return std::visit([](const auto& f) { return f.sequence; }, frame);
}

}  // namespace

WrongClockWorld::WrongClockWorld() : began(host.truth) {
  restart();
}

Instant WrongClockWorld::now() {
  return service->now();
}

void WrongClockWorld::restart() {
  service.reset();
  Service::Options options;
  options.read_clock = [this] { return host.reading(); };
  options.boot = "boot" + std::to_string(boots_);
  auto started = Service::start(site_, options, Instant{host.wall()});
  ASSERT_TRUE(started.has_value()) << started.error().what;
  service = std::move(*started);
  connect(instance_);
}

void WrongClockWorld::boot() {
  ++boots_;
  host.booted = host.truth - 30;
  ++instance_;
  restart();
}

void WrongClockWorld::connect(std::uint64_t instance) {
  instance_ = instance;
  sent_ = 0;
  snapshot_wanted_ = true;
  snapshot_after_ = sequence_;
  if (!service) return;
  reading_generation_ = service->reading_generation();
  protocol::Hello hello = feeder_hello(instance_);
  hello.backlog = backlog_.size();
  service->begin_session(hello, now());
  exchange(false);
}

void WrongClockWorld::pass(std::int64_t seconds) {
  host.pass(seconds);
  purge();
  if (!service) {
    scan(false);
    return;
  }
  const bool whole = snapshot_wanted_ && (backlog_.empty() || number_of(backlog_.front()) > snapshot_after_);
  scan(whole);
  if (whole) snapshot_wanted_ = false;
  exchange(true);
}

void WrongClockWorld::set_wall_by(std::int64_t seconds) {
  host.set_wall_by(seconds);
  pass(1);
}

void WrongClockWorld::settle() {
  for (int i = 0; i < 30; ++i) pass(1);
}

void WrongClockWorld::start(std::uint32_t job, const std::string& account, const std::string& node) {
  jobs_[job] = running({.id = job, .account = account, .node = node, .cpus = 2, .start = host.wall()});
  records_.start(job, account, node, host.truth);
}

void WrongClockWorld::submit(std::uint32_t job, const std::string& account) {
  jobs_[job] = waiting({.id = job, .account = account, .cpus = 2, .start = host.wall()});
}

void WrongClockWorld::end(std::uint32_t job) {
  protocol::JobUpdate& record = jobs_.at(job);
  record.state = protocol::JobState::ended;
  record.slurm_state = "COMPLETED";
  record.end_time = host.wall();
  records_.end(job, host.truth);
}

bool WrongClockWorld::runs(std::uint32_t job) const {
  const auto found = jobs_.find(job);
  return found != jobs_.end() && found->second.state == protocol::JobState::running;
}

void WrongClockWorld::purge() {
  std::erase_if(jobs_, [&](const auto& entry) {
    const protocol::JobUpdate& record = entry.second;
    // What the plugin has not scanned yet is not purged: slurmctld does that later than once a second.
    const auto seen = seen_.find(entry.first);
    return record.state == protocol::JobState::ended && seen != seen_.end() && seen->second == record &&
           host.wall() - record.end_time >= k_min_job_age;
  });
}

void WrongClockWorld::add(FeederFrame frame) {
  std::visit(
      [this](auto& f) {
        f.sequence = ++sequence_;
        f.observed_at = host.wall();
      },
      frame);
  backlog_.push_back(std::move(frame));
}

void WrongClockWorld::scan(bool whole) {
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

void WrongClockWorld::exchange(bool tick) {
  while (sent_ < backlog_.size() && service->accepting()) {
    service->receive(backlog_[sent_++], now());
    if (!service->accepting()) service->process(now());
  }
  if (tick) {
    service->tick(now());
  } else {
    service->process(now());
  }
  const std::uint64_t acknowledged = service->acknowledged(instance_);
  while (!backlog_.empty() && sent_ > 0 && number_of(backlog_.front()) <= acknowledged) {
    backlog_.pop_front();
    --sent_;
  }
  if (service->reading_generation() == reading_generation_) return;
  service->end_session();
  connect(instance_);
}

void WrongClockWorld::import_records() {
  ASSERT_EQ(service, nullptr);
  records_.import_into(directory_, Instant{host.truth});
}

std::vector<std::string> WrongClockWorld::rows(const std::string& sql) const {
  return rows_of(service->books().ledger(), sql);
}

std::vector<std::string> WrongClockWorld::run_rows() const {
  const std::string since = std::to_string(began);
  return rows("SELECT job, organization, begin - " + since + ", end - " + since +
              " FROM segments WHERE kind = 'run' AND retracted IS NULL AND (end IS NULL OR end > begin) "
              "ORDER BY job, begin");
}

std::vector<std::string> WrongClockWorld::gaps() const {
  const std::string since = std::to_string(began);
  return rows(
      "WITH gap AS (SELECT json_extract(payload, '$.begin') AS begin, json_extract(payload, '$.end') AS end, "
      "json_extract(payload, '$.cause') AS cause FROM events WHERE kind = 'observation_gap') SELECT begin - " +
      since +
      ", (SELECT min(last.end) FROM gap AS last WHERE last.end > gap.begin AND last.end NOT IN (SELECT begin FROM gap))"
      " - " +
      since + ", cause FROM gap WHERE begin NOT IN (SELECT end FROM gap) ORDER BY begin");
}

nlohmann::json WrongClockWorld::ask(const std::string& request) {
  return nlohmann::json::parse(std::get<std::string>(answer(*service, parse_request(request), now())));
}

}  // namespace shapley::daemon
