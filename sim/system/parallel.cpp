#include "sim/system/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "sim/system/interrupt.hpp"

namespace shapley::sim {

Expected<void> run_parallel(std::size_t count, unsigned threads,
                            const std::function<Expected<void>(std::size_t)>& work) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::map<std::size_t, Error> errors;
  const auto worker = [&] {
    while (!failed && !interrupted()) {
      const std::size_t i = next++;
      if (i >= count) return;
      if (auto done = work(i); !done) {
        failed = true;
        const std::lock_guard lock(mutex);
        errors.emplace(i, done.error());
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) helpers.emplace_back(worker);
    worker();
  }
  if (!errors.empty()) return tl::unexpected<Error>(errors.begin()->second);
  return {};
}

void say_unfinished(std::size_t done, std::size_t count, const std::string& what) {
  if (done == count) return;
  std::cerr << "shapley-sim: interrupted: " << done << " of " << count << ' ' << what << " are finished\n";
}

}  // namespace shapley::sim
