// Archives as an operator meets them: made, followed by audit and status, missing, exchanged, damaged.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "ctl/environment.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/store/backup.hpp"
#include "program.hpp"
#include "tests/ledger/archived_months.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/text.hpp"

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
      EXPECT_PRED2(contains, outcome.out, archive.string());
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
  // An archive by itself, with those before it; unpacked by hand, too; in another place if one is named.
  EXPECT_EQ(audited(archive("2026-11").string(), ExitCode::success)["examinations"].size(), 2U);
  const fs::path elsewhere = directory.path() / "elsewhere";
  fs::rename(directory.path() / "archives", elsewhere);
  must(ledger::unpack(elsewhere / "ledger.2026-10.db.xz", elsewhere / "ledger.2026-10.db", {}));
  fs::remove(elsewhere / "ledger.2026-10.db.xz");
  EXPECT_EQ(audited(ledger().string() + " --archives " + elsewhere.string(), ExitCode::success)["examinations"].size(),
            4U);
}

TEST_F(Archives, audit_names_the_archive_that_is_missing) {
  const std::string hash = rows(twin(),
                                "SELECT lower(hex(hash)) FROM event_rows WHERE seq = (SELECT MIN(seq) - 1 FROM "
                                "event_rows WHERE received >= " +
                                    std::to_string(month_begin(2).value) + ")")
                               .at(0);
  fs::remove(archive("2026-11"));
  const Outcome outcome = ends(ExitCode::incomplete, run("audit " + ledger().string()));
  EXPECT_PRED2(contains, outcome.out,
               "MISSING ledger.2026-11.db.xz (2026-11-01T00:00:00Z to 2026-12-01T00:00:00Z, up to ");
  EXPECT_PRED2(contains, outcome.out, hash);
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
    EXPECT_PRED2(contains, findings_of(audited(ledger().string(), ExitCode::findings), archive("2026-11")),
                 "archive: ");
  }
  std::ofstream(archive("2026-11"), std::ios::binary) << bytes.substr(0, length - 100);
  EXPECT_PRED2(contains, findings_of(audited(ledger().string(), ExitCode::findings), archive("2026-11")),
               "it was cut short");
  std::ofstream(archive("2026-11"), std::ios::binary) << bytes << "more";
  EXPECT_PRED2(contains, findings_of(audited(ledger().string(), ExitCode::findings), archive("2026-11")),
               "something follows its end");
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
  EXPECT_PRED2(contains, later, "chain: ");
  EXPECT_PRED2(contains, later, "archive: its events lead to other books");
  const std::string unreadable =
      findings_after("processors = processors + 1000000 WHERE seq = (SELECT MAX(seq) FROM event_rows WHERE kind = 2)");
  EXPECT_PRED2(contains, unreadable, "chain: ");
  EXPECT_PRED2(contains, unreadable, "archive: its events lead to no books: event ");
}

TEST_F(Archives, an_exchanged_file_is_named) {
  fs::rename(archive("2026-11"), directory.path() / "november");
  fs::copy_file(archive("2026-12"), archive("2026-11"));
  EXPECT_PRED2(contains, findings_of(audited(ledger().string(), ExitCode::findings), archive("2026-11")),
               "exchanged or changed");

  // Of a ledger with another history, made in the same way.
  fs::remove(archive("2026-11"));
  const fs::path other = directory.path() / "other";
  fs::create_directory(other);
  ledger::testing::write_months(other / "ledger.db", 5, 31);
  ASSERT_EQ(run("archive " + (other / "ledger.db").string()).exit_code, code(ExitCode::success));
  fs::copy_file(other / "archives" / "ledger.2026-11.db.xz", archive("2026-11"));
  const std::string findings = findings_of(audited(ledger().string(), ExitCode::findings), archive("2026-11"));
  EXPECT_PRED2(contains, findings, "it is of another ledger");
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
          std::string("explain physics --against biology --at 2026-11-05"),
          std::string("status --forecast --at 2026-11-05")}) {
      const Outcome outcome = ends(ExitCode::unreadable, run(command + " --ledger " + ledger().string()));
      EXPECT_PRED2(contains, outcome.err, archive("2026-11").string() + ": ") << command;
      EXPECT_PRED2(contains, outcome.err, c.fault) << command;
      EXPECT_PRED2(contains, outcome.err, "; expected is ledger.2026-11.db.xz (2026-11-01T") << command;
    }
    ends(ExitCode::success, run("status --at 2026-12-05 --ledger " + ledger().string()));
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
  EXPECT_PRED2(contains, findings_of(audited(ledger().string(), ExitCode::findings), archive("2026-11")),
               "it unpacks to too much");
}

TEST_F(Archives, a_file_that_names_itself_comes_to_an_end) {
  const std::string sql = rows(ledger(), "SELECT sql FROM sqlite_master WHERE name = 'genesis_is_not_updated'").at(0);
  tamper("2026-11",
         "DROP TRIGGER genesis_is_not_updated; UPDATE genesis SET archive = 'ledger.2026-11.db.xz', sequence = (SELECT "
         "MAX(seq) FROM event_rows);" +
             sql);
  const Outcome outcome = ends(ExitCode::unreadable, run("status --ledger " + ledger().string() + " --at 2026-10-05"));
  EXPECT_PRED2(contains, outcome.err, "ledger.2026-11.db.xz: it has events ");
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
  EXPECT_EQ(audited(arguments, ExitCode::success)["examinations"].size(), 6U);
  fs::remove(archive("2026-10"));
  EXPECT_EQ(audited(arguments, ExitCode::findings)["missing"]["archive"], "ledger.2026-10.db.xz");
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
  ends(ExitCode::success, run(asked + "2026-12-05"));
  for (const char* at : {"2026-11-05", "2026-10-05"}) {
    const Outcome outcome = ends(ExitCode::unreadable, run(asked + at));
    EXPECT_PRED2(contains, outcome.err, "need the archive ledger.2026-11.db.xz (2026-11-01");
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

  // What an audit says of a run whose begin and end are in different files.
  std::string changed = content_of(records);
  const std::string end = rows(twin(),
                               "SELECT strftime('%Y-%m-%dT%H:%M:%S', MAX(end), 'unixepoch') FROM segments WHERE kind = "
                               "'run' AND retracted IS NULL AND end - begin > 40 * 86400")
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
    EXPECT_PRED2(lacks, note.get<std::string>(), "of the archives") << note;
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

// What the ledger no longer has is no misspelling, and the answer says where it is.
TEST_F(Archives, jobs_of_an_account_that_only_an_archive_may_have_are_looked_for_there) {
  const std::string asked = "jobs -A retired --ledger ";
  const Outcome of_ledger = ends(ExitCode::usage, run(asked + ledger().string()));
  EXPECT_PRED2(contains, of_ledger.err,
               "the ledger has no job of account 'retired'; it goes on from an archive, and jobs that are older are in "
               "its archives only: shapleyctl jobs --ledger ARCHIVE");
  EXPECT_PRED2(lacks, ends(ExitCode::usage, run(asked + twin().string())).err, "archive");
}

TEST_F(Archives, archive_says_when_there_is_nothing_to_do) {
  const Outcome again = ends(ExitCode::success, run("archive " + ledger().string()));
  EXPECT_PRED2(contains, again.out, "nothing to archive");
  const Outcome absent = ends(ExitCode::unreadable, run("archive " + (directory.path() / "absent.db").string()));
  const auto writer = ledger::testing::writer(ledger());
  const Outcome busy = ends(ExitCode::unreadable, run("archive " + ledger().string()));
  EXPECT_PRED2(contains, busy.err, "writes this ledger already");
}

// Closed periods of a ledger whose events were all recorded on one day: an import of eleven months.

class ImportedArchives : public testing::Test {
 protected:
  [[nodiscard]] Outcome run(const std::string& arguments) const {
    return run_shapleyctl(directory.path(), arguments, "TZ=UTC");
  }
  [[nodiscard]] fs::path path(const std::string& name) const { return directory.path() / name; }
  ledger::testing::TemporaryDirectory directory;
};

// Of February to December 2024, one run every seven hours on average, many of them across the end of their month.
std::string eleven_months() {
  std::string rows =
      "JobIDRaw|User|UID|Account|State|Submit|Eligible|Start|End|Suspended|AllocCPUS|AllocTRES|NodeList\n";
  const Instant first = *parse_instant("2024-02-01");
  const std::int64_t length = (*parse_instant("2024-12-25") - first).value;
  constexpr std::int64_t k_jobs = 1'100;
  const auto text = [](Instant t) { return format_instant(t).substr(0, 19); };
  for (std::int64_t job = 1; job <= k_jobs; ++job) {
    const Instant submit = first + Duration{length * job / k_jobs};
    const Instant start = submit + Duration{job % 50 * 60};
    const Instant end = start + Duration{job % 3 == 0 ? 5 * k_day_s : 3'600 + job};
    rows += std::to_string(job) + "|u|7|" + (job % 2 == 0 ? "astro" : "bio") + "|COMPLETED|" + text(submit) + "|" +
            text(submit) + "|" + text(start) + "|" + text(end) + "|00:00:00|1|cpu=1,mem=100M,node=1|n" +
            std::to_string(job % 2 + 1) + "\n";
  }
  return rows;
}

TEST_F(ImportedArchives, every_month_goes_to_its_own_file) {
  std::ofstream(path("site.yaml")) << "slurm_user: root\nperiod: monthly\norganizations:\n"
                                      "  - name: astro\n    accounts: [astro]\n    nodes: [{ nodes: n1 }]\n"
                                      "  - name: bio\n    accounts: [bio]\n    nodes: [{ nodes: n2 }]\n";
  std::ofstream(path("sacct")) << eleven_months();
  for (const char* name : {"ledger.db", "twin.db"}) {
    const Outcome imported = run("import --sacct " + path("sacct").string() + " --config " +
                                 path("site.yaml").string() + " --ledger " + path(name).string());
    ASSERT_EQ(imported.exit_code, code(ExitCode::success)) << imported.err;
  }
  const Outcome archived = run("archive " + path("ledger.db").string());
  ASSERT_EQ(archived.exit_code, code(ExitCode::success)) << archived.err;
  for (const char* month : {"02", "03", "04", "05", "06", "07", "08", "09", "10", "11"}) {
    EXPECT_TRUE(fs::exists(path("archives") / ("ledger.2024-" + std::string(month) + ".db.xz"))) << archived.out;
  }
  const json audit =
      json::parse(run("audit --json " + path("ledger.db").string() + " --against " + path("sacct").string()).out);
  EXPECT_TRUE(audit["clean"].get<bool>()) << audit.dump(1);
  EXPECT_EQ(audit["missing"], nullptr);
  for (const char* question :
       {"status --json --at 2024-02-20", "status --json --at 2024-07-01T03:00:00", "statement --json --month 2024-05",
        "statement --json -S 2024-08-20 -E 2024-10-10", "history --json --by month -S 2024-02-01 -E 2025-01-01"}) {
    const Outcome expected = run(question + (" --ledger " + path("twin.db").string()));
    ASSERT_EQ(expected.exit_code, code(ExitCode::success)) << expected.err;
    EXPECT_EQ(run(question + (" --ledger " + path("ledger.db").string())).out, expected.out) << question;
  }
}

TEST_F(ImportedArchives, what_keeps_closed_periods_is_said) {
  // A run of the first month, learned in the last one.
  const auto late = ledger::testing::opened(90'001, ledger::testing::month_begin(0).value + 4'000, "physics", 1, "n2");
  const Instant learned = ledger::testing::month_begin(4) + Duration{k_day_s};
  ledger::testing::write_months(path("ledger.db"), 5, 12, {{learned, late}});
  const Outcome outcome = ends(ExitCode::success, run("archive " + path("ledger.db").string()));
  EXPECT_PRED2(contains, outcome.out,
               "nothing to archive: of its closed periods but the last one 3 stay: events that ");
}

}  // namespace
}  // namespace shapley::ctl
