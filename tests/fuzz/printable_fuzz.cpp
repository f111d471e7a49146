// Text for a terminal, as it is and in pieces.
#include <algorithm>
#include <sstream>
#include <string>

#include "base/printable.hpp"
#include "fuzz.hpp"
#include "tests/support/naive_printable.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using shapley::printable;
  using shapley::fuzz::require;
  std::string_view text = shapley::fuzz::text_of(data, size);
  const std::size_t piece = 1 + shapley::fuzz::take_byte(text) % 8U;

  const std::string value = printable(text);
  const std::string lines = printable(text, shapley::Newlines::kept);
  require(value == shapley::test::naive_printable(text, false), "a value is what the naive implementation makes of it");
  require(lines == shapley::test::naive_printable(text, true), "lines are what the naive implementation makes of them");
  require(printable(value) == value, "printable text is left as it is");

  std::ostringstream out;
  {
    const shapley::PrintableStream guard(out);
    for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {
      out << rest.substr(0, piece);
    }
  }
  require(out.str() == lines, "pieces make no difference");
  return 0;
}
