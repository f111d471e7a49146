// restless_daemon SOCKET MOOD: takes shapleyd's part in end-to-end tests and behaves as badly as its mood says
// (daemon.hpp), until it is killed. A real slurmctld must bear it.
// restless_daemon SOCKET good ORDER LEVELS: a calm one, with ranks ORDER ("chem,astro,bio") and LEVELS ("7=3,9=1", may
// be empty). It prints what the plugin sends: "job 9: depends on 5,7; limit 600 s".
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include "daemon.hpp"

namespace {

using shapley::protocol::JobLevel;
using shapley::protocol::JobUpdate;

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

std::vector<JobLevel> levels_of(const std::string& text) {
  std::vector<JobLevel> levels;
  for (const std::string& part : parts_of(text)) {
    char* end = nullptr;
    const auto id = static_cast<std::uint32_t>(std::strtoul(part.c_str(), &end, 10));
    levels.push_back({id, static_cast<std::uint32_t>(*end == '=' ? std::strtoul(end + 1, nullptr, 10) : 0)});
  }
  std::sort(levels.begin(), levels.end(), [](const auto& a, const auto& b) { return a.job_id < b.job_id; });
  return levels;
}

std::string line_about(const JobUpdate& job) {
  std::string on;
  for (const std::uint32_t id : job.depends_on) on += (on.empty() ? "" : ",") + std::to_string(id);
  return "job " + std::to_string(job.job_id) + ": depends on " + on + "; limit " + std::to_string(job.time_limit_s) +
         " s";
}

[[noreturn]] void print_without_end(const shapley::host::Daemon& daemon) {
  std::map<std::uint32_t, std::string> reported;
  while (true) {
    for (const auto& [id, job] : daemon.jobs()) {
      const std::string line = line_about(job);
      if (std::exchange(reported[id], line) != line) std::puts(line.c_str());
    }
    std::fflush(stdout);
    ::poll(nullptr, 0, 50);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using shapley::host::Mood;
  constexpr std::array<std::string_view, shapley::host::k_moods> names{
      "good",          "fickle",   "mute",        "stuck",         "garbage",   "half_frame",
      "other_version", "refusing", "early_close", "wrong_message", "huge_frame"};
  for (std::size_t i = 0; (argc == 3 || argc == 5) && i < names.size(); ++i) {
    if (names[i] != argv[2]) continue;
    ::unlink(argv[1]);
    shapley::host::Daemon daemon(argv[1]);
    if (argc == 5) {
      daemon.fix_order(parts_of(argv[3]));
      daemon.fix_levels(levels_of(argv[4]));
    }
    daemon.set_mood(static_cast<Mood>(i));
    print_without_end(daemon);
  }
  std::fputs("usage: restless_daemon SOCKET MOOD [ORDER LEVELS], moods:", stderr);
  for (const std::string_view name : names) std::fprintf(stderr, " %s", name.data());
  std::fputc('\n', stderr);
  return 2;
}
