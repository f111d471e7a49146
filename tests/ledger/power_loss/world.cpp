#include "world.hpp"

#include <utility>

namespace shapley::ledger::testing {

namespace {

constexpr std::uint32_t k_first_job = 1000;  // beyond those of the old ledger
constexpr std::int64_t k_hour = 3600;

}  // namespace

std::string organization_of(const Run& run) {
  return run.job % 2 == 0 ? "physics" : "chemistry";
}

protocol::JobUpdate record_of(const Run& run) {
  protocol::JobUpdate record;
  record.job_id = run.job;
  record.account = run.job % 2 == 0 ? "phys" : "chem";
  record.partition = "main";
  record.submit_time = run.start;
  record.eligible_time = run.start;
  record.start_time = run.start;
  record.tres = {{"cpu", 1}};
  record.nodes = {{run.job % 3 == 0 ? "n1" : "n2", 1}};
  record.state = run.end == 0 ? protocol::JobState::running : protocol::JobState::ended;
  record.slurm_state = run.end == 0 ? "RUNNING" : "COMPLETED";
  record.end_time = run.end;
  return record;
}

protocol::Observations Frame::observations(std::uint64_t sequence) const {
  protocol::Observations frame;
  frame.sequence = sequence;
  frame.observed_at = at.value;
  for (const Run& run : runs) frame.jobs.push_back(record_of(run));
  return frame;
}

std::vector<Run> World::runs() const {
  std::vector<Run> runs;
  for (const auto& [job, known] : runs_) runs.push_back(known.run);
  return runs;
}

std::vector<Frame> World::future(Rng& rng, std::size_t frames) const {
  std::vector<Frame> plan;
  std::vector<Run> open;
  for (const auto& [job, known] : runs_) {
    if (known.run.end == 0) open.push_back(known.run);
  }
  std::uint32_t next = runs_.empty() ? k_first_job : runs_.rbegin()->first + 1;
  Instant at = now_;
  for (std::size_t i = 0; i < frames; ++i) {
    // Now and then a day goes by, so that standings are recorded and heads signed.
    at = at + Duration{10 + (rng.below(20) == 0 ? 20 * k_hour : 0)};
    Frame frame{.at = at, .runs = {}};
    for (std::uint64_t n = 1 + rng.below(3); n > 0; --n) {
      // Times lie well before the observation: within its very second a record says nothing yet.
      if (!open.empty() && rng.below(2) == 0) {
        const std::size_t which = rng.below(open.size());
        Run run = open[which];
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
        run.end = at.value - 3;
        frame.runs.push_back(run);
      } else {
        frame.runs.push_back({.job = next++, .start = at.value - 5, .end = 0});
      }
    }
    // A run that this very frame begins ends in a later one.
    for (const Run& run : frame.runs) {
      if (run.end == 0) open.push_back(run);
    }
    plan.push_back(std::move(frame));
  }
  return plan;
}

void World::happened(const std::vector<Frame>& frames, std::size_t acknowledged, std::size_t sent) {
  if (acknowledged > 0) {
    // The snapshot came before.
    for (auto& [job, known] : runs_) {
      known.start_acknowledged = true;
      known.end_acknowledged = known.run.end != 0;
    }
  }
  for (std::size_t i = 0; i < sent; ++i) {
    now_ = frames[i].at;
    for (const Run& run : frames[i].runs) {
      Known& known = runs_[run.job];
      known.run = run;
      known.start_acknowledged = known.start_acknowledged || i < acknowledged;
      known.end_acknowledged = known.end_acknowledged || (i < acknowledged && run.end != 0);
    }
  }
}

std::vector<std::string> World::compare(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::string> wrong;
  std::map<std::uint32_t, bool> seen;
  for (const auto& row : rows) {
    const auto job = static_cast<std::uint32_t>(std::stoul(row.at(0)));
    if (job < k_first_job) continue;
    const std::string name = "job " + row.at(0) + ": ";
    const auto found = runs_.find(job);
    if (found == runs_.end()) {
      wrong.push_back(name + "the books have a run that never was");
      continue;
    }
    const Known& known = found->second;
    if (std::exchange(seen[job], true)) wrong.push_back(name + "its run is in the books twice");
    if (row.at(1) != std::to_string(known.run.start)) wrong.push_back(name + "begins at " + row.at(1));
    if (row.at(2) != organization_of(known.run)) wrong.push_back(name + "is booked under " + row.at(2));
    const bool ended = !row.at(3).empty();
    if (ended && row.at(3) != std::to_string(known.run.end)) wrong.push_back(name + "ends at " + row.at(3));
    if (!ended && known.end_acknowledged) wrong.push_back(name + "its end was acknowledged and is gone");
    if (!ended && !known.end_acknowledged && known.run.end != 0) ++lost_;
  }
  for (const auto& [job, known] : runs_) {
    if (seen[job]) continue;
    if (known.start_acknowledged) {
      wrong.push_back("job " + std::to_string(job) + ": its start was acknowledged and is gone");
    } else {
      ++lost_;
    }
  }
  return wrong;
}

std::uint64_t World::acknowledged() const {
  std::uint64_t count = 0;
  for (const auto& [job, known] : runs_)
    count += (known.start_acknowledged ? 1U : 0U) + (known.end_acknowledged ? 1U : 0U);
  return count;
}

std::uint64_t World::take_lost() {
  return std::exchange(lost_, 0);
}

}  // namespace shapley::ledger::testing
