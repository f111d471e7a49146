// A directory of its own per test, and short ways to fill a ledger in it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "accounting/state/state.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/store/ledger.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temp_directory.hpp"

namespace shapley::ledger::testing {

// In memory, unless the test is about the disk.
class TemporaryDirectory : public TempDirectory {
 public:
  explicit TemporaryDirectory(Place place = Place::memory) : TempDirectory(place) {}
};

class LedgerTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return directory_.path() / "ledger.db"; }
  [[nodiscard]] std::filesystem::path directory() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

using shapley::must;

[[nodiscard]] Ledger writer(const std::filesystem::path& file);
[[nodiscard]] Ledger reader(const std::filesystem::path& file);

// Its bytes.
[[nodiscard]] std::string content_of(const std::filesystem::path& file);
// Runs any SQL on the file behind the ledger's back, as a user with sqlite3 could.
void tamper(const std::filesystem::path& file, const std::string& sql);
// The rows of `sql` run with plain SQLite, cells joined by '|'.
[[nodiscard]] std::vector<std::string> rows(const std::filesystem::path& file, const std::string& sql);
// Damages one byte of the page where this index begins, so that each page is sound and the index differs from its
// table. Throws if no byte does that.
void damage_index(const std::filesystem::path& file, const std::string& index);
// Every row of every projection, and the events' heads, as text.
[[nodiscard]] std::vector<std::string> dump(const Ledger& ledger);

// All standings at t by organization, every figure as text: "a: 17 ... direct_contr 20 3 ...".
[[nodiscard]] std::vector<std::string> standings(accounting::State& state, Instant t);

// The findings of an audit, each "CHECK: TEXT" and a line.
[[nodiscard]] std::string problems(const AuditReport& report);

// The time of the last event.
[[nodiscard]] Instant latest(const std::vector<accounting::Event>& events);

// The five events of a job as shapleyd's observer states them, the numbers following from the job's: described, waiting
// half a minute, running some minutes on one, two or four of 500 nodes.
[[nodiscard]] std::vector<accounting::Event> usual_job(std::uint32_t job);

// A run of one job on one node, whole processors.
[[nodiscard]] accounting::SegmentOpened opened(std::uint32_t job, std::int64_t begin, const std::string& organization,
                                               std::int64_t processors, const std::string& node = "n1");
[[nodiscard]] accounting::SegmentClosed closed(const accounting::SegmentOpened& opened, std::int64_t end,
                                               accounting::CloseReason reason = accounting::CloseReason::ended);

}  // namespace shapley::ledger::testing
