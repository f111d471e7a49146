// Described records as JSON: what is read is exactly what is written.
#include "base/json.hpp"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace shapley {
namespace {

using nlohmann::json;

enum class Colour { red, green };
std::string_view name_of(Colour colour) {
  return colour == Colour::red ? "red" : "green";
}
constexpr auto values_of(std::type_identity<Colour>) {
  return std::array{Colour::red, Colour::green};
}

struct Part {
  std::string name;
  double amount = 0;
};
constexpr auto description_of(std::type_identity<Part>) {
  return describe("part", member("name", &Part::name), member("amount", &Part::amount));
}

struct Whole {
  Part own;
  Part other;
  Dated at;
  std::optional<Part> maybe;
  std::vector<Part> parts;
  std::map<std::string, int> counts;
  Utility exact;
  Colour colour = Colour::red;
  bool truth = false;
  std::optional<std::optional<std::int64_t>> asked;  // left out: it was not asked for
};
constexpr auto description_of(std::type_identity<Whole>) {
  return describe("whole", flattened(&Whole::own), member("other", &Whole::other), member("at", &Whole::at),
                  member("maybe", &Whole::maybe), member("parts", &Whole::parts), member("counts", &Whole::counts),
                  member("exact", &Whole::exact), member("colour", &Whole::colour), member("truth", &Whole::truth),
                  supplement("asked", &Whole::asked));
}

struct Written {
  int plain = 0;
  int got = 0;
  int at = 0;
  int ahead = 0;
  Part own;
};
SHAPLEY_DESCRIBE(Written, plain, (named, got, "got_s"), (supplement, at), (supplement, ahead, "ahead_s"),
                 (flattened, own));

TEST(Description, IsWrittenByTheMacroInEveryRole) {
  Written written{.plain = 1, .got = 2, .own = {"physics", 0.5}};
  const json least = json_of(written);
  EXPECT_EQ(least, json({{"plain", 1}, {"got_s", 2}, {"name", "physics"}, {"amount", 0.5}}));
  written.at = 3;
  written.ahead = 4;
  json all = least;
  all.update({{"at", 3}, {"ahead_s", 4}});
  EXPECT_EQ(json_of(written), all);
  EXPECT_EQ(from_json<Written>(all).value().ahead, 4);
}

Whole example() {
  Whole whole;
  whole.own = {"physics", 0.5};
  whole.other = {"biology", 2};
  whole.at = Instant{1'795'244'400};
  whole.parts = {{"one", 1}, {"two", 2}};
  whole.counts = {{"a", 1}};
  whole.exact = Utility{-500'000};
  whole.colour = Colour::green;
  return whole;
}

json example_json() {
  return json::parse(R"({"name": "physics", "amount": 0.5, "other": {"name": "biology", "amount": 2.0},
    "at": 1795244400, "at_utc": "2026-11-21T07:00:00Z", "maybe": null,
    "parts": [{"name": "one", "amount": 1.0}, {"name": "two", "amount": 2.0}], "counts": {"a": 1},
    "exact": "-0.5", "colour": "green", "truth": false})");
}

// Ordered JSON: the members of a record, and of values by name, stay in their order.
struct Ordered {
  int second = 2;
  ByName<int> named;
  int first = 1;
};
constexpr auto description_of(std::type_identity<Ordered>) {
  return describe(member("second", &Ordered::second), member("named", &Ordered::named),
                  member("first", &Ordered::first));
}

TEST(Json, OrderIsKeptWhereItIsAskedFor) {
  const Ordered record{.second = 2, .named = {{"z", 1}, {"a", 2}}, .first = 1};
  EXPECT_EQ(json_of<nlohmann::ordered_json>(record).dump(), R"({"second":2,"named":{"z":1,"a":2},"first":1})");
  EXPECT_EQ(json_of(record).dump(), R"({"first":1,"named":{"a":2,"z":1},"second":2})");
  const auto read = from_json<Ordered>(json_of(record));
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->named, (ByName<int>{{"a", 2}, {"z", 1}}));
}

TEST(DescribedJson, IsWrittenByTheDescription) {
  EXPECT_EQ(json_of(example()), example_json());
  Whole asked = example();
  asked.asked.emplace();
  EXPECT_EQ(json_of(asked).at("asked"), nullptr) << "it was asked for, and is not known";
  asked.asked.emplace(3);
  EXPECT_EQ(json_of(asked).at("asked"), 3);
  asked.at = Dated();
  EXPECT_EQ(json_of(asked).at("at_utc"), nullptr);
}

TEST(DescribedJson, IsReadAsItIsWritten) {
  Whole whole = example();
  for (int i = 0; i < 2; ++i) {
    const auto read = from_json<Whole>(json_of(whole));
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(json_of(*read), json_of(whole));
    whole.maybe = Part{"x", 1};
    whole.asked.emplace();
    whole.at = Dated();
  }
}

TEST(DescribedJson, WhatIsWrittenOtherwiseIsRefusedByName) {
  const auto fault = [](const char* pointer, const json& value) {
    json object = example_json();
    object[json::json_pointer(pointer)] = value;
    const auto read = from_json<Whole>(object);
    return read ? std::string() : read.error().what;
  };
  EXPECT_EQ(fault("/new", 1), "") << "a later release may add members";
  EXPECT_EQ(fault("/other/new", 1), "");
  EXPECT_EQ(fault("/amount", "2"), "amount is no number");
  EXPECT_EQ(fault("/name", 2), "name is no text");
  EXPECT_EQ(fault("/exact", "-0.50"), "exact is no exact amount");
  EXPECT_EQ(fault("/colour", "blue"), "colour is no known word");
  EXPECT_EQ(fault("/truth", 1), "truth is neither true nor false");
  EXPECT_EQ(fault("/at", 1.5), "at is no integer in range");
  EXPECT_EQ(fault("/at_utc", "2026-11-21T07:00:01Z"), "at_utc is another instant than at");
  EXPECT_EQ(fault("/parts", 1), "parts is no array");
  const json whole = example_json();
  for (const auto& [name, value] : whole.items()) {
    json object = example_json();
    object.erase(name);
    const auto read = from_json<Whole>(object);
    ASSERT_FALSE(read) << name;
    EXPECT_EQ(read.error().what, name + " is missing");
  }
  EXPECT_EQ(from_json<Whole>(json::array()).error().what, "it is not an object");
}

}  // namespace
// The library parses any depth, and ends the process where it copies a value that is some ten thousand arrays deep.
TEST(Json, a_text_that_nests_too_deep_is_discarded) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_FALSE(parse_json(nested(k_max_json_depth)).is_discarded());
  EXPECT_TRUE(parse_json(nested(k_max_json_depth + 1)).is_discarded());
  EXPECT_TRUE(parse_json(R"({"a":)" + std::string(100'000, '[')).is_discarded());
  EXPECT_EQ(parse_json(R"({"a":"[[[[[[[[[[[[[[[[[[[[\"[[","b":[[]]})").size(), 2U) << "brackets of a string";
}

}  // namespace shapley
