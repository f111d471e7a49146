#include "daemon/requests/child_process.hpp"

#include <utility>

#include "base/child_process.hpp"

namespace shapley::daemon {

Expected<ChildResult> run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                const ChildLimits& limits) {
  std::vector<std::string> words{program.native()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto run = shapley::run_child(words, {.time = limits.time,
                                        .memory_bytes = limits.memory_bytes,
                                        .output_bytes = limits.output_bytes,
                                        .ended = limits.ended,
                                        .is_dispensable = true,
                                        .environment = std::vector<std::string>{"PATH=/usr/bin:/bin", "LC_ALL=C"}});
  if (!run) return fail(Errc::io, std::move(run.error().what));
  switch (run->end) {
    case ChildEnd::late:
      return fail(Errc::limit, "it took more than " + std::to_string(limits.time.count() / 1000) + " s");
    case ChildEnd::overlong:
      return fail(Errc::limit, "its answer has more than " + std::to_string(limits.output_bytes >> 20U) + " MiB");
    case ChildEnd::unwanted:
      return fail(Errc::limit, "whoever asked has gone");
    case ChildEnd::exited:
    case ChildEnd::signalled:
      break;
  }
  return ChildResult{run->exit_code, std::move(run->output), std::move(run->errors)};
}

}  // namespace shapley::daemon
