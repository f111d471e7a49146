#include "ledger/chain/signed_head.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <utility>
#include <vector>

#include "base/calendar.hpp"
#include "base/counted.hpp"
#include "ledger/chain/chain_walk.hpp"
#include "ledger/store/genesis.hpp"
#include "ledger/store/ledger_impl.hpp"
#include "ledger/store/query.hpp"
#include "ledger/store/text.hpp"

namespace shapley::ledger {

namespace {

constexpr std::string_view k_title = "shapley ledger head 1";
constexpr std::size_t k_max_file_bytes = 4096;
constexpr std::string_view k_remedy = "; take the head's file as it was handed out (shapleyctl audit --head)";

// What the signature is over.
std::string statement_of(const SignedHead& head) {
  return std::string(k_title) + "\nledger: " + head.ledger + "\nsequence: " + std::to_string(head.sequence) +
         "\nhash: " + head.hash + "\ntime: " + format_instant(head.time) + "\nkey: " + head.key + "\n";
}

std::string_view bytes_of(const Signature& signature) {
  return {reinterpret_cast<const char*>(signature.data()), signature.size()};
}

tl::unexpected<Error> malformed(std::string_view what) {
  return fail(Errc::corrupt, "no head of a ledger: " + std::string(what) + std::string(k_remedy));
}

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
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
  if (lines.empty() || lines[0] != k_title) return malformed("it does not begin with \"" + std::string(k_title) + "\"");
  Fields fields;
  for (std::size_t i = 0; i < k_names.size(); ++i) {
    const std::string prefix = std::string(k_names[i]) + ": ";
    if (i + 1 >= lines.size() || !lines[i + 1].starts_with(prefix)) {
      return malformed("line " + std::to_string(i + 2) + " is not \"" + prefix + "...\"");
    }
    fields[i] = lines[i + 1].substr(prefix.size());
  }
  if (lines.size() > k_names.size() + 1) return malformed("something follows the signature");
  return fields;
}

// Fills in the hash of each wanted event, from the rows' content alone; the number of events.
Expected<std::int64_t> compute(const Database& database, std::map<std::int64_t, std::string>& wanted) {
  std::int64_t count = 0;
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
  if (const auto mark = wanted.find(begin.sequence); mark != wanted.end()) mark->second = to_hex(begin.hash);
  SHAPLEY_TRY(walk_chain(database, begin.sequence, begin.hash, [&](const Link& link) -> Expected<void> {
    ++count;
    if (const auto mark = wanted.find(link.sequence); mark != wanted.end()) mark->second = to_hex(link.computed);
    return {};
  }));
  return count;
}

std::string called(const SignedHead& head) {
  return "the head of event " + std::to_string(head.sequence) + ", signed " + format_instant(head.time);
}

// One sentence for each head that the chain does not reach; `agreed` is the last one that it does.
void validate(const SignedHead& head, const std::string& computed, std::int64_t last, std::int64_t& agreed,
              AuditReport& report) {
  if (computed == head.hash) {
    agreed = head.sequence;
    report.notes.push_back(called(head) + ": events 1 to " + std::to_string(head.sequence) +
                           " are those that were signed then");
  } else if (computed.empty() && last >= head.sequence) {
    report.findings.push_back({"head", called(head) + ": the ledger has no such event any more"});
  } else if (computed.empty()) {
    report.findings.push_back({"head", called(head) + ": the ledger was truncated: it ends at event " +
                                           std::to_string(last) + ", but held " + counted(head.sequence, "event") +
                                           " when the head was signed"});
  } else {
    report.findings.push_back({"head", called(head) +
                                           ": the ledger was rewritten after that: the content of events 1 to " +
                                           std::to_string(head.sequence) + " gives hash " + computed + ", signed was " +
                                           head.hash + "; the first changed event is one of " +
                                           std::to_string(agreed + 1) + " to " + std::to_string(head.sequence)});
  }
}

Expected<AuditReport> compare(const Ledger& ledger, const Database& database, std::vector<SignedHead> heads) {
  SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
  SHAPLEY_TRY_ASSIGN(const std::string identity, ledger.identity());
  std::map<std::int64_t, std::string> computed;
  for (const SignedHead& head : heads) {
    if (head.ledger != identity) {
      return fail(Errc::conflict, called(head) + " speaks of ledger " + head.ledger + ", this file is ledger " +
                                      identity + ": another one, or one that was made anew in its place");
    }
    computed.emplace(head.sequence, "");
  }
  AuditReport report;
  SHAPLEY_TRY_ASSIGN(report.events, compute(database, computed));
  std::ranges::sort(heads, {}, &SignedHead::sequence);
  SHAPLEY_TRY_ASSIGN(const Head last, read_head(database));
  SHAPLEY_TRY_ASSIGN(const std::optional<Genesis> genesis, read_genesis(database));
  std::int64_t agreed = 0;
  for (const SignedHead& head : heads) {
    if (genesis && head.sequence < genesis->sequence) {
      report.findings.push_back({"head", called(head) + ": its event is not in this file but in its archive " +
                                             genesis->archive + ", or in one before: compare the head with that"});
      continue;
    }
    validate(head, computed.at(head.sequence), last.sequence, agreed, report);
  }
  return report;
}

}  // namespace

std::string SignedHead::text() const {
  return statement_of(*this) + "signature: " + to_hex(bytes_of(signature)) + "\n";
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
  std::ifstream in(file, std::ios::binary);
  std::string text(k_max_file_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.eof() && !in) return fail(Errc::io, file.string() + ": cannot be read; check path and permissions");
  text.resize(static_cast<std::size_t>(in.gcount()));
  auto head = parse_head(text);
  if (!head) return with_context(file.string(), std::move(head).error());
  return head;
}

Expected<SignedHead> sign_head(const Ledger& ledger, const SigningKey& key, Instant now) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto signed_head = [&]() -> Expected<SignedHead> {
    SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(impl.database, Transaction::Kind::read));
    SHAPLEY_TRY_ASSIGN(const Head last, read_head(impl.database));
    SignedHead head;
    head.sequence = last.sequence;
    head.hash = to_hex(last.hash);
    head.time = now;
    SHAPLEY_TRY_ASSIGN(head.ledger, ledger.identity());
    head.key = key.public_key().fingerprint();
    SHAPLEY_TRY_ASSIGN(head.signature, key.sign(statement_of(head)));
    return head;
  }();
  if (!signed_head) return impl.failed("sign head", std::move(signed_head).error());
  return signed_head;
}

Expected<std::optional<SignedHead>> newest_stored_head(const Ledger& ledger) {
  SHAPLEY_TRY_ASSIGN(const auto rows, query(ledger, "SELECT text FROM heads ORDER BY sequence DESC LIMIT 1"));
  if (rows.empty()) return std::nullopt;
  auto head = parse_head(rows[0][0]);
  if (!head) return LedgerAccess::impl(ledger).failed("read the newest signed head", std::move(head).error());
  return *std::move(head);
}

Expected<void> verify_signature(const SignedHead& head, const PublicKey& key) {
  if (head.key != key.fingerprint()) {
    return fail(Errc::conflict, called(head) + ", was signed with key " + head.key + ", the public key given is " +
                                    key.fingerprint() + "; take the one that belongs to it");
  }
  if (!key.verifies(statement_of(head), head.signature)) {
    return fail(Errc::corrupt, called(head) +
                                   ": the signature is not of this text: the head was edited or forged, and "
                                   "says nothing about the ledger");
  }
  return {};
}

Expected<AuditReport> audit_against_heads(const Ledger& ledger, std::span<const SignedHead> heads) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto report = compare(ledger, impl.database, {heads.begin(), heads.end()});
  if (!report) return impl.failed("audit against heads", std::move(report).error());
  return report;
}

}  // namespace shapley::ledger
