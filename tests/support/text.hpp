// What tests ask of a text, as predicates of EXPECT_PRED2, which prints both when it fails.
#pragma once

#include <string>

namespace shapley {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline bool lacks(const std::string& text, const std::string& part) {
  return !contains(text, part);
}

}  // namespace shapley
