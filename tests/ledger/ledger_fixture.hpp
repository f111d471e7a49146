// A directory of its own per test, and short ways to fill a ledger in it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "accounting/state/state.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger::testing {

class TemporaryDirectory {
 public:
  // In memory where that is possible: on disk every commit waits for it, and properties commit by the thousand.
  enum class Place { memory, disk };
  explicit TemporaryDirectory(Place place = Place::memory);
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class LedgerTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return directory_.path() / "ledger.db"; }
  [[nodiscard]] std::filesystem::path directory() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

// The value, or a test failure with the error's text and an exception that ends the test.
template <typename T>
T must(Expected<T> result) {
  if (!result) throw std::runtime_error(result.error().what);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

[[nodiscard]] Ledger writer(const std::filesystem::path& file);
[[nodiscard]] Ledger reader(const std::filesystem::path& file);

// Its bytes.
[[nodiscard]] std::string content_of(const std::filesystem::path& file);
// Runs any SQL on the file behind the ledger's back, as somebody with sqlite3 could.
void tamper(const std::filesystem::path& file, const std::string& sql);
// The rows of `sql` run with plain SQLite, cells joined by '|'.
[[nodiscard]] std::vector<std::string> rows(const std::filesystem::path& file, const std::string& sql);
// Every row of every projection, and the events' heads, as text.
[[nodiscard]] std::vector<std::string> dump(const Ledger& ledger);

// All standings at t by organization, every figure as text: "a: 17 ... direct_contr 20 3 ...".
[[nodiscard]] std::vector<std::string> standings(accounting::State& state, Instant t);

// The five events of a job as shapleyd's observer states them, the numbers following from the job's: described, waiting
// half a minute, running some minutes on one, two or four of 500 nodes.
[[nodiscard]] std::vector<accounting::Event> usual_job(std::uint32_t job);

// A run of one job on one node, whole processors.
[[nodiscard]] accounting::SegmentOpened opened(std::uint32_t job, std::int64_t begin, const std::string& organization,
                                               std::int64_t processors, const std::string& node = "n1");
[[nodiscard]] accounting::SegmentClosed closed(const accounting::SegmentOpened& opened, std::int64_t end,
                                               accounting::CloseReason reason = accounting::CloseReason::ended);

}  // namespace shapley::ledger::testing
