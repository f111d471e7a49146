// The hash chain over event rows, which makes an edited, removed or reordered row visible.
//
//     hash(n) = SHA-256( hash(n-1) || "seq\nat\nreceived\nkind\nkey\npayload" ),   hash(0) = 32 zero bytes
//
// Integers are decimal text. Only `key` may hold a line feed (kinds are words, payloads are one line), so the text
// reads back in one way only. A user who can write the file can also compute a new chain: that is what signed
// heads, kept elsewhere, are for (signing.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <openssl/evp.h>

#include "base/description.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace shapley::ledger {

using Digest = std::array<unsigned char, 32>;

// A place in a chain. Two chains with a common place are equal up to it. {0, zeros}: before the first event.
struct Position {
  std::int64_t sequence = 0;
  Digest hash{};
  friend bool operator==(const Position&, const Position&) = default;
};
SHAPLEY_DESCRIBE(Position, sequence, hash);

struct EventRow {
  std::int64_t sequence = 0;
  std::string_view key;
  std::int64_t at = 0;
  std::int64_t received = 0;
  std::string_view kind;
  std::string_view payload;
};

// SHA-256 with its OpenSSL context kept between calls: an append hashes tens of thousands of short rows a second.
class Hasher {
 public:
  [[nodiscard]] static Expected<Hasher> create();

  // SHA-256 of the concatenated parts.
  [[nodiscard]] Expected<Digest> digest(std::span<const std::string_view> parts);
  // The same for parts that come one after the other: begin(), add() of each, finish(), which returns any error of the
  // calls before.
  void begin();
  void add(std::string_view part);
  [[nodiscard]] Expected<Digest> finish();
  [[nodiscard]] Expected<Digest> link(const Digest& previous, const EventRow& row);
  // The value of a checkpoint's `sha`: it ties the text to the events from which it was made.
  [[nodiscard]] Expected<Digest> checkpoint(const Digest& event, std::int64_t at, std::string_view text);

 private:
  struct FreeContext {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  struct FreeAlgorithm {
    void operator()(EVP_MD* algorithm) const { EVP_MD_free(algorithm); }
  };
  Hasher(EVP_MD_CTX* context, EVP_MD* algorithm) : context_(context), algorithm_(algorithm) {}

  std::unique_ptr<EVP_MD_CTX, FreeContext> context_;
  std::unique_ptr<EVP_MD, FreeAlgorithm> algorithm_;
  std::string header_;  // reused
  bool ok_ = true;      // so far
};

using shapley::to_hex;
[[nodiscard]] std::string to_hex(const Digest& digest);
// A stored blob as a digest; Errc::corrupt unless it has 32 bytes.
[[nodiscard]] Expected<Digest> digest_from(std::span<const unsigned char> blob);

}  // namespace shapley::ledger
