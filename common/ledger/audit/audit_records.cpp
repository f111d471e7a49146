// A ledger against Slurm's records: the records, and the runs that have to be compared with them, are in memory at
// once.
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "ledger/audit/audit_parts.hpp"
#include "ledger/audit/record_comparison.hpp"
#include "ledger/audit/slurm_records.hpp"
#include "ledger/store/event_reader.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

Expected<SlurmRecords> read_records(const Database& database, const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return fail(Errc::io, file.string() + ": cannot be opened; check path and permissions");
  // The latest job known as this task of an array.
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT job FROM main.event_jobs WHERE array_job = ?1 AND "
                                                        "array_task = ?2 ORDER BY seq DESC LIMIT 1"));
  std::optional<Error> failed;
  const auto find_task = [&](std::uint32_t array_job, std::uint32_t task) -> std::optional<JobId> {
    auto row = select.bind(1, std::int64_t{array_job}).bind(2, std::int64_t{task}).step();
    std::optional<JobId> job;
    if (row && *row) job = JobId{static_cast<std::uint32_t>(select.integer(0))};
    select.reset();
    if (!row) failed = std::move(row).error();
    return job;
  };
  auto records = read_slurm_records(in, find_task);
  if (failed) return tl::unexpected<Error>(*std::move(failed));
  if (!records) return with_context(file.string(), std::move(records).error());
  return records;
}

// The facts of a ledger that have to be compared, job by job.
class FactsToCompare {
 public:
  FactsToCompare(const Database& database, const SlurmRecords& records) : database_(database), selection_(records) {}

  Expected<void> read(AuditReport& report) {
    SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database_));
    SHAPLEY_TRY(read_configurations(reader));
    // Sorted by SQLite, in temporary files.
    SHAPLEY_TRY_ASSIGN(Statement order,
                       database_.prepare("SELECT seq, kind & 1, job, anchor, ordinal FROM main.event_rows "
                                         "WHERE kind >= 2 ORDER BY kind & 1, job, anchor, ordinal, seq"));
    std::optional<accounting::SegmentKey> last;
    while (true) {
      SHAPLEY_TRY_ASSIGN(const bool row, order.step());
      if (!row) break;
      const accounting::SegmentKey key{
          order.integer(1) == 0 ? accounting::SegmentKind::run : accounting::SegmentKind::wait,
          {static_cast<std::uint32_t>(order.integer(2))},
          {order.integer(3)},
          static_cast<std::uint32_t>(order.integer(4))};
      if (last != key) ++report.segments;
      if (last && last->job != key.job) select_job(last->job);
      last = key;
      if (key.kind == accounting::SegmentKind::wait) continue;  // no record tells of it
      SHAPLEY_TRY(
          reader.visit(order.integer(0) - 1, order.integer(0), [&](const StoredEvent& stored) -> Expected<void> {
            of_job_.push_back(stored.event);
            return {};
          }));
    }
    if (last) select_job(last->job);
    return {};
  }

  [[nodiscard]] const Facts& facts() const { return facts_; }
  [[nodiscard]] const RunsLeftOut& left_out() const { return selection_.left_out(); }

 private:
  Expected<void> read_configurations(EventReader& reader) {
    SHAPLEY_TRY_ASSIGN(Statement select, database_.prepare("SELECT seq FROM main.event_texts WHERE kind = "
                                                           "'configuration_loaded' ORDER BY seq"));
    while (true) {
      SHAPLEY_TRY_ASSIGN(const bool row, select.step());
      if (!row) return {};
      SHAPLEY_TRY(
          reader.visit(select.integer(0) - 1, select.integer(0), [&](const StoredEvent& stored) -> Expected<void> {
            facts_.add(stored.event);
            return {};
          }));
    }
  }

  void select_job(JobId job) {
    Facts alone;
    for (const accounting::Event& event : of_job_) alone.add(event);
    if (selection_.wants(job, alone)) {
      for (const accounting::Event& event : of_job_) facts_.add(event);
    }
    of_job_.clear();
  }

  const Database& database_;
  RunSelection selection_;
  Facts facts_;
  std::vector<accounting::Event> of_job_;
};

Expected<AuditReport> compare(const Database& database, const std::filesystem::path& file) {
  SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
  AuditReport report;
  SHAPLEY_TRY_ASSIGN(Statement ends,
                     database.prepare("SELECT COUNT(*), "
                                      "(SELECT received FROM main.event_rows ORDER BY seq LIMIT 1), "
                                      "(SELECT received FROM main.event_rows ORDER BY seq DESC LIMIT 1) "
                                      "FROM main.event_rows"));
  SHAPLEY_TRY(ends.step());
  report.events = ends.integer(0);
  const LedgerSpan span{.first_received = {ends.integer(1)}, .last_received = {ends.integer(2)}};
  SHAPLEY_TRY_ASSIGN(const SlurmRecords records, read_records(database, file));
  FactsToCompare ledger(database, records);
  SHAPLEY_TRY(ledger.read(report));
  compare_with_records(ledger.facts(), span, records, report, ledger.left_out());
  return report;
}

}  // namespace

Expected<AuditReport> audit_against(const Ledger& ledger, const std::filesystem::path& records) {
  auto report = compare(LedgerAccess::impl(ledger).database, records);
  if (!report) return LedgerAccess::impl(ledger).failed("audit against records", std::move(report).error());
  return report;
}

}  // namespace shapley::ledger
