// What really happened on the cluster, kept apart from the ledger: runs with exact times, and which of them were
// acknowledged.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "base/types.hpp"
#include "protocol/messages.hpp"

namespace shapley::ledger::testing {

struct Run {
  std::uint32_t job = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;  // 0: it goes on
};

// What the feeder reports at one moment.
struct Frame {
  Instant at;
  std::vector<Run> runs;
  [[nodiscard]] protocol::Observations observations(std::uint64_t sequence) const;
};

[[nodiscard]] protocol::JobUpdate record_of(const Run& run);
[[nodiscard]] std::string organization_of(const Run& run);

class World {
 public:
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] std::vector<Run> runs() const;

  // The next frames: runs that begin and end. Nothing has happened yet.
  [[nodiscard]] std::vector<Frame> future(Rng& rng, std::size_t frames) const;
  // The first `sent` frames happened; the first `acknowledged` of them, and the snapshot before, must be in the books.
  void happened(const std::vector<Frame>& frames, std::size_t acknowledged, std::size_t sent);

  // Rows (job, anchor, organization, end) of the books against what was acknowledged, job by job, one sentence a
  // difference. A run that was not acknowledged may be missing or be there, but only as it was.
  [[nodiscard]] std::vector<std::string> compare(const std::vector<std::vector<std::string>>& rows);
  [[nodiscard]] std::uint64_t acknowledged() const;
  // Unacknowledged runs or ends that compare() did not find.
  [[nodiscard]] std::uint64_t take_lost();

 private:
  struct Known {
    Run run;  // as it is
    bool start_acknowledged = false;
    bool end_acknowledged = false;
  };
  Instant now_{1'795'000'000};
  std::map<std::uint32_t, Known> runs_;
  std::uint64_t lost_ = 0;
};

}  // namespace shapley::ledger::testing
