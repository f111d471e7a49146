// What slurmctld's records say: a stream of frames with Observations against one
// State. Users choose much of a record (times to begin, names, sizes), so none may bend the books or move their clock.
#include <algorithm>
#include <cinttypes>
#include <string>
#include <variant>

#include "accounting/state/state.hpp"
#include "daemon/observer/observer.hpp"
#include "fuzz.hpp"
#include "protocol/codec.hpp"

namespace {

using shapley::Instant;
using shapley::fuzz::require;
using namespace shapley::daemon;
namespace accounting = shapley::accounting;
namespace protocol = shapley::protocol;

ReadingRules rules() {
  protocol::Rule rule;
  rule.organization = "physics";
  rule.name = "phys";
  return {protocol::Classifier({rule}), Charging()};
}

// No event moves the books' present beyond `latest`.
void take(accounting::State& books, const Observation& observation, Instant latest) {
  for (const accounting::Event& event : observation.events) {
    const bool in_time = accounting::time_of(event) <= std::max(latest, books.now());
    if (!in_time) std::fprintf(stderr, "seen at %" PRId64 ": %s\n", latest.value, accounting::event_key(event).c_str());
    require(in_time, "no record moves the books into the future");
    const auto applied = books.apply(event);
    require(applied || !applied.error().what.empty(), "a refusal has words");
  }
}

void observe(accounting::State& books, const protocol::Observations& o, const ReadingRules& reading, Instant previous) {
  const Instant at{o.observed_at};
  const Instant latest = std::max(at, previous);
  for (const auto& job : o.jobs) {
    // Submit times are slurmctld's own clock, which may have been set back since; users cannot choose them.
    take(books, observe_job(books, job, {.at = at, .previous = previous}, reading),
         std::max(latest, Instant{job.submit_time}));
  }
  for (const auto& node : o.nodes) take(books, observe_node(books, node, at, std::nullopt, reading), latest);
  for (const auto job : o.gone) take(books, observe_gone(books, shapley::JobId{job}, previous), latest);
  for (const auto& node : o.gone_nodes) take(books, observe_gone_node(books, node, at, std::nullopt), latest);
}

void check_balance(accounting::State& books) {
  const auto rows = books.standings();
  shapley::Utility psi;
  for (const auto& row : rows) psi += row.psi;
  for (const accounting::EstimatorId estimator : accounting::estimator_ids()) {
    shapley::Utility phi;
    for (const auto& row : rows) phi += row.phi(estimator);
    require(psi == phi, "Sum(psi) = Sum(phi), to the unit");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes = shapley::fuzz::text_of(data, size);
  const ReadingRules reading = rules();
  accounting::State books;
  Instant previous = shapley::k_beginning_of_time;
  protocol::FrameReader frames;
  frames.feed(bytes);
  while (true) {
    const auto body = frames.next();
    if (!body || !*body) break;
    const auto message = protocol::decode_body(**body);
    const auto* observations = message ? std::get_if<protocol::Observations>(&*message) : nullptr;
    // slurmctld's clock: the daemon's own feeder sends it, no user.
    if (observations == nullptr || observations->observed_at < 0 || observations->observed_at > 4'000'000'000) continue;
    observe(books, *observations, reading, previous);
    previous = std::max(previous, Instant{observations->observed_at});
  }
  check_balance(books);
  return 0;
}
