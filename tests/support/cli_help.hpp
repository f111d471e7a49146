// What CLI11's help says of an option's default value.
#pragma once

#include <string>
#include <string_view>

namespace shapley::test {

// "--config TEXT=VALUE" by CLI11 2.3, "--config TEXT [VALUE]" by 2.4 and later.
[[nodiscard]] inline bool shows_default(std::string_view help, std::string_view value) {
  const std::string text(value);
  return help.find('=' + text + '\n') != std::string_view::npos ||
         help.find(" [" + text + ']') != std::string_view::npos;
}

}  // namespace shapley::test
