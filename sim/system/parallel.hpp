// Independent pieces of work on several threads. Each piece writes only its own result, so what comes out does not
// depend on the number of threads.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/error.hpp"

namespace shapley::sim {

// Calls `work(i)` for i in 0 .. count-1, each once, on `threads` threads (0: one per core). Takes no further piece
// after Ctrl-C or an error; returns the error of the lowest piece that failed.
[[nodiscard]] Expected<void> run_parallel(std::size_t count, unsigned threads,
                                          const std::function<Expected<void>(std::size_t)>& work);

// Says on standard error that only `done` of `count` are finished; nothing if all are.
void say_unfinished(std::size_t done, std::size_t count, const std::string& what);

}  // namespace shapley::sim
