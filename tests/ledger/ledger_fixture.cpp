#include "ledger_fixture.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include <sqlite3.h>
#include <unistd.h>

#include "tests/support/text_rows.hpp"

namespace shapley::ledger::testing {

namespace {

using Connection = std::unique_ptr<sqlite3, decltype([](sqlite3* connection) { sqlite3_close(connection); })>;

Connection connect(const std::filesystem::path& file) {
  sqlite3* connection = nullptr;
  if (sqlite3_open(file.c_str(), &connection) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(connection));
  return Connection(connection);
}

int add_row(void* rows, int columns, char** cells, char** /*names*/) {
  std::string line;
  for (int i = 0; i < columns; ++i) line += (i > 0 ? "|" : "") + std::string(cells[i] != nullptr ? cells[i] : "");
  static_cast<std::vector<std::string>*>(rows)->push_back(line);
  return 0;
}

}  // namespace

Ledger writer(const std::filesystem::path& file) {
  return must(Ledger::open(file, OpenMode::create_or_write));
}

Ledger reader(const std::filesystem::path& file) {
  return must(Ledger::open(file, OpenMode::read_only));
}

std::vector<std::string> rows(const std::filesystem::path& file, const std::string& sql) {
  const Connection connection = connect(file);
  std::vector<std::string> result;
  if (sqlite3_exec(connection.get(), sql.c_str(), add_row, &result, nullptr) != SQLITE_OK) {
    throw std::runtime_error(sql + ": " + sqlite3_errmsg(connection.get()));
  }
  return result;
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void tamper(const std::filesystem::path& file, const std::string& sql) {
  static_cast<void>(rows(file, sql));
}

void damage_index(const std::filesystem::path& file, const std::string& index) {
  constexpr std::size_t k_page = 4096;
  const std::string sound = content_of(file);
  const auto begin =
      (std::stoul(rows(file, "SELECT rootpage FROM sqlite_master WHERE name = '" + index + "'").at(0)) - 1) * k_page;
  for (std::size_t at = begin + k_page - 1; at > begin; --at) {
    std::string damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged;
    const std::vector<std::string> ok{"ok"};
    if (rows(file, "PRAGMA quick_check") == ok && rows(file, "PRAGMA integrity_check") != ok) return;
  }
  throw std::runtime_error("no byte of the index " + index + " can be damaged like that");
}

std::vector<std::string> dump(const Ledger& ledger) {
  std::vector<std::string> lines;
  for (const char* table : {"segments", "segment_nodes", "jobs", "organizations", "ownership", "capacity", "periods",
                            "job_changes", "books_by_day", "contributions_by_day"}) {
    for (const auto& row : must(query(ledger, "SELECT * FROM " + std::string(table)))) {
      std::string line = table;
      for (const std::string& cell : row) line += "|" + cell;
      lines.push_back(line);
    }
  }
  return lines;
}

std::vector<std::string> standings(accounting::State& state, Instant t) {
  std::vector<std::string> lines;
  for (const accounting::Standing& row : state.advance(t).standings()) {
    std::string line = state.organizations().at(row.organization.value) + ":";
    for (const Int128 figure : {row.psi.value, row.got.value, Int128{row.owned.value}, Int128{row.used.value},
                                Int128{row.waiting.value}, Int128{row.lent.value}, Int128{row.borrowed.value}}) {
      line += " " + to_string(figure);
    }
    for (const accounting::EstimatorId e : accounting::estimator_ids()) {
      line += " " + std::string(name_of(e)) + " " + to_string(row.phi(e).value) + " " + to_string(row.given(e).value);
    }
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string problems(const AuditReport& report) {
  std::string text;
  for (const Finding& finding : report.findings) text += finding.check + ": " + finding.what + "\n";
  return text;
}

Instant latest(const std::vector<accounting::Event>& events) {
  Instant t{0};
  for (const accounting::Event& event : events) t = std::max(t, time_of(event));
  return t;
}

std::vector<accounting::Event> usual_job(std::uint32_t job) {
  using namespace accounting;
  const Instant submit{1'700'000'000 + 2 * std::int64_t{job}};
  const Instant start = submit + Duration{30};
  const std::string organization = "physics-" + std::to_string(job % 10);
  const std::uint32_t cpus = 1U << (job % 6);
  const std::string placement = job % 11 == 0 ? "partition=main features=gpu" : "partition=main";
  SegmentOpened run{.key = {SegmentKind::run, {job}, start, 0},
                    .organization = organization,
                    .begin = start,
                    .processors = {},
                    .nodes = {},
                    .placement = placement};
  for (std::uint32_t i = 0; i < (job % 10 < 5 ? 1U : job % 10 < 8 ? 2U : 4U); ++i) {
    const ProcessorMillionths charged{cpus * k_micro};
    run.nodes.push_back({"node" + std::to_string(1000 + 4 * (job % 125) + i), charged, cpus, 4000 * cpus});
    run.processors += charged;
  }
  const SegmentOpened wait{.key = {SegmentKind::wait, {job}, submit, 0},
                           .organization = organization,
                           .begin = submit,
                           .processors = run.processors,
                           .nodes = {},
                           .placement = placement};
  return {JobDescribed{.job = {job},
                       .submit = submit,
                       .organization = organization,
                       .array_task = std::nullopt,
                       .user_id = 20'000 + job % 997,
                       .group_id = 1000 + job % 10,
                       .account = organization,
                       .partition = "main",
                       .qos = "normal",
                       .name = job % 2 == 0 ? "train-" + std::to_string(job) : "a-job-of-usual-name",
                       .wckey = ""},
          wait, run, SegmentClosed{wait.key, start, CloseReason::started, "RUNNING"},
          SegmentClosed{run.key, start + Duration{600 + job % 3000}, CloseReason::ended, "COMPLETED"}};
}

accounting::SegmentOpened opened(std::uint32_t job, std::int64_t begin, const std::string& organization,
                                 std::int64_t processors, const std::string& node) {
  return {.key = {accounting::SegmentKind::run, {job}, {begin}, 0},
          .organization = organization,
          .begin = {begin},
          .processors = {processors * k_micro},
          .nodes = {{node, {processors * k_micro}}}};
}

accounting::SegmentClosed closed(const accounting::SegmentOpened& segment, std::int64_t end,
                                 accounting::CloseReason reason) {
  return {.key = segment.key, .end = {end}, .reason = reason, .job_state = "COMPLETED"};
}

}  // namespace shapley::ledger::testing
