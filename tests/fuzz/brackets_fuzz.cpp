// Slurm's node list notation.
#include <string>

#include "base/slurm_text.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using shapley::fuzz::require;
  const auto names = shapley::expand_brackets(shapley::fuzz::text_of(data, size));
  if (!names) {
    require(!names.error().what.empty(), "a refusal has words");
    return 0;
  }
  require(!names->empty() && names->size() <= shapley::k_max_expanded_nodes, "1 to a million names");
  if (names->size() > 10'000) return 0;
  std::string list;
  for (const std::string& name : *names) {
    require(!name.empty() && name.find_first_of("[], \t\n") == std::string::npos, "a name is a plain word");
    if (!list.empty()) list += ',';
    list += name;
  }
  const auto again = shapley::expand_brackets(list);
  require(again && *again == *names, "names written one by one expand to themselves");
  return 0;
}
