#include "workload/trace_files.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/calendar.hpp"
#include "base/files.hpp"
#include "base/slurm_text.hpp"
#include "base/text.hpp"

namespace shapley::workload {

namespace {

// Instants stay far below 2^40 s and jobs below any machine, so that no sum of them overflows.
constexpr std::int64_t k_max_time = std::int64_t{1} << 40U;
constexpr std::int64_t k_max_processors = 10'000'000;

std::optional<std::int64_t> number(std::string_view text) {
  const auto value = parse_number<std::int64_t>(text);
  return value && *value <= k_max_time ? value : std::nullopt;
}

// "2026-11-21T08:59:05", or seconds since the epoch.
std::optional<Instant> submitted(std::string_view text) {
  constexpr std::size_t k_length = 19;
  if (const auto seconds = number(text)) return Instant{*seconds};
  return text.size() == k_length ? parse_instant(text) : std::nullopt;
}

std::optional<Duration> elapsed_time(std::string_view text) {
  if (const auto seconds = number(text)) return Duration{*seconds};
  return parse_slurm_duration(text);
}

constexpr std::size_t k_absent = static_cast<std::size_t>(-1);

struct Columns {
  std::size_t id = k_absent, user = k_absent, submit = k_absent, elapsed = k_absent, processors = k_absent;
  std::size_t group = k_absent, cluster = k_absent, start = k_absent, state = k_absent;
  std::size_t limit = k_absent, partition = k_absent;
  std::size_t count = 0;
};

std::size_t find_column(const std::vector<std::string_view>& header, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto place = std::find(header.begin(), header.end(), name);
    if (place != header.end()) return static_cast<std::size_t>(place - header.begin());
  }
  return k_absent;
}

Expected<Columns> find_columns(std::string_view line) {
  const auto header = split(line, '|');
  Columns columns{.id = find_column(header, {"JobIDRaw", "JobID"}),
                  .user = find_column(header, {"User", "UID"}),
                  .submit = find_column(header, {"Submit"}),
                  .elapsed = find_column(header, {"ElapsedRaw", "Elapsed"}),
                  .processors = find_column(header, {"AllocCPUS", "NCPUS"}),
                  .group = find_column(header, {"Account", "Group", "GID"}),
                  .cluster = find_column(header, {"Cluster"}),
                  .start = find_column(header, {"Start"}),
                  .state = find_column(header, {"State"}),
                  .limit = find_column(header, {"TimelimitRaw"}),
                  .partition = find_column(header, {"Partition"}),
                  .count = header.size()};
  const auto need = [](std::size_t place, const char* name) -> Expected<void> {
    if (place != k_absent) return {};
    return fail(Errc::invalid_argument, std::string("line 1: column ") + name +
                                            " is missing; export with sacct -P "
                                            "--format=JobIDRaw,User,Account,Submit,ElapsedRaw,AllocCPUS,State");
  };
  SHAPLEY_TRY(need(columns.id, "JobIDRaw"));
  SHAPLEY_TRY(need(columns.user, "User"));
  SHAPLEY_TRY(need(columns.submit, "Submit"));
  SHAPLEY_TRY(need(columns.elapsed, "ElapsedRaw"));
  SHAPLEY_TRY(need(columns.processors, "AllocCPUS"));
  return columns;
}

std::string_view field(const std::vector<std::string_view>& fields, std::size_t place) {
  return place == k_absent ? std::string_view() : fields[place];
}

// Job numbers are a cluster's own: rows of two clusters (sacct -M all) are refused. Where the export does not name
// them, rows that say different things of one job show it.
class OneCluster {
 public:
  explicit OneCluster(const Columns& columns) : columns_(columns) {}

  Expected<void> check(std::uint64_t line, const std::vector<std::string_view>& fields) {
    if (columns_.cluster != k_absent) return check_name(line, fields[columns_.cluster]);
    // A job that was resized has a row for each of its sizes.
    if (columns_.state != k_absent && fields[columns_.state] == "RESIZING") return {};
    std::string job(fields[columns_.id]);
    job.append("|").append(fields[columns_.submit]).append("|").append(field(fields, columns_.start));
    std::string said(fields[columns_.user]);
    said.append("|").append(field(fields, columns_.group));
    // A job that was requeued has a row for each run, which only the start distinguishes.
    if (columns_.start != k_absent)
      said.append("|").append(fields[columns_.processors]).append("|").append(fields[columns_.elapsed]);
    const auto [known, is_new] = jobs_.try_emplace(std::move(job), Row{line, said});
    if (is_new || known->second.said == said) return {};
    return fail(Errc::invalid_argument, "line " + std::to_string(line) + ": job " + std::string(fields[columns_.id]) +
                                            " is another one in line " + std::to_string(known->second.line) +
                                            "; are these jobs of two clusters? Export one at a time (sacct -M NAME)");
  }

 private:
  struct Row {
    std::uint64_t line = 0;
    std::string said;
  };

  Expected<void> check_name(std::uint64_t line, std::string_view cluster) {
    if (line_ == 0) {
      line_ = line;
      cluster_ = cluster;
    }
    if (cluster == cluster_) return {};
    return fail(Errc::invalid_argument, "line " + std::to_string(line) + ": Cluster: '" +
                                            std::string(cluster.substr(0, 64)) + "', and line " +
                                            std::to_string(line_) + " is of '" + cluster_.substr(0, 64) +
                                            "'; their jobs have the same numbers, so export one cluster at a time "
                                            "(sacct -M NAME)");
  }

  const Columns& columns_;
  std::uint64_t line_ = 0;  // of the first row; 0: none so far
  std::string cluster_;
  std::unordered_map<std::string, Row> jobs_;
};

class Reader {
 public:
  Reader(const Columns& columns, Malformed choice) : columns_(columns), choice_(choice), one_cluster_(columns_) {}

  Expected<void> read(std::uint64_t line_number, std::string_view line) {
    const auto fields = split(line, '|');
    if (fields.size() != columns_.count) {
      return note_malformed(
          trace_.omitted, choice_, line_number,
          "expected " + std::to_string(columns_.count) + " fields, found " + std::to_string(fields.size()));
    }
    const std::string_view id = fields[columns_.id];
    if (id.find('.') != std::string_view::npos) return {};  // a step of a job that has a line of its own
    SHAPLEY_TRY(one_cluster_.check(line_number, fields));
    const auto submit = submitted(fields[columns_.submit]);
    const auto elapsed = elapsed_time(fields[columns_.elapsed]);
    const auto processors = number(fields[columns_.processors]);
    if (!submit || !elapsed || !processors || *processors > k_max_processors) {
      return note_malformed(trace_.omitted, choice_, line_number,
                            "Submit, Elapsed or AllocCPUS is not what sacct -P writes");
    }
    add({.submit = *submit,
         .run = *elapsed,
         .processors = *processors,
         .requested = {60 * number(field(fields, columns_.limit)).value_or(0)}},
        fields);
    return {};
  }

  Trace finish() {
    trace_.users = users_.names();
    trace_.groups = groups_.names();
    if (columns_.partition != k_absent) trace_.partitions = partitions_.names();
    order_jobs(trace_);
    return std::move(trace_);
  }

 private:
  // `job`: without what names it.
  void add(TraceJob job, const std::vector<std::string_view>& fields) {
    const std::string_view id = fields[columns_.id];
    const std::string user(fields[columns_.user]);
    if (user.empty()) {
      ++trace_.omitted.unusable["no user"];
    } else if (job.run.value == 0) {
      ++trace_.omitted.unusable["no run time"];
    } else if (job.processors == 0) {
      ++trace_.omitted.unusable["no processors"];
    } else {
      // An array task is "17_3"; its array's number is enough to find it again.
      job.id = number(id.substr(0, id.find_first_of("_+"))).value_or(0);
      job.user = users_.number_of(user);
      job.group = groups_.number_of(std::string(field(fields, columns_.group)));
      job.partition = partitions_.number_of(std::string(field(fields, columns_.partition)));
      trace_.jobs.push_back(job);
    }
  }

  Columns columns_;
  Malformed choice_;
  OneCluster one_cluster_;
  Trace trace_;
  NameIndex users_;
  NameIndex groups_;
  NameIndex partitions_;
};

constexpr std::size_t k_columns = 18;
using Record = std::array<std::int64_t, k_columns>;

// Whole part of a number; some logs write the average processor time with a fraction.
std::optional<std::int64_t> whole_part(std::string_view word) {
  std::int64_t value = 0;
  const char* end = word.data() + word.size();
  auto [rest, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc{}) return std::nullopt;
  if (rest != end && *rest == '.') {
    ++rest;
    while (rest != end && *rest >= '0' && *rest <= '9') ++rest;
  }
  return rest == end ? std::optional(value) : std::nullopt;
}

// The record, or why the line is not one.
struct Parsed {
  Record record{};
  std::string problem;
};

Parsed parse_record(std::string_view line) {
  Parsed parsed;
  std::size_t column = 0;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
    line.remove_prefix(word.size());
    if (column < k_columns) {
      const auto number = whole_part(word);
      if (!number) {
        parsed.problem = "column " + std::to_string(column + 1) + ": \"" + std::string(word) + "\" is no number";
        return parsed;
      }
      parsed.record[column] = *number;
    }
    ++column;
  }
  if (column != k_columns) parsed.problem = "expected 18 columns, found " + std::to_string(column);
  return parsed;
}

// Why a well-formed record holds no job, or nothing.
const char* unusable(const Record& record, std::int64_t processors) {
  const std::int64_t status = record[10];
  if (status >= 2 && status <= 4) return "part of a job that another line has in full";
  if (record[11] < 0) return "no user";
  if (record[3] <= 0) return "no run time";
  if (processors <= 0) return "no processors";
  return nullptr;
}

bool out_of_range(const Record& record, std::int64_t processors) {
  return record[1] < 0 || record[1] > k_max_time || record[3] > k_max_time || processors > k_max_processors;
}

std::string header_value(std::string_view line, std::string_view key) {
  const std::size_t begin = line.find_first_not_of("; \t");
  if (begin == std::string_view::npos || line.substr(begin, key.size()) != key) return {};
  std::string_view value = line.substr(begin + key.size());
  const std::size_t first = value.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  value.remove_prefix(first);
  return std::string(value.substr(0, value.find_last_not_of(" \t\r") + 1));
}

// `nodes`: MaxNodes.
void read_header(std::string_view line, Trace& trace, std::int64_t& nodes) {
  if (const std::string value = header_value(line, "MaxProcs:"); !value.empty())
    trace.processors = whole_part(value.substr(0, value.find(' '))).value_or(0);
  if (const std::string value = header_value(line, "MaxNodes:"); !value.empty())
    nodes = whole_part(value.substr(0, value.find(' '))).value_or(0);
  if (const std::string value = header_value(line, "Computer:"); !value.empty()) trace.computer = value;
  if (const std::string value = header_value(line, "Acknowledge:"); !value.empty())
    trace.acknowledge += (trace.acknowledge.empty() ? "" : "; ") + value;
}

}  // namespace

Expected<Trace> parse_sacct(std::istream& text, Malformed choice) {
  std::string line;
  Lines lines(text);
  const bool has_header = lines.next(line);
  SHAPLEY_TRY(lines.end());
  if (!has_header) return fail(Errc::invalid_argument, "line 1: no header line; export with sacct -P");
  SHAPLEY_TRY_ASSIGN(const Columns columns, find_columns(line));
  Reader reader(columns, choice);
  while (lines.next(line)) {
    if (!line.empty()) SHAPLEY_TRY(reader.read(static_cast<std::uint64_t>(lines.number()), line));
  }
  SHAPLEY_TRY(lines.end());
  return reader.finish();
}

Expected<Trace> parse_swf(std::istream& text, Malformed choice) {
  Trace trace;
  NameIndex users;
  NameIndex groups;
  NameIndex partitions;
  std::int64_t nodes = 0;
  std::string line;
  Lines lines(text);
  while (lines.next(line)) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    if (line[begin] == ';') {
      read_header(line, trace, nodes);
      continue;
    }
    const Parsed parsed = parse_record(line);
    const Record& record = parsed.record;
    const std::int64_t processors = record[4] > 0 ? record[4] : record[7];
    std::string problem = parsed.problem;
    if (problem.empty() && out_of_range(record, processors)) problem = "a time or processor count is out of range";
    if (!problem.empty()) {
      SHAPLEY_TRY(note_malformed(trace.omitted, choice, static_cast<std::uint64_t>(lines.number()), problem));
      continue;
    }
    if (const char* reason = unusable(record, processors)) {
      ++trace.omitted.unusable[reason];
      continue;
    }
    trace.jobs.push_back({.id = record[0],
                          .submit = {record[1]},
                          .run = {record[3]},
                          .processors = processors,
                          .user = users.number_of(std::to_string(record[11])),
                          .group = groups.number_of(std::to_string(record[12])),
                          .requested = {std::clamp<std::int64_t>(record[8], 0, k_max_time)},
                          .partition = partitions.number_of(std::to_string(record[15]))});
  }
  SHAPLEY_TRY(lines.end());
  // The format leaves MaxProcs out where a node is one processor.
  if (trace.processors == 0) trace.processors = nodes;
  trace.users = users.names();
  trace.groups = groups.names();
  trace.partitions = partitions.names();
  order_jobs(trace);
  return trace;
}

}  // namespace shapley::workload
