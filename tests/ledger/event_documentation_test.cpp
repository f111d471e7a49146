// What is written down of events: the page of the ledger, and ledgers of past releases.
#include <fstream>
#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "ledger/encoding/event_json.hpp"
#include "ledger_fixture.hpp"

namespace shapley::ledger {
namespace {

using namespace accounting;
using namespace testing;

// --- docs/reference/ledger.md ---

std::string page() {
  std::ifstream in(SHAPLEY_LEDGER_PAGE);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string quoted(std::string_view word) {
  return '`' + std::string(word) + '`';
}

template <typename T>
std::string members_of(const T& record);

template <typename T>
std::string shape_of(std::string_view name, const T& /*value*/) {
  return quoted(name);
}
std::string shape_of(std::string_view name, const std::vector<std::string>& /*list*/) {
  return quoted(name) + " [...]";
}
// A record of many members has a row of its own.
template <Described T>
std::string shape_of(std::string_view name, const std::vector<T>& /*list*/) {
  constexpr std::size_t k_longest_in_row = 80;
  const std::string members = members_of(T{});
  if (members.size() <= k_longest_in_row) return quoted(name) + " [{" + members + "}]";
  const std::string row = "\n| " + quoted(k_description<T>.name) + " | " + members + " |\n";
  EXPECT_NE(page().find(row), std::string::npos) << "docs/reference/ledger.md lacks the row" << row;
  return quoted(name) + " [" + std::string(k_description<T>.name) + "]";
}
template <Described T>
std::string shape_of(std::string_view /*name*/, const T& record) {
  return members_of(record);
}

template <typename T>
std::string members_of(const T& record) {
  std::string text;
  for_each_member(record, [&](std::string_view name, const auto& value, auto) {
    text += (text.empty() ? "" : ", ") + shape_of(name, value);
  });
  return text;
}

template <typename T>
std::string key_of(const T& record) {
  std::string text;
  for_each_member(record, [&](std::string_view name, const auto& value, auto role) {
    if constexpr (is_identity(role)) {
      text += text.empty() ? "" : "/";
      if constexpr (Described<std::remove_cvref_t<decltype(value)>>) {
        text += key_of(value);
      } else {
        text += name;
      }
    }
  });
  return text;
}

TEST(EventDocumentation, the_page_has_a_row_for_every_kind) {
  const std::string text = page();
  const auto row_stands = [&]<typename Fact>(std::type_identity<Fact>) {
    const std::string row =
        "\n| " + quoted(k_description<Fact>.name) + " | " + members_of(Fact{}) + " | " + key_of(Fact{}) + " |\n";
    EXPECT_NE(text.find(row), std::string::npos) << "docs/reference/ledger.md lacks the row" << row;
  };
  [&]<typename... Facts>(std::type_identity<std::variant<Facts...>>) {
    (row_stands(std::type_identity<Facts>{}), ...);
  }(std::type_identity<Event>{});
}

template <typename Word>
void expect_words(std::string_view member) {
  const std::string text = page();
  const std::size_t begin = text.find(quoted(member) + " is one of ");
  ASSERT_NE(begin, std::string::npos) << member;
  const std::string sentence = text.substr(begin, text.find('.', begin) - begin);
  for (const Word word : k_values<Word>)
    EXPECT_NE(sentence.find(quoted(name_of(word))), std::string::npos) << name_of(word);
}

TEST(EventDocumentation, the_page_names_every_word) {
  expect_words<SegmentKind>("kind");
  expect_words<CloseReason>("reason");
  expect_words<Period>("period");
  expect_words<GapCause>("cause");
  expect_words<Coalitions>("coalitions");
}

// --- dumps ---

class EventDumps : public LedgerTest {};

// A change of a description may not change one byte of what is stored.
TEST_F(EventDumps, are_written_today_as_they_were) {
  std::set<std::string> kinds;
  for (const auto& dump : std::filesystem::directory_iterator(SHAPLEY_LEDGER_DUMPS)) {
    if (dump.path().extension() != ".sql") continue;
    SCOPED_TRACE(dump.path());
    std::filesystem::remove(file());
    std::ifstream in(dump.path());
    tamper(file(), std::string(std::istreambuf_iterator<char>(in), {}));
    const auto keys = rows(file(), "SELECT key FROM events ORDER BY seq");
    const auto times = rows(file(), "SELECT at FROM events ORDER BY seq");
    const auto names = rows(file(), "SELECT kind FROM events ORDER BY seq");
    const auto payloads = rows(file(), "SELECT payload FROM events ORDER BY seq");
    ASSERT_GT(keys.size(), 40U);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Event event = must(decode(names[i], payloads[i]));
      EXPECT_EQ(encode(event), payloads[i]);
      EXPECT_EQ(event_key(event), keys[i]);
      EXPECT_EQ(std::to_string(time_of(event).value), times[i]);
      kinds.emplace(kind_of(event));
    }
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<Event>) << "kinds that no dump has are not checked here";
}

}  // namespace
}  // namespace shapley::ledger
