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
#include "plugin/scales.h"
#include "plugin/site_factor.h"
}

namespace {

// All values of a scale, one by one.
std::set<std::uint32_t> values_of(const shapley_scale_t& scale) {
  std::set<std::uint32_t> values;
  const std::uint32_t levels = scale.level_unit == 0 ? 0 : k_shapley_level_max;
  for (std::uint32_t position = 0; position < scale.ranks; ++position) {
    for (std::uint32_t level = 0; level <= levels; ++level) {
      values.insert(level * scale.level_unit + (scale.strict
                                                    ? shapley_site_strict(scale.unit, scale.ranks, position)
                                                    : shapley_site_weighted(scale.unit, scale.ranks, position)));
    }
  }
  values.erase(0);
  return values;
}

RC_GTEST_PROP(Scales, AValueIsRecognizedExactlyWhenARankAndALevelGiveIt, ()) {
  const shapley_scale_t scale{.strict = *rc::gen::arbitrary<bool>(),
                              .unit = *rc::gen::inRange<std::uint32_t>(1, 20000),
                              .ranks = *rc::gen::inRange<std::uint32_t>(1, 12),
                              .level_unit = *rc::gen::inRange<std::uint32_t>(0, 700)};
  const std::set<std::uint32_t> values = values_of(scale);
  for (const std::uint32_t value : values) {
    RC_ASSERT(shapley_scale_has(&scale, value));
    RC_ASSERT(shapley_scale_has(&scale, value + 1) == values.contains(value + 1));
    RC_ASSERT(shapley_scale_has(&scale, value - 1) == values.contains(value - 1));
  }
  const auto other = *rc::gen::inRange<std::uint32_t>(0, 300000);
  RC_ASSERT(shapley_scale_has(&scale, other) == values.contains(other));
}

TEST(Scales, TheLargestUnitsDoNotOverflow) {
  const shapley_scale_t weighted{.strict = false, .unit = 1000000000, .ranks = 1000000, .level_unit = 0};
  EXPECT_TRUE(shapley_scale_has(&weighted, 1000000000));
  EXPECT_FALSE(shapley_scale_has(&weighted, 4000000000U));
  const shapley_scale_t nothing{.strict = true, .unit = 0, .ranks = 5, .level_unit = 0};
  EXPECT_FALSE(shapley_scale_has(&nothing, 10000));
}

class ScalesFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "scales.XXXXXX").string();
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
  shapley_scales_t scales = SHAPLEY_SCALES_NONE;
};

constexpr shapley_scale_t k_strict{.strict = true, .unit = 11501, .ranks = 3, .level_unit = 0};
constexpr shapley_scale_t k_weighted{.strict = false, .unit = 5000, .ranks = 3, .level_unit = 0};
constexpr shapley_scale_t k_leveled{.strict = true, .unit = 34031, .ranks = 3, .level_unit = 1502};

TEST_F(ScalesFile, WhatIsSavedIsRecognizedAfterARestart) {
  shapley_scales_add(&scales, &k_strict);
  shapley_scales_add(&scales, &k_weighted);
  shapley_scales_add(&scales, &k_strict);  // known: no second line
  ASSERT_TRUE(shapley_scales_save(&scales, path.c_str()));
  EXPECT_EQ(content(), "shapley scales 1\nstrict 11501 3\nweighted 5000 3\n");

  shapley_scales_t later = SHAPLEY_SCALES_NONE;
  ASSERT_TRUE(shapley_scales_load(&later, path.c_str()));
  EXPECT_TRUE(shapley_scales_know(&later, &k_strict));
  EXPECT_TRUE(shapley_scales_recognize(&later, 10000 + 2 * 11501));
  EXPECT_TRUE(shapley_scales_recognize(&later, 2500));
  EXPECT_FALSE(shapley_scales_recognize(&later, 2501));
  EXPECT_FALSE(shapley_scales_recognize(&later, 0));
}

TEST_F(ScalesFile, LevelsAreRecognizedAfterARestartToo) {
  shapley_scales_add(&scales, &k_leveled);
  ASSERT_TRUE(shapley_scales_save(&scales, path.c_str()));
  EXPECT_EQ(content(), "shapley scales 1\nstrict 34031 3 1502\n");
  shapley_scales_t later = SHAPLEY_SCALES_NONE;
  ASSERT_TRUE(shapley_scales_load(&later, path.c_str()));
  EXPECT_TRUE(shapley_scales_know(&later, &k_leveled));
  EXPECT_TRUE(shapley_scales_recognize(&later, 10000 + 34031 + 15 * 1502));
  EXPECT_FALSE(shapley_scales_recognize(&later, 10000 + 34031 + 16 * 1502));
}

TEST_F(ScalesFile, ForgettingRemovesTheFile) {
  shapley_scales_add(&scales, &k_strict);
  ASSERT_TRUE(shapley_scales_save(&scales, path.c_str()));
  shapley_scales_forget(&scales);
  EXPECT_FALSE(shapley_scales_any(&scales));
  ASSERT_TRUE(shapley_scales_save(&scales, path.c_str()));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(shapley_scales_save(&scales, path.c_str())) << "nothing to remove is no fault";
  EXPECT_TRUE(shapley_scales_load(&scales, path.c_str())) << "no file is no fault";
}

TEST_F(ScalesFile, ADamagedFileYieldsNoScales) {
  for (const char* text : {"", "shapley scales 2\n", "shapley scales 1\nstrict 11501 3\nloose 1 2\n",
                           "shapley scales 1\nstrict 11501 3\nstrict 5", "shapley scales 1\nstrict x 3\n",
                           "shapley scales 1\nstrict 5 3 \n", "shapley scales 1\nstrict 5 3 x\n",
                           "shapley scales 1\nstrict 5 3 7 7\n", "shapley scales 1\nstrict 5 3 7"}) {
    std::ofstream(path) << text;
    errno = 0;
    EXPECT_FALSE(shapley_scales_load(&scales, path.c_str())) << text;
    EXPECT_EQ(errno, EBADMSG);
    EXPECT_FALSE(shapley_scales_any(&scales)) << text;
  }
}

TEST_F(ScalesFile, AFolderThatCannotBeWrittenIsSaid) {
  shapley_scales_add(&scales, &k_strict);
  EXPECT_FALSE(shapley_scales_save(&scales, (directory / "missing" / "shapley.scales").c_str()));
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(ScalesFile, BeyondTheBoundTheOldestIsGivenUp) {
  for (std::uint32_t i = 0; i <= k_shapley_scales_max; ++i) {
    const shapley_scale_t scale{.strict = true, .unit = 20000 + i, .ranks = 2, .level_unit = 0};
    shapley_scales_add(&scales, &scale);
  }
  EXPECT_EQ(scales.count, std::size_t{k_shapley_scales_max});
  EXPECT_FALSE(shapley_scales_recognize(&scales, 10000 + 20000));
  EXPECT_TRUE(shapley_scales_recognize(&scales, 10000 + 20001));
  EXPECT_TRUE(shapley_scales_recognize(&scales, 10000 + 20000 + k_shapley_scales_max));
}

TEST(SiteMode, ASitesOwnSiteFactorsAreNeverTouched) {
  // No rank was ever written: whatever else holds, there is nothing of ours to take off.
  for (const bool told : {false, true}) {
    for (const bool waited : {false, true}) {
      EXPECT_EQ(shapley_site_mode_of(false, false, told, false, waited), SHAPLEY_SITE_LEAVE);
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
