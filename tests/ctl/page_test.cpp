#include <gtest/gtest.h>
TEST(Page, is_there) {}
