// An instance of the scheduling model: organizations with processors, jobs with releases and durations.
//
// The papers' jobs are sequential, parallel ones are given as copies [SR13 Sec. 7]. A job of q > 1 processors is rigid:
// it takes q processors at one instant, for its duration, and counts in every utility as q sequential jobs side by
// side. Jobs of one organization run in FIFO order of (release, position).
//
// Processors are alike, except under EASY (easy.hpp): there they may be of several kinds, and a job runs on processors
// of one kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "game/serving_order.hpp"

namespace shapley::scheduling {

inline constexpr std::size_t k_most_kinds = 8;

// The kinds of processors that a job may use, in order of preference. None: any, in the order of their numbers.
class KindOrder {
 public:
  KindOrder() = default;
  // REQUIRES: at most k_most_kinds, each below k_most_kinds.
  explicit KindOrder(std::span<const std::uint32_t> kinds) {
    for (std::size_t i = 0; i < kinds.size(); ++i) code_ |= (kinds[i] + 1) << (k_bits * i);
  }
  [[nodiscard]] bool any() const { return code_ == 0; }
  // Calls `visit` with each kind in order, of a machine that has so many.
  template <typename Visit>
  void for_each(std::size_t kinds_of_machine, const Visit& visit) const {
    for (std::uint32_t kind = 0; any() && kind < kinds_of_machine; ++kind) visit(kind);
    for (std::uint32_t rest = code_; rest != 0; rest >>= k_bits) visit((rest & k_mask) - 1);
  }

 private:
  static constexpr std::uint32_t k_bits = 4;
  static constexpr std::uint32_t k_mask = 15;
  std::uint32_t code_ = 0;  // k_bits for each kind, the first one lowest: its number + 1
};

struct Job {
  Instant release;    // >= 0
  Duration duration;  // >= 1
  std::uint32_t organization = 0;
  std::uint32_t processors = 1;  // >= 1
  KindOrder kinds{};
};

struct Instance {
  std::vector<std::uint32_t> processors;  // per organization
  std::vector<Job> jobs;                  // in input order
  Instant end;                            // decisions are made before it, the report is taken at it
  // m of the key (serving_terms.hpp) where it is known beforehand; 0: it is measured as runs end.
  Duration residual{};
  // By kind and organization, where EASY runs it on processors of several kinds; `processors` are the sums.
  std::vector<std::vector<std::uint32_t>> kinds{};
  // Whether Policy::endowed will be called.
  bool owners_change = false;

  [[nodiscard]] std::size_t organizations() const { return processors.size(); }
  [[nodiscard]] std::uint64_t total_processors() const;
  [[nodiscard]] bool has_rigid_jobs() const;
};

// The owner of a processor when the policy does not assign one.
inline constexpr std::int32_t k_any_owner = -1;

// One job's place in a schedule. `owner` is the organization whose processor it took, if the policy assigns one and the
// job is sequential.
struct Start {
  std::uint32_t job = 0;  // index in Instance::jobs
  Instant start;
  std::int32_t owner = k_any_owner;
  friend bool operator==(const Start&, const Start&) = default;
};

// Errc::invalid_argument names the job or organization at fault, a rigid job wider than all processors among them;
// Errc::limit when psi could leave 63 bits, i.e. when processors * (end - first release)^2 / 2 >= 2^62.
[[nodiscard]] Expected<void> validate(const Instance& instance);

// Errc::limit when psi as the rule uses it could leave 63 bits: at a horizon after the end, with what runs. The third
// term of a key is at most processors * horizon^2 / 2, what they would do in that time, so the whole key is at most
// processors * ((end + horizon)^2 + end) / 2. REQUIRES: validate(instance).
[[nodiscard]] Expected<void> check_horizon(const Instance& instance, const game::ServingRule& rule);

}  // namespace shapley::scheduling
