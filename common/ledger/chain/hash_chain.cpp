#include "ledger/chain/hash_chain.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace shapley::ledger {

namespace {

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

void append_line(std::string& text, std::int64_t value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text.append(digits.data(), end);
  text.push_back('\n');
}

}  // namespace

Expected<Hasher> Hasher::create() {
  Hasher hasher(EVP_MD_CTX_new(), EVP_MD_fetch(nullptr, "SHA256", nullptr));
  if (!hasher.context_ || !hasher.algorithm_)
    return fail(Errc::io, "OpenSSL gives no SHA-256; check its configuration");
  return hasher;
}

Expected<Digest> Hasher::digest(std::span<const std::string_view> parts) {
  begin();
  for (const std::string_view part : parts) add(part);
  return finish();
}

void Hasher::begin() {
  ok_ = EVP_DigestInit_ex2(context_.get(), algorithm_.get(), nullptr) == 1;
}

void Hasher::add(std::string_view part) {
  ok_ = ok_ && EVP_DigestUpdate(context_.get(), part.data(), part.size()) == 1;
}

Expected<Digest> Hasher::finish() {
  Digest result{};
  if (!ok_ || EVP_DigestFinal_ex(context_.get(), result.data(), nullptr) != 1)
    return fail(Errc::io, "OpenSSL failed to compute a SHA-256");
  return result;
}

Expected<Digest> Hasher::link(const Digest& previous, const EventRow& row) {
  header_.clear();
  append_line(header_, row.sequence);
  append_line(header_, row.at);
  append_line(header_, row.received);
  header_.append(row.kind).push_back('\n');
  header_.append(row.key).push_back('\n');
  return digest(std::array{bytes_of(previous), std::string_view(header_), row.payload});
}

Expected<Digest> Hasher::checkpoint(const Digest& event, std::int64_t at, std::string_view text) {
  header_.clear();
  append_line(header_, at);
  return digest(std::array{bytes_of(event), std::string_view(header_), text});
}

std::string to_hex(const Digest& digest) {
  return to_hex(bytes_of(digest));
}

Expected<Digest> digest_from(std::span<const unsigned char> blob) {
  Digest digest{};
  if (blob.size() != digest.size()) {
    return fail(Errc::corrupt, fmt::format("a hash of {} bytes instead of 32", blob.size()));
  }
  std::copy(blob.begin(), blob.end(), digest.begin());
  return digest;
}

}  // namespace shapley::ledger
