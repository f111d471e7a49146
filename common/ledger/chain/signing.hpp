// Ed25519 keys (RFC 8032) in PEM files, as OpenSSL writes them.
//
// A private key file must be private to its owner: one that others may read or write is refused. Errors: Errc::io when
// a file cannot be read or created, Errc::denied when its mode is too open, Errc::corrupt when it has no such key,
// Errc::conflict when a file would be overwritten.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/types.hpp"

struct evp_pkey_st;

namespace shapley::ledger {

using Signature = std::array<unsigned char, 64>;

struct FreeKey {
  void operator()(evp_pkey_st* key) const;
};
using KeyHandle = std::unique_ptr<evp_pkey_st, FreeKey>;

class PublicKey {
 public:
  [[nodiscard]] static Expected<PublicKey> read(const std::filesystem::path& file);
  [[nodiscard]] static Expected<PublicKey> parse(std::string_view pem);

  // "SHA256:" and 64 digits: SHA-256 of the 32 bytes of the key.
  [[nodiscard]] const std::string& fingerprint() const { return fingerprint_; }
  [[nodiscard]] const std::string& pem() const { return pem_; }
  [[nodiscard]] bool verifies(std::string_view text, const Signature& signature) const;

 private:
  PublicKey(KeyHandle key, std::string pem, std::string fingerprint);
  KeyHandle key_;
  std::string pem_;
  std::string fingerprint_;
};

class SigningKey {
 public:
  [[nodiscard]] static Expected<SigningKey> read(const std::filesystem::path& file);
  [[nodiscard]] const PublicKey& public_key() const { return public_key_; }
  [[nodiscard]] Expected<Signature> sign(std::string_view text) const;

 private:
  SigningKey(KeyHandle key, PublicKey public_key);
  KeyHandle key_;
  PublicKey public_key_;
};

// Makes a new pair: `file` with the private key (mode 0600) and FILE.pub with the public one (0644). Neither may exist.
[[nodiscard]] Expected<PublicKey> make_key_files(const std::filesystem::path& file);

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
// The Ed25519 signature is over the six lines before it, line feeds included. Since hash(N) depends on every event up
// to N, a head that another person keeps is later evidence that none of them was changed and that none is missing.
struct SignedHead {
  std::string ledger;         // the ledger's identity: 32 hexadecimal digits
  std::int64_t sequence = 0;  // 0: no event yet; then the hash is 64 zeros
  std::string hash;           // 64 hexadecimal digits
  Instant time;               // when it was signed, by the signer's clock
  std::string key;            // fingerprint of the signer's public key
  Signature signature{};

  // The lines that are signed; and the whole text.
  [[nodiscard]] std::string signed_text() const;
  [[nodiscard]] std::string text() const;
  // "the head of event 46, signed 2026-11-21T10:00:00Z"
  [[nodiscard]] std::string title() const;
  bool operator==(const SignedHead&) const = default;
};

// Ignores carriage returns and empty lines around the text, which mail adds, and nothing else. Errc::corrupt names the
// wrong line.
[[nodiscard]] Expected<SignedHead> parse_head(std::string_view text);
[[nodiscard]] Expected<SignedHead> read_head_file(const std::filesystem::path& file);

// Errc::conflict when the head names another key, Errc::corrupt when the signature is not of this text.
[[nodiscard]] Expected<void> verify_signature(const SignedHead& head, const PublicKey& key);

}  // namespace shapley::ledger
