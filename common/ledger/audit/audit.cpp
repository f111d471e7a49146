#include "ledger/audit/audit.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/calendar.hpp"
#include "base/text.hpp"
#include "ledger/audit/audit_parts.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/encoding/chain_walk.hpp"
#include "ledger/encoding/event_json.hpp"
#include "ledger/store/acknowledged.hpp"
#include "ledger/store/rows.hpp"

namespace shapley::ledger {

namespace {

Expected<std::int64_t> count_stated_segments(const Database& database) {
  return database.integer(
      "SELECT COUNT(*) FROM (SELECT DISTINCT kind & 1, job, anchor, ordinal FROM main.event_rows "
      "WHERE kind >= 2)");
}

Expected<void> audit_content(const Ledger& ledger, const Database& database, AuditReport& report,
                             const AuditOptions& options) {
  SHAPLEY_TRY_ASSIGN(const bool begun, audit_genesis(database, report));
  Facts facts;
  SHAPLEY_TRY_ASSIGN(const bool whole, audit_chain(database, facts, report, options));
  report_progress(options.on_progress, {.what = "what belongs to no event"});
  SHAPLEY_TRY_ASSIGN(const bool meant, audit_details(database, report));
  SHAPLEY_TRY(audit_heads(database, report));
  if (!begun || !whole || !meant) {
    SHAPLEY_TRY_ASSIGN(report.segments, count_stated_segments(database));
    report.notes.emplace_back(
        begun ? "books and projections were not checked, since not every event can be read"
              : "books and projections were not checked, since what the ledger begins with is not what it was");
    return {};
  }
  return audit_books(ledger, facts, report, options);
}

Expected<void> audit_all(const Ledger& ledger, const Database& database, AuditReport& report,
                         const AuditOptions& options) {
  SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
  SHAPLEY_TRY(audit_schema(database, report));
  report_progress(options.on_progress, {.what = "pages and indices"});
  SHAPLEY_TRY_ASSIGN(const bool sound, audit_pages(database, report));
  auto content = audit_content(ledger, database, report, options);
  if (content || sound || content.error().code != Errc::corrupt) return content;
  report.notes.push_back("not all was checked, since a damaged page or index cannot be read: " + content.error().what);
  return {};
}

// Before shapleyd's next start: it records what is missing as a gap.
Expected<void> audit_acknowledged(const Ledger& ledger, const Acknowledged& last, AuditReport& report) {
  SHAPLEY_TRY_ASSIGN(const std::string identity, ledger.identity());
  if (last.ledger != identity) return {};
  SHAPLEY_TRY_ASSIGN(const bool whole, holds(ledger, last));
  if (whole) return {};
  const std::string loss = loss_in_words(last, ledger.last_sequence());
  if (last.hash.empty()) {
    report.notes.push_back(loss);
  } else {
    report.findings.push_back({"acknowledged", loss + ": events were lost"});
  }
  return {};
}

}  // namespace

Expected<bool> audit_chain(const Database& database, Facts& facts, AuditReport& report, const AuditOptions& options) {
  SHAPLEY_TRY_ASSIGN(const std::int64_t all, database.integer("SELECT COALESCE(MAX(seq), 0) FROM main.event_rows"));
  SHAPLEY_TRY_ASSIGN(Hasher hasher, Hasher::create());
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT " + std::string(k_event_columns) + " FROM events ORDER BY seq"));
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
  Digest previous = begin.hash;
  std::int64_t bad = 0;
  bool readable = true;
  const auto find = [&](std::int64_t sequence, const std::string& what) {
    if (bad++ == 0) report.findings.push_back({"chain", fmt::format("event {}: {}", sequence, what)});
  };
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool there, select.step());
    if (!there) break;
    const EventRow row = event_row_of(select);
    // A copy of an archived event: audit_genesis() checks these.
    if (const bool own = row.sequence > begin.sequence; own) {
      if (report.events % k_events_between_calls == 0) {
        report_progress(options.on_progress,
                        {.what = "hash chain", .done = report.events, .all = all - begin.sequence});
      }
      const std::int64_t place = begin.sequence + ++report.events;
      if (row.sequence != place) find(row.sequence, "it is at place " + std::to_string(place));
      SHAPLEY_TRY_ASSIGN(const Digest expected, hasher.link(previous, row));
      const auto stored = stored_hash_of(select);
      if (!std::ranges::equal(stored, expected)) {
        find(row.sequence,
             "its hash does not follow from the row before it and its content: it was edited, or a row before "
             "it was taken away");
      }
      // Continuing from the stored hash keeps one edited row from hiding the next.
      previous = digest_from(stored).value_or(expected);
    }
    const auto event = decode(row.kind, row.payload);
    if (!event) {
      find(row.sequence, event.error().what);
      readable = false;
      continue;
    }
    if (const std::string fault = row_fault(row, *event); !fault.empty()) find(row.sequence, fault);
    facts.survey(*event);
  }
  if (bad > 1) report.notes.push_back(fmt::format("the chain of events has {} faults; the first is named", bad));
  report.notes.push_back(fmt::format(
      "the chain ends at event {} with hash {}; a copy of this hash proves later that nothing before it was changed",
      begin.sequence + report.events, to_hex(previous)));
  for (std::string& note : adjustment_notes(facts.adjustments)) report.notes.push_back(std::move(note));
  for (const accounting::ObservationGap& gap : facts.gaps) {
    if (gap.cause != accounting::GapCause::events_lost) continue;
    report.notes.push_back(
        fmt::format("the ledger lost what it had from {} to {}; shapleyctl import --into takes the runs of that time",
                    format_instant(gap.begin), format_instant(gap.end)));
  }
  return readable;
}

Expected<AuditReport> audit(const Ledger& ledger, const AuditOptions& options) {
  return ledger.rows().run("audit", [&](const Database& database) -> Expected<AuditReport> {
    AuditReport report;
    // Read before the events, of which a daemon may append more.
    const auto last = read_acknowledged(ledger.rows().file());
    SHAPLEY_TRY(audit_all(ledger, database, report, options));
    if (last) SHAPLEY_TRY(audit_acknowledged(ledger, *last, report));
    return report;
  });
}

namespace {

using AdjustmentsByNumber = std::map<std::uint32_t, accounting::AdjustmentMade>;

constexpr std::size_t k_most_notes = 20;

std::uint32_t reversed_by(const AdjustmentsByNumber& adjustments, std::uint32_t number) {
  for (const auto& [later, made] : adjustments) {
    if (made.reverses == number) return later;
  }
  return 0;
}

}  // namespace

std::vector<std::string> adjustment_notes(const AdjustmentsByNumber& adjustments) {
  std::vector<std::string> notes;
  const std::size_t passed_over = adjustments.size() - std::min(adjustments.size(), k_most_notes);
  if (passed_over > 0) notes.push_back(counted(passed_over, "adjustment") + " before the last ones");
  for (auto it = std::next(adjustments.begin(), static_cast<std::ptrdiff_t>(passed_over)); it != adjustments.end();
       ++it) {
    const auto& [number, made] = *it;
    const std::uint32_t reversal = reversed_by(adjustments, number);
    notes.push_back("adjustment " + std::to_string(number) + ", " + format_instant(made.at) + ", " + made.author +
                    ": " + made.what +
                    (made.kind == accounting::AdjustmentKind::attribute ? fmt::format(" are {}'s", made.into) : "") +
                    (reversal == 0 ? "" : ", reversed by " + std::to_string(reversal)) + "; " + made.reason);
  }
  return notes;
}

std::string attribution_note(const AdjustmentsByNumber& adjustments) {
  std::string named;
  for (const auto& [number, made] : adjustments) {
    if (made.kind != accounting::AdjustmentKind::attribute || reversed_by(adjustments, number) != 0) continue;
    named += fmt::format("{}adjustment {}: {} are {}'s", named.empty() ? "" : "; ", number, made.what, made.into);
  }
  return named.empty() ? named
                       : fmt::format(
                             "whose a run is no record says: runs were given to other organizations and are compared "
                             "as they ran ({})",
                             named);
}

Expected<std::int64_t> compute_hashes(const Database& database, std::map<std::int64_t, std::string>& wanted) {
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

namespace {

// Adds a sentence for each head that the chain does not reach; `agreed` is the last one that it reaches.
void validate(const SignedHead& head, const std::string& computed, std::int64_t last, std::int64_t& agreed,
              AuditReport& report) {
  if (computed == head.hash) {
    agreed = head.sequence;
    report.notes.push_back(
        fmt::format("{}: events 1 to {} are those that were signed then", head.title(), head.sequence));
  } else if (computed.empty() && last >= head.sequence) {
    report.findings.push_back({"head", head.title() + ": the ledger has no such event any more"});
  } else if (computed.empty()) {
    report.findings.push_back(
        {"head", fmt::format("{}: the ledger was truncated: it ends at event {}, but held {} when the head was signed",
                             head.title(), last, counted(head.sequence, "event"))});
  } else {
    report.findings.push_back(
        {"head", fmt::format("{}: the ledger was rewritten after that: the content of events 1 to {} gives hash {}, "
                             "signed was {}; the first changed event is one of {} to {}",
                             head.title(), head.sequence, computed, head.hash, agreed + 1, head.sequence)});
  }
}

Expected<AuditReport> compare(const Ledger& ledger, const Database& database, std::vector<SignedHead> heads) {
  SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
  SHAPLEY_TRY_ASSIGN(const std::string identity, ledger.identity());
  std::map<std::int64_t, std::string> computed;
  for (const SignedHead& head : heads) {
    if (head.ledger != identity) {
      return fail(
          Errc::conflict,
          fmt::format("{} is of ledger {}, this file is ledger {}: another one, or one that was made in its place",
                      head.title(), head.ledger, identity));
    }
    computed.emplace(head.sequence, "");
  }
  AuditReport report;
  SHAPLEY_TRY_ASSIGN(report.events, compute_hashes(database, computed));
  std::ranges::sort(heads, {}, &SignedHead::sequence);
  SHAPLEY_TRY_ASSIGN(const Head last, read_head(database));
  SHAPLEY_TRY_ASSIGN(const std::optional<Genesis> genesis, read_genesis(database));
  std::int64_t agreed = 0;
  std::int64_t also_rewritten = 0;  // heads after one that the chain misses, which has the finding
  bool is_rewritten = false;        // the last head did not agree
  for (const SignedHead& head : heads) {
    if (genesis && head.sequence < genesis->sequence) {
      report.findings.push_back(
          {"head",
           fmt::format(
               "{}: its event is not in this file but in its archive {}, or in one before: compare the head with that",
               head.title(), genesis->archive)});
      continue;
    }
    const std::string& hash = computed.at(head.sequence);
    const bool differs = !hash.empty() && hash != head.hash;
    if (differs && is_rewritten) {
      ++also_rewritten;
      continue;
    }
    is_rewritten = differs;
    validate(head, hash, last.sequence, agreed, report);
  }
  if (also_rewritten > 0) {
    report.notes.push_back(counted_as(also_rewritten, "head[|s] of later events [does|do] not agree with it either"));
  }
  return report;
}

}  // namespace

Expected<AuditReport> audit_against_heads(const Ledger& ledger, std::span<const SignedHead> heads) {
  return ledger.rows().run("audit against heads", [&](const Database& database) {
    return compare(ledger, database, {heads.begin(), heads.end()});
  });
}

}  // namespace shapley::ledger
