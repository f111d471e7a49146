// What amounts are counted in, on every paper: by `charge: billing` or `weights` nothing is called a core-hour.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "interval_fixture.hpp"
#include "program.hpp"
#include "tests/ledger/ledger_fixture.hpp"
#include "tests/support/text.hpp"
#include "two_clusters.hpp"

namespace shapley::ctl {
namespace {

namespace fs = std::filesystem;
using accounting::ChargeDeclared;
using accounting::Event;
using ledger::testing::must;

ChargeDeclared charge(std::int64_t second, const std::string& rule) {
  return {at_second(second), rule, {}, {}};
}

class Units : public testing::Test {
 protected:
  [[nodiscard]] fs::path file() const { return directory.path() / "ledger.db"; }

  void write(const std::vector<Event>& charges) {
    ledger::Ledger books = ledger::testing::writer(file());
    must(books.append(charges, at_second(2'000)));
    must(books.append(site_events(Period::monthly), at_second(2'000)));
  }
  std::string run(const std::string& arguments) const {
    const Outcome outcome = ends(ExitCode::success, run_shapleyctl(directory.path(), arguments));
    return outcome.out + outcome.err;
  }
  [[nodiscard]] std::string of(const std::string& arguments) const {
    return run(arguments + " --ledger " + file().string());
  }

  // What papers say of the amounts of all the time.
  [[nodiscard]] std::vector<std::string> papers() {
    const std::string out = (directory.path() / "page").string();
    const std::string time = " -S 2026-10-31T23:50:00 -E 2026-11-01T00:30:00 ";
    std::vector<std::string> papers{of("status"),
                                    of("status --users"),
                                    of("status --worth"),
                                    of("status --at 2026-11-01T00:20:00"),
                                    of("history --by 10min" + time),
                                    of("history --by 10min --csv" + time),
                                    of("history --by 10min -P -o got,given,settled,lent_core_hours" + time),
                                    of("statement" + time),
                                    of("statement --csv" + time),
                                    of("jobs -a -S 2026-10-01"),
                                    of("jobs -a -S 2026-10-01 -P -o job,core_hours"),
                                    of("explain 6"),
                                    of("explain bio --against astro"),
                                    of("adjust --job 4 --to astro --reason mistake"),
                                    of("adjust --amount 2h --from astro --to bio --at 2026-11-01 --reason agreed")};
    run("report --no-audit --no-charts --users" + time + "-o " + out + " --ledger " + file().string());
    for (const auto& each : fs::directory_iterator(out)) papers.push_back(content_of(each.path()));
    return papers;
  }

  ledger::testing::TemporaryDirectory directory;
};

TEST_F(Units, nothing_is_called_a_core_hour_by_charge_billing_or_weights) {
  for (const char* rule : {"billing", "weights"}) {
    fs::remove(file());
    write({charge(-1'000, rule)});
    for (const std::string& paper : papers()) {
      EXPECT_PRED2(lacks, lower(paper), "core-") << rule;
      EXPECT_PRED2(lacks, lower(paper), "corehours") << rule;
      EXPECT_PRED2(lacks, lower(paper), "core_hours") << rule;
    }
  }
  EXPECT_PRED2(contains, of("status"), "Standing, Key, Got and Given are billing-hours");
  EXPECT_PRED2(contains, of("status"), " billing-hours by the others, on average this period");
  EXPECT_PRED2(contains, of("jobs -a -S 2026-10-01"), "BillingHours");
  EXPECT_PRED2(contains, of("history --csv -S 2026-11-01"), "lent_billing_hours");
  EXPECT_PRED2(contains, of("statement --json --month 2026-11"), R"("unit": "billing-hours")");
  EXPECT_PRED2(contains, of("adjust --amount 1800s --from astro --to bio --at 2026-11-01 --reason agreed"),
               "0.5 billing-hours given by astro");
}

TEST_F(Units, a_period_with_both_says_which_until_when) {
  write({charge(-1'000, "dominant"), charge(500, "billing"), charge(900, "weights"), charge(1'500, "cpu")});
  const std::string both =
      "charged-hours (core-hours until 2026-11-01T00:08:20Z, then billing-hours until 2026-11-01T00:25:00Z, then "
      "core-hours)";
  EXPECT_PRED2(contains, of("status"), "Standing, Key, Got and Given are " + both);
  const std::string time = "statement -S 2026-10-31T23:50:00 -E ";
  EXPECT_PRED2(contains, of(time + "2026-11-01T00:30:00"), "amounts in " + both);
  EXPECT_PRED2(contains, of(time + "2026-11-01T00:08:20"), "amounts in core-hours\n");
  EXPECT_PRED2(contains, of(time + "2026-11-01T00:08:21"), "amounts in charged-hours (core-hours until");
  EXPECT_PRED2(contains, of("status --at 2026-11-01T00:08:20"), "Given are core-hours.\n");
}

TEST_F(Units, the_list_of_columns_has_the_words_of_their_heads) {
  const std::string help = run("jobs --helpformat");
  for (const auto& [rule, unit] : {std::pair("billing", "billing"), std::pair("cpu", "charged")}) {
    fs::remove(file());
    write({charge(-1'000, "billing"), charge(500, rule)});
    const std::string heads = of("jobs -a -S 2026-10-01 -P -o core_hours");
    EXPECT_EQ(heads.substr(0, heads.find('\n')), std::string(unit) + "_hours");
    EXPECT_PRED2(contains, help, std::string(unit) + "_hours");
    EXPECT_PRED2(contains, help, std::string(unit) + "-hours");
  }
}

TEST_F(Units, clusters_of_a_consortium_may_count_in_different_units) {
  write_two_clusters(directory.path());
  {
    ledger::Ledger south = ledger::testing::writer(directory.path() / "south.db");
    must(south.append(std::vector<Event>{ChargeDeclared{k_example_begin, "billing", {}, {}}},
                      k_example_begin + Duration{4000}));
  }
  const std::string asked = "statement --consortium " + (directory.path() / "north.db").string() + ' ' +
                            (directory.path() / "south.db").string() + " -S " + format_instant(k_example_begin);
  EXPECT_PRED2(contains, run(asked), "amounts in charged-hours (north: core-hours; south: billing-hours)\n");
  EXPECT_PRED2(contains, run(asked + " --csv"), "charged_hours");
}

}  // namespace
}  // namespace shapley::ctl
