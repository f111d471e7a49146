// Times of a command line. The witness is Slurm's own parse_time, where this machine has Slurm's library.
#include "base/time_text.hpp"

#include <array>
#include <ctime>
#include <optional>
#include <string>
#include <utility>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "base/calendar.hpp"
#include "tests/support/time_zone.hpp"

namespace shapley {
namespace {

constexpr Instant k_now{1795779909};  // 2026-11-27T11:45:09Z

std::string read(std::string_view text, Instant now = k_now) {
  const auto instant = parse_time(text, now);
  return instant ? format_instant(*instant) : "none";
}

TEST(TimeText, ReadsTheFormsOfSlurmsCommands) {
  for (const auto& [text, expected] : std::to_array<std::pair<const char*, const char*>>({
           {"now", "2026-11-27T11:45:09Z"},
           {"now-1hour", "2026-11-27T10:45:09Z"},
           {"Now + 2 Days", "2026-11-29T11:45:09Z"},
           {"now-90", "2026-11-27T11:43:39Z"},
           {"now-36h", "2026-11-25T23:45:09Z"},
           {"now-1week", "2026-11-20T11:45:09Z"},
           {"today", "2026-11-27T00:00:00Z"},
           {"tomorrow", "2026-11-28T00:00:00Z"},
           {"midnight", "2026-11-27T00:00:00Z"},
           {"noon", "2026-11-27T12:00:00Z"},
           {"teatime", "2026-11-27T16:00:00Z"},
           {"todayTnoon", "2026-11-27T12:00:00Z"},
           {"07:00", "2026-11-27T07:00:00Z"},
           {"7:00:05 pm", "2026-11-27T19:00:05Z"},
           {"12:30am", "2026-11-27T00:30:00Z"},
           {"2026-11-21", "2026-11-21T00:00:00Z"},
           {"2026-11-21T07:00", "2026-11-21T07:00:00Z"},
           {"2026-11-21 07:00:09", "2026-11-21T07:00:09Z"},
           {"2026-11-21T07:00:09Z", "2026-11-21T07:00:09Z"},
           {"11/21", "2026-11-21T00:00:00Z"},
           {"12/1", "2025-12-01T00:00:00Z"},
           {"11/30", "2026-11-30T00:00:00Z"},
           {"02/29/24", "2024-02-29T00:00:00Z"},
           {"11.21.26", "2026-11-21T00:00:00Z"},
           {"1121", "2026-11-21T00:00:00Z"},
           {"112125-07:00", "2025-11-21T07:00:00Z"},
           {"1795779909", "2026-11-27T11:45:09Z"},
           {"uts86400", "1970-01-02T00:00:00Z"},
       })) {
    EXPECT_EQ(read(text), expected) << text;
  }
}

TEST(TimeText, AnOffsetIsThatOfTheClocksThatShowTheTime) {
  for (const auto& [text, expected] : std::to_array<std::pair<const char*, const char*>>({
           {"2026-11-21T07:00+02:00", "2026-11-21T05:00:00Z"},
           {"2026-11-21T07:00:00-0530", "2026-11-21T12:30:00Z"},
           {"2026-11-21-07:00+01", "2026-11-21T06:00:00Z"},
           {"11/21-07:00-01:00", "2026-11-21T08:00:00Z"},
           {"07:00-01:00", "2026-11-27T08:00:00Z"},
           {"07:00+14:00", "2026-11-27T17:00:00Z"},  // there it is the 28th already
           {"noon+01:00", "2026-11-27T11:00:00Z"},
           {"today noon z", "2026-11-27T12:00:00Z"},
       })) {
    EXPECT_EQ(read(text), expected) << text;
  }
}

TEST(TimeText, RefusesWhatIsNoTime) {
  for (const char* text : {"",
                           " ",
                           "soon",
                           "nowhere",
                           "now-",
                           "now-hour",
                           "now-1fortnight",
                           "now-99999999999",
                           "now*2",
                           "today-",
                           "todaynoon",
                           "24:00",
                           "7:60",
                           "7:0",
                           "13:00pm",
                           "07:00:",
                           "2026",
                           "2026-13-01",
                           "2025-02-29",
                           "2026-1-1",
                           "2026-11-21T",
                           "2026-11-21Z",
                           "2026-11-21TZ",
                           "2026-11-21x",
                           "2026-11-21T07:00+15:00",
                           "2026-11-21T07:00+1",
                           "2026-11-21+01:00",
                           "1969-12-31",
                           "1970-01-01T00:00+01:00",
                           "13/01",
                           "2/30",
                           "11/21.26",
                           "11/",
                           "12345",
                           "1234567",
                           "99991231",
                           "999999999999999",
                           "253402300800",
                           "uts",
                           "uts-1",
                           "utsx",
                           "07:00 07:00",
                           "1121 1121",
                           "noonish"}) {
    EXPECT_EQ(read(text), "none") << text;
  }
}

// Slurm's function returns 0 for what it refuses; sacct looks into the past.
TEST(TimeText, AgreesWithSlurm) {
  void* slurm = nullptr;
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu/slurm-wlm/", "/usr/lib/slurm/", "/usr/lib64/slurm/"}) {
    if (slurm == nullptr) slurm = ::dlopen((std::string(folder) + "libslurmfull.so").c_str(), RTLD_LAZY | RTLD_LOCAL);
  }
  if (slurm == nullptr) GTEST_SKIP() << "no library of Slurm on this machine";
  using ParseTime = std::time_t (*)(const char* text, int past);
  const auto theirs = reinterpret_cast<ParseTime>(::dlsym(slurm, "slurm_parse_time"));
  ASSERT_NE(theirs, nullptr);
  const testing::TimeZone zone("UTC");
  for (const char* text : {"now",
                           "now-1hour",
                           "now+2days",
                           "now - 3 weeks",
                           "now-90",
                           "NOW-5Minutes",
                           "today",
                           "tomorrow",
                           "midnight",
                           "noon",
                           "fika",
                           "teatime",
                           "today-noon",
                           "todayTnoon",
                           "tomorrow 07:00",
                           "00:00",
                           "7:05",
                           "23:59:59",
                           "7:05 pm",
                           "12:00am",
                           "12:00 PM",
                           "0:30pm",
                           "2026-11-21",
                           "2026-11-21T07:05",
                           "2026-11-21T07:05:09",
                           "2026-11-21-07:05",
                           "2026-11-21 7:05am",
                           "01/01",
                           "1/1",
                           "6/15",
                           "12/31",
                           "06/15/25",
                           "06.15.25",
                           "06.15",
                           "0615",
                           "061525",
                           "0615-07:05",
                           "06/15/25-07:05:09",
                           "061525T07:05",
                           "02/29/24",
                           "uts1795779909"}) {
    // The second may change between the two readings.
    std::time_t slurms = 0;
    std::time_t second = 0;
    std::optional<Instant> ours;
    do {
      second = std::time(nullptr);
      slurms = theirs(text, 1);
      ours = parse_time(text, Instant{second});
    } while (std::time(nullptr) != second);
    ASSERT_NE(slurms, 0) << text;
    EXPECT_EQ(ours.value_or(Instant{0}).value, slurms) << text;
  }
}

}  // namespace
}  // namespace shapley
