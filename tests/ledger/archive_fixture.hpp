// Ledgers that are archived in tests, and the same books in one file, never archived.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "archived_months.hpp"
#include "base/calendar.hpp"
#include "ledger/archive/archive.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/store/backup.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger::testing {

inline constexpr Instant k_now{1'900'000'000};

namespace fs = std::filesystem;

class Archiving : public LedgerTest {
 protected:
  ArchiveResult archived() const { return must(archive_closed_periods(file(), nullptr, k_now)); }
  [[nodiscard]] fs::path archive(const std::string& month) const {
    return directory() / "archives" / ("ledger." + month + ".db.xz");
  }
  // An archive as a ledger that can be read.
  [[nodiscard]] fs::path unpacked(const std::string& month) const {
    const fs::path target = directory() / ("unpacked." + month + ".db");
    fs::remove(target);
    must(unpack(archive(month), target, {}));
    return target;
  }
  // The same ledger, never archived.
  [[nodiscard]] fs::path twin() const { return directory() / "twin.db"; }
  void make_twin() const {
    BackupResult restored;
    must(restore(file(), twin(), k_now, restored));
  }
};

inline std::vector<std::string> findings(const fs::path& file) {
  std::vector<std::string> lines;
  // However often its books forget.
  for (const ReplayPace& pace : {ReplayPace{}, ReplayPace{.events_between_compactions = 1}}) {
    for (const Finding& finding : must(audit(reader(file), {.pace = pace})).findings) {
      lines.push_back(finding.check + ": " + finding.what);
    }
  }
  return lines;
}

using Lines = std::vector<std::string>;

// Every figure of the present and of all closed periods, however the books come about.
inline Lines figures(const Recovered& recovered) {
  accounting::State state = must(accounting::State::load(recovered.state.save()));
  Lines lines = standings(state, state.now());
  for (const accounting::ClosedPeriod& period : state.closed_periods()) {
    lines.push_back(format_instant(period.begin) + " " + format_instant(period.end));
    for (const accounting::Standing& row : period.standings) {
      lines.push_back(std::to_string(row.organization.value) + " " + to_string(row.psi.value) + " " +
                      to_string(row.phi(accounting::k_default_estimator).value) + " " + to_string(row.got.value));
    }
  }
  return lines;
}

inline void expect_same_books(const fs::path& a, const fs::path& b) {
  const Lines expected = figures(must(reader(a).recover_from_scratch()));
  EXPECT_GT(expected.size(), 5U);
  EXPECT_EQ(figures(must(reader(b).recover())), expected);
  EXPECT_EQ(figures(must(reader(b).recover_from_scratch())), expected);
}

}  // namespace shapley::ledger::testing
