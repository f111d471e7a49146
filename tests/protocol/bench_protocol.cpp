// What the plugin's thread spends on a chunk of a thousand records, and what a job's classification costs while
// slurmctld's locks are held.
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "protocol/classifier.hpp"
#include "protocol/codec.hpp"

namespace shapley::protocol {
namespace {

Message jobs(std::int64_t nodes_each, std::uint32_t count = 1000) {
  Observations message;
  for (std::uint32_t i = 0; i < count; ++i) {
    JobUpdate& job = message.jobs.emplace_back();
    job.job_id = 100'000 + i;
    job.state = JobState::running;
    job.slurm_state = "RUNNING";
    job.account = "optics";
    job.account_ancestors = {"physics", "science", "root"};
    job.partition = "compute";
    job.qos = "normal";
    job.name = "simulation";
    job.submit_time = job.eligible_time = job.start_time = 1767225600;
    for (std::int64_t n = 0; n < nodes_each; ++n) job.nodes.push_back({"node" + std::to_string(1000 + n), 64});
    job.tres = {{"cpu", 64}, {"mem", 256'000}, {"gres/gpu", 4}};
  }
  return message;
}

void encode_thousand_jobs(benchmark::State& state) {
  const Message message = jobs(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(encode_frame(message));
}

void decode_thousand_jobs(benchmark::State& state) {
  const std::string body = encode_frame(jobs(state.range(0))).substr(4);
  for (auto _ : state) benchmark::DoNotOptimize(decode_body(body));
  state.counters["bytes"] = static_cast<double>(body.size());
}

// In one turn of shapleyd's loop. The plugin sends a thousand records at once; any feeder may send more.
void decode_largest_frame(benchmark::State& state) {
  const std::int64_t nodes = state.range(0);
  const std::size_t each = (encode_frame(jobs(nodes, 2000)).size() - encode_frame(jobs(nodes)).size()) / 1000;
  const std::string body =
      encode_frame(jobs(nodes, static_cast<std::uint32_t>(k_max_frame_bytes / (each + 1)))).substr(4);
  for (auto _ : state) benchmark::DoNotOptimize(decode_body(body));
  state.counters["bytes"] = static_cast<double>(body.size());
}

void classify_by_a_hundred_rules(benchmark::State& state) {
  std::vector<Rule> rules;
  for (int i = 0; i < 100; ++i) rules.push_back({"org", RuleKind::account, "account" + std::to_string(100 + i), 0});
  const Classifier classifier(rules);
  const std::vector<std::string> ancestors = {"account300", "account301", "account302"};
  JobTraits job;
  job.account = "account303";
  job.account_ancestors = ancestors;
  job.partition = "compute";
  job.qos = "normal";
  for (auto _ : state) benchmark::DoNotOptimize(classifier.organization_of(job));
}

BENCHMARK(encode_thousand_jobs)->ArgName("nodes")->Arg(1)->Arg(100);
BENCHMARK(decode_thousand_jobs)->ArgName("nodes")->Arg(1)->Arg(100);
BENCHMARK(decode_largest_frame)->ArgName("nodes")->Arg(1)->Arg(100)->Unit(benchmark::kMillisecond);
BENCHMARK(classify_by_a_hundred_rules);

}  // namespace
}  // namespace shapley::protocol

BENCHMARK_MAIN();
