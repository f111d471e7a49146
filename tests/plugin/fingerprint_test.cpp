// Fingerprints: what matters changes them, what does not leaves them alone.
#include <cstdint>
#include <set>
#include <string>

#include <gtest/gtest.h>

extern "C" {
#include "plugin/scan/fingerprint.h"
}

namespace {

std::uint64_t of_texts(const char* first, const char* second) {
  return shapley_mix_text(shapley_mix_text(SHAPLEY_FINGERPRINT_START, first), second);
}

TEST(Fingerprint, AbsentTextEqualsEmptyText) {
  EXPECT_EQ(of_texts(nullptr, "x"), of_texts("", "x"));
}

TEST(Fingerprint, KnowsWhereOneTextEnds) {
  EXPECT_NE(of_texts("ab", "c"), of_texts("a", "bc"));
  EXPECT_NE(of_texts("abcdefgh", ""), of_texts("", "abcdefgh"));
  EXPECT_NE(of_texts("", "x"), of_texts("x", ""));
}

TEST(Fingerprint, ReadsEveryByteOfATextAndNoneBehindIt) {
  for (std::size_t length = 1; length <= 40; length++) {
    const std::string text(length, 'a');
    const std::uint64_t hash = of_texts(text.c_str(), "");
    EXPECT_EQ(hash, of_texts((text + std::string(1, '\0') + "b").c_str(), "")) << length;
    for (std::size_t i = 0; i < length; i++) {
      std::string changed = text;
      changed[i] = 'b';
      EXPECT_NE(hash, of_texts(changed.c_str(), "")) << length << " " << i;
    }
  }
}

TEST(Fingerprint, NeighbouringRecordsDiffer) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t a = 0; a < 400; a++)
    for (std::uint64_t b = 0; b < 400; b++) seen.insert(shapley_mix(shapley_mix(SHAPLEY_FINGERPRINT_START, a), b));
  EXPECT_EQ(seen.size(), 160000U);
}

}  // namespace
