// Archives as an operator meets them: made, followed by audit and status, missing, exchanged, damaged.
#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "ctl/exit_code.hpp"
#include "ledger/archive/packed_file.hpp"
#include "ledger/store/backup.hpp"
#include "program.hpp"
#include "tests/ledger/archived_months.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "text.hpp"

namespace shapley::ctl {
namespace {

namespace fs = std::filesystem;
using ledger::testing::month_begin;
using ledger::testing::must;
using ledger::testing::rows;
using nlohmann::json;

class Archives : public testing::Test {
 protected:
  // October to February; October, November and December are archived. Made once; each test gets a copy.
  static void SetUpTestSuite() {
    made = std::make_unique<ledger::testing::TemporaryDirectory>();
    const fs::path ledger = made->path() / "ledger.db";
    ledger::testing::write_months(ledger, 5, 30);
    ledger::BackupResult restored;
    must(ledger::restore(ledger, made->path() / "twin.db", Instant{1'900'000'000}, restored));
    const Outcome outcome = run_shapleyctl(made->path(), "archive " + ledger.string());
    ASSERT_EQ(outcome.exit_code, code(ExitCode::success)) << outcome.err;
    for (const char* month : {"2026-10", "2026-11", "2026-12"}) {
      const fs::path archive = made->path() / "archives" / ("ledger." + std::string(month) + ".db.xz");
      EXPECT_TRUE(contains(outcome.out, archive.string())) << outcome.out;
    }
  }
  static void TearDownTestSuite() { made.reset(); }
  void SetUp() override { fs::copy(made->path(), directory.path(), fs::copy_options::recursive); }

  Outcome run(const std::string& arguments) const { return run_shapleyctl(directory.path(), arguments); }
  [[nodiscard]] fs::path ledger() const { return directory.path() / "ledger.db"; }
  // The same books, never archived.
  [[nodiscard]] fs::path twin() const { return directory.path() / "twin.db"; }
  [[nodiscard]] fs::path archive(const std::string& month) const {
    return directory.path() / "archives" / ("ledger." + month + ".db.xz");
  }
  // Unpacks an archive, runs `sql` on it, packs it again.
  void tamper(const std::string& month, const std::string& sql) const {
    const fs::path plain = directory.path() / "plain.db";
    must(ledger::unpack(archive(month), plain, {}));
    ledger::testing::tamper(plain, sql);
    fs::remove(archive(month));
    must(ledger::pack(plain, archive(month), {}));
    fs::remove(plain);
  }
  [[nodiscard]] json audited(const std::string& arguments, ExitCode expected) const {
    const Outcome outcome = run("audit --json " + arguments);
    EXPECT_EQ(outcome.exit_code, code(expected)) << outcome.out << outcome.err;
    return json::parse(outcome.out, nullptr, false);
  }

  static inline std::unique_ptr<ledger::testing::TemporaryDirectory> made;
  ledger::testing::TemporaryDirectory directory;
};

TEST_F(Archives, audit_goes_from_file_to_file) {
  const json whole = audited(ledger().string(), ExitCode::success);
  ASSERT_EQ(whole["examinations"].size(), 4U);
  EXPECT_EQ(whole["examinations"][0]["subject"], ledger().string());
  EXPECT_EQ(whole["examinations"][1]["subject"], archive("2026-12").string());
  EXPECT_EQ(whole["examinations"][3]["subject"], archive("2026-10").string());
  EXPECT_EQ(whole["missing"], nullptr);
  std::int64_t events = 0;
  for (const json& examination : whole["examinations"]) events += examination["events"].get<std::int64_t>();
  EXPECT_EQ(std::to_string(events), rows(twin(), "SELECT COUNT(*) FROM events").at(0));
  // An archive by itself, with those before it; unpacked by hand, too; elsewhere if told so.
  EXPECT_EQ(audited(archive("2026-11").string(), ExitCode::success)["examinations"].size(), 2U);
  const fs::path elsewhere = directory.path() / "elsewhere";
  fs::rename(directory.path() / "archives", elsewhere);
  must(ledger::unpack(elsewhere / "ledger.2026-10.db.xz", elsewhere / "ledger.2026-10.db", {}));
  fs::remove(elsewhere / "ledger.2026-10.db.xz");
  EXPECT_EQ(audited(ledger().string() + " --archives " + elsewhere.string(), ExitCode::success)["examinations"].size(),
            4U);
}

TEST_F(Archives, audit_names_the_archive_that_is_missing) {
  const std::string hash =
      rows(twin(),
           "SELECT lower(hex(hash)) FROM event_rows WHERE seq = (SELECT MIN(seq) - 1 FROM event_rows "
           "WHERE received >= " +
               std::to_string(month_begin(2).value) + ")")
          .at(0);
  fs::remove(archive("2026-11"));
  const Outcome outcome = run("audit " + ledger().string());
  EXPECT_EQ(outcome.exit_code, code(ExitCode::incomplete)) << outcome.err;
  EXPECT_TRUE(
      contains(outcome.out, "MISSING ledger.2026-11.db.xz (2026-11-01T00:00:00Z to 2026-12-01T00:00:00Z, up to "))
      << outcome.out;
  EXPECT_TRUE(contains(outcome.out, hash)) << outcome.out;
  const json whole = audited(ledger().string(), ExitCode::incomplete);
  EXPECT_EQ(whole["examinations"].size(), 2U);
  EXPECT_EQ(whole["missing"]["archive"], "ledger.2026-11.db.xz");
  EXPECT_EQ(whole["missing"]["hash"], hash);
  EXPECT_EQ(whole["missing"]["begin"], month_begin(1).value);
}

// The findings of a file, by its name; nothing else may have any.
std::string findings_of(const json& whole, const fs::path& file) {
  std::string findings;
  for (const json& examination : whole["examinations"]) {
    if (examination["subject"] != file.string()) {
      EXPECT_TRUE(examination["clean"]) << examination.dump(1);
      continue;
    }
    for (const json& finding : examination["findings"]) {
      findings += finding["check"].get<std::string>() + ": " + finding["what"].get<std::string>() + "\n";
    }
  }
  return findings;
}

TEST_F(Archives, one_byte_that_changed_is_named) {
  fs::permissions(archive("2026-11"), fs::perms(0600));
  std::string bytes = content_of(archive("2026-11"));
  const std::size_t length = bytes.size();
  for (const std::size_t place : {std::size_t{7}, length / 3, length / 2, length - 3}) {
    SCOPED_TRACE(place);
    std::string changed = bytes;
    changed[place] = static_cast<char>(changed[place] ^ 1);
    std::ofstream(archive("2026-11"), std::ios::binary) << changed;
    EXPECT_TRUE(contains(findings_of(audited(ledger().string(), ExitCode::findings), archive("2026-11")), "archive: "));
  }
  std::ofstream(archive("2026-11"), std::ios::binary) << bytes.substr(0, length - 100);
  EXPECT_TRUE(
      contains(findings_of(audited(ledger().string(), ExitCode::findings), archive("2026-11")), "it was cut short"));
  std::ofstream(archive("2026-11"), std::ios::binary) << bytes << "more";
  EXPECT_TRUE(contains(findings_of(audited(ledger().string(), ExitCode::findings), archive("2026-11")),
                       "something follows its end"));
}

TEST_F(Archives, one_row_that_changed_is_named) {
  const std::string trigger = rows(twin(), "SELECT sql FROM sqlite_master WHERE name = 'events_are_not_updated'").at(0);
  const auto findings_after = [&](const std::string& change) {
    fs::remove(archive("2026-11"));
    fs::copy_file(made->path() / "archives" / "ledger.2026-11.db.xz", archive("2026-11"));
    tamper("2026-11", "DROP TRIGGER events_are_not_updated; UPDATE event_rows SET " + change + ";" + trigger);
    return findings_of(audited(ledger().string(), ExitCode::findings), archive("2026-11"));
  };
  const std::string later = findings_after("at = at + 1 WHERE seq = (SELECT MAX(seq) FROM event_rows WHERE kind = 4)");
  EXPECT_TRUE(contains(later, "chain: ")) << later;
  EXPECT_TRUE(contains(later, "archive: its events lead to other books")) << later;
  const std::string unreadable =
      findings_after("processors = processors + 1000000 WHERE seq = (SELECT MAX(seq) FROM event_rows WHERE kind = 2)");
  EXPECT_TRUE(contains(unreadable, "chain: ")) << unreadable;
  EXPECT_TRUE(contains(unreadable, "archive: its events lead to no books: event ")) << unreadable;
}

TEST_F(Archives, an_exchanged_file_is_named) {
  fs::rename(archive("2026-11"), directory.path() / "november");
  fs::copy_file(archive("2026-12"), archive("2026-11"));
  EXPECT_TRUE(contains(findings_of(audited(ledger().string(), ExitCode::findings), archive("2026-11")),
                       "exchanged or changed"));

  // Of a ledger with another history, made in the same way.
  fs::remove(archive("2026-11"));
  const fs::path other = directory.path() / "other";
  fs::create_directory(other);
  ledger::testing::write_months(other / "ledger.db", 5, 31);
  ASSERT_EQ(run("archive " + (other / "ledger.db").string()).exit_code, code(ExitCode::success));
  fs::copy_file(other / "archives" / "ledger.2026-11.db.xz", archive("2026-11"));
  const std::string findings = findings_of(audited(ledger().string(), ExitCode::findings), archive("2026-11"));
  EXPECT_TRUE(contains(findings, "it is of another ledger")) << findings;
}

// Whatever reads the past reads no books of another month or ledger, and no zeros.
TEST_F(Archives, an_exchanged_file_is_refused_by_every_reader) {
  const fs::path other = directory.path() / "other";
  fs::create_directory(other);
  ledger::testing::write_months(other / "ledger.db", 5, 31);
  ASSERT_EQ(run("archive " + (other / "ledger.db").string()).exit_code, code(ExitCode::success));
  const std::string page = (directory.path() / "page").string();
  struct Case {
    fs::path file;
    std::string fault;
  };
  for (const Case& c : {Case{archive("2026-12"), "exchanged or changed"}, Case{archive("2026-10"), "exchanged"},
                        Case{other / "archives" / "ledger.2026-11.db.xz", "it is of another ledger"}}) {
    SCOPED_TRACE(c.file);
    fs::remove(archive("2026-11"));
    fs::copy_file(c.file, archive("2026-11"));
    for (const std::string& command :
         {std::string("status --at 2026-11-05"), std::string("status --worth --at 2026-10-05"),
          std::string("statement --month 2026-11"), std::string("history --by day -S 2026-11-01 -E 2026-11-09"),
          "report --no-charts --no-audit --month 2026-11 -o " + page, std::string("explain 1001 --at 2026-11-05"),
          std::string("compare physics biology --at 2026-11-05"), std::string("forecast --at 2026-11-05")}) {
      const Outcome outcome = run(command + " --ledger " + ledger().string());
      EXPECT_EQ(outcome.exit_code, code(ExitCode::unreadable)) << command << outcome.out;
      EXPECT_TRUE(contains(outcome.err, archive("2026-11").string() + ": ")) << command << outcome.err;
      EXPECT_TRUE(contains(outcome.err, c.fault)) << command << outcome.err;
      EXPECT_TRUE(contains(outcome.err, "; expected is ledger.2026-11.db.xz (2026-11-01T")) << command << outcome.err;
    }
    EXPECT_EQ(run("status --at 2026-12-05 --ledger " + ledger().string()).exit_code, code(ExitCode::success));
  }
  // Slurm's records are compared with the files before it alone, and the archive itself has the finding.
  std::ofstream(directory.path() / "records") << "JobIDRaw|Start|End|State|AllocCPUS\n"
                                                 "77000|2026-10-03T00:00:00|2026-10-03T01:00:00|COMPLETED|1\n";
  const json whole =
      audited(ledger().string() + " --against " + (directory.path() / "records").string(), ExitCode::findings);
  EXPECT_EQ(whole["examinations"][1]["notes"].back(), "of the archives 1 were compared, too");
}

TEST_F(Archives, a_file_that_unpacks_to_a_whole_disk_is_given_up) {
  const fs::path zeros = directory.path() / "zeros";
  { std::ofstream create(zeros); }
  fs::resize_file(zeros, 100U << 20U);
  fs::remove(archive("2026-11"));
  must(ledger::pack(zeros, archive("2026-11"), {}));
  ASSERT_LT(fs::file_size(archive("2026-11")), 50'000U);
  EXPECT_TRUE(contains(findings_of(audited(ledger().string(), ExitCode::findings), archive("2026-11")),
                       "it unpacks to too much"));
}

TEST_F(Archives, a_file_that_names_itself_comes_to_an_end) {
  const std::string sql = rows(ledger(), "SELECT sql FROM sqlite_master WHERE name = 'genesis_is_not_updated'").at(0);
  tamper("2026-11",
         "DROP TRIGGER genesis_is_not_updated; UPDATE genesis SET archive = 'ledger.2026-11.db.xz', "
         "sequence = (SELECT MAX(seq) FROM event_rows);" +
             sql);
  const Outcome outcome = run("status --ledger " + ledger().string() + " --at 2026-10-05");
  EXPECT_EQ(outcome.exit_code, code(ExitCode::unreadable));
  EXPECT_TRUE(contains(outcome.err, "ledger.2026-11.db.xz: it has events ")) << outcome.err;
  EXPECT_FALSE(findings_of(audited(ledger().string(), ExitCode::findings), archive("2026-11")).empty());
}

TEST_F(Archives, heads_are_compared_with_the_file_that_has_their_event) {
  const std::string key = (directory.path() / "key").string();
  ASSERT_EQ(run("keygen " + key).exit_code, 0);
  std::string heads;
  for (const char* month : {"2026-10", "2026-12"}) {
    const fs::path plain = directory.path() / (std::string(month) + ".db");
    must(ledger::unpack(archive(month), plain, {}));
    const std::string head = plain.string() + ".head";
    ASSERT_EQ(run("audit --head --ledger " + plain.string() + " --sign-with " + key + " -o " + head).exit_code, 0);
    heads += " --against-head " + head;
  }
  const std::string arguments = ledger().string() + heads + " --public-key " + key + ".pub";
  const json whole = audited(arguments, ExitCode::success);
  EXPECT_EQ(whole["examinations"].size(), 6U);
  fs::remove(archive("2026-10"));
  const json less = audited(arguments, ExitCode::findings);
  EXPECT_EQ(less["missing"]["archive"], "ledger.2026-10.db.xz");
}

TEST_F(Archives, status_of_the_past_is_what_it_was) {
  std::vector<std::string> times;
  for (int month = 0; month < 4; ++month) {
    for (const std::int64_t seconds : {std::int64_t{3600}, 9 * k_day_s + 77, 27 * k_day_s}) {
      times.push_back(format_instant(month_begin(month) + Duration{seconds}));
    }
    times.push_back(format_instant(month_begin(month) - Duration{1}));
  }
  times.erase(times.begin() + 3);  // a second before the first event
  for (const std::string& at : times) {
    SCOPED_TRACE(at);
    const Outcome expected = run("status --json --at " + at + " --ledger " + twin().string());
    const Outcome outcome = run("status --json --at " + at + " --ledger " + ledger().string());
    ASSERT_EQ(expected.exit_code, 0) << expected.err;
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, expected.out);
  }
  const Outcome expected = run("status --json --ledger " + twin().string());
  EXPECT_EQ(run("status --json --ledger " + ledger().string()).out, expected.out);
}

TEST_F(Archives, status_of_the_past_names_the_archive_that_it_needs) {
  fs::remove(archive("2026-11"));
  const std::string asked = "status --ledger " + ledger().string() + " --at ";
  EXPECT_EQ(run(asked + "2026-12-05").exit_code, code(ExitCode::success));
  for (const char* at : {"2026-11-05", "2026-10-05"}) {
    const Outcome outcome = run(asked + at);
    EXPECT_EQ(outcome.exit_code, code(ExitCode::unreadable));
    EXPECT_TRUE(contains(outcome.err, "need the archive ledger.2026-11.db.xz (2026-11-01")) << outcome.err;
  }
}

// The runs of a ledger as sacct prints them.
std::string sacct_of(const fs::path& ledger) {
  std::string text = "JobIDRaw|Start|End|State|AllocCPUS|Suspended\n";
  for (const std::string& row :
       rows(ledger,
            "SELECT job, strftime('%Y-%m-%dT%H:%M:%S', MIN(begin), 'unixepoch'), CASE WHEN COUNT(end) < COUNT(*) THEN "
            "'Unknown' ELSE strftime('%Y-%m-%dT%H:%M:%S', MAX(end), 'unixepoch') END, CASE WHEN COUNT(end) < COUNT(*) "
            "THEN 'RUNNING' ELSE 'COMPLETED' END, MAX(processors) / 1000000, CASE WHEN COUNT(*) > 1 THEN '01:00:00' "
            "ELSE '00:00:00' END FROM segments WHERE kind = 'run' AND retracted IS NULL GROUP BY job")) {
    text += row + "\n";
  }
  return text;
}

TEST_F(Archives, runs_of_all_files_are_compared_with_slurms_records) {
  const fs::path records = directory.path() / "records";
  std::ofstream(records) << sacct_of(twin());
  const auto compared = [&](const fs::path& file, ExitCode expected) {
    const Outcome outcome =
        run_shapleyctl(directory.path(), "audit --json " + file.string() + " --against " + records.string(), "TZ=UTC");
    EXPECT_EQ(outcome.exit_code, code(expected)) << outcome.out << outcome.err;
    const json report = json::parse(outcome.out, nullptr, false);
    for (const json& examination : report["examinations"]) {
      if (examination["against"] == "records") return examination;
    }
    return json();
  };
  const json whole = compared(twin(), ExitCode::success);
  EXPECT_GT(whole["runs_compared"], 100);
  const json followed = compared(ledger(), ExitCode::success);
  for (const char* count : {"events", "segments", "records", "runs_compared"}) EXPECT_EQ(followed[count], whole[count]);
  EXPECT_EQ(followed["notes"].back(), "of the archives 3 were compared, too");

  // What is told of a run whose begin and end are in different files.
  std::string changed = content_of(records);
  const std::string end = rows(twin(),
                               "SELECT strftime('%Y-%m-%dT%H:%M:%S', MAX(end), 'unixepoch') FROM segments WHERE "
                               "kind = 'run' AND retracted IS NULL AND end - begin > 40 * 86400")
                              .at(0);
  const std::size_t place = changed.find(end);
  ASSERT_NE(place, std::string::npos);
  char& tens_of_seconds = changed[place + std::string_view("2027-02-04T00:00:").size()];
  tens_of_seconds = tens_of_seconds == '0' ? '1' : '0';
  std::ofstream(records) << changed;
  const json finding = compared(ledger(), ExitCode::findings)["findings"];
  EXPECT_GT(finding.size(), 0U);
  EXPECT_EQ(finding, compared(twin(), ExitCode::findings)["findings"]);

  // Records of the present period need no archive.
  std::ofstream(records) << changed.substr(0, changed.find('\n') + 1)
                         << "77000|2027-02-03T00:00:00|2027-02-03T01:00:00|COMPLETED|1|00:00:00\n";
  const json present = compared(ledger(), ExitCode::findings);
  for (const json& note : present["notes"]) {
    EXPECT_FALSE(contains(note.get<std::string>(), "of the archives")) << note;
  }
}

TEST_F(Archives, jobs_of_an_archive_are_listed) {
  const Outcome outcome = run("jobs --json -S 2026-11-01 --ledger " + archive("2026-11").string());
  ASSERT_EQ(outcome.exit_code, code(ExitCode::success)) << outcome.err;
  const json jobs = json::parse(outcome.out, nullptr, false)["jobs"];
  for (const std::uint32_t job : {1001U, 1030U}) {
    EXPECT_TRUE(std::ranges::any_of(jobs, [job](const json& row) { return row["job"] == job; })) << job;
  }
}

TEST_F(Archives, archive_says_when_there_is_nothing_to_do) {
  const Outcome again = run("archive " + ledger().string());
  EXPECT_EQ(again.exit_code, code(ExitCode::success));
  EXPECT_TRUE(contains(again.out, "nothing to archive")) << again.out;
  const Outcome absent = run("archive " + (directory.path() / "absent.db").string());
  EXPECT_EQ(absent.exit_code, code(ExitCode::unreadable));
  const auto writer = ledger::testing::writer(ledger());
  const Outcome busy = run("archive " + ledger().string());
  EXPECT_EQ(busy.exit_code, code(ExitCode::unreadable));
  EXPECT_TRUE(contains(busy.err, "writes this ledger already")) << busy.err;
}

}  // namespace
}  // namespace shapley::ctl
