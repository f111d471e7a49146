#include "sacct/slurm_records.hpp"

#include <algorithm>
#include <istream>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/job_name.hpp"
#include "base/slurm_text.hpp"
#include "sacct/columns.hpp"
#include "sacct/sacct_fields.hpp"

namespace shapley::sacct {

namespace {

// A record of either format is far shorter; Slurm did not write a longer line.
constexpr std::size_t k_longest_line = k_max_line;
// slurmctld of 22.05 builds a jobcomp/filetxt record in 1,024 bytes. One that does not fit is cut off there and loses
// its line feed, so that the next record goes on in the same line.
constexpr std::size_t k_longest_jobcomp_record = 1023;
// No run began so long before its own submission.
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

struct RecordReading {
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

void keep(SlurmRecord record, const std::optional<RecordedTime>& submit, const RecordReading& reading) {
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

Expected<Columns> read_columns(std::string_view line) {
  Columns columns(line);
  const bool complete = (columns.has(Column::job_id_raw) || columns.has(Column::job_id)) &&
                        !columns.missing({Column::start, Column::end, Column::state}) &&
                        (columns.has(Column::cpus) || columns.has(Column::cpus_or_requested));
  if (complete) return columns;
  return fail(Errc::invalid_argument,
              "line 1: neither a jobcomp/filetxt record nor the header of sacct -P; make the records with "
              "sacct -a -D -P -o JobIDRaw,Start,End,State,AllocCPUS,Suspended");
}

// The job that a row is about; nullopt: it is not known.
std::optional<JobId> find_job(std::string_view text, const FindArrayTask& find_task) {
  const auto name = parse_job_name(text);
  if (!name) return std::nullopt;
  return name->task ? find_task(name->job, *name->task) : std::optional(JobId{name->job});
}

std::optional<std::int64_t> billing_of(std::string_view tres) {
  const auto held = parse_tres(tres);
  if (!held || !held->billing) return std::nullopt;
  return static_cast<std::int64_t>(std::min<std::uint64_t>(*held->billing, INT64_MAX));
}

void read_sacct_job(const Fields& row, std::int64_t line, const RecordReading& reading) {
  const std::string_view name = row.text(row.has(Column::job_id_raw) ? Column::job_id_raw : Column::job_id);
  const auto job = find_job(name, reading.find_task);
  if (!job) {
    return reading.set_aside(
        line, fmt::format("'{}' names no job that is known; ask sacct for the column JobIDRaw", name.substr(0, 64)));
  }
  SlurmRecord record{
      .line = line, .job = *job, .state = std::string(row.state()), .billing = billing_of(row.text(Column::tres))};
  std::optional<RecordedTime> submit;
  if (!read_time(row.text(Column::start), record.start) || !read_time(row.text(Column::end), record.end) ||
      !read_time(row.text(Column::submit), submit)) {
    return reading.set_aside(line, "a time that is none in this time zone; set TZ as slurmctld has it");
  }
  record.cpus = parse_number<std::uint32_t>(row.text(row.has(Column::cpus) ? Column::cpus : Column::cpus_or_requested));
  if (!record.cpus) return reading.set_aside(line, "the number of CPUs is no number");
  if (row.has(Column::suspended)) {
    record.suspended = parse_slurm_duration(row.text(Column::suspended));
    if (!record.suspended) return reading.set_aside(line, "Suspended is no duration");
  }
  for (const Column column : {Column::user, Column::account, Column::nodes}) {
    if (row.has(column)) record.described.append(row.text(column)).append("|");
  }
  keep(std::move(record), submit, reading);
}

// Rows of two clusters are an error.
Expected<void> read_sacct_row(const Fields& row, std::int64_t line, const RecordReading& reading,
                              OneCluster& one_cluster) {
  if (const std::string miscount = row.miscount(); !miscount.empty()) {
    reading.set_aside(line, miscount + "; leave out columns that users fill, such as JobName");
    return {};
  }
  if (!one_cluster.takes(row, line)) {
    const std::string other(row.text(Column::cluster).substr(0, 64));
    const std::string name = one_cluster.name();
    const auto [first, second] = std::minmax(name, other);
    return fail(Errc::invalid_argument,
                fmt::format("line {}: Cluster: the records are of '{}' and '{}', whose jobs have the same numbers; ask "
                            "sacct for one cluster at a time (-M NAME)",
                            line, first, second));
  }
  switch (row.kind()) {
    case RowKind::step:
      ++reading.out.steps;
      break;
    case RowKind::pending_array:
      ++reading.out.pending_arrays;
      break;
    case RowKind::job:
      read_sacct_job(row, line, reading);
  }
  return {};
}

// slurmdbd has one record of a job's start, so two with different ends, nodes or owners are of two jobs, and neither is
// used. (A job that is requeued while it completes is recorded twice, the second time perhaps without its CPUs; parts
// of a resized run all have its start.)
bool contradict(const SlurmRecord& a, const SlurmRecord& b) {
  if (!a.end || !b.end || a.cpus == 0 || b.cpus == 0 || a.state == "RESIZING" || b.state == "RESIZING") return false;
  return a.end != b.end || a.cpus != b.cpus || a.described != b.described;
}

void set_contradictions_aside(const RecordReading& reading) {
  std::map<std::pair<JobId, Instant>, const SlurmRecord*> first;
  std::map<std::int64_t, std::string> aside;  // by line
  for (const SlurmRecord& record : reading.out.records) {
    if (!record.start || record.state == "RESIZING") continue;
    const auto [place, is_new] = first.emplace(std::pair(record.job, record.start->instant), &record);
    if (is_new || !contradict(record, *place->second)) continue;
    const auto why = [&](const SlurmRecord& other) {
      return fmt::format(
          "job {} started then in line {}, too, and that line says otherwise; are these jobs of two clusters? Ask "
          "sacct for one at a time (-M)",
          record.job.value, other.line);
    };
    aside.emplace(place->second->line, why(record));
    aside.emplace(record.line, why(*place->second));
  }
  if (aside.empty()) return;
  for (auto& [line, why] : aside) reading.set_aside(line, std::move(why));
  std::erase_if(reading.out.records, [&](const SlurmRecord& record) { return aside.contains(record.line); });
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

void read_jobcomp_record(std::string_view text, std::int64_t line, const RecordReading& reading) {
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
  if (found > 1) why = fmt::format("job {}: the job's name or directory looks like a record itself", id->value);
  if (!why.empty()) return reading.set_aside(line, std::move(why));
  keep(std::move(record), std::nullopt, reading);
}

void read_jobcomp_line(std::string_view line, std::int64_t number_of_line, const RecordReading& reading) {
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
  explicit JobcompLines(const RecordReading& reading) : reading_(reading) {}

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

  const RecordReading& reading_;
  std::vector<std::string> lines_;
  std::string joined_;
  std::int64_t number_ = 0;  // number of the first line
  bool ends_here_ = false;   // the lines so far, or fewer of them, are a complete record
  bool seen_whole_ = false;  // in this file
};

}  // namespace

bool SlurmRecord::has_ended() const {
  return end || !may_go_on(state);
}

Expected<SlurmRecords> read_slurm_records(std::istream& in, const FindArrayTask& find_task) {
  SlurmRecords records;
  const RecordReading reading{records, find_task};
  std::optional<Columns> columns;
  JobcompLines jobcomp(reading);
  OneCluster one_cluster;
  std::string line;
  Lines lines(in, Lines::Long::cut);
  while (lines.next(line)) {
    const std::int64_t number_of_line = lines.number();
    if (number_of_line == 1 && !line.starts_with("JobId=")) {
      SHAPLEY_TRY_ASSIGN(columns, read_columns(line));
      continue;
    }
    if (number_of_line == 1) records.format = RecordFormat::jobcomp;
    if (line.size() > k_longest_line) {
      jobcomp.finish();
      reading.set_aside(number_of_line, "longer than a record of Slurm can be");
    } else if (records.format == RecordFormat::jobcomp) {
      jobcomp.add(line, number_of_line);
    } else if (!line.empty()) {
      SHAPLEY_TRY(read_sacct_row(Fields(*columns, line), number_of_line, reading, one_cluster));
    }
  }
  jobcomp.finish();
  if (records.format == RecordFormat::sacct) set_contradictions_aside(reading);
  SHAPLEY_TRY(lines.end());
  if (!columns && records.format != RecordFormat::jobcomp) {
    return fail(Errc::invalid_argument, "no records: the file is empty");
  }
  return records;
}

}  // namespace shapley::sacct
