#include "workload/generate.hpp"

#include <algorithm>

#include "base/int128.hpp"
#include "base/rng.hpp"

namespace shapley::workload {

namespace {

constexpr std::size_t k_max_jobs = 50'000'000;
constexpr std::uint64_t k_shortest_exponent = 4;
constexpr std::uint64_t k_longest_exponent = 13;
constexpr std::uint64_t k_session_exponents = 7;  // a session holds 2^0 .. 2^7 - 1 jobs
constexpr std::uint64_t k_think_seconds = 30;

// Log-uniform on 2^e .. 2^(e+1) - 1.
std::uint64_t draw_octave(Rng& rng, std::uint64_t exponent) {
  const std::uint64_t octave = std::uint64_t{1} << exponent;
  return octave + rng.below(octave);
}

class Generator {
 public:
  explicit Generator(const GeneratorOptions& options) : options_(options), rng_(options.seed) {
    for (std::uint32_t user = 0; user < options.users; ++user) {
      trace_.users.push_back("u" + std::to_string(user));
      weight_ += k_weight / (user + 1);
    }
    trace_.groups = {"generated"};
    trace_.processors = options.processors;
    trace_.computer = "generated workload, seed " + std::to_string(options.seed);
  }

  Expected<Trace> run() {
    const Int128 target =
        static_cast<Int128>(options_.processors) * options_.length.value * options_.load_percent / 100;
    while (work_ < target) {
      if (trace_.jobs.size() > k_max_jobs)
        return fail(Errc::limit, "the generated workload exceeds 50,000,000 jobs; lower the load or the length");
      if (options_.kind == WorkloadKind::zipf) {
        add(draw_zipf_user(), draw_start(), draw_octave(rng_, draw_exponent()));
      } else {
        add_session();
      }
    }
    order_jobs(trace_);
    return std::move(trace_);
  }

 private:
  static constexpr std::uint64_t k_weight = 1'000'000'000'000;

  std::uint64_t draw_exponent() {
    return k_shortest_exponent + rng_.below(k_longest_exponent - k_shortest_exponent + 1);
  }
  std::int64_t draw_start() {
    return static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(options_.length.value)));
  }

  std::uint32_t draw_zipf_user() {
    std::uint64_t place = rng_.below(weight_);
    std::uint32_t user = 0;
    while (place >= k_weight / (user + 1)) place -= k_weight / (++user);
    return user;
  }

  void add_session() {
    const auto user = static_cast<std::uint32_t>(rng_.below(options_.users));
    const std::uint64_t exponent = draw_exponent();
    const std::uint64_t count = draw_octave(rng_, rng_.below(k_session_exponents));
    std::int64_t t = draw_start();
    for (std::uint64_t i = 0; i < count && t < options_.length.value; ++i) {
      add(user, t, options_.kind == WorkloadKind::unit ? 1 : draw_octave(rng_, exponent));
      t += static_cast<std::int64_t>(rng_.below(options_.kind == WorkloadKind::unit ? 2 : k_think_seconds));
    }
  }

  void add(std::uint32_t user, std::int64_t submit, std::uint64_t run) {
    trace_.jobs.push_back({.id = static_cast<std::int64_t>(trace_.jobs.size()) + 1,
                           .submit = {submit},
                           .run = {static_cast<std::int64_t>(run)},
                           .processors = 1,
                           .user = user,
                           .group = 0});
    work_ += static_cast<std::int64_t>(run);
  }

  GeneratorOptions options_;
  Rng rng_;
  Trace trace_;
  std::uint64_t weight_ = 0;
  Int128 work_ = 0;
};

}  // namespace

std::optional<WorkloadKind> parse_workload_kind(std::string_view name) {
  if (name == "bursty") return WorkloadKind::bursty;
  if (name == "unit") return WorkloadKind::unit;
  if (name == "zipf") return WorkloadKind::zipf;
  return std::nullopt;
}

Expected<Trace> generate(const GeneratorOptions& options) {
  if (options.users < 1 || options.users > 1'000'000)
    return fail(Errc::invalid_argument, "generator: expected 1 to 1,000,000 users");
  if (options.processors < 1 || options.processors > 10'000'000)
    return fail(Errc::invalid_argument, "generator: expected 1 to 10,000,000 processors");
  if (options.length.value < 1 || options.length.value > (std::int64_t{1} << 40U))
    return fail(Errc::invalid_argument, "generator: the length is out of range");
  if (options.load_percent < 1 || options.load_percent > 1000)
    return fail(Errc::invalid_argument, "generator: expected a load of 1 to 1000 percent");
  return Generator(options).run();
}

}  // namespace shapley::workload
