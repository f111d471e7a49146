// Instants in pages: in words where people read them, as they are where programs do.
#include "tables/instants.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "tables/page.hpp"

namespace shapley::tables {
namespace {

TEST(InstantsInWords, HaveTheirZone) {
  EXPECT_EQ(instant_in_words(Instant{0}), "1 January 1970, 00:00 UTC");
  EXPECT_EQ(instant_in_words(parse_instant("2026-11-30T14:05:00").value()), "30 November 2026, 14:05 UTC");
  EXPECT_EQ(instant_in_words(parse_instant("2024-02-29T23:59:07").value()), "29 February 2024, 23:59:07 UTC");
  EXPECT_EQ(date_in_words(parse_instant("2026-09-01T23:59:59").value()), "1 September 2026");
}

TEST(InstantsInWords, OfTheTextAlone) {
  EXPECT_EQ(with_instants_in_words("<p>from 2026-11-01T00:00:00Z to 2026-12-01T00:00:09Z.</p>"),
            "<p>from <time datetime=\"2026-11-01T00:00:00Z\">1 November 2026, 00:00 UTC</time> to "
            "<time datetime=\"2026-12-01T00:00:09Z\">1 December 2026, 00:00:09 UTC</time>.</p>");
  EXPECT_EQ(with_instants_in_words("<title>At 2026-11-01T00:00:00Z</title>"),
            "<title>At 1 November 2026, 00:00 UTC</title>");
  for (const char* same : {"", "no markup, Zürich", "<a href=\"data:2026-11-01T00:00:00Z\">x</a>",
                           "<pre class=\"x\">2026-11-01T00:00:00Z <b>2026-11-01T00:00:00Z</b></pre>",
                           "<svg viewBox='0 0 1 1'><text>2026-11-01T00:00:00Z</text></svg>",
                           "<style>2026-11-01T00:00:00Z</style>", "2026-13-01T00:00:00Z", "2026-11-01T00:00:00",
                           "2026-11-01Z", "<p>unended", "unended <pre>2026-11-01T00:00:00Z"})
    EXPECT_EQ(with_instants_in_words(same), same);
}

TEST(InstantsInWords, AreThoseOfAPage) {
  const std::array templates{Template{"own.mustache", "<b title=\"{{t}}\">{{t}}</b>"}};
  EXPECT_EQ(rendered("own.mustache", templates, {{"t", "2026-11-01T07:00:00Z"}}),
            "<b title=\"2026-11-01T07:00:00Z\"><time datetime=\"2026-11-01T07:00:00Z\">1 November 2026, 07:00 "
            "UTC</time></b>");
}

}  // namespace
}  // namespace shapley::tables
