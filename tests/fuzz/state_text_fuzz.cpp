// A checkpoint's text without its last line, the checksum, which is put right here: a user who can write a ledger can
// compute it, and no random change would.
#include <string>

#include "accounting/state/state.hpp"
#include "base/text.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using shapley::accounting::State;
  using shapley::fuzz::require;
  const std::string_view bytes = shapley::fuzz::text_of(data, size);
  require(bytes.empty() || !State::load(bytes).has_value() || bytes.find("\nend ") != std::string_view::npos,
          "a text without a checksum is refused");
  std::string text(bytes);
  text += "end " + std::to_string(shapley::fnv1a(text)) + '\n';
  auto state = State::load(text);
  if (!state) {
    require(!state.error().what.empty(), "a refusal has words");
    return 0;
  }
  const std::string saved = state->save();
  auto again = State::load(saved);
  require(again && again->save() == saved, "what was saved is loaded, and is the same");
  const auto standings = state->standings();
  require(standings.size() == state->organizations().size(), "every organization has a row");
  return 0;
}
