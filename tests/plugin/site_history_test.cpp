// Whose a site factor is: every value that ranks can give is recognized, others are not, also after a restart.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

extern "C" {
#include "plugin/priority/site_factor.h"
}

namespace {

// All values of a formula, one by one.
std::set<std::uint32_t> values_of(const shapley_site_formula_t& formula) {
  std::set<std::uint32_t> values;
  const std::uint32_t levels = formula.level_unit == 0 ? 0 : k_shapley_max_level;
  for (std::uint32_t position = 0; position < formula.ranks; ++position) {
    for (std::uint32_t level = 0; level <= levels; ++level) {
      values.insert(level * formula.level_unit + (formula.strict
                                                      ? shapley_site_strict(formula.unit, formula.ranks, position)
                                                      : shapley_site_weighted(formula.unit, formula.ranks, position)));
    }
  }
  values.erase(0);
  return values;
}

RC_GTEST_PROP(SiteHistory, AValueIsRecognizedExactlyWhenARankAndALevelGiveIt, ()) {
  const shapley_site_formula_t formula{.strict = *rc::gen::arbitrary<bool>(),
                                       .unit = *rc::gen::inRange<std::uint32_t>(1, 20000),
                                       .ranks = *rc::gen::inRange<std::uint32_t>(1, 12),
                                       .level_unit = *rc::gen::inRange<std::uint32_t>(0, 700)};
  const std::set<std::uint32_t> values = values_of(formula);
  for (const std::uint32_t value : values) {
    RC_ASSERT(shapley_site_formula_gives(&formula, value));
    RC_ASSERT(shapley_site_formula_gives(&formula, value + 1) == values.contains(value + 1));
    RC_ASSERT(shapley_site_formula_gives(&formula, value - 1) == values.contains(value - 1));
  }
  const auto other = *rc::gen::inRange<std::uint32_t>(0, 300000);
  RC_ASSERT(shapley_site_formula_gives(&formula, other) == values.contains(other));
}

TEST(SiteHistory, TheLargestUnitsDoNotOverflow) {
  const shapley_site_formula_t weighted{.strict = false, .unit = 1000000000, .ranks = 1000000, .level_unit = 0};
  EXPECT_TRUE(shapley_site_formula_gives(&weighted, 1000000000));
  EXPECT_FALSE(shapley_site_formula_gives(&weighted, 4000000000U));
  const shapley_site_formula_t nothing{.strict = true, .unit = 0, .ranks = 5, .level_unit = 0};
  EXPECT_FALSE(shapley_site_formula_gives(&nothing, 10000));
}

class SiteHistoryFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "history.XXXXXX").string();
    directory = mkdtemp(pattern.data());
    path = (directory / "shapley.scales").string();
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  [[nodiscard]] std::string content() const {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::filesystem::path directory;
  std::string path;
  shapley_site_history_t history = SHAPLEY_SITE_HISTORY_NONE;
};

constexpr shapley_site_formula_t k_strict{.strict = true, .unit = 11501, .ranks = 3, .level_unit = 0};
constexpr shapley_site_formula_t k_weighted{.strict = false, .unit = 5000, .ranks = 3, .level_unit = 0};
constexpr shapley_site_formula_t k_leveled{.strict = true, .unit = 34031, .ranks = 3, .level_unit = 1502};

TEST_F(SiteHistoryFile, WhatIsSavedIsRecognizedAfterARestart) {
  shapley_site_history_add(&history, &k_strict);
  shapley_site_history_add(&history, &k_weighted);
  shapley_site_history_add(&history, &k_strict);  // known: no second line
  ASSERT_TRUE(shapley_site_history_save(&history, path.c_str()));
  EXPECT_EQ(content(), "shapley scales 1\nstrict 11501 3\nweighted 5000 3\n");

  shapley_site_history_t later = SHAPLEY_SITE_HISTORY_NONE;
  ASSERT_TRUE(shapley_site_history_load(&later, path.c_str()));
  EXPECT_TRUE(shapley_site_history_has(&later, &k_strict));
  EXPECT_TRUE(shapley_site_history_recognizes(&later, 10000 + 2 * 11501));
  EXPECT_TRUE(shapley_site_history_recognizes(&later, 2500));
  EXPECT_FALSE(shapley_site_history_recognizes(&later, 2501));
  EXPECT_FALSE(shapley_site_history_recognizes(&later, 0));
}

TEST_F(SiteHistoryFile, LevelsAreRecognizedAfterARestartToo) {
  shapley_site_history_add(&history, &k_leveled);
  ASSERT_TRUE(shapley_site_history_save(&history, path.c_str()));
  EXPECT_EQ(content(), "shapley scales 1\nstrict 34031 3 1502\n");
  shapley_site_history_t later = SHAPLEY_SITE_HISTORY_NONE;
  ASSERT_TRUE(shapley_site_history_load(&later, path.c_str()));
  EXPECT_TRUE(shapley_site_history_has(&later, &k_leveled));
  EXPECT_TRUE(shapley_site_history_recognizes(&later, 10000 + 34031 + 15 * 1502));
  EXPECT_FALSE(shapley_site_history_recognizes(&later, 10000 + 34031 + 16 * 1502));
}

TEST_F(SiteHistoryFile, AnEmptyHistoryRemovesTheFile) {
  shapley_site_history_add(&history, &k_strict);
  ASSERT_TRUE(shapley_site_history_save(&history, path.c_str()));
  shapley_site_history_clear(&history);
  EXPECT_FALSE(shapley_site_history_any(&history));
  ASSERT_TRUE(shapley_site_history_save(&history, path.c_str()));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(shapley_site_history_save(&history, path.c_str())) << "nothing to remove is no fault";
  EXPECT_TRUE(shapley_site_history_load(&history, path.c_str())) << "no file is no fault";
}

TEST_F(SiteHistoryFile, ADamagedFileYieldsAnEmptyHistory) {
  for (const char* text : {"", "shapley scales 2\n", "shapley scales 1\nstrict 11501 3\nloose 1 2\n",
                           "shapley scales 1\nstrict 11501 3\nstrict 5", "shapley scales 1\nstrict x 3\n",
                           "shapley scales 1\nstrict 5 3 \n", "shapley scales 1\nstrict 5 3 x\n",
                           "shapley scales 1\nstrict 5 3 7 7\n", "shapley scales 1\nstrict 5 3 7"}) {
    std::ofstream(path) << text;
    errno = 0;
    EXPECT_FALSE(shapley_site_history_load(&history, path.c_str())) << text;
    EXPECT_EQ(errno, EBADMSG);
    EXPECT_FALSE(shapley_site_history_any(&history)) << text;
  }
}

TEST_F(SiteHistoryFile, AFolderThatCannotBeWrittenIsSaid) {
  shapley_site_history_add(&history, &k_strict);
  EXPECT_FALSE(shapley_site_history_save(&history, (directory / "missing" / "shapley.scales").c_str()));
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(SiteHistoryFile, BeyondTheBoundTheOldestIsGivenUp) {
  for (std::uint32_t i = 0; i <= k_shapley_max_site_history; ++i) {
    const shapley_site_formula_t formula{.strict = true, .unit = 20000 + i, .ranks = 2, .level_unit = 0};
    shapley_site_history_add(&history, &formula);
  }
  EXPECT_EQ(history.count, std::size_t{k_shapley_max_site_history});
  EXPECT_FALSE(shapley_site_history_recognizes(&history, 10000 + 20000));
  EXPECT_TRUE(shapley_site_history_recognizes(&history, 10000 + 20001));
  EXPECT_TRUE(shapley_site_history_recognizes(&history, 10000 + 20000 + k_shapley_max_site_history));
}

TEST(SiteMode, ASitesOwnSiteFactorsAreNeverTouched) {
  // No rank was ever written: whatever else holds, there is nothing of ours to take off.
  for (const bool observe : {false, true}) {
    for (const bool timed_out : {false, true}) {
      EXPECT_EQ(shapley_site_mode_of(false, false, observe, false, timed_out), SHAPLEY_SITE_LEAVE);
    }
  }
}

TEST(SiteMode, RanksThatNoLongerApplyAreTakenOff) {
  EXPECT_EQ(shapley_site_mode_of(true, false, false, false, false), SHAPLEY_SITE_RANK);
  EXPECT_EQ(shapley_site_mode_of(false, true, true, false, false), SHAPLEY_SITE_CLEAR)
      << "mode observe, after a restart";
  EXPECT_EQ(shapley_site_mode_of(false, true, false, true, false), SHAPLEY_SITE_CLEAR) << "ranks gone stale";
  EXPECT_EQ(shapley_site_mode_of(false, true, false, false, true), SHAPLEY_SITE_CLEAR) << "recovered, and too old";
  EXPECT_EQ(shapley_site_mode_of(false, true, false, false, false), SHAPLEY_SITE_LEAVE) << "recovered, may still hold";
}

}  // namespace
