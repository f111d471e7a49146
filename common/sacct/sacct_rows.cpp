#include "sacct/sacct_rows.hpp"

#include <algorithm>
#include <istream>
#include <utility>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/job_name.hpp"
#include "base/slurm_text.hpp"
#include "sacct/columns.hpp"
#include "sacct/sacct_fields.hpp"

namespace shapley::sacct {

namespace {

constexpr const char* k_export =
    "sacct -a -D -P -o JobID,JobIDRaw,User,UID,Group,GID,Account,Partition,QOS,State,Submit,Eligible,Start,End,"
    "ElapsedRaw,Suspended,TimelimitRaw,ReqCPUS,AllocCPUS,AllocTRES,NodeList";

Expected<Columns> read_header(std::string_view line) {
  Columns columns(line);
  const auto missing = [](Column column) {
    return fail(Errc::invalid_argument,
                fmt::format("line 1: column {} is missing; export with {}", name_of(column), k_export));
  };
  if (!columns.has(Column::job_id) && !columns.has(Column::job_id_raw)) return missing(Column::job_id_raw);
  if (!columns.has(Column::user) && !columns.has(Column::user_id)) return missing(Column::user);
  const auto needed =
      columns.missing({Column::account, Column::state, Column::submit, Column::start, Column::end, Column::cpus});
  if (needed) return missing(*needed);
  return columns;
}

// The error of a bad field names its column.
tl::unexpected<Error> bad(const Fields& fields, Column column, const std::string& what) {
  return fail(Errc::invalid_argument,
              fmt::format("{}: '{}' {}", name_of(column), fields.text(column).substr(0, 64), what));
}

Expected<std::optional<std::uint32_t>> id_of(const Fields& fields, Column column) {
  if (fields.text(column).empty()) return std::nullopt;
  const auto value = parse_number<std::uint32_t>(fields.text(column));
  if (!value) return bad(fields, column, "is no number; export with sacct -P, and without --units");
  return value;
}

// Empty: 0.
Expected<std::uint32_t> count_of(const Fields& fields, Column column) {
  SHAPLEY_TRY_ASSIGN(const auto value, id_of(fields, column));
  return value.value_or(0);
}

Expected<SlurmTime> time_of(const Fields& fields, Column column) {
  const auto time = parse_slurm_time(fields.text(column));
  if (!time) {
    return bad(fields, column,
               "is no time of this time zone; export and read with the same TZ, or with SLURM_TIME_FORMAT=%s");
  }
  if (time->instant && *time->instant < k_first_slurm)
    return bad(fields, column, "is a time before there was Slurm; correct the row or leave it out");
  return *time;
}

Expected<void> read_identity(const Fields& fields, SacctRow& row) {
  const auto name = parse_job_name(fields.text(Column::job_id));
  if (name && name->task) {
    row.array_job = name->job;
    row.array_task = name->task;
  }
  if (name) row.het_job = name->het_job;
  if (fields.has(Column::job_id_raw)) {
    const auto raw = parse_number<std::uint32_t>(fields.text(Column::job_id_raw));
    if (!raw) return bad(fields, Column::job_id_raw, "is no job's number; export with sacct -P");
    row.job = *raw;
  } else if (name && !name->task) {
    row.job = name->job;
  } else {
    return bad(fields, Column::job_id, "names an array's task, but not its job's number; export JobIDRaw, too");
  }
  return {};
}

Expected<void> read_owner(const Fields& fields, SacctRow& row) {
  row.user = fields.text(Column::user);
  row.group = fields.text(Column::group);
  SHAPLEY_TRY_ASSIGN(row.user_id, id_of(fields, Column::user_id));
  SHAPLEY_TRY_ASSIGN(row.group_id, id_of(fields, Column::group_id));
  row.account = fields.text(Column::account);
  row.partition = fields.text(Column::partition);
  row.qos = fields.text(Column::qos);
  row.name = fields.text(Column::name);
  row.wckey = fields.text(Column::wckey);
  return {};
}

Expected<void> check_end(const Fields& fields, const SacctRow& row) {
  if (row.start && row.end && *row.end < *row.start)
    return bad(fields, Column::end, "lies before Start; correct the row or leave it out");
  if (row.start && row.end && row.suspended > *row.end - *row.start)
    return bad(fields, Column::suspended, "is more than the time from Start to End; correct the row or leave it out");
  if (row.start && row.cpus > 0 && !row.end && !may_go_on(row.state))
    return bad(fields, Column::end,
               fmt::format("is no end, and State is {}; correct the row or leave it out", row.state));
  if (row.end && (row.state == "RUNNING" || row.state == "SUSPENDED"))
    return bad(fields, Column::end, fmt::format("is given for a job that is {}; export without sacct -T", row.state));
  return {};
}

// Returns whether all times are certain.
Expected<bool> read_times(const Fields& fields, SacctRow& row) {
  RowTimes times;
  SHAPLEY_TRY_ASSIGN(times.submit, time_of(fields, Column::submit));
  if (!times.submit.instant) return bad(fields, Column::submit, "is no time; leave rows out that were never submitted");
  SHAPLEY_TRY_ASSIGN(times.eligible, time_of(fields, Column::eligible));
  SHAPLEY_TRY_ASSIGN(times.start, time_of(fields, Column::start));
  SHAPLEY_TRY_ASSIGN(times.end, time_of(fields, Column::end));
  if (const std::string_view text = fields.text(Column::suspended); !text.empty()) {
    const auto suspended = parse_slurm_duration(text);
    if (!suspended) return bad(fields, Column::suspended, "is no duration; export with sacct -P");
    row.suspended = *suspended;
  }
  auto elapsed = parse_number<std::int64_t>(fields.text(Column::elapsed_seconds));
  if (const auto duration = parse_slurm_duration(fields.text(Column::elapsed)); !elapsed && duration)
    elapsed = duration->value;
  const bool certain = choose_readings(times, row.suspended, elapsed);
  row.submit = *times.submit.instant;
  row.eligible = times.eligible.instant;
  row.start = times.start.instant;
  row.end = times.end.instant;
  return certain;
}

Expected<void> read_limit(const Fields& fields, SacctRow& row) {
  if (const std::string_view minutes = fields.text(Column::limit_minutes); !minutes.empty()) {
    if (const auto value = parse_number<std::uint32_t>(minutes)) {
      row.requested = Duration{std::int64_t{*value} * 60};
    } else if (!is_no_limit(minutes)) {
      return bad(fields, Column::limit_minutes, "is no number of minutes; export with sacct -P");
    }
    return {};
  }
  const std::string_view text = fields.text(Column::limit);
  if (text.empty() || is_no_limit(text)) return {};
  row.requested = parse_slurm_duration(text);
  if (!row.requested) return bad(fields, Column::limit, "is no duration; export with sacct -P");
  return {};
}

Expected<void> read_holding(const Fields& fields, SacctRow& row) {
  SHAPLEY_TRY_ASSIGN(row.cpus, count_of(fields, Column::cpus));
  SHAPLEY_TRY_ASSIGN(row.requested_cpus, count_of(fields, Column::requested_cpus));
  const auto tres = parse_tres(fields.text(Column::tres));
  if (!tres) return bad(fields, Column::tres, "is no list of resources like cpu=4,mem=8G; export with sacct -P");
  row.memory = tres->memory;
  row.gres = tres->gres;
  row.billing = tres->billing;
  const std::string_view nodes = fields.text(Column::nodes);
  if (nodes.empty() || nodes == "None assigned" || nodes == "(null)") return {};
  auto names = expand_brackets(nodes, k_max_nodes_of_job);
  if (!names) return bad(fields, Column::nodes, "is no list of nodes: " + names.error().what);
  std::sort(names->begin(), names->end());
  names->erase(std::unique(names->begin(), names->end()), names->end());
  row.nodes = std::move(*names);
  return {};
}

Expected<SacctRow> read_row(const Fields& fields, std::int64_t line, SacctExport& out) {
  SacctRow row;
  row.line = line;
  SHAPLEY_TRY(read_identity(fields, row));
  SHAPLEY_TRY(read_owner(fields, row));
  row.state = fields.state();
  if (row.state.empty()) return bad(fields, Column::state, "is no state; export with sacct -P");
  SHAPLEY_TRY_ASSIGN(const bool certain, read_times(fields, row));
  SHAPLEY_TRY(read_limit(fields, row));
  SHAPLEY_TRY(read_holding(fields, row));
  SHAPLEY_TRY(check_end(fields, row));
  if (!certain) out.twice.push_back(line);
  return row;
}

void note_number(NamedNumbers& numbers, const std::string& name, std::optional<std::uint32_t> number) {
  if (name.empty()) return;
  std::optional<std::uint32_t>& known = numbers[name];
  if (!known) known = number;
}

// `why`: why the row is bad, or empty.
Expected<void> take_row(const Fields& fields, std::int64_t line, SacctExport& out, std::string& why) {
  switch (fields.kind()) {
    case RowKind::step:
      ++out.steps;
      return {};
    case RowKind::pending_array:
      ++out.pending_arrays;
      return {};
    case RowKind::job:
      break;
  }
  auto row = read_row(fields, line, out);
  if (!row) {
    why = std::move(row).error().what;
    return {};
  }
  note_number(out.users, row->user, row->user_id);
  note_number(out.groups, row->group, row->group_id);
  return out.rows.add(*row);
}

Expected<void> read_line(const Fields& fields, std::int64_t number, SacctExport& out, OneCluster& one_cluster,
                         std::string& why) {
  if (const std::string miscount = fields.miscount(); !miscount.empty()) {
    why = miscount + "; export without columns that users fill, such as JobName";
    return {};
  }
  if (one_cluster.takes(fields, number)) return take_row(fields, number, out, why);
  const std::string first = one_cluster.name();
  return fail(Errc::invalid_argument, fmt::format("line {}: Cluster: '{}', and line {} is of '{}'; their jobs have the "
                                                  "same numbers, so export one cluster at a time (sacct -M {})",
                                                  number, fields.text(Column::cluster).substr(0, 64),
                                                  one_cluster.line(), first, first.empty() ? "NAME" : first));
}

}  // namespace

tl::unexpected<Error> refused(const BadRow& row) {
  return fail(Errc::invalid_argument,
              fmt::format("line {}: {}; --malformed skip leaves such rows out and lists them", row.line, row.why));
}

Expected<SacctExport> read_sacct_rows(std::istream& text, Malformed choice, const std::filesystem::path& directory) {
  std::string line;
  Lines lines(text);
  if (!lines.next(line)) {
    SHAPLEY_TRY(lines.end());
    return fail(Errc::invalid_argument, "line 1: the header is missing; export with " + std::string(k_export));
  }
  SHAPLEY_TRY_ASSIGN(const Columns columns, read_header(line));
  SacctExport out(directory);
  out.has_nodes = columns.has(Column::nodes);
  out.has_limits = columns.has(Column::limit) || columns.has(Column::limit_minutes);
  OneCluster one_cluster;
  while (lines.next(line)) {
    if (line.empty()) continue;
    std::string why;
    SHAPLEY_TRY(read_line(Fields(columns, line), lines.number(), out, one_cluster, why));
    if (why.empty()) continue;
    if (choice == Malformed::refuse) return refused({lines.number(), std::move(why)});
    out.bad.push_back({lines.number(), std::move(why)});
  }
  SHAPLEY_TRY(lines.end());
  return out;
}

std::string lines_text(const std::vector<std::int64_t>& lines) {
  constexpr std::size_t k_named = 20;
  const std::size_t named = std::min(lines.size(), k_named);
  std::string text = lines.size() == 1 ? "line " : "lines ";
  for (std::size_t i = 0; i < named; ++i)
    text += (i == 0 ? "" : i + 1 == lines.size() ? " and " : ", ") + std::to_string(lines[i]);
  return lines.size() > named ? fmt::format("{} and {} more", text, lines.size() - named) : text;
}

std::string note_of_twice(const std::vector<std::int64_t>& lines) {
  if (lines.empty()) return {};
  return fmt::format(
      "{}{} a time in the hour that clocks show twice, and nothing says which one is meant: the earlier is taken ({}; "
      "TZ=UTC for sacct says it)",
      lines.size(), lines.size() == 1 ? " row has" : " rows have", lines_text(lines));
}

}  // namespace shapley::sacct
