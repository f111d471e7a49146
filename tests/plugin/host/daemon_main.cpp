// restless_daemon SOCKET MOOD: stands in for shapleyd in end-to-end tests and behaves as badly as its mood says
// (daemon.hpp), until it is killed. A real slurmctld must bear it.
#include <array>
#include <cstdio>
#include <string_view>

#include <unistd.h>

#include "daemon.hpp"

int main(int argc, char** argv) {
  using shapley::host::Mood;
  constexpr std::array<std::string_view, shapley::host::k_moods> names{
      "good",          "fickle",   "mute",        "stuck",         "garbage",   "half_frame",
      "other_version", "refusing", "early_close", "wrong_message", "huge_frame"};
  for (std::size_t i = 0; argc == 3 && i < names.size(); ++i) {
    if (names[i] != argv[2]) continue;
    ::unlink(argv[1]);
    shapley::host::Daemon daemon(argv[1]);
    daemon.set_mood(static_cast<Mood>(i));
    while (true) ::pause();
  }
  std::fputs("usage: restless_daemon SOCKET MOOD, moods:", stderr);
  for (const std::string_view name : names) std::fprintf(stderr, " %s", name.data());
  std::fputc('\n', stderr);
  return 2;
}
