/* A 64-bit hash over the fields of a record: equal fingerprints mean that nothing which matters has changed.
 * Slurm-free.
 *
 * It runs for every job of every scan under slurmctld's read lock, so it is a multiply and a shift per word. It needs
 * no resistance against an adversary: a collision (one in 2^64) delays a change until the next one.
 */
#ifndef SHAPLEY_FINGERPRINT_H
#define SHAPLEY_FINGERPRINT_H

#include <stdint.h>
#include <string.h>

#define SHAPLEY_FINGERPRINT_START UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t shapley_mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
  return hash ^ (hash >> 32);
}

/* The length goes in first, so "ab","c" differs from "a","bc". */
static inline uint64_t shapley_mix_bytes(uint64_t hash, const char* text, size_t length) {
  hash = shapley_mix(hash, length);
  for (; length >= 8; text += 8, length -= 8) {
    uint64_t word;
    memcpy(&word, text, 8);
    hash = shapley_mix(hash, word);
  }
  if (length) {
    uint64_t word = 0;
    memcpy(&word, text, length);
    hash = shapley_mix(hash, word);
  }
  return hash;
}

/* NULL and "" hash alike, as records treat them alike. */
static inline uint64_t shapley_mix_text(uint64_t hash, const char* text) {
  return shapley_mix_bytes(hash, text, text ? strlen(text) : 0);
}

/* For a text that is cut when it is passed on: only its first `most` characters count. */
static inline uint64_t shapley_mix_text_up_to(uint64_t hash, const char* text, size_t most) {
  return shapley_mix_bytes(hash, text, text ? strnlen(text, most) : 0);
}

#endif
