// Hostile and damaged checkpoints: load() answers Errc::corrupt and never does worse.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "accounting/checkpoint/text_format.hpp"
#include "accounting/estimators/table.hpp"
#include "accounting/state/state.hpp"
#include "scenario.hpp"
#include "tests/support/must.hpp"

namespace shapley::accounting {
namespace {

std::string some_checkpoint(const scenario::Shape& shape) {
  State state({Duration{10 * shape.step.value}});
  const auto events = (*scenario::arbitrary(shape)).events;
  const bool forget = *rc::gen::arbitrary<bool>();
  scenario::apply_all(state, events);
  if (forget) {
    state.advance(shape.end());
    state.compact();
  }
  return state.save();
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (c != ' ' && c != '\n') {
      word += c;
      continue;
    }
    if (!word.empty()) words.push_back(word);
    word.clear();
    words.emplace_back(1, c);
  }
  return words;
}

// The same text with a checksum that fits, as an attacker would write it.
std::string with_good_checksum(const std::string& text) {
  TextWriter forger;
  forger.line(text.substr(0, text.rfind("\nend ")));
  return forger.finish();
}

void expect_corrupt_or_sound(const std::string& text) {
  auto loaded = State::load(text);
  if (!loaded) {
    RC_ASSERT(loaded.error().code == Errc::corrupt);
    RC_ASSERT(loaded.error().what.starts_with("checkpoint: "));
    return;
  }
  // What was accepted must serve: evaluate it, save it, and find the same again.
  const std::string saved = loaded->save();
  auto again = State::load(saved);
  RC_ASSERT(again.has_value());
  (void)again->advance(again->now() + Duration{1}).standings();
  (void)again->closed_periods();
}

RC_GTEST_PROP(Checkpoint, NoticesEveryChangedByte, ()) {
  const std::string good = some_checkpoint({});
  std::string bad = good;
  const auto at = *rc::gen::inRange<std::size_t>(0, good.size());
  bad[at] = *rc::gen::distinctFrom(rc::gen::arbitrary<char>(), good[at]);
  RC_ASSERT(!State::load(bad).has_value());
}

RC_GTEST_PROP(Checkpoint, NoticesEveryTruncation, ()) {
  const std::string good = some_checkpoint({});
  RC_ASSERT(!State::load(good.substr(0, *rc::gen::inRange<std::size_t>(0, good.size()))).has_value());
}

RC_GTEST_PROP(Checkpoint, SurvivesForgedWords, ()) {
  auto words = words_of(some_checkpoint(*rc::gen::arbitrary<bool>() ? scenario::Shape{} : scenario::k_years));
  const int changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, words.size());
    std::vector<std::string> forgeries{"0",
                                       "-1",
                                       "1",
                                       "9223372036854775807",
                                       "253402300799",
                                       "%",
                                       "%zz",
                                       "n1",
                                       "estimator",
                                       "\n",
                                       " ",
                                       "170141183460469231731687303715884105727"};
    forgeries.push_back(words[*rc::gen::inRange<std::size_t>(0, words.size())]);
    words[at] = *rc::gen::elementOf(forgeries);
  }
  std::string text;
  for (const std::string& word : words) text += word;
  expect_corrupt_or_sound(with_good_checksum(text));
}

RC_GTEST_PROP(Checkpoint, SurvivesForgedLines, ()) {
  const std::string good = some_checkpoint({});
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < good.size();) {
    const std::size_t end = good.find('\n', at) + 1;
    lines.push_back(good.substr(at, end - at));
    at = end;
  }
  const auto line = *rc::gen::inRange<std::size_t>(0, lines.size() - 1);
  const auto other = *rc::gen::inRange<std::size_t>(0, lines.size() - 1);
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(line));
      break;
    case 1:
      std::swap(lines[line], lines[other]);
      break;
    default:
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(line), std::string(lines[other]));
      break;
  }
  std::string text;
  for (const std::string& l : lines) text += l;
  expect_corrupt_or_sound(with_good_checksum(text));
}

RC_GTEST_PROP(Checkpoint, SurvivesNoise, ()) {
  const auto noise = *rc::gen::arbitrary<std::string>();
  expect_corrupt_or_sound(noise);
  expect_corrupt_or_sound(with_good_checksum("shapley-state 3\n" + noise + "\nend 0\n"));
}

std::string without_word(std::string line, std::size_t place) {
  std::size_t at = 0;
  while (place-- > 0) at = line.find(' ', at) + 1;
  line.erase(at - 1, std::min(line.find(' ', at), line.size()) - (at - 1));
  return line;
}

// Each line of the text changed, under another version.
template <typename Change>
std::string of_version(const std::string& version, const std::string& text, const Change& change) {
  std::string old;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    old += (at == 0 ? "shapley-state " + version : change(line)) + '\n';
    at = end + 1;
  }
  return with_good_checksum(old);
}

// As the version before wrote it: no word for the rule of ranks.
std::string before_rules(const std::string& line) {
  return line.starts_with("ranking ") ? line.substr(0, line.rfind(' ')) : line;
}

// As the version before that wrote it: no word for usable_cpus, and none for what was used in settled periods, either.
std::string before_blocked(const std::string& line) {
  if (line.starts_with("capacity ")) return without_word(line, words_of(line).size() / 2);
  if (line.starts_with("level ")) return without_word(line, 3);
  return before_rules(line);
}

TEST(Checkpoint, OfTheVersionBeforeHasTheRuleOfRanksThatLooksAhead) {
  State state;
  RankingDeclared rule{{1'700'000'000}, "hindsight", 7200, 500'000, {{"a", 1}, {"b", 2}}, 100'000, Guests::last};
  ASSERT_TRUE(state.apply(rule).has_value());
  for (const auto& old : {of_version("6", state.save(), before_blocked), of_version("7", state.save(), before_rules)}) {
    const auto loaded = must(State::load(old));
    EXPECT_EQ(loaded.ranking_rule(), rule);
    EXPECT_EQ(loaded.save(), state.save());
  }
  rule = {.at = {1'700'000'001}, .contribution = "direct_contr", .exceptions = {}, .rule = KeyRule::braking};
  ASSERT_TRUE(state.apply(rule).has_value());
  EXPECT_EQ(must(State::load(state.save())).ranking_rule(), rule);
}

RC_GTEST_PROP(Checkpoint, OfTheVersionsBeforeIsRead, ()) {
  scenario::Shape shape = scenario::k_years;
  shape.counting = false;
  const std::string text = some_checkpoint(shape);
  RC_TAG(text.find("\nlevel ") == std::string::npos ? "no settled period" : "settled periods");
  for (const std::string& old : {of_version("6", text, before_blocked), of_version("7", text, before_rules)}) {
    auto loaded = State::load(old);
    if (!loaded) RC_FAIL(loaded.error().what);
    RC_ASSERT(loaded->save() == text);
  }
}

TEST(Checkpoint, OfAnotherVersionIsRefused) {
  TextWriter out;
  out.line("shapley-state").number(999);
  const auto loaded = State::load(out.finish());
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, Errc::corrupt);
  EXPECT_NE(loaded.error().what.find("version"), std::string::npos) << loaded.error().what;
}

TEST(Checkpoint, KeepsNamesOfAnyBytes) {
  State state;
  const std::string odd = "Institut f\xc3\xbcr \x01 %41 100%\n(a b)";
  const SegmentKey key{SegmentKind::run, {1}, {1'700'000'000}, 0};
  ASSERT_TRUE(state.apply(SegmentOpened{key, odd, key.anchor, {k_micro}, {{"node 1", {k_micro}}}}).has_value());
  ASSERT_TRUE(state.apply(OrganizationsDeclared{key.anchor, {odd, "%"}}).has_value());
  const auto loaded = must(State::load(state.save()));
  EXPECT_EQ(loaded.organizations(), state.organizations());
  EXPECT_EQ(loaded.find_segment(key)->opened, state.find_segment(key)->opened);
}

TEST(Checkpoint, OfNothingIsAnEmptyState) {
  auto loaded = must(State::load(State().save()));
  EXPECT_EQ(loaded.now(), k_beginning_of_time);
  EXPECT_EQ(loaded.organizations().size(), 2U);
}

// A release without some estimator saved it.
TEST(StateText, ACheckpointFromBeforeAnEstimatorCameIsPassedOver) {
  const std::string text = State().save();
  for (const std::string_view name : estimator_names()) {
    std::string older = text;
    const std::size_t begin = older.find("\nestimator " + std::string(name) + "\n");
    ASSERT_NE(begin, std::string::npos) << text;
    older.erase(begin, std::min(older.find("\nestimator ", begin + 1), older.rfind("\nend ")) - begin);
    const auto loaded = State::load(with_good_checksum(older));
    ASSERT_FALSE(loaded);
    EXPECT_NE(loaded.error().what.find("the lines of " + std::string(name) + " are missing"), std::string::npos)
        << loaded.error().what;
  }
}

// A release with another estimator saved it, which was kept or not.
TEST(StateText, WhatAFormerEstimatorSavedIsPassedOver) {
  State state;
  ASSERT_TRUE(state.apply(PeriodDeclared{{1'700'000'000}, Period::monthly}).has_value());
  state.advance(Instant{1'720'000'000});
  const std::string text = state.save();
  const std::size_t place = text.find("\nestimator hindsight\n");
  ASSERT_NE(place, std::string::npos) << text;
  for (const FormerEstimator& former : former_estimators()) {
    ASSERT_FALSE(parse_estimator(former.name));
    for (const std::string lines :
         {"rates 1719999999 3\nrate 1 0 0 0\nlandmark 1720000000 4\nclosed_rates 0\n", "left_out\n", ""}) {
      std::string older = text;
      older.insert(place + 1, "estimator " + std::string(former.name) + '\n' + lines);
      const auto loaded = must(State::load(with_good_checksum(older)));
      EXPECT_EQ(loaded.save(), text);
      EXPECT_EQ(loaded.kept(), state.kept());
    }
  }
}

}  // namespace
}  // namespace shapley::accounting
