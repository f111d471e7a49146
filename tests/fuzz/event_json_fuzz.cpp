// An event of the ledger: the kind up to the first line feed, then the payload.
#include <string>

#include "fuzz.hpp"
#include "ledger/encoding/event_json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using shapley::fuzz::require;
  namespace ledger = shapley::ledger;
  const std::string_view text = shapley::fuzz::text_of(data, size);
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return 0;
  const std::string_view kind = text.substr(0, end);
  const auto event = ledger::decode(kind, text.substr(end + 1));
  if (!event) {
    require(!event.error().what.empty(), "a refusal has words");
    return 0;
  }
  require(shapley::accounting::kind_of(*event) == kind, "the kind is the one that was asked for");
  require(ledger::well_formed(*event).has_value(), "what is read is well formed");
  require(!shapley::accounting::event_key(*event).empty(), "every event has a key");
  const auto again = ledger::decode(kind, ledger::encode(*event));
  require(again && *again == *event, "decode(encode(e)) == e");
  return 0;
}
