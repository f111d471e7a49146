#include "ctl/slurm/own_queue.hpp"

#include <algorithm>
#include <charconv>

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
  SHAPLEY_TRY_ASSIGN(const std::string output, run({"squeue", "--noheader", "--all", "--local", "--array-unique",
                                                    "--states=PENDING", "--format=%A|%i|%U|%P|%q|%C|%l|%r|%Q|%S|%a"}));
  std::vector<PendingRecord> records;
  for (const std::string_view line : split(output, '\n')) {
    std::vector<std::string_view> cells = split(line, '|');
    constexpr std::size_t k_cells = 11;
    if (cells.size() != k_cells) continue;
    std::ranges::transform(cells, cells.begin(), [](std::string_view cell) { return trimmed(cell); });
    const auto job = whole_number<std::uint32_t>(cells[0]);
    const auto user = whole_number<std::uint32_t>(cells[2]);
    if (!job || !user) continue;
    records.push_back({.job = *job,
                       .id = std::string(cells[1]),
                       .user_id = *user,
                       .partition = std::string(cells[3]),
                       .qos = std::string(cells[4]),
                       .account = std::string(cells[10]),
                       .cpus = whole_number<std::int64_t>(cells[5]).value_or(1),
                       .time_limit_s = limit_seconds(cells[6]),
                       .reason = std::string(cells[7]),
                       .priority = whole_number<std::int64_t>(cells[8]).value_or(0),
                       .start = parse_instant(std::string(cells[9]))});
  }
  return records;
}

std::map<std::string, std::int64_t> idle_cpus(const ProgramRunner& run) {
  std::map<std::string, std::int64_t> idle;
  const std::string output = run({"sinfo", "--noheader", "--all", "--local", "--format=%R|%C"}).value_or("");
  for (const std::string_view line : split(output, '\n')) {
    const std::vector<std::string_view> cells = split(line, '|');
    if (cells.size() != 2) continue;
    // allocated/idle/other/total
    const std::vector<std::string_view> counts = split(trimmed(cells[1]), '/');
    constexpr std::size_t k_counts = 4;
    const auto count = counts.size() == k_counts ? whole_number<std::int64_t>(counts[1]) : std::nullopt;
    if (count) idle[std::string(trimmed(cells[0]))] += *count;
  }
  return idle;
}

std::optional<std::int64_t> idle_in(const std::map<std::string, std::int64_t>& idle, std::string_view partitions) {
  std::optional<std::int64_t> most;
  for (const std::string_view partition : split(partitions, ',')) {
    const auto known = idle.find(std::string(partition));
    if (known != idle.end()) most = std::max(most.value_or(0), known->second);
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
