// How much memory and time the commands of shapleyctl take that read a whole ledger, of a given length. Measures,
// asserts nothing: tests/bench/run holds the figures against their bounds.
//
//   bench_audit EVENTS [SHAPLEYCTL...]
//   bench_audit --of PROGRAM ARGUMENT...
//
// Writes a ledger of so many events (10,000 at least) in TMPDIR with the program's own writer: 50,000 jobs a day on 500
// owned nodes, in the order of their times, months as periods, hindsight, the books of every day, checkpoints. Each
// SHAPLEYCTL (without one: this build's) does each command with it, one after the other; its peak resident memory,
// seconds and exit code are printed. --of: the same of any other program. SHAPLEY_BENCH_LEDGER=FILE: the ledger is made
// there and kept; if it is there, it is taken as it is. SHAPLEY_BENCH_JOBS_A_DAY=N: so many, so that fewer events make
// closed periods to archive. SHAPLEY_BENCH_COMMANDS="audit statement": these commands only.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/calendar.hpp"
#include "bench_jobs.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger::bench {
namespace {

using accounting::Event;

std::int64_t jobs_a_day() {
  constexpr std::int64_t k_usual = 50'000;
  const char* chosen = std::getenv("SHAPLEY_BENCH_JOBS_A_DAY");
  return chosen != nullptr ? std::stoll(chosen) : k_usual;
}

constexpr std::uint32_t k_jobs_in_a_commit = 2'000;
constexpr std::int64_t k_events_of_a_job = 5;
constexpr std::int64_t k_processors_of_a_node = 64;
constexpr std::int64_t k_days_with_checkpoints = 5;
constexpr const char* k_begin_utc = "2023-11-14T22:13:20";

std::vector<Event> declarations() {
  const Instant first{k_begin - k_day};
  accounting::OrganizationsDeclared organizations{.at = first, .names = {}};
  for (std::uint32_t i = 0; i < k_organizations; ++i) organizations.names.push_back(organization_of(i));
  std::vector<Event> events{organizations, accounting::PeriodDeclared{first, Period::monthly},
                            accounting::RankingDeclared{.at = first, .contribution = "hindsight", .exceptions = {}}};
  for (std::uint32_t i = 0; i < k_nodes; ++i) {
    events.emplace_back(
        accounting::OwnershipStated{node_of(i), first, {{first, {{organization_of(i), accounting::k_whole_node}}}}});
    accounting::CapacityChanged capacity{.node = node_of(i), .at = first};
    capacity.processors = capacity.whole = {k_processors_of_a_node * k_micro};
    events.emplace_back(std::move(capacity));
  }
  return events;
}

// Appends, and records the books as shapleyd does.
class Writing {
 public:
  // Of the checkpoints only the newest stay, so none is made before `checkpoints_from`.
  Writing(const std::filesystem::path& file, Instant checkpoints_from)
      : ledger_(must(Ledger::open(file, OpenMode::create_or_write))), checkpoints_from_(checkpoints_from) {}

  void append(const std::vector<Event>& events) {
    must(ledger_.append(events, time_of(events.back())));
    for (const Event& event : events) must(books_.apply(event));
    books_.compact();
    const Instant day{books_.now().value / k_day * k_day};
    if (day == day_) return;
    day_ = day;
    must(ledger_.record_standings(books_.now(), books_, books_.standings()));
    if (day < checkpoints_from_) return;
    must(ledger_.save_checkpoint(books_, ledger_.last_sequence(), books_.now()));
  }

 private:
  Ledger ledger_;
  accounting::State books_;
  Instant day_;
  Instant checkpoints_from_;
};

void make_ledger(const std::filesystem::path& file, std::int64_t events) {
  const auto all = static_cast<std::uint32_t>(events / k_events_of_a_job);
  Writing writing(file, submit_of(all, jobs_a_day()) - Duration{k_days_with_checkpoints * k_day});
  writing.append(declarations());
  std::vector<Event> known;  // ascending by time; what is later than the next jobs is not yet written
  for (std::uint32_t job = 1; job <= all; job += k_jobs_in_a_commit) {
    const std::vector<Event> next = jobs(job, std::min(k_jobs_in_a_commit, all + 1 - job), jobs_a_day());
    known.insert(known.end(), next.begin(), next.end());
    std::stable_sort(known.begin(), known.end(),
                     [](const Event& a, const Event& b) { return time_of(a) < time_of(b); });
    const Instant until = submit_of(job + k_jobs_in_a_commit, jobs_a_day());
    const bool last = job + k_jobs_in_a_commit > all;
    const auto end =
        std::find_if(known.begin(), known.end(), [&](const Event& event) { return !last && time_of(event) >= until; });
    writing.append({known.begin(), end});
    known.erase(known.begin(), end);
  }
}

// Runs in a process of its own, so that what it takes is not counted for the audit.
bool make_ledger_apart(const std::filesystem::path& file, std::int64_t events) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      make_ledger(file, events);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

void measure(const std::string& title, std::vector<std::string> command) {
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDOUT_FILENO);
    std::vector<char*> arguments;
    for (std::string& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    ::execv(arguments.front(), arguments.data());
    ::_exit(127);
  }
  int status = 0;
  struct rusage usage {};
  ::wait4(child, &status, 0, &usage);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  std::printf("%s: %.1f MB at most, %.1f s (%.1f s of processor time), exit code %d\n", title.c_str(),
              static_cast<double>(usage.ru_maxrss) / 1000, took.count(),
              seconds(usage.ru_utime) + seconds(usage.ru_stime), WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  std::fflush(stdout);
}

// Commands with a whole ledger, of the whole of its time.
void measure_all(const std::string& program, const std::filesystem::path& file, const std::string& directory,
                 std::int64_t events) {
  const std::string end =
      format_instant(submit_of(static_cast<std::uint32_t>(events / k_events_of_a_job), jobs_a_day()));
  const char* chosen = std::getenv("SHAPLEY_BENCH_COMMANDS");
  struct Command {
    std::string name;
    std::vector<std::string> arguments;
  };
  for (const Command& command :
       {Command{"audit", {file}}, Command{"statement", {"--ledger", file, "--since", k_begin_utc}},
        Command{"history", {"--ledger", file, "--since", k_begin_utc, "--by", "day"}},
        Command{"report", {"--ledger", file, "--since", k_begin_utc, "--no-charts", "-o", directory + "/page"}},
        Command{"status", {"--ledger", file, "--at", end.substr(0, end.find('Z'))}},
        Command{"backup", {"--ledger", file, "--force", directory + "/copy.db"}}}) {
    if (chosen != nullptr && (" " + std::string(chosen) + " ").find(" " + command.name + " ") == std::string::npos)
      continue;
    std::vector<std::string> whole{program, command.name};
    whole.insert(whole.end(), command.arguments.begin(), command.arguments.end());
    measure(program + " " + command.name, std::move(whole));
  }
}

int run(std::int64_t events, const std::vector<std::string>& programs) {
  std::string directory = (std::filesystem::temp_directory_path() / "shapley-bench-XXXXXX").string();
  if (::mkdtemp(directory.data()) == nullptr) return 1;
  const char* kept = std::getenv("SHAPLEY_BENCH_LEDGER");
  const std::filesystem::path file = kept != nullptr ? kept : directory + "/ledger.db";
  const bool made = std::filesystem::exists(file) || make_ledger_apart(file, events);
  if (made) {
    std::printf("%s events, %.1f MB\n", std::to_string(events).c_str(),
                static_cast<double>(std::filesystem::file_size(file)) / 1e6);
    std::fflush(stdout);
    for (const std::string& program : programs) measure_all(program, file, directory, events);
  }
  std::filesystem::remove_all(directory);
  return made ? 0 : 1;
}

}  // namespace
}  // namespace shapley::ledger::bench

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "--of") {
    shapley::ledger::bench::measure(argv[2], {argv + 2, argv + argc});
    return 0;
  }
  const std::int64_t events = argc > 1 ? std::stoll(argv[1]) : 100'000;
  std::vector<std::string> programs(argv + std::min(argc, 2), argv + argc);
  if (programs.empty()) programs.emplace_back(SHAPLEYCTL);
  return shapley::ledger::bench::run(events, programs);
}
