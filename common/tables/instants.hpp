// Instants in pages as people write them. Texts for people and programs alike have them in the form of
// format_instant() (base/calendar.hpp), so pages take sentences from the same code as other papers. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/types.hpp"

namespace shapley::tables {

// "30 November 2026"; of UTC.
[[nodiscard]] std::string date_in_words(Instant t);

// "30 November 2026, 14:05 UTC"; with seconds unless they are 0.
[[nodiscard]] std::string instant_in_words(Instant t);

// The markup of a page with each "2026-11-30T14:05:00Z" of its text in words, within <time> that has it for programs,
// too; in <title>, which may have no elements, words alone. Attributes, <style>, <pre> (what is copied from there must
// stay as it is) and <svg> keep theirs. REQUIRES: attributes have no '>'.
[[nodiscard]] std::string with_instants_in_words(std::string_view markup);

}  // namespace shapley::tables
