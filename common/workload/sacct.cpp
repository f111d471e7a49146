#include "workload/sacct.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/bounded_text.hpp"
#include "base/text.hpp"

namespace shapley::workload {

namespace {

constexpr std::int64_t k_max_number = std::int64_t{1} << 40U;

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && rest == text.data() + text.size();
  return whole && value >= 0 && value <= k_max_number ? std::optional(value) : std::nullopt;
}

// Days since 1970-01-01 of a proleptic Gregorian date; years are counted from March so that leap days come last.
std::int64_t days_from_civil(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = year / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

// "2026-11-21T08:59:05" or seconds since the epoch.
std::optional<std::int64_t> parse_instant(std::string_view text) {
  if (const auto seconds = number(text)) return seconds;
  if (text.size() != 19 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const auto year = number(text.substr(0, 4));
  const auto month = number(text.substr(5, 2));
  const auto day = number(text.substr(8, 2));
  const auto hour = number(text.substr(11, 2));
  const auto minute = number(text.substr(14, 2));
  const auto second = number(text.substr(17, 2));
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  if (*year < 1970 || *month < 1 || *month > 12 || *day < 1 || *day > 31 || *hour > 23 || *minute > 59 || *second > 60)
    return std::nullopt;
  return days_from_civil(*year, *month, *day) * 86400 + *hour * 3600 + *minute * 60 + *second;
}

// "[days-]hours:minutes:seconds" or seconds.
std::optional<std::int64_t> parse_elapsed(std::string_view text) {
  if (const auto seconds = number(text)) return seconds;
  std::int64_t days = 0;
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto value = number(text.substr(0, dash));
    if (!value) return std::nullopt;
    days = *value;
    text.remove_prefix(dash + 1);
  }
  if (text.size() != 8 || text[2] != ':' || text[5] != ':') return std::nullopt;
  const auto hours = number(text.substr(0, 2));
  const auto minutes = number(text.substr(3, 2));
  const auto seconds = number(text.substr(6, 2));
  if (!hours || !minutes || !seconds) return std::nullopt;
  return days * 86400 + *hours * 3600 + *minutes * 60 + *seconds;
}

constexpr std::size_t k_absent = static_cast<std::size_t>(-1);

struct Columns {
  std::size_t id = k_absent, user = k_absent, submit = k_absent, elapsed = k_absent, processors = k_absent;
  std::size_t group = k_absent, cluster = k_absent, start = k_absent, state = k_absent;
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

// Job numbers are a cluster's own: rows of two clusters (sacct -M all) are refused. Where the export does not name
// them, rows that say different things of one job tell.
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
    // A job that was requeued has a row for each run, which only the start tells apart.
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

  static std::string_view field(const std::vector<std::string_view>& fields, std::size_t place) {
    return place == k_absent ? std::string_view() : fields[place];
  }

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
    const auto submit = parse_instant(fields[columns_.submit]);
    const auto elapsed = parse_elapsed(fields[columns_.elapsed]);
    const auto processors = number(fields[columns_.processors]);
    if (!submit || !elapsed || !processors || *processors > 10'000'000) {
      return note_malformed(trace_.omitted, choice_, line_number,
                            "Submit, Elapsed or AllocCPUS is not what sacct -P writes");
    }
    add(id, {*submit}, {*elapsed}, *processors, std::string(fields[columns_.user]),
        columns_.group == k_absent ? std::string() : std::string(fields[columns_.group]));
    return {};
  }

  Trace finish() {
    trace_.users = users_.names();
    trace_.groups = groups_.names();
    order_jobs(trace_);
    return std::move(trace_);
  }

 private:
  void add(std::string_view id, Instant submit, Duration run, std::int64_t processors, const std::string& user,
           const std::string& group) {
    if (user.empty()) {
      ++trace_.omitted.unusable["no user"];
    } else if (run.value == 0) {
      ++trace_.omitted.unusable["no run time"];
    } else if (processors == 0) {
      ++trace_.omitted.unusable["no processors"];
    } else {
      // An array task is "17_3"; its array's number is enough to find it again.
      const std::int64_t raw = number(id.substr(0, id.find_first_of("_+"))).value_or(0);
      trace_.jobs.push_back({.id = raw,
                             .submit = submit,
                             .run = run,
                             .processors = processors,
                             .user = users_.number_of(user),
                             .group = groups_.number_of(group)});
    }
  }

  Columns columns_;
  Malformed choice_;
  OneCluster one_cluster_;
  Trace trace_;
  NameIndex users_;
  NameIndex groups_;
};

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

}  // namespace shapley::workload
