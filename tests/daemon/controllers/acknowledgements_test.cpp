// When messages of a feeder are acknowledged while another host follows.
#include "daemon/controllers/acknowledgements.hpp"

#include <gtest/gtest.h>

namespace shapley::daemon {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds k_then{1'000'000};

TEST(Acknowledgements, without_a_follower_are_given_at_once_and_counted) {
  Acknowledgements some;
  some.note_durable(3, 10, k_then);
  EXPECT_EQ(some.released(k_then), 3U);
  EXPECT_EQ(some.alone(), 3U);
  EXPECT_FALSE(some.in_step(k_then));
}

TEST(Acknowledgements, wait_for_a_follower_that_has_everything) {
  Acknowledgements some;
  some.confirm(10, 10, k_then);
  EXPECT_TRUE(some.in_step(k_then));
  some.note_durable(1, 12, k_then);
  some.note_durable(2, 14, k_then);
  EXPECT_EQ(some.released(k_then + milliseconds(900)), 0U);
  some.confirm(13, 14, k_then + milliseconds(900));
  EXPECT_EQ(some.released(k_then + milliseconds(900)), 1U);
  some.confirm(14, 14, k_then + milliseconds(950));
  EXPECT_EQ(some.released(k_then + milliseconds(950)), 2U);
  EXPECT_EQ(some.alone(), 0U);
  EXPECT_EQ(some.confirmed(), 14);
  // What made no event is nothing to wait for.
  some.note_durable(3, 14, k_then + milliseconds(960));
  EXPECT_EQ(some.released(k_then + milliseconds(960)), 3U);
}

TEST(Acknowledgements, wait_a_second_at_most_and_then_for_nobody_until_it_has_caught_up) {
  Acknowledgements some;
  some.confirm(10, 10, k_then);
  some.note_durable(1, 12, k_then);
  EXPECT_EQ(some.released(k_then + milliseconds(999)), 0U);
  EXPECT_EQ(some.released(k_then + milliseconds(1000)), 1U);
  EXPECT_FALSE(some.in_step(k_then + milliseconds(1000)));
  some.note_durable(2, 14, k_then + milliseconds(1100));
  EXPECT_EQ(some.released(k_then + milliseconds(1100)), 2U);
  EXPECT_EQ(some.alone(), 2U);
}

TEST(Acknowledgements, wait_again_when_it_has_what_there_was_at_its_last_question) {
  Acknowledgements some;
  some.confirm(10, 20, k_then);
  EXPECT_FALSE(some.in_step(k_then));
  some.confirm(18, 25, k_then + milliseconds(100));
  EXPECT_FALSE(some.in_step(k_then + milliseconds(100)));
  some.confirm(25, 26, k_then + milliseconds(200));
  EXPECT_TRUE(some.in_step(k_then + milliseconds(200)));
}

TEST(Acknowledgements, do_not_wait_for_one_that_asks_no_more) {
  Acknowledgements some;
  some.confirm(10, 10, k_then);
  EXPECT_TRUE(some.in_step(k_then + milliseconds(2999)));
  EXPECT_FALSE(some.in_step(k_then + milliseconds(3000)));
  some.note_durable(1, 12, k_then + milliseconds(3000));
  EXPECT_EQ(some.released(k_then + milliseconds(3000)), 1U);
  EXPECT_EQ(some.alone(), 1U);
}

TEST(Acknowledgements, begin_anew_with_a_feeder) {
  Acknowledgements some;
  some.note_durable(9, 10, k_then);
  EXPECT_EQ(some.released(k_then), 9U);
  some.begin();
  EXPECT_EQ(some.released(k_then), 0U);
  some.confirm(10, 10, k_then);
  some.note_durable(1, 11, k_then);
  EXPECT_EQ(some.released(k_then), 0U);
}

}  // namespace
}  // namespace shapley::daemon
