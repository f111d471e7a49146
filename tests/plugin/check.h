/* Checks for the tests that need Slurm's headers and so must be C: each names its line and goes on. */
#ifndef SHAPLEY_CHECK_H
#define SHAPLEY_CHECK_H

#include <stdio.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      failures++;                                                             \
    }                                                                         \
  } while (0)

#define CHECK_EQ(actual, expected)                                                                            \
  do {                                                                                                        \
    long long actual_ = (long long)(actual), expected_ = (long long)(expected);                               \
    if (actual_ != expected_) {                                                                               \
      fprintf(stderr, "%s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, #actual, actual_, expected_); \
      failures++;                                                                                             \
    }                                                                                                         \
  } while (0)

#define CHECK_TEXT(actual, expected)                                                                             \
  do {                                                                                                           \
    const char *actual_ = (actual), *expected_ = (expected);                                                     \
    if (!actual_ || strcmp(actual_, expected_)) {                                                                \
      fprintf(stderr, "%s:%d: %s is %s, expected %s\n", __FILE__, __LINE__, #actual, actual_ ? actual_ : "null", \
              expected_);                                                                                        \
      failures++;                                                                                                \
    }                                                                                                            \
  } while (0)

#endif
