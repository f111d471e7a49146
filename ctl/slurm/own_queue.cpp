#include "ctl/slurm/own_queue.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <numeric>
#include <utility>

#include "base/calendar.hpp"
#include "base/text.hpp"

namespace shapley::ctl {

namespace {

template <typename Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  return is_number ? std::optional(number) : std::nullopt;
}

// squeue has words for none.
std::string name_in(std::string_view cell) {
  return cell == "(null)" || cell == "N/A" ? std::string() : std::string(cell);
}

// From A|i|U|P|q|C|l|r|Q|S|a|b|n|v|h|f. The features come last, as they may have bars ("rack1|rack2").
std::optional<PendingRecord> record_in(std::string_view line) {
  std::vector<std::string_view> cells = split(line, '|');
  constexpr std::size_t k_cells = 16;
  if (cells.size() < k_cells) return std::nullopt;
  std::ranges::transform(cells, cells.begin(), [](std::string_view cell) { return trimmed(cell); });
  const auto job = whole_number<std::uint32_t>(cells[0]);
  const auto user = whole_number<std::uint32_t>(cells[2]);
  if (!job || !user) return std::nullopt;
  const bool names_more = std::ranges::any_of(std::array{cells[11], cells[12], cells[13], cells[15]},
                                              [](std::string_view cell) { return !name_in(cell).empty(); });
  // As job_share_string() of Slurm; the others are NO, USER, MCS.
  const bool shares = cells[14] == "OK" || cells[14] == "YES";
  return PendingRecord{.job = *job,
                       .id = std::string(cells[1]),
                       .user_id = *user,
                       .partition = std::string(cells[3]),
                       .qos = name_in(cells[4]),
                       .account = name_in(cells[10]),
                       .cpus = whole_number<std::int64_t>(cells[5]).value_or(1),
                       .time_limit_s = limit_seconds(cells[6]),
                       .reason = std::string(cells[7]),
                       .priority = whole_number<std::int64_t>(cells[8]).value_or(0),
                       .start = parse_instant(std::string(cells[9])),
                       .asks_for_more = names_more || !shares || cells[1].find('+') != std::string_view::npos};
}

// The members of a job that says nothing of them, as `scontrol show job` has them.
constexpr std::array k_plain_members{std::pair{"NtasksPerN:B:S:C", "0:0:*:*"},
                                     std::pair{"ReqB:S:C:T", "0:0:*:*"},
                                     std::pair{"Socks/Node", "*"},
                                     std::pair{"CoreSpec", "*"},
                                     std::pair{"MinTmpDiskNode", "0"},
                                     std::pair{"Contiguous", "0"},
                                     std::pair{"Licenses", "(null)"}};

// Of a job that waits, the number of nodes is an estimate, and behind it is the most that it may have; the least is
// among what it asks for, as "cpu=4,node=2".
void take_nodes(JobWishes& wishes, std::string_view key, std::string_view value) {
  if (key == "NumNodes") {
    const std::size_t dash = value.find('-');
    if (dash != std::string_view::npos) wishes.most_nodes = whole_number<std::int64_t>(value.substr(dash + 1));
    return;
  }
  for (const std::string_view part : split(value, ',')) {
    constexpr std::string_view k_node = "node=";
    if (part.starts_with(k_node))
      wishes.least_nodes = whole_number<std::int64_t>(part.substr(k_node.size())).value_or(wishes.least_nodes);
  }
}

}  // namespace

std::optional<std::int64_t> limit_seconds(std::string_view text) {
  const std::size_t dash = text.find('-');
  std::int64_t seconds = 0;
  if (dash != std::string_view::npos) {
    const auto days = whole_number<std::int64_t>(text.substr(0, dash));
    if (!days || *days < 0) return std::nullopt;
    seconds = *days * k_day_s;
    text.remove_prefix(dash + 1);
  }
  std::int64_t below_day = 0;
  for (const std::string_view part : split(text, ':')) {
    const auto number = whole_number<std::int64_t>(part);
    if (!number || *number < 0 || below_day > k_day_s * 1000) return std::nullopt;
    below_day = below_day * 60 + *number;
  }
  return seconds + below_day;
}

std::string limit_text(std::int64_t seconds) {
  return std::to_string(seconds / 60) + ":00";
}

Expected<std::vector<PendingRecord>> pending_records(const ProgramRunner& run) {
  SHAPLEY_TRY_ASSIGN(const std::string output,
                     run({"squeue", "--noheader", "--all", "--local", "--array-unique", "--states=PENDING",
                          "--format=%A|%i|%U|%P|%q|%C|%l|%r|%Q|%S|%a|%b|%n|%v|%h|%f"}));
  std::vector<PendingRecord> records;
  for (const std::string_view line : split(output, '\n')) {
    if (auto record = record_in(line)) records.push_back(std::move(*record));
  }
  return records;
}

std::optional<JobWishes> wishes_of(std::uint32_t job, const ProgramRunner& run) {
  const std::string number = std::to_string(job);
  const std::string output = run({"scontrol", "--oneliner", "show", "job", number}).value_or("");
  // Of an array's number scontrol shows the tasks that have records of their own, too.
  for (const std::string_view line : split(output, '\n')) {
    const std::vector<std::string_view> words = split(line, ' ');
    if (words.front() != "JobId=" + number) continue;
    JobWishes wishes;
    std::int64_t least_of_node = 0;
    for (const std::string_view word : words) {
      const std::size_t equals = std::min(word.find('='), word.size());
      const std::string_view key = word.substr(0, equals);
      const std::string_view value = word.substr(std::min(equals + 1, word.size()));
      // What a user named it may look like another member; then the user's own job has no advice.
      const auto plain = std::ranges::find(k_plain_members, key, [](const auto& member) { return member.first; });
      if (key.starts_with("TresPer") || (plain != k_plain_members.end() && value != plain->second))
        wishes.asks_for_more = true;
      if (key == "NumNodes" || key == "TRES" || key == "ReqTRES") take_nodes(wishes, key, value);
      if (key == "CPUs/Task") wishes.cpus_per_task = whole_number<std::int64_t>(value).value_or(1);
      if (value.empty() || value == "0") continue;
      if (key == "MinMemoryNode") wishes.memory = "--mem=" + std::string(value);
      if (key == "MinMemoryCPU") wishes.memory = "--mem-per-cpu=" + std::string(value);
      if (key == "MinCPUsNode") least_of_node = whole_number<std::int64_t>(value).value_or(0);
    }
    wishes.cpus_per_task = std::max<std::int64_t>(1, wishes.cpus_per_task);
    wishes.asks_for_more = wishes.asks_for_more || least_of_node > wishes.cpus_per_task;
    return wishes;
  }
  return std::nullopt;
}

IdleCpus idle_cpus(const ProgramRunner& run) {
  IdleCpus idle;
  const std::string output = run({"sinfo", "--noheader", "--all", "--local", "--Node", "--format=%R|%C"}).value_or("");
  for (const std::string_view line : split(output, '\n')) {
    const std::vector<std::string_view> cells = split(line, '|');
    if (cells.size() != 2) continue;
    // allocated/idle/other/total
    const std::vector<std::string_view> counts = split(trimmed(cells[1]), '/');
    constexpr std::size_t k_counts = 4;
    const auto count = counts.size() == k_counts ? whole_number<std::int64_t>(counts[1]) : std::nullopt;
    if (count) idle[std::string(trimmed(cells[0]))].push_back(*count);
  }
  return idle;
}

std::int64_t fitting_cpus(const std::vector<std::int64_t>& idle, const JobWishes& wishes) {
  std::vector<std::int64_t> fitting;
  for (const std::int64_t cpus : idle) {
    if (cpus >= wishes.cpus_per_task) fitting.push_back(cpus - cpus % wishes.cpus_per_task);
  }
  std::ranges::sort(fitting, std::greater<>());
  const auto nodes = static_cast<std::int64_t>(fitting.size());
  if (nodes < wishes.least_nodes) return 0;
  const auto end = fitting.begin() + std::min(nodes, wishes.most_nodes.value_or(nodes));
  return std::accumulate(fitting.begin(), end, std::int64_t{0});
}

std::optional<FittingPartition> fitting_in(const IdleCpus& idle, std::string_view partitions, const JobWishes& wishes) {
  std::optional<FittingPartition> most;
  for (const std::string_view partition : split(partitions, ',')) {
    const auto known = idle.find(std::string(partition));
    if (known == idle.end()) continue;
    const std::int64_t cpus = fitting_cpus(known->second, wishes);
    if (most && most->cpus >= cpus) continue;
    most = {.partition = known->first, .cpus = cpus, .nodes = static_cast<std::int64_t>(known->second.size())};
  }
  return most;
}

std::optional<Instant> estimate_in(const std::string& answer) {
  constexpr std::string_view k_words = " to start at ";
  const std::size_t words = answer.find(k_words);
  if (words == std::string::npos) return std::nullopt;
  const std::size_t begin = words + k_words.size();
  const auto instant = parse_instant(answer.substr(begin, std::min(answer.find(' ', begin), answer.size()) - begin));
  return instant ? std::optional(*instant) : std::nullopt;
}

}  // namespace shapley::ctl
