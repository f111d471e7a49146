// Preconditions that are checked at run time. A header states them as REQUIRES; where a condition can be computed, the
// function checks it by SHAPLEY_REQUIRE in the presets dev, asan, tsan and fuzz: a violation prints the condition and
// its place in the source, and aborts. Releases do not evaluate it.
#pragma once

namespace shapley {

// Says on standard error which condition does not hold, and aborts.
[[noreturn]] void contract_is_broken(const char* condition, const char* file, int line);

}  // namespace shapley

#ifdef NDEBUG
#define SHAPLEY_REQUIRE(condition) static_cast<void>(sizeof(static_cast<bool>(condition)))
#else
#define SHAPLEY_REQUIRE(condition) \
  (static_cast<bool>(condition) ? void() : ::shapley::contract_is_broken(#condition, __FILE__, __LINE__))
#endif
