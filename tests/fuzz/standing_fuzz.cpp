// A standing statement, as another cluster or a transport brings it.
#include "fuzz.hpp"
#include "ledger/consortium/standing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using shapley::fuzz::require;
  namespace ledger = shapley::ledger;
  const auto statement = ledger::parse_statement(shapley::fuzz::text_of(data, size));
  if (!statement) {
    require(!statement.error().what.empty(), "a refusal has words");
    return 0;
  }
  const auto again = ledger::parse_statement(statement->text());
  require(again && *again == *statement, "parse(text(s)) == s");
  require(again->signed_text() == statement->signed_text(), "one statement has one signed text");
  return 0;
}
