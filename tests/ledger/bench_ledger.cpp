// How fast events become durable and books come back. Not run by ctest: build a release and run bin/bench_ledger.
//
// Files are made in TMPDIR, so that the disk is the one you mean.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

#include <benchmark/benchmark.h>

#include "bench_jobs.hpp"
#include "ledger/store/ledger.hpp"
#include "tests/support/temp_directory.hpp"
#include "tests/support/text_rows.hpp"

namespace shapley::ledger {
namespace {

using namespace bench;
using accounting::Event;

class Scratch : public TempDirectory {
 public:
  [[nodiscard]] std::filesystem::path file() const { return path() / "ledger.db"; }
};

// Group commits of range(0) events each.
void append(benchmark::State& state) {
  const Scratch scratch;
  Ledger ledger = must(Ledger::open(scratch.file(), OpenMode::create_or_write));
  const auto per_batch = static_cast<std::uint32_t>(state.range(0) / 5);
  std::uint32_t next = 1;
  for (auto _ : state) {
    state.PauseTiming();
    const auto batch = jobs(next, per_batch, 4 * k_day);
    next += per_batch;
    state.ResumeTiming();
    benchmark::DoNotOptimize(must(ledger.append(batch, {k_begin + next})));
  }
  state.SetItemsProcessed(state.iterations() * per_batch * 5);
}
BENCHMARK(append)->Arg(100)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond)->MinTime(3)->UseRealTime();

// Opening and recovering a ledger of range(0) events from range(1) jobs a day, with a checkpoint 10,000 events before
// its end. The checkpoint remembers the jobs of two days, or fewer where they are many (StateOptions), whatever the
// ledger's length.
void restart(benchmark::State& state) {
  const Scratch scratch;
  {
    Ledger ledger = must(Ledger::open(scratch.file(), OpenMode::create_or_write));
    accounting::State books;
    constexpr std::uint32_t per_batch = 2000;  // jobs
    const auto batches = static_cast<std::uint32_t>(state.range(0) / (5 * per_batch));
    for (std::uint32_t batch = 0; batch < batches; ++batch) {
      if (batch + 1 == batches) must(ledger.save_checkpoint(books, ledger.last_sequence(), books.now()));
      const auto events = jobs(1 + batch * per_batch, per_batch, state.range(1));
      must(ledger.append(events, {k_begin}));
      for (const Event& event : events) must(books.apply(event));
      books.compact();
    }
  }
  for (auto _ : state) {
    const Ledger ledger = must(Ledger::open(scratch.file(), OpenMode::create_or_write));
    benchmark::DoNotOptimize(must(ledger.recover()));
  }
  state.counters["file_MiB"] = static_cast<double>(std::filesystem::file_size(scratch.file())) / (1024 * 1024);
}
BENCHMARK(restart)
    ->ArgNames({"events", "jobs_a_day"})
    ->Args({100'000, 50'000})
    ->Args({1'000'000, 50'000})
    ->Args({10'000'000, 50'000})
    ->Args({10'000'000, 4 * k_day})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3)
    ->UseRealTime();

// Saving the books of range(0) remembered jobs, of which range(1) are new since the last checkpoint: how much of the
// text is written.
void checkpoint(benchmark::State& state) {
  const Scratch scratch;
  Ledger ledger = must(Ledger::open(scratch.file(), OpenMode::create_or_write));
  accounting::State books;
  std::uint32_t next = 1;
  const auto add = [&](std::uint32_t count) {
    const auto events = jobs(next, count, 4 * k_day);
    next += count;
    must(ledger.append(events, {k_begin}));
    for (const Event& event : events) must(books.apply(event));
    books.compact();
  };
  const auto number = [&](const std::string& sql) { return std::stod(must(query(ledger, sql)).at(0).at(0)); };
  constexpr std::uint32_t per_batch = 2000;
  for (std::uint32_t left = static_cast<std::uint32_t>(state.range(0)); left > 0; left -= std::min(left, per_batch)) {
    add(std::min(left, per_batch));
  }
  must(ledger.save_checkpoint(books, ledger.last_sequence(), books.now()));
  const std::string sum = "SELECT COALESCE(SUM(LENGTH(text)), 0) FROM checkpoint_parts";
  constexpr double mib = 1024 * 1024;
  state.counters["text_MiB"] = number(sum) / mib;
  for (auto _ : state) {
    state.PauseTiming();
    add(static_cast<std::uint32_t>(state.range(1)));
    const auto before = static_cast<std::int64_t>(number("SELECT MAX(id) FROM checkpoint_parts"));
    state.ResumeTiming();
    must(ledger.save_checkpoint(books, ledger.last_sequence(), books.now()));
    state.PauseTiming();
    state.counters["written_MiB"] = number(sum + " WHERE id > " + std::to_string(before)) / mib;
    state.ResumeTiming();
  }
}
BENCHMARK(checkpoint)
    ->ArgNames({"jobs", "new"})
    ->Args({150'000, 350})
    ->Args({150'000, 2400})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3)
    ->UseRealTime();

}  // namespace
}  // namespace shapley::ledger

BENCHMARK_MAIN();
