#include "scheduling/instance.hpp"

#include <algorithm>
#include <numeric>

#include "base/contract.hpp"

namespace shapley::scheduling {

namespace {

// Whether no psi seen at `at` can leave 63 bits.
bool fits(const Instance& instance, Instant at) {
  constexpr std::int64_t k_latest = std::int64_t{1} << 40U;
  const Int128 seen = at.value;
  return at.value <= k_latest && static_cast<Int128>(instance.total_processors()) * seen * seen < static_cast<Int128>(1)
                                                                                                      << 63U;
}

// A rule that brakes looks ahead by the mean residual run time. Keys in millionths of a processor take at most
// processors^2 * time * 2^41 on the way (game/braking.hpp), which 2^31 processors keep within 127 bits.
Expected<void> check_braking(const Instance& instance) {
  Duration longest = std::max(instance.residual, game::k_assumed_residual);
  for (const Job& job : instance.jobs)
    longest = std::max(longest, Duration{std::min(job.duration.value, instance.end.value)});
  constexpr std::uint64_t k_most_processors = std::uint64_t{1} << 31U;
  if (instance.total_processors() < k_most_processors && fits(instance, instance.end + longest + Duration{1}))
    return {};
  return fail(Errc::limit,
              "instance: processors * (t_end + longest run)^2 leaves 63 bits, which a rule that brakes needs; "
              "cut the trace into windows");
}

}  // namespace

std::uint64_t Instance::total_processors() const {
  return std::accumulate(processors.begin(), processors.end(), std::uint64_t{0});
}

bool Instance::has_rigid_jobs() const {
  return std::any_of(jobs.begin(), jobs.end(), [](const Job& job) { return job.processors > 1; });
}

Expected<void> validate(const Instance& instance) {
  if (instance.processors.empty()) return fail(Errc::invalid_argument, "instance: no organization; give `machines`");
  for (std::size_t i = 0; i < instance.jobs.size(); ++i) {
    const Job& job = instance.jobs[i];
    const std::string name = "instance: job " + std::to_string(i);
    if (job.release.value < 0)
      return fail(Errc::invalid_argument, name + ": release " + std::to_string(job.release.value) + " is negative");
    if (job.duration.value < 1)
      return fail(Errc::invalid_argument,
                  name + ": duration " + std::to_string(job.duration.value) + " is not positive");
    if (job.processors < 1) return fail(Errc::invalid_argument, name + ": it needs a processor at least");
    if (job.processors > 1 && job.processors > instance.total_processors()) {
      return fail(Errc::invalid_argument, name + ": needs " + std::to_string(job.processors) + " of " +
                                              std::to_string(instance.total_processors()) +
                                              " processors at once and can never start; give it more processors, or "
                                              "take parallel jobs as copies");
    }
    if (job.organization >= instance.organizations()) {
      return fail(Errc::invalid_argument, name + ": organization " + std::to_string(job.organization) +
                                              " does not exist; there are " + std::to_string(instance.organizations()));
    }
  }
  if (instance.end.value < 0 || !fits(instance, instance.end))
    return fail(Errc::limit, "instance: processors * t_end^2 leaves 63 bits; cut the trace into windows");
  return {};
}

Expected<void> check_horizon(const Instance& instance, const game::ServingRule& rule) {
  SHAPLEY_REQUIRE(validate(instance));
  if (rule.pace != game::Pace{}) return check_braking(instance);
  // (end + horizon + 1)^2 > (end + horizon)^2 + end.
  const Duration beyond{rule.running == game::RunningWeight{} ? 0 : 1};
  if (!fits(instance, instance.end + rule.horizon + beyond)) {
    return fail(Errc::limit, "instance: processors * (t_end + horizon)^2 leaves 63 bits with a horizon of " +
                                 std::to_string(rule.horizon.value) +
                                 " s; choose a shorter one, or cut the trace into windows");
  }
  return {};
}

}  // namespace shapley::scheduling
