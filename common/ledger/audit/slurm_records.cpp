#include "ledger/audit/slurm_records.hpp"

#include <algorithm>
#include <array>
#include <istream>
#include <map>
#include <set>
#include <utility>

#include "base/files.hpp"
#include "base/slurm_text.hpp"

namespace shapley::ledger {

namespace {

// A record of either format is far shorter; Slurm did not write a longer line.
constexpr std::size_t k_longest_line = k_max_line;
// slurmctld of 22.05 builds a jobcomp/filetxt record in 1,024 bytes. One that does not fit is cut off there and loses
// its line feed, so that the next record goes on in the same line.
constexpr std::size_t k_longest_jobcomp_record = 1023;
// No run began before this, the year of Slurm's first lines, nor so long before its own submission.
constexpr Instant k_first_slurm{978'307'200};
constexpr Duration k_longest_resized{366 * 86'400};

// Takes `prefix` from the front of `text`.
bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Takes everything up to the next `stop` (or the end) from the front of `text`.
std::string_view take_until(std::string_view& text, char stop) {
  const std::string_view taken = text.substr(0, text.find(stop));
  text.remove_prefix(taken.size());
  return taken;
}

struct Reading {
  SlurmRecords& out;
  const FindArrayTask& find_task;

  void set_aside(std::int64_t line, std::string why) const { out.unreadable.push_back({line, std::move(why)}); }
};

// Reads one of the two times of a record; false when it is neither a time nor one of Slurm's words for no time.
bool read_time(std::string_view text, std::optional<RecordedTime>& time) {
  const auto read = parse_slurm_time(text);
  if (read && read->instant) time = RecordedTime{*read->instant, read->twin};
  return read.has_value();
}

// Whether in some reading of the two times the run ends no earlier than it starts.
bool in_order(const SlurmRecord& record) {
  if (!record.start || !record.end) return true;
  const auto latest = [](const RecordedTime& time) { return std::max(time.instant, time.twin.value_or(time.instant)); };
  const auto earliest = [](const RecordedTime& time) {
    return std::min(time.instant, time.twin.value_or(time.instant));
  };
  return earliest(*record.start) <= latest(*record.end);
}

void keep(SlurmRecord record, const std::optional<RecordedTime>& submit, const Reading& reading) {
  const auto impossible = [&](std::string why) {
    reading.out.impossible.push_back({record.line, record.job, std::move(why)});
  };
  if (record.start && record.start->instant < k_first_slurm) return impossible("it starts before there was Slurm");
  // A part of a resized run has the time of the resize, and the start of the whole run.
  if (record.start && submit && record.start->instant < submit->instant - k_longest_resized)
    return impossible("it starts more than a year before it was submitted");
  if (!in_order(record)) return reading.set_aside(record.line, "the run would end before it starts");
  reading.out.records.push_back(std::move(record));
}

// --- sacct -P ---

enum class Column {
  job_id_raw,
  job_id,
  start,
  end,
  state,
  alloc_cpus,
  n_cpus,
  suspended,
  submit,
  cluster,
  user,
  account,
  nodes,
  tres
};
constexpr std::array<std::string_view, 14> k_columns{"JobIDRaw",  "JobID",   "Start",     "End",      "State",
                                                     "AllocCPUS", "NCPUS",   "Suspended", "Submit",   "Cluster",
                                                     "User",      "Account", "NodeList",  "AllocTRES"};

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    fields.push_back(take_until(line, '|'));
    if (line.empty()) return fields;
    line.remove_prefix(1);
    if (line.empty()) {
      fields.emplace_back();
      return fields;
    }
  }
}

struct SacctHeader {
  std::size_t width = 0;
  std::array<std::optional<std::size_t>, k_columns.size()> at;  // by Column

  [[nodiscard]] bool has(Column column) const { return at[static_cast<std::size_t>(column)].has_value(); }
  [[nodiscard]] std::string_view field(const std::vector<std::string_view>& fields, Column column) const {
    const auto index = at[static_cast<std::size_t>(column)];
    return index ? fields[*index] : std::string_view{};
  }
};

Expected<SacctHeader> read_header(std::string_view line) {
  const auto names = split(line);
  SacctHeader header{.width = names.size(), .at = {}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t column = 0; column < k_columns.size(); ++column) {
      if (names[i] == k_columns[column]) header.at[column] = i;
    }
  }
  const bool complete = (header.has(Column::job_id_raw) || header.has(Column::job_id)) && header.has(Column::start) &&
                        header.has(Column::end) && header.has(Column::state) &&
                        (header.has(Column::alloc_cpus) || header.has(Column::n_cpus));
  if (complete) return header;
  return fail(Errc::invalid_argument,
              "line 1: neither a jobcomp/filetxt record nor the header of sacct -P; make the records with "
              "sacct -a -D -P -o JobIDRaw,Start,End,State,AllocCPUS,Suspended");
}

// Of "billing=8,cpu=4,mem=8G,node=1", from which Slurm leaves a 0 out. nullopt: there is no such list.
std::optional<std::int64_t> billing_of(std::string_view tres) {
  constexpr std::string_view k_name = "billing=";
  for (const std::string_view item : shapley::split(tres, ',')) {
    if (item.starts_with(k_name)) return parse_number<std::int64_t>(item.substr(k_name.size()));
  }
  return tres.empty() ? std::nullopt : std::optional<std::int64_t>(0);
}

enum class RowKind { job, step, pending_array, unreadable };

// The number of "20+1", a part of a heterogeneous job: Slurm numbers the parts consecutively.
std::optional<JobId> part_of_job(std::string_view text) {
  const std::size_t mark = text.find('+');
  if (mark == std::string_view::npos) return std::nullopt;
  const auto first = parse_number<std::uint32_t>(text.substr(0, mark));
  const auto part = parse_number<std::uint32_t>(text.substr(mark + 1));
  return first && part ? std::optional(JobId{*first + *part}) : std::nullopt;
}

// The job that a row is about.
RowKind identify(std::string_view text, const FindArrayTask& find_task, JobId& job) {
  if (text.find('.') != std::string_view::npos) return RowKind::step;
  if (const auto id = parse_number<std::uint32_t>(text)) {
    job = {*id};
    return RowKind::job;
  }
  if (const auto id = part_of_job(text)) {
    job = *id;
    return RowKind::job;
  }
  const std::size_t mark = text.find('_');
  if (mark == std::string_view::npos) return RowKind::unreadable;
  const auto array = parse_number<std::uint32_t>(text.substr(0, mark));
  const std::string_view rest = text.substr(mark + 1);
  if (array && rest.starts_with('[')) return RowKind::pending_array;
  const auto task = parse_number<std::uint32_t>(rest);
  const auto id = array && task ? find_task(*array, *task) : std::nullopt;
  if (!id) return RowKind::unreadable;
  job = *id;
  return RowKind::job;
}

void read_sacct_row(const SacctHeader& header, std::string_view line, std::int64_t number_of_line,
                    const Reading& reading, std::set<std::string, std::less<>>& clusters) {
  const auto fields = split(line);
  if (fields.size() != header.width) {
    return reading.set_aside(number_of_line, std::to_string(fields.size()) + " fields where the header has " +
                                                 std::to_string(header.width) +
                                                 "; leave out columns that users fill, such as JobName");
  }
  clusters.emplace(header.field(fields, Column::cluster));
  const std::string_view name =
      header.field(fields, header.has(Column::job_id_raw) ? Column::job_id_raw : Column::job_id);
  SlurmRecord record{.line = number_of_line, .billing = billing_of(header.field(fields, Column::tres))};
  switch (identify(name, reading.find_task, record.job)) {
    case RowKind::step:
      ++reading.out.steps;
      return;
    case RowKind::pending_array:
      ++reading.out.pending_arrays;
      return;
    case RowKind::unreadable:
      return reading.set_aside(number_of_line, "'" + std::string(name.substr(0, 64)) +
                                                   "' names no job that is known; ask sacct for the column JobIDRaw");
    case RowKind::job:
      break;
  }
  std::string_view state = header.field(fields, Column::state);
  record.state = take_until(state, ' ');  // "CANCELLED by 1000"
  std::optional<RecordedTime> submit;
  if (!read_time(header.field(fields, Column::start), record.start) ||
      !read_time(header.field(fields, Column::end), record.end) ||
      !read_time(header.field(fields, Column::submit), submit)) {
    return reading.set_aside(number_of_line, "a time that is none in this time zone; set TZ as slurmctld has it");
  }
  const Column cpus = header.has(Column::alloc_cpus) ? Column::alloc_cpus : Column::n_cpus;
  record.cpus = parse_number<std::uint32_t>(header.field(fields, cpus));
  if (!record.cpus) return reading.set_aside(number_of_line, "the number of CPUs is no number");
  if (header.has(Column::suspended)) {
    record.suspended = parse_slurm_duration(header.field(fields, Column::suspended));
    if (!record.suspended) return reading.set_aside(number_of_line, "Suspended is no duration");
  }
  for (const Column column : {Column::user, Column::account, Column::nodes}) {
    if (header.has(column)) record.described.append(header.field(fields, column)).append("|");
  }
  keep(std::move(record), submit, reading);
}

// slurmdbd has one record of a job's start, so two with different ends, nodes or owners are of two jobs, and neither is
// used. (A job that is requeued while it completes is recorded twice, the second time perhaps without its CPUs; parts
// of a resized run all have its start.)
bool contradict(const SlurmRecord& a, const SlurmRecord& b) {
  if (!a.end || !b.end || a.cpus == 0 || b.cpus == 0 || a.state == "RESIZING" || b.state == "RESIZING") return false;
  return a.end != b.end || a.cpus != b.cpus || a.described != b.described;
}

void set_contradictions_aside(const Reading& reading) {
  std::map<std::pair<JobId, Instant>, const SlurmRecord*> first;
  std::map<std::int64_t, std::string> aside;  // by line
  for (const SlurmRecord& record : reading.out.records) {
    if (!record.start || record.state == "RESIZING") continue;
    const auto [place, is_new] = first.emplace(std::pair(record.job, record.start->instant), &record);
    if (is_new || !contradict(record, *place->second)) continue;
    const auto why = [&](const SlurmRecord& other) {
      return "job " + std::to_string(record.job.value) + " started then in line " + std::to_string(other.line) +
             ", too, and that line says otherwise; are these jobs of two clusters? Ask sacct for one at a time (-M)";
    };
    aside.emplace(place->second->line, why(record));
    aside.emplace(record.line, why(*place->second));
  }
  if (aside.empty()) return;
  for (auto& [line, why] : aside) reading.set_aside(line, std::move(why));
  std::erase_if(reading.out.records, [&](const SlurmRecord& record) { return aside.contains(record.line); });
}

// Refuses rows of two clusters.
Expected<void> check_clusters(const std::set<std::string, std::less<>>& clusters, std::int64_t line) {
  if (clusters.size() < 2) return {};
  return fail(Errc::invalid_argument,
              "line " + std::to_string(line) + ": Cluster: the records are of '" + clusters.begin()->substr(0, 64) +
                  "' and '" + clusters.rbegin()->substr(0, 64) +
                  "', whose jobs have the same numbers; ask sacct for one cluster at a time (-M NAME)");
}

// --- jobcomp/filetxt ---

// "... JobState=S Partition=P TimeLimit=L StartTime=T EndTime=T NodeList=N NodeCnt=n ProcCnt=n WorkDir=...", which
// stands between the job's name and its working directory. Fills the record when `text` begins with this.
bool read_core(std::string_view text, SlurmRecord& record, std::string& why) {
  const auto value = [&text](std::string_view name, std::string_view& out) {
    if (!skip(text, name)) return false;
    out = take_until(text, ' ');
    return true;
  };
  std::string_view state, partition, limit, start, end, nodes, node_count, cpus;
  if (!value(" JobState=", state) || !value(" Partition=", partition) || !value(" TimeLimit=", limit) ||
      !value(" StartTime=", start) || !value(" EndTime=", end) || !value(" NodeList=", nodes) ||
      !value(" NodeCnt=", node_count) || !value(" ProcCnt=", cpus) || !text.starts_with(" WorkDir=")) {
    return false;
  }
  record.state = state;
  record.start.reset();
  record.end.reset();
  record.cpus = parse_number<std::uint32_t>(cpus);
  if (!record.cpus) why = "ProcCnt is no number";
  if (!read_time(start, record.start) || !read_time(end, record.end)) {
    why = "a time that is none in this time zone; set TZ as slurmctld has it";
  }
  return true;
}

// Takes "JobId=17 " from the front of `text`, where a record begins.
std::optional<JobId> skip_job(std::string_view& text) {
  const auto id = skip(text, "JobId=") ? parse_number<std::uint32_t>(take_until(text, ' ')) : std::nullopt;
  return id && text.starts_with(" UserId=") ? std::optional(JobId{*id}) : std::nullopt;
}

void read_jobcomp_record(std::string_view text, std::int64_t line, const Reading& reading) {
  SlurmRecord record{.line = line};
  std::string_view rest = text;
  const auto id = skip_job(rest);
  if (!id) return reading.set_aside(line, "no jobcomp/filetxt record: it does not begin with JobId=... UserId=...");
  record.job = *id;
  int found = 0;
  std::string why;
  for (auto at = rest.find(" JobState="); at != std::string_view::npos; at = rest.find(" JobState=", at + 1)) {
    SlurmRecord candidate = record;
    std::string fault;
    if (!read_core(rest.substr(at), candidate, fault)) continue;
    if (++found > 1) break;
    record = std::move(candidate);
    why = std::move(fault);
  }
  if (found == 0) why = "no jobcomp/filetxt record: JobState=... to ProcCnt=... is not there, or cut off";
  if (found > 1) why = "job " + std::to_string(id->value) + ": the job's name or directory looks like a record itself";
  if (!why.empty()) return reading.set_aside(line, std::move(why));
  keep(std::move(record), std::nullopt, reading);
}

void read_jobcomp_line(std::string_view line, std::int64_t number_of_line, const Reading& reading) {
  while (line.size() > k_longest_jobcomp_record && line.substr(k_longest_jobcomp_record).starts_with("JobId=")) {
    read_jobcomp_record(line.substr(0, k_longest_jobcomp_record), number_of_line, reading);
    line.remove_prefix(k_longest_jobcomp_record);
  }
  read_jobcomp_record(line, number_of_line, reading);
}

// " ExitCode=0:0 ", the last member of a record, ends the line.
bool is_whole(std::string_view text) {
  const std::size_t at = text.rfind(" ExitCode=");
  if (at == std::string_view::npos) return false;
  text.remove_prefix(at + std::string_view(" ExitCode=").size());
  const bool one_value = text.size() > 1 && text.find(' ') == text.size() - 1;
  return one_value && text.find_first_not_of("0123456789:") == text.size() - 1;
}

bool begins_record(std::string_view line) {
  if (!skip_job(line)) return false;
  const std::size_t group = line.find(" GroupId=");
  return group != std::string_view::npos && line.find(" Name=", group) != std::string_view::npos;
}

// The lines of a jobcomp/filetxt file, joined to records: names and directories may contain line feeds. slurmctld
// writes a record and its line feed at once, so an incomplete record continues in the next line.
class JobcompLines {
 public:
  explicit JobcompLines(const Reading& reading) : reading_(reading) {}

  void add(std::string line, std::int64_t number) {
    const bool full = joined_.size() > k_longest_line;
    if (full || (begins_record(line) && (ends_here_ || (!seen_whole_ && has_core(joined_))))) finish();
    if (lines_.empty()) number_ = number;
    joined_ += lines_.empty() ? line : '\n' + line;
    ends_here_ = ends_here_ || is_whole(line);
    lines_.push_back(std::move(line));
    seen_whole_ = seen_whole_ || ends_here_;
  }

  void finish() {
    const bool imitates = std::any_of(lines_.begin() + (lines_.empty() ? 0 : 1), lines_.end(), begins_record);
    if (imitates) {
      reading_.set_aside(number_, "a line feed, and what follows looks like a record itself");
    } else if (lines_.size() > 1 && is_whole(lines_.back())) {
      read_jobcomp_line(joined_, number_, reading_);
    } else {
      for (std::size_t i = 0; i < lines_.size(); ++i) {
        if (!lines_[i].empty()) read_jobcomp_line(lines_[i], number_ + static_cast<std::int64_t>(i), reading_);
      }
    }
    lines_.clear();
    joined_.clear();
    ends_here_ = false;
  }

 private:
  static bool has_core(std::string_view text) {
    SlurmRecord ignored;
    std::string why;
    for (auto at = text.find(" JobState="); at != std::string_view::npos; at = text.find(" JobState=", at + 1)) {
      if (read_core(text.substr(at), ignored, why)) return true;
    }
    return false;
  }

  const Reading& reading_;
  std::vector<std::string> lines_;
  std::string joined_;
  std::int64_t number_ = 0;  // number of the first line
  bool ends_here_ = false;   // the lines so far, or fewer of them, are a complete record
  bool seen_whole_ = false;  // in this file
};

}  // namespace

bool SlurmRecord::has_ended() const {
  constexpr std::array<std::string_view, 8> k_not_ended{"RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING",
                                                        "STOPPED", "SIGNALING", "STAGE_OUT",  "PENDING"};
  return end || std::find(k_not_ended.begin(), k_not_ended.end(), state) == k_not_ended.end();
}

Expected<SlurmRecords> read_slurm_records(std::istream& in, const FindArrayTask& find_task) {
  SlurmRecords records;
  const Reading reading{records, find_task};
  SacctHeader header;
  JobcompLines jobcomp(reading);
  std::set<std::string, std::less<>> clusters;
  std::string line;
  Lines lines(in, Lines::Long::cut);
  while (lines.next(line)) {
    const std::int64_t number_of_line = lines.number();
    if (number_of_line == 1 && !line.starts_with("JobId=")) {
      SHAPLEY_TRY_ASSIGN(header, read_header(line));
      continue;
    }
    if (number_of_line == 1) records.format = RecordFormat::jobcomp;
    if (line.size() > k_longest_line) {
      jobcomp.finish();
      reading.set_aside(number_of_line, "longer than a record of Slurm can be");
    } else if (records.format == RecordFormat::jobcomp) {
      jobcomp.add(line, number_of_line);
    } else if (!line.empty()) {
      read_sacct_row(header, line, number_of_line, reading, clusters);
      SHAPLEY_TRY(check_clusters(clusters, number_of_line));
    }
  }
  jobcomp.finish();
  if (records.format == RecordFormat::sacct) set_contradictions_aside(reading);
  SHAPLEY_TRY(lines.end());
  if (header.width == 0 && records.format != RecordFormat::jobcomp) {
    return fail(Errc::invalid_argument, "no records: the file is empty");
  }
  return records;
}

}  // namespace shapley::ledger
