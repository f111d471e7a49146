// UTF-8, one character at a time (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace shapley {

struct Utf8Character {
  enum class Kind {
    whole,
    broken,   // no character begins with this byte, or it is followed by one that does not belong to it
    unended,  // the text ends within it: more bytes could make it whole
  };
  Kind kind = Kind::broken;
  std::size_t bytes = 1;    // whole: 1 to 4; broken: 1, the next byte may begin a character; unended: all that is left
  char32_t code_point = 0;  // of a whole one
};

// REQUIRES: text is not empty.
[[nodiscard]] Utf8Character first_character(std::string_view text);

}  // namespace shapley
