// A year of sacct as a ledger: what is booked of each row, that the audit agrees, and that nothing is written
// otherwise.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ctl/offline.hpp"
#include "import_fixture.hpp"
#include "tests/support/text.hpp"

namespace shapley::ctl {
namespace {

using ledger::testing::must;

TEST_F(ImportTest, books_what_ran_and_the_audit_finds_nothing) {
  const ImportQuestion asked = question(year());
  const auto result = must(import_history(asked));
  EXPECT_EQ(result.runs.runs, 8);
  EXPECT_EQ(result.runs.since, Instant{k_begin + 60});
  EXPECT_EQ(result.runs.never_ran, 1);
  EXPECT_EQ(result.runs.not_ended, 1);
  // Job 75 holds a quarter of the CPUs and of the memory, but half of the GPUs: it is charged half of the node.
  EXPECT_EQ(runs(), (std::vector<std::string>{
                        "72|60|0|60|660|astro|2000000|ended", "73|60|0|60|660|astro|2000000|ended",
                        "74|100|0|100|200|bio|4000000|requeued", "74|700|0|700|1000|bio|4000000|ended",
                        "75|1000|0|1000|1600|bio|2000000|suspended", "75|1000|1|2000|2000|bio|2000000|ended",
                        "76|3000|0|3000|3100|bio|8000000|resized", "76|3000|1|3100|3400|bio|4000000|ended",
                        "77|57500|0|57500|58100|guests|4000000|ended", "79|58200|0|58200||astro|1000000|"}));
  EXPECT_EQ(expect_recorded(asked.sacct).runs_compared, 8);
}

// As old records have it, and exports without that column.
TEST_F(ImportTest, an_arrays_task_may_lack_when_it_was_eligible) {
  const std::string task = row("50_7", 51, "astro", "COMPLETED", 0, -1, 600, 1800, 0, 4, 0, 0, "n1");
  ASSERT_PRED2(contains, task, "|Unknown|");
  ImportQuestion asked = question(task);
  EXPECT_EQ(must(import_history(asked)).runs.runs, 1);
  const std::vector<std::string> booked{"51|600|0|600|1800|astro|4000000|ended"};
  EXPECT_EQ(runs(), booked);
  expect_recorded(asked.sacct);
  std::filesystem::remove(file());
  asked.sacct = write(
      "short", "JobID|JobIDRaw|User|Account|State|Submit|Start|End|AllocCPUS|NodeList\n50_7|51|u|astro|COMPLETED|" +
                   format(k_begin) + "|" + format(k_begin + 600) + "|" + format(k_begin + 1800) + "|4|n1\n");
  EXPECT_EQ(must(import_history(asked)).runs.runs, 1);
  EXPECT_EQ(runs(), booked);
}

// sacct orders its rows by job; what joins several exports does not.
TEST_F(ImportTest, the_order_of_the_rows_does_not_matter) {
  const auto events = [&](const std::string& rows) {
    EXPECT_TRUE(import_history(question(rows)));
    auto all = ledger::testing::rows(
        file(), "SELECT seq, kind, payload FROM events WHERE kind <> 'history_imported' ORDER BY seq");
    std::filesystem::remove(file());
    return all;
  };
  std::vector<std::string> lines;
  std::istringstream text(year());
  for (std::string line; std::getline(text, line);) lines.push_back(line + "\n");
  const auto in_order = events(year());
  EXPECT_GT(in_order.size(), 20U);
  std::string backwards;
  std::for_each(lines.rbegin(), lines.rend(), [&](const std::string& line) { backwards += line; });
  EXPECT_EQ(events(backwards), in_order);
}

TEST_F(ImportTest, owners_are_those_of_the_dates) {
  // bio's run on n2 ends at midnight, when n2 becomes bio's: before, astro gave; the other one is of the day after.
  const std::string rows = row("1", 1, "bio", "COMPLETED", 57000, 57000, 57000, 57600, 0, 4, 0, 0, "n2") +
                           row("2", 2, "bio", "COMPLETED", 57600, 57600, 57600, 57700, 0, 4, 0, 0, "n2");
  ASSERT_TRUE(import_history(question(rows)));
  const auto at = [&](std::int64_t second) {
    return json_of(must(answers::answer(ledger::StatusAtRequest{.at = Instant{k_begin + second}}, {.path = file()})));
  };
  const auto figure = [](const nlohmann::json& report, const std::string& name, const char* member) {
    for (const auto& row : report["organizations"]) {
      if (row["name"] == name) return row[member].get<std::string>();
    }
    return std::string("no row");
  };
  // psi of 4 processors that ran for 600 s until an age of 100 s, and of 100 s [SR13 Eq. 3].
  const nlohmann::json report = at(57700);
  constexpr std::int64_t k_before = 4 * (600 * 700 - 600 * 599 / 2);
  constexpr std::int64_t k_after = 4 * 100 * 101 / 2;
  EXPECT_EQ(figure(report, "bio", "psi"), std::to_string(k_before + k_after));
  EXPECT_EQ(figure(report, "astro", "phi_direct"), std::to_string(k_before));
  EXPECT_EQ(figure(report, "bio", "phi_direct"), std::to_string(k_after));
}

TEST_F(ImportTest, says_in_the_ledger_whose_word_it_is) {
  const ImportQuestion asked = question(year());
  ASSERT_TRUE(import_history(asked));
  const auto last = ledger::testing::rows(file(), "SELECT kind, payload FROM events ORDER BY seq DESC LIMIT 1");
  ASSERT_EQ(last.size(), 1U);
  EXPECT_PRED2(contains, last.front(), "history_imported|{\"at\":1790000000,\"author\":\"uid ");
  EXPECT_PRED2(contains, last.front(),
               "\"file\":\"sacct\",\"known\":0,\"reason\":\"before the consortium decides\",\"rows\":10,\"runs\":8");
}

TEST_F(ImportTest, a_bad_line_writes_nothing) {
  ImportQuestion asked = question(year() + "80|80|u|7|astro|COMPLETED|yesterday|||||1||n1\n");
  const auto result = import_history(asked);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what,
            "import: " + asked.sacct.string() +
                ": line 12: Submit: 'yesterday' is no time of this time zone; export and read with the same TZ, or "
                "with SLURM_TIME_FORMAT=%s; --malformed skip leaves such rows out and lists them");
  asked = question(row("81", 81, "astro", "COMPLETED", 0, 0, 1, 2, 0, 1, 0, 0, ""));
  const auto nowhere = import_history(asked);
  ASSERT_FALSE(nowhere);
  EXPECT_PRED2(contains, nowhere.error().what, "line 2: NodeList: job 81 ran, and on no node");
  std::size_t left = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory()))
    left += entry.path().filename().string().starts_with("ledger.db") ? 1U : 0U;
  EXPECT_EQ(left, 0U) << "no ledger, and nothing of one";
}

TEST_F(ImportTest, a_faulty_configuration_is_refused_with_the_place_and_the_remedy) {
  const ImportQuestion asked = question(year());
  write("site.yaml",
        "ledger: /var/lib/shapley/ledger.db\nslurm_user: root\norganizations:\n  - name: ünis\n    nodes: [n1]\n");
  const auto result = import_history(asked);
  ASSERT_FALSE(result);
  EXPECT_PRED2(contains, result.error().what,
               "site.yaml:4: organization 'ünis': name: 'ünis' is no allowed name; use 1 to 64 letters A-Z and a-z, "
               "digits, '.', '_' and '-'");
}

TEST_F(ImportTest, a_ledger_that_is_there_is_not_replaced) {
  const ImportQuestion asked = question(year());
  ASSERT_TRUE(import_history(asked));
  const auto again = import_history(asked);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::conflict);
}

// Most of the rows make a ledger; the whole export fills its gaps: the books are those of the whole.
TEST_F(ImportTest, fills_the_gaps_of_a_ledger_and_knows_what_is_there) {
  std::string half;
  std::istringstream lines(year());
  std::string line;
  for (int i = 0; std::getline(lines, line); ++i) {
    if (i % 4 != 3) half += line + "\n";
  }
  ASSERT_TRUE(import_history(question(half)));
  ImportQuestion asked = question(year());
  asked.into = file();
  asked.ledger.clear();
  const auto filled = must(import_history(asked));
  EXPECT_EQ(filled.runs.runs + filled.runs.known, 8);
  EXPECT_GT(filled.runs.runs, 0);
  const auto after = runs();
  const ledger::AuditReport report = expect_recorded(asked.sacct);
  const auto again = import_history(asked);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->runs.runs, 0);
  EXPECT_EQ(again->events, 0);
  std::filesystem::remove(file());
  ASSERT_TRUE(import_history(question(year())));
  EXPECT_EQ(after, runs());
}

// Rows that say what cannot be, between the rows of a good export: lines 2 to 8 and 19.
// The runs of jobs 74 to 76 ended after the copy that was restored.
TEST_F(ImportTest, fills_what_a_restored_copy_lacks) {
  std::string before;
  std::istringstream lines(year());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("72_") || line.starts_with("77|") || line.starts_with("79|")) before += line + "\n";
  }
  ASSERT_TRUE(import_history(question(before)));
  const Instant lost{k_begin + 50};
  must(ledger::testing::writer(file()).append(
      std::array{accounting::Event(accounting::ObservationGap{
          .begin = lost, .end = Instant{k_begin + 50000}, .cause = accounting::GapCause::events_lost})},
      {1790000000}));
  ImportQuestion asked = question(year());
  asked.into = file();
  asked.ledger.clear();
  EXPECT_EQ(must(import_history(asked)).runs.runs, 4);
  expect_recorded(asked.sacct);
  const ledger::AuditReport audited = must(ledger::audit(ledger::testing::reader(file())));
  for (const ledger::Finding& finding : audited.findings) ADD_FAILURE() << finding.check << ": " << finding.what;
  EXPECT_TRUE(std::ranges::any_of(
      audited.notes, [](const std::string& note) { return contains(note, "the ledger lost what it had from "); }));
  const auto filled = runs();
  std::filesystem::remove(file());
  ASSERT_TRUE(import_history(question(year())));
  EXPECT_EQ(filled, runs());
}

TEST_F(ImportTest, good_rows_are_imported_where_malformed_ones_may_be_left_out) {
  const std::string bad =
      row("91", 91, "bio", "COMPLETED", 0, 0, 10, -1, 0, 4, 0, 0, "n2") +
      row("92", 92, "bio", "NODE_FAIL", 0, 0, 10, -1, 0, 4, 0, 0, "n2") +
      row("93", 93, "bio", "COMPLETED", 0, 0, 10, 20, 0, 9, 0, 0, "n[1-2]") +
      row("94", 94, "bio", "COMPLETED", 0, 0, 10, 20, 0, 1, 0, 0, "n7") +
      row("95", 95, "bio", "COMPLETED", 0, 0, 10, 20, 0, 1, 0, 0, "") +
      "96|96|u|7|bio|COMPLETED|2026-03-09T08:00:00||1970-01-01T00:00:00|2026-03-09T09:00:00|00:00:00|1||n1\n" +
      "97|97|u|7|bio\n";
  const std::string beside = row("98", 98, "bio", "COMPLETED", 58000, 58000, 58300, 58400, 0, 4, 0, 0, "n1");
  ImportQuestion asked = question(bad + year() + beside);
  const auto refused = import_history(asked);
  ASSERT_FALSE(refused);
  EXPECT_FALSE(std::filesystem::exists(file()));
  asked.malformed = sacct::Malformed::skip;
  const auto result = must(import_history(asked));
  std::vector<std::int64_t> lines;
  for (const sacct::BadRow& row : result.bad) lines.push_back(row.line);
  // Job 79 has no end in this export, and job 98 ran on all of its node since: which of the two is wrong is not
  // known, but that one of them is, and an end that was not recorded is likelier to be missing.
  EXPECT_EQ(lines, (std::vector<std::int64_t>{2, 3, 4, 5, 6, 7, 8, 18}));
  EXPECT_EQ(result.runs.runs, 8);
  EXPECT_EQ(result.runs.not_ended, 0);
  const auto booked = runs();
  std::filesystem::remove(file());
  std::string good = year();
  good.erase(good.find("79|79"));
  ASSERT_TRUE(import_history(question(good + beside)));
  EXPECT_EQ(booked, runs()) << "as if the malformed rows had not been there";
}

// Another cluster's job of the same number, and a run that the ledger has with another end and other CPUs.
TEST_F(ImportTest, an_old_ledger_is_compared_with_the_rows_of_jobs_that_it_has) {
  ASSERT_TRUE(import_history(question(row("5", 5, "astro", "COMPLETED", 0, 0, 100, 200, 0, 2, 0, 0, "n1") +
                                      row("6", 6, "astro", "COMPLETED", 0, 0, 100, 200, 0, 2, 0, 0, "n2"))));
  const auto before = runs();
  const std::string good = row("7", 7, "astro", "COMPLETED", 0, 0, 300, 400, 0, 2, 0, 0, "n1");
  ImportQuestion asked = question(row("5", 5, "astro", "COMPLETED", 0, 0, 150, 250, 0, 1, 0, 0, "n2") + good);
  asked.into = file();
  asked.ledger.clear();
  const auto refused = import_history(asked);
  ASSERT_FALSE(refused);
  EXPECT_PRED2(contains, refused.error().what, "line 2: Start: in the ledger job 5 runs from ");
  EXPECT_EQ(runs(), before);
  asked.malformed = sacct::Malformed::skip;
  const auto skipped = must(import_history(asked));
  ASSERT_EQ(skipped.bad.size(), 1U);
  EXPECT_EQ(skipped.bad[0].line, 2);
  EXPECT_EQ(skipped.runs.runs, 1);
  EXPECT_TRUE(skipped.differing.empty());

  asked = question(row("5", 5, "astro", "COMPLETED", 0, 0, 100, 260, 0, 2, 0, 0, "n1") +
                   row("6", 6, "astro", "COMPLETED", 0, 0, 100, 200, 0, 1, 0, 0, "n2") + good +
                   // Requeued, right behind a run that the ledger has.
                   row("6", 6, "astro", "COMPLETED", 0, 0, 200, 230, 0, 2, 0, 0, "n2"));
  asked.into = file();
  asked.ledger.clear();
  const auto differing = must(import_history(asked));
  ASSERT_EQ(differing.differing.size(), 2U);
  EXPECT_EQ(differing.differing[0].line, 2);
  EXPECT_PRED2(contains, differing.differing[0].why, "End: job 5, run from ");
  EXPECT_EQ(differing.differing[1].line, 3);
  EXPECT_PRED2(contains, differing.differing[1].why, "the ledger has 2 CPUs of it");
  EXPECT_EQ(differing.runs.known, 3);
  EXPECT_EQ(differing.runs.runs, 1);
}

TEST_F(ImportTest, an_export_without_a_good_row_makes_no_ledger) {
  ImportQuestion asked = question(row("91", 91, "bio", "COMPLETED", 0, 0, 10, -1, 0, 4, 0, 0, "n2"));
  asked.malformed = sacct::Malformed::skip;
  const auto result = import_history(asked);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::not_found);
  EXPECT_PRED2(contains, result.error().what, "no row of it is a run, and 1 was left out as malformed");
}

TEST_F(ImportTest, a_node_that_an_old_ledger_knows_is_as_large_as_it_says) {
  ASSERT_TRUE(import_history(question(year())));
  ImportQuestion asked = question(row("90", 90, "bio", "COMPLETED", 0, 0, 1, 2, 0, 5, 0, 0, "n2"));
  asked.into = file();
  asked.ledger.clear();
  asked.nodes.clear();
  const auto result = import_history(asked);
  ASSERT_FALSE(result);
  EXPECT_PRED2(contains, result.error().what, "line 2: AllocCPUS: 5 are more than the 4 that its nodes have");
}

// The states of the jobs of a ledger, as `jobs -a` shows them: "JOB STATE".
std::vector<std::string> states_of(const std::filesystem::path& file) {
  const nlohmann::json report =
      json_of(must(answers::answer(ledger::JobsFilter{.all = true, .since = Instant{0}}, {.path = file})));
  std::vector<std::string> states;
  for (const nlohmann::json& job : report["jobs"])
    states.push_back(job["job"].dump() + " " + job["state"].get<std::string>());
  return states;
}

TEST_F(ImportTest, a_resized_job_is_one_job) {
  ASSERT_TRUE(import_history(question(row("17", 17, "astro", "RESIZING", 0, 0, 600, 1200, 0, 8, 2048, 0, "n[1-2]") +
                                      row("17", 17, "astro", "RESIZING", 1200, 1200, 600, 2400, 0, 4, 1024, 0, "n1") +
                                      row("17", 17, "astro", "COMPLETED", 2400, 2400, 600, 4200, 0, 2, 512, 0, "n1"))));
  EXPECT_EQ(states_of(file()), (std::vector<std::string>{"17 ended"}));
  EXPECT_EQ(runs().size(), 3U);
}

TEST_F(ImportTest, what_was_requeued_waits_only_if_it_neither_ran_again_nor_was_cancelled) {
  const std::string requeued = row("1", 1, "astro", "REQUEUED", 0, 0, 10, 20, 0, 1, 512, 0, "n1");
  const auto of = [&](const std::string& rows) {
    std::filesystem::remove(file());
    EXPECT_TRUE(import_history(question(requeued + rows)));
    return states_of(file());
  };
  using States = std::vector<std::string>;
  EXPECT_EQ(of(row("1", 1, "astro", "PENDING", 20, 140, -1, -1, 0, 0, 0, 0, "None assigned")), States{"1 pending"});
  EXPECT_EQ(of(row("1", 1, "astro", "CANCELLED by 7", 20, 140, -1, 60, 0, 0, 0, 0, "None assigned")),
            States{"1 ended"});
  EXPECT_EQ(of(row("1", 1, "astro", "COMPLETED", 20, 140, 200, 300, 0, 1, 512, 0, "n1")),
            (States{"1 ended", "1 ended"}));
}

// slurmctld forgot jobs 74 and 76 after shapleyd had seen them begin; Slurm's accounting did not.
TEST_F(ImportTest, takes_a_run_that_is_retracted_here_and_recorded_there) {
  ASSERT_TRUE(import_history(question(year())));
  const auto whole = runs();
  std::filesystem::remove(file());
  std::string rest;
  std::istringstream lines(year());
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("74|") && !line.starts_with("76|")) rest += line + "\n";
  }
  ASSERT_TRUE(import_history(question(rest)));
  std::vector<accounting::Event> seen;
  for (const auto& [job, start] : {std::pair{74U, 700}, std::pair{76U, 3000}}) {
    auto opened = ledger::testing::opened(job, k_begin + start, "bio", 1);
    seen.emplace_back(opened);
    seen.emplace_back(accounting::SegmentRetracted{opened.key, {k_begin + start + 9}});
  }
  must(ledger::testing::writer(file()).append(seen, {1789999999}));
  ImportQuestion asked = question(year());
  asked.into = file();
  asked.ledger.clear();
  EXPECT_EQ(must(import_history(asked)).runs.restored, 2);
  // Keys are not used again; all else is as if nothing had been forgotten.
  auto again = runs();
  for (std::string& run : again) {
    for (const auto& [key, as_first] :
         {std::pair{"74|700|1|", "74|700|0|"}, std::pair{"76|3000|1|3000", "76|3000|0|3000"},
          std::pair{"76|3000|2|3100", "76|3000|1|3100"}}) {
      if (run.starts_with(key)) run.replace(0, std::string(key).size(), as_first);
    }
  }
  EXPECT_EQ(again, whole);
  expect_recorded(asked.sacct);
}

// slurmctld lost its state; the books end these runs where they were seen last.
TEST_F(ImportTest, runs_whose_end_was_not_seen_end_as_they_are_recorded) {
  ASSERT_TRUE(import_history(question(row("70", 70, "bio", "COMPLETED", 0, 0, 1, 2, 0, 1, 0, 0, "n2"))));
  std::vector<accounting::Event> seen;
  for (const std::uint32_t job : {80U, 81U, 82U, 83U}) {
    auto opened = ledger::testing::opened(job, k_begin + 1000, "bio", 1);
    seen.emplace_back(opened);
    seen.emplace_back(ledger::testing::closed(opened, k_begin + 1100, accounting::CloseReason::vanished));
  }
  must(ledger::testing::writer(file()).append(seen, {1789999999}));
  const auto recorded = [](int job, int end, int suspended) {
    return row(std::to_string(job), job, "bio", "CANCELLED", 900, 900, 1000, end, suspended, 1, 0, 0, "n1");
  };
  ImportQuestion asked =
      question(recorded(80, 1160, 0) + recorded(81, 1100, 0) + recorded(82, 1090, 0) + recorded(83, 1200, 60));
  asked.into = file();
  asked.ledger.clear();
  const auto mended = must(import_history(asked));
  EXPECT_EQ(mended.runs.runs, 0);
  EXPECT_EQ(mended.runs.known, 4);
  EXPECT_EQ(mended.ends, 3);
  EXPECT_EQ(runs(), (std::vector<std::string>{
                        "70|1|0|1|2|bio|1000000|ended", "80|1000|0|1000|1100|bio|1000000|vanished",
                        "80|1000|1|1100|1160|bio|1000000|ended", "81|1000|0|1000|1100|bio|1000000|vanished",
                        "82|1000|1|1000|1090|bio|1000000|ended", "83|1000|0|1000|1100|bio|1000000|vanished",
                        "83|1000|1|1100|1140|bio|1000000|suspended", "83|1000|2|1200|1200|bio|1000000|ended"}));
  EXPECT_EQ(
      ledger::testing::rows(file(),
                            "SELECT json_extract(payload, '$.since') - 1773043200, json_extract(payload, '$.until') - "
                            "1773043200 FROM events WHERE kind = 'history_imported' ORDER BY seq DESC LIMIT 1"),
      std::vector<std::string>{"1000|1200"});
  const auto again = import_history(asked);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->events, 0);
  expect_recorded(asked.sacct);
}

// Job 80 ended earlier than the ledger says: where it ran another run had all the room from then on.
TEST_F(ImportTest, a_run_that_the_import_shortens_holds_nothing_beyond_its_end) {
  ASSERT_TRUE(import_history(question(row("70", 70, "bio", "COMPLETED", 0, 0, 1, 2, 0, 1, 0, 0, "n2"))));
  const auto opened = ledger::testing::opened(80, k_begin + 1000, "bio", 4);
  must(ledger::testing::writer(file()).append(
      std::vector<accounting::Event>{
          opened, ledger::testing::closed(opened, k_begin + 2000, accounting::CloseReason::vanished)},
      {1789999999}));
  ImportQuestion asked = question(row("80", 80, "bio", "CANCELLED", 900, 900, 1000, 1100, 0, 4, 0, 0, "n1") +
                                  row("90", 90, "astro", "COMPLETED", 1100, 1100, 1200, 1300, 0, 6, 0, 0, "n[1-2]"));
  asked.into = file();
  asked.ledger.clear();
  const auto filled = must(import_history(asked));
  EXPECT_EQ(filled.ends, 1);
  EXPECT_EQ(filled.runs.runs, 1);
  EXPECT_TRUE(filled.runs.without_room.empty());
  EXPECT_EQ(ledger::testing::rows(file(), "SELECT node, processors FROM segment_nodes WHERE job = 90 ORDER BY node"),
            (std::vector<std::string>{"n1|3000000", "n2|3000000"}));
  expect_recorded(asked.sacct);
}

TEST_F(ImportTest, users_are_called_as_the_export_calls_them) {
  const auto of = [](int job, const char* user, int number, int start) {
    std::string text =
        row(std::to_string(job), job, "astro", "COMPLETED", start, start, start, start + 10, 0, 1, 0, 0, "n1");
    return text.replace(text.find("|u|7|"), 5, std::string("|") + user + "|" + std::to_string(number) + "|");
  };
  const auto named = [this] {
    return ledger::testing::rows(file(),
                                 "SELECT at, json_extract(payload, '$.user_id'), json_extract(payload, "
                                 "'$.name') FROM events WHERE kind = 'user_named' ORDER BY seq");
  };
  const auto at = [](int second) { return std::to_string(k_begin + second); };
  must(import_history(
      question(of(1, "ada", 1000, 0) + of(2, "eve", 1001, 100) + of(3, "ada2", 1000, 200) + of(4, "1002", 1002, 300))));
  const std::vector<std::string> first{at(200) + "|1000|ada2", at(100) + "|1001|eve"};
  EXPECT_EQ(named(), first) << "the last name of each; a number is no name";
  ImportQuestion more = question(of(5, "eve", 1001, 400) + of(6, "earlier", 1000, 50) + of(7, "max", 1003, 500));
  more.into = more.ledger;
  more.ledger.clear();
  must(import_history(more));
  EXPECT_EQ(named(), (std::vector<std::string>{first[0], first[1], at(500) + "|1003|max"}));
}

// The books know nothing of the months from the end of the export to the import.
TEST_F(ImportTest, papers_that_name_no_end_end_where_the_export_does) {
  const auto run = [](int job, int start, int end) {
    return row(std::to_string(job), job, "astro", "COMPLETED", 0, 0, start, end, 0, 4, 4096, 0, "n1");
  };
  const auto use = [&] {
    return must(
        answers::answer(ledger::HistoryRequest{.by = ledger::Interval::month, .utilization = true}, {.path = file()}));
  };
  const auto statement_until = [&](std::optional<Instant> until) {
    const ledger::StatementRequest asked{.of = {.until = until}};
    return must(answers::answer(asked, {.path = file()})).of.until.value;
  };
  const auto import_into = [&](const std::string& rows, std::int64_t now) {
    ImportQuestion more = question(rows);
    more.into = std::exchange(more.ledger, {});
    more.now = {now};
    must(import_history(more));
  };
  must(import_history(question(run(70, 100, 4000) + run(71, 0, 40))));
  const ledger::HistoryReport report = use();
  EXPECT_EQ(report.of.until.value, k_begin + 4000);
  ASSERT_TRUE(report.utilization);
  std::vector<std::string> rows;
  for (const ledger::UtilizationRow& row : report.utilization->rows) {
    if (row.organization == "astro") rows.push_back(row.begin.utc() + " to " + row.end.utc());
  }
  EXPECT_EQ(rows, (std::vector<std::string>{"2026-03-01T00:00:00Z to 2026-03-09T09:06:40Z"}));
  EXPECT_EQ(statement_until({}), k_begin + 4000);
  // A user who names an end knows up to when was exported.
  EXPECT_EQ(statement_until(Instant{k_begin + 9000}), k_begin + 9000);

  import_into(run(72, 50, 90), 1790000100);
  EXPECT_EQ(statement_until({}), k_begin + 4000) << "a gap was filled";
  import_into(run(73, 6000, 7000), 1790000200);
  EXPECT_EQ(statement_until({}), k_begin + 7000);
  must(ledger::testing::writer(file()).append(
      std::array<accounting::Event, 1>{accounting::PeriodDeclared{{1790000300}, Period::none}}, {1790000300}));
  EXPECT_EQ(use().of.until.value, 1790000300) << "something was recorded";
  import_into(run(74, 8000, 8100), 1790000400);
  EXPECT_EQ(use().of.until.value, 1790000300);
}

TEST_F(ImportTest, no_ledger_is_made_of_an_empty_file) {
  ImportQuestion asked = question(year());
  asked.into = write("lost.db", "");
  asked.ledger.clear();
  const auto result = import_history(asked);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::corrupt);
  EXPECT_EQ(std::filesystem::file_size(asked.into), 0U);
}

TEST_F(ImportTest, a_ledger_that_a_daemon_writes_is_left_alone) {
  ASSERT_TRUE(import_history(question(year())));
  const auto writer = ledger::testing::writer(file());
  ImportQuestion asked = question(row("90", 90, "bio", "COMPLETED", 0, 0, 1, 2, 0, 1, 0, 0, "n2"));
  asked.into = file();
  asked.ledger.clear();
  const auto result = import_history(asked);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::conflict);
}

}  // namespace
}  // namespace shapley::ctl
