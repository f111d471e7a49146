#include "sacct/sacct_rows.hpp"

#include <algorithm>
#include <array>
#include <istream>
#include <utility>

#include "base/files.hpp"
#include "base/job_name.hpp"
#include "base/slurm_text.hpp"
#include "base/text.hpp"
#include "sacct/packed.hpp"
#include "sacct/row_checks.hpp"
#include "sacct/sacct_fields.hpp"

namespace shapley::sacct {

namespace {

constexpr const char* k_export =
    "sacct -a -D -P -o JobID,JobIDRaw,User,UID,Group,GID,Account,Partition,QOS,State,Submit,Eligible,Start,End,"
    "ElapsedRaw,Suspended,TimelimitRaw,ReqCPUS,AllocCPUS,AllocTRES,NodeList";

// Before this there was no Slurm.
constexpr Instant k_first_slurm{978'307'200};  // 2001-01-01

enum class Column {
  cluster,
  job_id,
  job_id_raw,
  user,
  user_id,
  group,
  group_id,
  account,
  partition,
  qos,
  name,
  wckey,
  state,
  submit,
  eligible,
  start,
  end,
  suspended,
  elapsed_seconds,
  elapsed,
  limit_minutes,
  limit,
  requested_cpus,
  cpus,
  tres,
  nodes,
};
constexpr std::array<std::string_view, 26> k_columns{
    "Cluster",    "JobID",   "JobIDRaw",     "User",      "UID",     "Group",     "GID",       "Account", "Partition",
    "QOS",        "JobName", "WCKey",        "State",     "Submit",  "Eligible",  "Start",     "End",     "Suspended",
    "ElapsedRaw", "Elapsed", "TimelimitRaw", "Timelimit", "ReqCPUS", "AllocCPUS", "AllocTRES", "NodeList"};

struct Header {
  std::size_t width = 0;
  std::array<std::optional<std::size_t>, k_columns.size()> at;

  [[nodiscard]] bool has(Column column) const { return at[static_cast<std::size_t>(column)].has_value(); }
};

Header header_of(std::string_view line) {
  const auto names = split(line, '|');
  Header header{.width = names.size(), .at = {}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t column = 0; column < k_columns.size(); ++column) {
      if (names[i] == k_columns[column]) header.at[column] = i;
    }
  }
  return header;
}

Expected<Header> read_header(std::string_view line) {
  Header header = header_of(line);
  const auto missing = [](std::string_view name) {
    return fail(Errc::invalid_argument,
                "line 1: column " + std::string(name) + " is missing; export with " + std::string(k_export));
  };
  if (!header.has(Column::job_id) && !header.has(Column::job_id_raw)) return missing("JobIDRaw");
  if (!header.has(Column::user) && !header.has(Column::user_id)) return missing("User");
  for (const Column needed :
       {Column::account, Column::state, Column::submit, Column::start, Column::end, Column::cpus}) {
    if (!header.has(needed)) return missing(k_columns[static_cast<std::size_t>(needed)]);
  }
  return header;
}

// One row's fields; the error of a bad one names the column.
class Fields {
 public:
  Fields(const Header& header, const std::vector<std::string_view>& fields) : header_(header), fields_(fields) {}

  // Empty where the column is missing.
  [[nodiscard]] std::string_view text(Column column) const {
    const auto at = header_.at[static_cast<std::size_t>(column)];
    return at ? fields_[*at] : std::string_view{};
  }
  [[nodiscard]] tl::unexpected<Error> bad(Column column, const std::string& what) const {
    return fail(Errc::invalid_argument, std::string(k_columns[static_cast<std::size_t>(column)]) + ": '" +
                                            std::string(text(column).substr(0, 64)) + "' " + what);
  }
  // Empty: 0.
  [[nodiscard]] Expected<std::uint32_t> count(Column column) const {
    if (text(column).empty()) return 0U;
    const auto value = parse_number<std::uint32_t>(text(column));
    if (!value) return bad(column, "is no number; export with sacct -P, and without --units");
    return *value;
  }
  [[nodiscard]] Expected<SlurmTime> time(Column column) const {
    const auto time = parse_slurm_time(text(column));
    if (!time) {
      return bad(column,
                 "is no time of this time zone; export and read with the same TZ, or with SLURM_TIME_FORMAT=%s");
    }
    if (time->instant && *time->instant < k_first_slurm)
      return bad(column, "is a time before there was Slurm; correct the row or leave it out");
    return *time;
  }
  [[nodiscard]] Expected<std::optional<std::uint32_t>> id(Column column) const {
    if (text(column).empty()) return std::nullopt;
    SHAPLEY_TRY_ASSIGN(const std::uint32_t id, count(column));
    return id;
  }

 private:
  const Header& header_;
  const std::vector<std::string_view>& fields_;
};

Expected<void> read_identity(const Fields& fields, bool has_raw, SacctRow& row) {
  const auto name = parse_job_name(fields.text(Column::job_id));
  if (name && name->task) {
    row.array_job = name->job;
    row.array_task = name->task;
  }
  if (name) row.het_job = name->het_job;
  if (has_raw) {
    const auto raw = parse_number<std::uint32_t>(fields.text(Column::job_id_raw));
    if (!raw) return fields.bad(Column::job_id_raw, "is no job's number; export with sacct -P");
    row.job = *raw;
  } else if (name && !name->task) {
    row.job = name->job;
  } else {
    return fields.bad(Column::job_id, "names an array's task, but not its job's number; export JobIDRaw, too");
  }
  return {};
}

Expected<void> read_owner(const Fields& fields, SacctRow& row) {
  row.user = fields.text(Column::user);
  row.group = fields.text(Column::group);
  SHAPLEY_TRY_ASSIGN(row.user_id, fields.id(Column::user_id));
  SHAPLEY_TRY_ASSIGN(row.group_id, fields.id(Column::group_id));
  row.account = fields.text(Column::account);
  row.partition = fields.text(Column::partition);
  row.qos = fields.text(Column::qos);
  row.name = fields.text(Column::name);
  row.wckey = fields.text(Column::wckey);
  return {};
}

// Whether a job of this state may have begun and not have ended.
bool goes_on(std::string_view state) {
  constexpr std::array<std::string_view, 8> k_states{"RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING",
                                                     "STOPPED", "SIGNALING", "STAGE_OUT",  "PENDING"};
  return std::find(k_states.begin(), k_states.end(), state) != k_states.end();
}

Expected<void> check_end(const Fields& fields, const SacctRow& row) {
  if (row.start && row.end && *row.end < *row.start)
    return fields.bad(Column::end, "lies before Start; correct the row or leave it out");
  if (row.start && row.end && row.suspended > *row.end - *row.start)
    return fields.bad(Column::suspended, "is more than the time from Start to End; correct the row or leave it out");
  if (row.start && row.cpus > 0 && !row.end && !goes_on(row.state))
    return fields.bad(Column::end, "is no end, and State is " + row.state + "; correct the row or leave it out");
  if (row.end && (row.state == "RUNNING" || row.state == "SUSPENDED"))
    return fields.bad(Column::end, "is given for a job that is " + row.state + "; export without sacct -T");
  return {};
}

// Returns whether all times are certain.
Expected<bool> read_times(const Fields& fields, SacctRow& row) {
  RowTimes times;
  SHAPLEY_TRY_ASSIGN(times.submit, fields.time(Column::submit));
  if (!times.submit.instant) return fields.bad(Column::submit, "is no time; leave rows out that were never submitted");
  SHAPLEY_TRY_ASSIGN(times.eligible, fields.time(Column::eligible));
  SHAPLEY_TRY_ASSIGN(times.start, fields.time(Column::start));
  SHAPLEY_TRY_ASSIGN(times.end, fields.time(Column::end));
  if (const std::string_view text = fields.text(Column::suspended); !text.empty()) {
    const auto suspended = parse_slurm_duration(text);
    if (!suspended) return fields.bad(Column::suspended, "is no duration; export with sacct -P");
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
      return fields.bad(Column::limit_minutes, "is no number of minutes; export with sacct -P");
    }
    return {};
  }
  const std::string_view text = fields.text(Column::limit);
  if (text.empty() || is_no_limit(text)) return {};
  row.requested = parse_slurm_duration(text);
  if (!row.requested) return fields.bad(Column::limit, "is no duration; export with sacct -P");
  return {};
}

Expected<void> read_holding(const Fields& fields, SacctRow& row) {
  SHAPLEY_TRY_ASSIGN(row.cpus, fields.count(Column::cpus));
  SHAPLEY_TRY_ASSIGN(row.requested_cpus, fields.count(Column::requested_cpus));
  const auto tres = parse_tres(fields.text(Column::tres));
  if (!tres) return fields.bad(Column::tres, "is no list of resources like cpu=4,mem=8G; export with sacct -P");
  row.memory = tres->memory;
  row.gres = tres->gres;
  row.billing = tres->billing;
  const std::string_view nodes = fields.text(Column::nodes);
  if (nodes.empty() || nodes == "None assigned" || nodes == "(null)") return {};
  auto names = expand_brackets(nodes, k_max_nodes_of_job);
  if (!names) return fields.bad(Column::nodes, "is no list of nodes: " + names.error().what);
  std::sort(names->begin(), names->end());
  names->erase(std::unique(names->begin(), names->end()), names->end());
  row.nodes = std::move(*names);
  return {};
}

Expected<SacctRow> read_row(const Header& header, const Fields& fields, std::int64_t line, SacctRows& out) {
  SacctRow row;
  row.line = line;
  SHAPLEY_TRY(read_identity(fields, header.has(Column::job_id_raw), row));
  SHAPLEY_TRY(read_owner(fields, row));
  const std::string_view state = fields.text(Column::state);
  row.state = state.substr(0, state.find(' '));  // "CANCELLED by 1000"
  if (row.state.empty()) return fields.bad(Column::state, "is no state; export with sacct -P");
  SHAPLEY_TRY_ASSIGN(const bool certain, read_times(fields, row));
  SHAPLEY_TRY(read_limit(fields, row));
  SHAPLEY_TRY(read_holding(fields, row));
  SHAPLEY_TRY(check_end(fields, row));
  if (!certain) out.twice.push_back(line);
  return row;
}

// Each cluster numbers its own jobs, so rows of two clusters are not rows of the same jobs.
class OneCluster {
 public:
  Expected<void> check(std::string_view cluster, std::int64_t line) {
    if (line_ == 0) {
      cluster_ = cluster;
      line_ = line;
    }
    if (cluster == cluster_) return {};
    return fail(Errc::invalid_argument,
                "line " + std::to_string(line) + ": Cluster: '" + std::string(cluster.substr(0, 64)) + "', and line " +
                    std::to_string(line_) + " is of '" + cluster_.substr(0, 64) +
                    "'; their jobs have the same numbers, so export one cluster at a time (sacct -M " +
                    (cluster_.empty() ? "NAME" : cluster_.substr(0, 64)) + ")");
  }

 private:
  std::string cluster_;
  std::int64_t line_ = 0;
};

Expected<void> read_line(const Header& header, std::string_view line, std::int64_t number, SacctRows& out,
                         OneCluster& one_cluster, std::string& why) {
  const auto fields = split(line, '|');
  if (fields.size() != header.width) {
    why = std::to_string(fields.size()) + " fields where the header has " + std::to_string(header.width) +
          "; export without columns that users fill, such as JobName";
    return {};
  }
  const Fields row(header, fields);
  SHAPLEY_TRY(one_cluster.check(row.text(Column::cluster), number));
  const std::string_view name = row.text(header.has(Column::job_id) ? Column::job_id : Column::job_id_raw);
  const std::string_view raw = row.text(Column::job_id_raw);
  if (name.find('.') != std::string_view::npos || raw.find('.') != std::string_view::npos) {
    ++out.steps;
  } else if (name.find('[') != std::string_view::npos) {
    ++out.pending_arrays;
  } else if (const auto read = read_row(header, row, number, out)) {
    SHAPLEY_TRY(out.add(*read));
  } else {
    why = std::move(read).error().what;
  }
  return {};
}

}  // namespace

namespace {

// All fields except the nodes, which are written in Slurm's notation: a list of thousands takes some bytes.
template <typename Fields, typename Row>
void pass_fields(Fields& fields, Row& row) {
  const auto pass = [&](auto&... members) { (fields(members), ...); };
  pass(row.line, row.job, row.array_job, row.array_task, row.het_job, row.user, row.user_id, row.group, row.group_id);
  pass(row.account, row.partition, row.qos, row.name, row.wckey, row.state, row.submit, row.eligible, row.start);
  pass(row.end, row.suspended, row.requested, row.requested_cpus, row.cpus, row.memory, row.gres, row.billing);
}

}  // namespace

void pack(const SacctRow& row, std::string& bytes) {
  Packer packer(bytes);
  pass_fields(packer, row);
  packer(collapse_names(row.nodes));
}

SacctRow unpack_row(std::string_view& bytes) {
  SacctRow row;
  Unpacker unpacker(bytes);
  pass_fields(unpacker, row);
  std::string nodes;
  unpacker(nodes);
  if (nodes.empty()) return row;
  row.nodes = expand_brackets(nodes, k_max_nodes_of_job).value();
  std::sort(row.nodes.begin(), row.nodes.end());
  return row;
}

Expected<void> SacctRows::add(const SacctRow& row) {
  ++size_;
  if (!row.ran()) ++never_ran_;
  const auto note = [](NamedNumbers& numbers, const std::string& name, std::optional<std::uint32_t> number) {
    if (name.empty()) return;
    std::optional<std::uint32_t>& known = numbers[name];
    if (!known) known = number;
  };
  note(users, row.user, row.user_id);
  note(groups, row.group, row.group_id);
  std::string record;
  add_ordered(row.job, record);
  add_ordered(row.ran() ? 0 : 1, record);
  add_ordered(row.start.value_or(k_end_of_time).value, record);
  add_ordered(row.end.value_or(k_end_of_time).value, record);
  add_ordered(row.submit.value, record);
  add_ordered(row.line, record);
  pack(row, record);
  return sorted_.add(record);
}

Expected<void> SacctRows::for_each_job(const std::function<Expected<void>(const std::vector<SacctRow>&)>& visit) const {
  constexpr std::size_t k_key = 6 * sizeof(std::int64_t);
  std::vector<SacctRow> of_job;
  std::size_t names = 0;
  const auto take = [&](std::string_view record) -> Expected<void> {
    record.remove_prefix(k_key);
    SacctRow row = unpack_row(record);
    const auto at = std::lower_bound(bad.begin(), bad.end(), row.line,
                                     [](const BadRow& left_out, std::int64_t line) { return left_out.line < line; });
    if (at != bad.end() && at->line == row.line) return {};
    if (!of_job.empty() && of_job.front().job != row.job) {
      SHAPLEY_TRY(visit(of_job));
      of_job.clear();
      names = 0;
    }
    names += row.nodes.size();
    if (names > k_max_names) {
      return fail(Errc::invalid_argument, "line " + std::to_string(row.line) + ": the rows of job " +
                                              std::to_string(row.job) + " name more than " +
                                              std::to_string(k_max_names) + " nodes; correct them, or leave them out");
    }
    of_job.push_back(std::move(row));
    return {};
  };
  SHAPLEY_TRY(sorted_.for_each(take));
  return of_job.empty() ? Expected<void>{} : visit(of_job);
}

void SacctRows::leave_out(const std::map<std::int64_t, std::string>& faults) {
  for (const auto& [line, why] : faults) bad.push_back({line, why});
  std::sort(bad.begin(), bad.end(), [](const BadRow& a, const BadRow& b) { return a.line < b.line; });
  size_ -= static_cast<std::int64_t>(faults.size());
}

tl::unexpected<Error> refused(const BadRow& row) {
  return fail(Errc::invalid_argument, "line " + std::to_string(row.line) + ": " + row.why +
                                          "; --malformed skip leaves such rows out and lists them");
}

Expected<SacctRows> read_sacct_rows(std::istream& text, Malformed choice, const std::filesystem::path& directory) {
  std::string line;
  Lines lines(text);
  if (!lines.next(line)) {
    SHAPLEY_TRY(lines.end());
    return fail(Errc::invalid_argument, "line 1: the header is missing; export with " + std::string(k_export));
  }
  SHAPLEY_TRY_ASSIGN(const Header header, read_header(line));
  SacctRows out(directory);
  out.has_nodes = header.has(Column::nodes);
  out.has_limits = header.has(Column::limit) || header.has(Column::limit_minutes);
  OneCluster one_cluster;
  while (lines.next(line)) {
    if (line.empty()) continue;
    std::string why;
    const std::int64_t number = lines.number();
    SHAPLEY_TRY(read_line(header, line, number, out, one_cluster, why));
    if (why.empty()) continue;
    if (choice == Malformed::refuse) return refused({number, std::move(why)});
    out.bad.push_back({number, std::move(why)});
  }
  SHAPLEY_TRY(lines.end());
  SHAPLEY_TRY(check_rows(out, choice));
  return out;
}

std::string note_of_twice(const std::vector<std::int64_t>& lines) {
  if (lines.empty()) return {};
  constexpr std::size_t k_named = 20;
  std::string text = std::to_string(lines.size()) + (lines.size() == 1 ? " row has" : " rows have") +
                     " a time in the hour that clocks show twice, and nothing says which one is meant: the earlier is "
                     "taken (line";
  for (std::size_t i = 0; i < lines.size() && i < k_named; ++i)
    text += (i == 0 ? " " : ", ") + std::to_string(lines[i]);
  if (lines.size() > k_named) text += " and " + std::to_string(lines.size() - k_named) + " more";
  return text + "; TZ=UTC for sacct says it)";
}

}  // namespace shapley::sacct
