// A ledger with a kind of event of which only description, fold and validation know.
#include <gtest/gtest.h>

#include "ledger/audit/audit.hpp"
#include "ledger/encoding/event_json.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger {
namespace {

using namespace accounting;
using namespace testing;

PledgeMade pledge() {
  return {.organization = "physics",
          .at = {1000},
          .grant = 7,
          .period = Period::monthly,
          .parts = {{"nodes of \xff", {5}}, {"", {6}}},
          .witnesses = {"biology"}};
}

TEST(ToyEvent, has_a_key_and_a_text) {
  EXPECT_EQ(event_key(pledge()), "pledge_made/physics/1000");
  EXPECT_EQ(time_of(pledge()), Instant{1000});
  const std::string text =
      R"({"at":1000,"grant":7,"organization":"physics","parts":[{"processors":5,"what":{"hex":"6e6f646573206f6620ff"}},)"
      R"({"processors":6,"what":""}],"period":"monthly","witnesses":["biology"]})";
  EXPECT_EQ(encode(pledge()), text);
  EXPECT_EQ(must(decode("pledge_made", text)), Event(pledge()));
}

class ToyLedger : public LedgerTest {};

TEST_F(ToyLedger, keeps_it_across_restarts_and_is_sound) {
  const std::vector<Event> events{pledge(), opened(1, 2000, "physics", 4)};
  PledgeMade other = pledge();
  other.witnesses = {"library"};
  std::string books;
  {
    Ledger ledger = writer(file());
    EXPECT_EQ(must(ledger.append(events, {2000})).appended, 2U);
    EXPECT_EQ(must(ledger.append(events, {2000})).duplicates, 2U);
    EXPECT_EQ(must(ledger.append(std::vector<Event>{other}, {2000})).conflicts.size(), 1U);
    Recovered recovered = must(ledger.recover());
    EXPECT_EQ(recovered.state.period_begin(), Instant{1000}) << "its fold was at work";
    books = recovered.state.save();
    must(ledger.save_checkpoint(recovered.state, recovered.last_sequence, {2000}));
  }
  const Ledger ledger = reader(file());
  Recovered recovered = must(ledger.recover());
  EXPECT_EQ(recovered.replayed, 0);
  EXPECT_EQ(recovered.state.save(), books);
  EXPECT_EQ(recovered.state.apply(pledge()), Applied::duplicate);
  EXPECT_FALSE(recovered.state.apply(other));
  for (const Finding& finding : must(audit(ledger)).findings) ADD_FAILURE() << finding.check << ": " << finding.what;
}

}  // namespace
}  // namespace shapley::ledger
