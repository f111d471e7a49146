// A signed head: the statement "event N of this ledger has this chain hash", small enough to mail or to publish.
//
//     shapley ledger head 1
//     ledger: 3f0c5d4a7e1b48d29a6f0c1e2d3b4a59
//     sequence: 46
//     hash: 932567b6d70d9b3056b0aa39cb5df52066957122ccf76e6ecd7f30e8db9794d6
//     time: 2026-11-21T10:00:00Z
//     key: SHA256:4be1...
//     signature: 128 hexadecimal digits
//
// The Ed25519 signature is over the six lines before it, line feeds included. Since hash(N) hangs on every event up to
// N, a head that somebody else keeps proves later that none of them was changed, and that there were that many.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

struct SignedHead {
  std::string ledger;         // the ledger's identity: 32 hexadecimal digits
  std::int64_t sequence = 0;  // 0: no event yet; then the hash is 64 zeros
  std::string hash;           // 64 hexadecimal digits
  Instant time;               // when it was signed, by the signer's clock
  std::string key;            // fingerprint of the signer's public key
  Signature signature{};

  [[nodiscard]] std::string text() const;
  bool operator==(const SignedHead&) const = default;
};

// Takes carriage returns and empty lines around the text, which mail adds, and nothing else. Errc::corrupt says which
// line is wrong.
[[nodiscard]] Expected<SignedHead> parse_head(std::string_view text);
[[nodiscard]] Expected<SignedHead> read_head_file(const std::filesystem::path& file);

// The ledger's newest event, signed.
[[nodiscard]] Expected<SignedHead> sign_head(const Ledger& ledger, const SigningKey& key, Instant now);

// The newest one that the ledger holds (Ledger::store_head); nullopt: none was stored.
[[nodiscard]] Expected<std::optional<SignedHead>> newest_stored_head(const Ledger& ledger);

// Errc::conflict when the head names another key, Errc::corrupt when the signature is not of this text.
[[nodiscard]] Expected<void> verify_signature(const SignedHead& head, const PublicKey& key);

// Compares the ledger with heads of it: the chain, computed anew from the rows' content, must reach each head's hash at
// its event. Findings ("head") say whether rows are missing or were rewritten, and between which heads.
// REQUIRES: signatures verified. Errc::conflict when a head is of another ledger.
[[nodiscard]] Expected<AuditReport> audit_against_heads(const Ledger& ledger, std::span<const SignedHead> heads);

}  // namespace shapley::ledger
