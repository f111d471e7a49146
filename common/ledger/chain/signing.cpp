#include "ledger/chain/signing.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include "base/calendar.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "ledger/chain/hash_chain.hpp"

namespace shapley::ledger {

namespace {

using std::filesystem::path;

constexpr std::size_t k_max_key_file_bytes = 64U << 10U;

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

tl::unexpected<Error> key_file_failure(const path& file, std::string_view operation) {
  return system_failure(fmt::format("{}: cannot {}", file.string(), operation), errno);
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

// OpenSSL asks a terminal for the password of an encrypted key unless a callback gives it; a daemon has no terminal.
int no_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*user*/) {
  return -1;
}

bool is_ed25519(const EVP_PKEY* key) {
  return key != nullptr && EVP_PKEY_get_id(key) == EVP_PKEY_ED25519;
}

Expected<void> check_private(int descriptor, const path& file) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return key_file_failure(file, "read its mode");
  if ((status.st_mode & 077U) != 0) {
    return fail(Errc::denied, fmt::format("{}: others than its owner may read or write this private key; chmod 600 {}, "
                                          "and make a new key if another user may have read it",
                                          file.string(), file.string()));
  }
  return {};
}

Expected<std::string> public_pem(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!bio || PEM_write_bio_PUBKEY(bio.get(), key) != 1) return fail(Errc::io, "OpenSSL cannot write a public key");
  return text_of(bio.get());
}

Expected<std::string> private_pem(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!bio || PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return fail(Errc::io, "OpenSSL cannot write a private key");
  }
  return text_of(bio.get());
}

// Never overwrites: a key that is lost by mistake cannot be made again. The mode does not depend on the umask.
Expected<void> write_new(const path& file, const std::string& text, mode_t mode) {
  SHAPLEY_TRY_ASSIGN(const Descriptor out, create_file(file, mode));
  if (::fchmod(out.get(), mode) != 0) return key_file_failure(file, "set its mode");
  SHAPLEY_TRY(write_all(out, text, file));
  return sync_file(file);
}

}  // namespace

void FreeKey::operator()(evp_pkey_st* key) const {
  EVP_PKEY_free(key);
}

PublicKey::PublicKey(KeyHandle key, std::string pem, std::string fingerprint)
    : key_(std::move(key)), pem_(std::move(pem)), fingerprint_(std::move(fingerprint)) {}

Expected<PublicKey> PublicKey::parse(std::string_view pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  KeyHandle key(bio ? PEM_read_bio_PUBKEY(bio.get(), nullptr, no_password, nullptr) : nullptr);
  if (!is_ed25519(key.get())) {
    return fail(Errc::corrupt, "no Ed25519 public key (PEM, \"-----BEGIN PUBLIC KEY-----\")");
  }
  Digest raw{};
  std::size_t size = raw.size();
  if (EVP_PKEY_get_raw_public_key(key.get(), raw.data(), &size) != 1 || size != raw.size()) {
    return fail(Errc::corrupt, "OpenSSL cannot take the key apart");
  }
  SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
  SHAPLEY_TRY_ASSIGN(
      const Digest digest,
      hasher.digest(std::array{std::string_view(reinterpret_cast<const char*>(raw.data()), raw.size())}));
  SHAPLEY_TRY_ASSIGN(std::string canonical, public_pem(key.get()));
  return PublicKey(std::move(key), std::move(canonical), "SHA256:" + to_hex(digest));
}

Expected<PublicKey> PublicKey::read(const path& file) {
  SHAPLEY_TRY_ASSIGN(const Descriptor in, open_to_read(file));
  SHAPLEY_TRY_ASSIGN(const std::string text, read_text(in, file, k_max_key_file_bytes));
  auto key = parse(text);
  if (!key) return with_context(file.string(), std::move(key).error());
  return key;
}

bool PublicKey::verifies(std::string_view text, const Signature& signature) const {
  const Context context(EVP_MD_CTX_new());
  return context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
         EVP_DigestVerify(context.get(), signature.data(), signature.size(),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
}

SigningKey::SigningKey(KeyHandle key, PublicKey public_key)
    : key_(std::move(key)), public_key_(std::move(public_key)) {}

Expected<SigningKey> SigningKey::read(const path& file) {
  SHAPLEY_TRY_ASSIGN(const Descriptor in, open_to_read(file));
  SHAPLEY_TRY(check_private(in.get(), file));
  SHAPLEY_TRY_ASSIGN(const std::string text, read_text(in, file, k_max_key_file_bytes));
  const Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  KeyHandle key(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr) : nullptr);
  if (!is_ed25519(key.get())) {
    return fail(Errc::corrupt,
                file.string() + ": no Ed25519 private key without a password; shapleyctl keygen makes one");
  }
  SHAPLEY_TRY_ASSIGN(const std::string pem, public_pem(key.get()));
  SHAPLEY_TRY_ASSIGN(PublicKey public_key, PublicKey::parse(pem));
  return SigningKey(std::move(key), std::move(public_key));
}

Expected<Signature> SigningKey::sign(std::string_view text) const {
  Signature signature{};
  std::size_t size = signature.size();
  const Context context(EVP_MD_CTX_new());
  if (!context || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &size, reinterpret_cast<const unsigned char*>(text.data()),
                     text.size()) != 1 ||
      size != signature.size()) {
    return fail(Errc::io, "OpenSSL cannot sign");
  }
  return signature;
}

Expected<PublicKey> make_key_files(const path& file) {
  const KeyHandle key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  if (!is_ed25519(key.get())) return fail(Errc::io, "OpenSSL cannot make an Ed25519 key; check its configuration");
  SHAPLEY_TRY_ASSIGN(const std::string secret, private_pem(key.get()));
  SHAPLEY_TRY_ASSIGN(const std::string open, public_pem(key.get()));
  SHAPLEY_TRY(write_new(file, secret, 0600));
  if (auto written = write_new(file.string() + ".pub", open, 0644); !written) {
    // A private key without its public half is of no use.
    ::unlink(file.c_str());
    return tl::unexpected<Error>(std::move(written).error());
  }
  return PublicKey::parse(open);
}

namespace {

constexpr std::string_view k_title = "shapley ledger head 1";
constexpr std::size_t k_max_file_bytes = 4096;
constexpr std::string_view k_remedy = "; take the head's file as it was handed out (shapleyctl audit --head)";

std::string_view bytes_of(const Signature& signature) {
  return {reinterpret_cast<const char*>(signature.data()), signature.size()};
}

tl::unexpected<Error> malformed(std::string_view what) {
  return fail(Errc::corrupt, fmt::format("no head of a ledger: {}{}", what, k_remedy));
}

// The lines without the carriage returns and the empty lines that mail programs add.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) lines.push_back(std::move(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

using Fields = std::array<std::string, 6>;

Expected<Fields> fields_of(std::string_view text) {
  constexpr std::array<std::string_view, 6> k_names{"ledger", "sequence", "hash", "time", "key", "signature"};
  const std::vector<std::string> lines = lines_of(text);
  if (lines.empty() || lines[0] != k_title) return malformed(fmt::format("it does not begin with \"{}\"", k_title));
  Fields fields;
  for (std::size_t i = 0; i < k_names.size(); ++i) {
    const std::string prefix = std::string(k_names[i]) + ": ";
    if (i + 1 >= lines.size() || !lines[i + 1].starts_with(prefix)) {
      return malformed(fmt::format("line {} is not \"{}...\"", i + 2, prefix));
    }
    fields[i] = lines[i + 1].substr(prefix.size());
  }
  if (lines.size() > k_names.size() + 1) return malformed("something follows the signature");
  return fields;
}

}  // namespace

std::string SignedHead::title() const {
  return fmt::format("the head of event {}, signed {}", sequence, format_instant(time));
}

std::string SignedHead::signed_text() const {
  return fmt::format("{}\nledger: {}\nsequence: {}\nhash: {}\ntime: {}\nkey: {}\n", k_title, ledger, sequence, hash,
                     format_instant(time), key);
}

std::string SignedHead::text() const {
  return fmt::format("{}signature: {}\n", signed_text(), to_hex(bytes_of(signature)));
}

Expected<SignedHead> parse_head(std::string_view text) {
  if (text.size() > k_max_file_bytes) return malformed("it is too long");
  SHAPLEY_TRY_ASSIGN(const Fields fields, fields_of(text));
  SignedHead head;
  head.ledger = fields[0];
  if (!is_hex(head.ledger, 32)) return malformed("the ledger's identity has not 32 hexadecimal digits");
  const std::string& number = fields[1];
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), head.sequence);
  if (error != std::errc{} || end != number.data() + number.size() || head.sequence < 0) {
    return malformed("the sequence is no number");
  }
  head.hash = fields[2];
  if (!is_hex(head.hash, 64)) return malformed("the hash has not 64 hexadecimal digits");
  const auto time = parse_instant(fields[3]);
  if (!time) return malformed("the time is none");
  head.time = *time;
  head.key = fields[4];
  const auto signature = from_hex(fields[5]);
  if (!signature || signature->size() != head.signature.size()) {
    return malformed("the signature has not 128 hexadecimal digits");
  }
  std::copy(signature->begin(), signature->end(), head.signature.begin());
  return head;
}

Expected<SignedHead> read_head_file(const std::filesystem::path& file) {
  SHAPLEY_TRY_ASSIGN(const std::string text, read_text_file(file, k_max_file_bytes));
  auto head = parse_head(text);
  if (!head) return with_context(file.string(), std::move(head).error());
  return head;
}

Expected<void> verify_signature(const SignedHead& head, const PublicKey& key) {
  if (head.key != key.fingerprint()) {
    return fail(Errc::conflict,
                fmt::format("{}, was signed with key {}, the public key given is {}; take the one that belongs to it",
                            head.title(), head.key, key.fingerprint()));
  }
  if (!key.verifies(head.signed_text(), head.signature)) {
    return fail(Errc::corrupt, head.title() +
                                   ": the signature is not of this text: the head was edited or forged, and "
                                   "says nothing about the ledger");
  }
  return {};
}

}  // namespace shapley::ledger
