// Ed25519 keys (RFC 8032) in PEM files, as OpenSSL writes them.
//
// A private key file is for its owner alone: one that others may read or write is refused. Errors: Errc::io when a file
// cannot be read or made, Errc::denied when its mode is too open, Errc::corrupt when it holds no such key,
// Errc::conflict when a file would be overwritten.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.hpp"

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

}  // namespace shapley::ledger
