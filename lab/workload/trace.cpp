#include "workload/trace.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>

#include "base/contract.hpp"
#include "base/files.hpp"
#include "base/rng.hpp"

namespace shapley::workload {

Expected<void> note_malformed(Omissions& omissions, Malformed choice, std::uint64_t line, const std::string& why) {
  const std::string text = "line " + std::to_string(line) + ": " + why;
  if (choice == Malformed::refuse)
    return fail(Errc::invalid_argument, text + "; --malformed skip leaves such lines out and counts them");
  ++omissions.malformed;
  if (omissions.examples.size() < Omissions::k_max_examples) omissions.examples.push_back(text);
  return {};
}

void order_jobs(Trace& trace) {
  std::stable_sort(trace.jobs.begin(), trace.jobs.end(),
                   [](const TraceJob& a, const TraceJob& b) { return a.submit < b.submit; });
}

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

constexpr std::uint64_t k_max_copies = 100'000'000;
}  // namespace

Expected<Window> cut_window(const Trace& trace, const Assignment& assignment, std::vector<std::uint32_t> processors,
                            Instant begin, Duration length, ParallelJobs parallel) {
  Window window;
  window.instance.processors = std::move(processors);
  window.instance.end = {length.value};
  const auto first = std::lower_bound(trace.jobs.begin(), trace.jobs.end(), begin,
                                      [](const TraceJob& job, Instant t) { return job.submit < t; });
  std::uint64_t copies = 0;
  for (auto job = first; job != trace.jobs.end() && job->submit < begin + length; ++job) {
    copies += static_cast<std::uint64_t>(job->processors);
    if (copies > k_max_copies) {
      return fail(Errc::limit, "a window of " + std::to_string(length.value) + " s holds more than " +
                                   std::to_string(k_max_copies) + " copies of jobs; choose a shorter one");
    }
    const bool rigid = parallel == ParallelJobs::rigid;
    const scheduling::Job one{.release = {(job->submit - begin).value},
                              .duration = job->run,
                              .organization = assignment.of(*job),
                              .processors = rigid ? static_cast<std::uint32_t>(job->processors) : 1};
    const std::size_t count = rigid ? 1 : static_cast<std::size_t>(job->processors);
    window.instance.jobs.insert(window.instance.jobs.end(), count, one);
    window.trace_job.insert(window.trace_job.end(), count, static_cast<std::uint32_t>(job - trace.jobs.begin()));
  }
  SHAPLEY_TRY(scheduling::validate(window.instance));
  return window;
}

Instant last_window_begin(const Trace& trace, Duration length) {
  SHAPLEY_REQUIRE(!trace.jobs.empty());
  const Instant first = trace.jobs.front().submit;
  return std::max(first, trace.jobs.back().submit - length);
}

Assignment deal_users(const Trace& trace, std::size_t organizations, std::uint64_t seed) {
  std::vector<std::uint32_t> users(trace.users.size());
  std::iota(users.begin(), users.end(), 0U);
  Rng(seed).shuffle(std::span(users));
  Assignment assignment;
  assignment.organization.resize(users.size());
  for (std::size_t i = 0; i < users.size(); ++i)
    assignment.organization[users[i]] = static_cast<std::uint32_t>(i % organizations);
  return assignment;
}

Assignment assign_groups(const Trace& trace, std::size_t organizations) {
  std::vector<double> work(trace.groups.size(), 0.0);
  for (const TraceJob& job : trace.jobs)
    work[job.group] += static_cast<double>(job.run.value) * static_cast<double>(job.processors);
  std::vector<std::uint32_t> order(work.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return work[a] > work[b]; });
  Assignment assignment;
  assignment.by_group = true;
  assignment.organization.resize(work.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    assignment.organization[order[i]] = static_cast<std::uint32_t>(std::min(i, organizations - 1));
  for (std::size_t i = 0; i < std::min(organizations, order.size()); ++i)
    assignment.names.push_back(i + 1 < organizations ? trace.groups[order[i]] : "others");
  return assignment;
}

namespace {

struct UserLines {
  std::map<std::string, std::uint32_t> organization;
  std::optional<std::uint32_t> everybody_else;
  std::vector<std::string> names;
};

Expected<UserLines> read_lines(std::istream& text) {
  UserLines users;
  NameIndex names;
  std::string line;
  Lines lines(text);
  while (lines.next(line)) {
    const std::string number = std::to_string(lines.number());
    std::istringstream words(line.substr(0, line.find('#')));
    std::string user;
    std::string organization;
    std::string more;
    if (!(words >> user)) continue;
    if (!(words >> organization) || words >> more)
      return fail(Errc::invalid_argument, "line " + number + ": expected \"USER ORGANIZATION\"");
    const std::uint32_t index = names.number_of(organization);
    if (user == "*") {
      users.everybody_else = index;
    } else if (!users.organization.emplace(user, index).second) {
      return fail(Errc::invalid_argument, "line " + number + ": user " + user + " was named before");
    }
  }
  SHAPLEY_TRY(lines.end());
  users.names = names.names();
  return users;
}

// lcm(1..40) < 2^53: weights 1/(u+1) are whole numbers up to 40 organizations, so that no rounding decides a tie.
constexpr std::int64_t k_common_multiple = 5'342'931'457'063'200;
constexpr std::size_t k_max_organizations = 40;

}  // namespace

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

Expected<Assignment> read_assignment(std::istream& text, const Trace& trace, std::size_t organizations) {
  SHAPLEY_TRY_ASSIGN(UserLines lines, read_lines(text));
  if (organizations != 0 && lines.names.size() != organizations) {
    return fail(Errc::invalid_argument, "names " + std::to_string(lines.names.size()) + " organizations, not " +
                                            std::to_string(organizations) + "; leave --organizations out to take them");
  }
  Assignment assignment;
  assignment.names = std::move(lines.names);
  for (const std::string& user : trace.users) {
    const auto place = lines.organization.find(user);
    if (place == lines.organization.end() && !lines.everybody_else) {
      return fail(
          Errc::invalid_argument,
          "user " + user + " has no organization; add a line for it, or \"* ORGANIZATION\" for every other user");
    }
    assignment.organization.push_back(place == lines.organization.end() ? *lines.everybody_else : place->second);
  }
  return assignment;
}

Expected<std::vector<std::uint32_t>> endow(Endowment endowment, std::size_t organizations, std::int64_t total) {
  if (organizations == 0 || organizations > k_max_organizations)
    return fail(Errc::invalid_argument, "organizations: expected 1 to 40");
  if (total < 1 || total > 10'000'000) return fail(Errc::invalid_argument, "processors: expected 1 to 10,000,000");
  std::vector<Int128> weights;
  Int128 sum = 0;
  for (std::size_t u = 0; u < organizations; ++u) {
    weights.push_back(endowment == Endowment::uniform ? 1 : k_common_multiple / static_cast<std::int64_t>(u + 1));
    sum += weights.back();
  }
  std::vector<std::uint32_t> processors;
  std::int64_t left = total;
  for (const Int128 weight : weights) {
    processors.push_back(static_cast<std::uint32_t>(weight * total / sum));
    left -= processors.back();
  }
  std::vector<std::size_t> order(organizations);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return weights[a] * total % sum > weights[b] * total % sum; });
  for (std::size_t i = 0; i < static_cast<std::size_t>(left); ++i) ++processors[order[i]];
  return processors;
}

}  // namespace shapley::workload
