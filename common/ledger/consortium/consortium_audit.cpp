#include "ledger/consortium/consortium_audit.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounting/state/consortium.hpp"
#include "accounting/state/ranking.hpp"
#include "base/calendar.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "ledger/audit/audit_parts.hpp"
#include "ledger/consortium/naive_sum.hpp"
#include "ledger/consortium/standing.hpp"
#include "ledger/encoding/event_reader.hpp"
#include "ledger/recovery/standings.hpp"
#include "ledger/store/rows.hpp"

namespace shapley::ledger {

namespace {

using accounting::ClusterFigures;
using accounting::ConsortiumDeclared;
using accounting::EstimatorId;
using accounting::EstimatorSet;
using accounting::LedgerReplaced;
using accounting::OtherCluster;
using accounting::RankRow;
using accounting::StandingReceived;
using accounting::State;
using nlohmann::json;

// Statements are recorded hourly at least; an exchange may be late by some minutes.
constexpr Duration k_longest_between{3600 + 300};
constexpr std::size_t k_most_listed = 20;

// The declared clusters, and the times without a statement of them.
class Silences {
 public:
  void begin(const std::string& cluster, Instant t) { since_.emplace(cluster, t); }
  void note(const ConsortiumDeclared& declared) {
    std::set<std::string> named;
    for (const OtherCluster& other : declared.clusters) named.insert(other.cluster);
    for (auto open = since_.begin(); open != since_.end();) {
      if (named.contains(open->first)) {
        ++open;
        continue;
      }
      end(open->first, open->second, declared.at);
      open = since_.erase(open);
    }
    for (const std::string& cluster : named) since_.emplace(cluster, declared.at);
    declared_.merge(named);
  }
  void note(const StandingReceived& statement) {
    heard_.insert(statement.cluster);
    const auto open = since_.find(statement.cluster);
    if (open == since_.end()) return;
    end(open->first, open->second, statement.at);
    open->second = std::max(open->second, statement.at);
  }

  // Called at `t`, the end of the ledger.
  void list(Instant t, std::vector<std::string>& missing) {
    for (const auto& [cluster, since] : since_) end(cluster, since, t);
    for (const std::string& cluster : declared_) {
      if (!heard_.contains(cluster))
        missing.push_back(cluster + ": none of its statements was recorded, so none could be compared with its ledger");
    }
    for (const auto& [cluster, stretches] : stretches_) {
      for (std::size_t i = 0; i < std::min(stretches.size(), k_most_listed); ++i) {
        missing.push_back(fmt::format("{}: no statement was recorded from {} to {}", cluster,
                                      format_instant(stretches[i].first), format_instant(stretches[i].second)));
      }
      if (stretches.size() > k_most_listed)
        missing.push_back(
            fmt::format("{}: and so {} more", cluster, counted(stretches.size() - k_most_listed, "time")));
    }
  }

 private:
  void end(const std::string& cluster, Instant since, Instant t) {
    if (t - since > k_longest_between) stretches_[cluster].emplace_back(since, t);
  }

  std::map<std::string, Instant> since_;  // of the clusters declared now: the last statement
  std::map<std::string, std::vector<std::pair<Instant, Instant>>> stretches_;
  std::set<std::string> declared_;
  std::set<std::string> heard_;
};

// A recorded statement. Its figures are read when they are compared.
struct Mark {
  std::int64_t sequence = 0;
  std::string cluster;
  std::string ledger;
  std::int64_t event = 0;
  std::string hash;
  Instant time;
  std::string contribution;
};

// A ledger that statements may be of, with the statements that it can be compared with.
struct Other {
  LedgerOfConsortium of;
  std::string identity;
  Position begin, head;
  std::map<std::int64_t, std::string> hashes = {};  // of the events that statements of it name
  std::vector<Mark> marks = {};

  [[nodiscard]] bool has(const Mark& mark) const {
    return identity == mark.ledger && mark.event >= begin.sequence && mark.event <= head.sequence;
  }
};

// Books that follow the ledger up to event `last`, by these estimators or those that act for them.
Expected<Fold> fold_to(const Database& database, std::int64_t last, const EstimatorSet& wanted) {
  SHAPLEY_TRY_ASSIGN(const EstimatorSet kept, estimators_of_last_day(database));
  EstimatorSet followed;
  for (const EstimatorId estimator : accounting::estimator_ids()) {
    if (!wanted.contains(estimator)) continue;
    followed.insert(acting(estimator, kept));
    followed.insert(acting(estimator, {}));  // books of many organizations do not keep all
  }
  const accounting::StateOptions options = remembers_nothing(followed);
  SHAPLEY_TRY_ASSIGN(Recovered opening, opening_books(database, options));
  return Fold::by_number(database, std::move(opening), last, options);
}

// What of `stated` is not what `given` says; empty if nothing is.
std::string what_differs(const json& stated, const json& given) {
  for (const auto& [member, value] : stated.items()) {
    if (member != "organizations" && value != given.at(member))
      return fmt::format("{} is {}, by that ledger {}", member, shapley::text_of(value),
                         shapley::text_of(given.at(member)));
  }
  if (!stated.contains("organizations")) return {};
  std::map<std::string, std::pair<json, json>> rows;
  for (const json& row : stated.at("organizations")) rows[row.at("organization")].first = row;
  for (const json& row : given.at("organizations")) rows[row.at("organization")].second = row;
  for (const auto& [name, row] : rows) {
    if (row.first.is_null()) return name + " is not in it, but in that ledger";
    if (row.second.is_null()) return name + " has no figures in that ledger";
    if (std::string differs = what_differs(row.first, row.second); !differs.empty())
      return fmt::format("{}'s {}", name, differs);
  }
  return {};
}

class ConsortiumAudit {
 public:
  ConsortiumAudit(const Database& database, EventReader reader, std::span<const PublicKey> keys,
                  const AuditOptions& options)
      : database_(database), reader_(std::move(reader)), keys_(keys), options_(options) {}

  Expected<AuditReport> run(std::span<const LedgerOfConsortium> others) {
    SHAPLEY_TRY(survey());
    SHAPLEY_TRY(follow());
    SHAPLEY_TRY(assign(others));
    for (const Other& other : others_) {
      if (other.marks.empty()) {
        report_.notes.push_back("no statement that was compared is of " + other.of.file);
        continue;
      }
      SHAPLEY_TRY(other.of.ledger->rows().run("audit a consortium", [&](const Database& there) -> Expected<void> {
        SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(there, Transaction::Kind::read));
        return compare(other, there);
      }));
    }
    write_notes();
    return std::move(report_);
  }

 private:
  void find(const std::string& check, std::string what) {
    if (++found_[check] <= k_most_listed) report_.findings.push_back({check, std::move(what)});
  }

  Expected<void> survey() {
    SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database_));
    SHAPLEY_TRY_ASSIGN(const Head head, read_head(database_));
    wanted_.insert(accounting::k_default_estimator);
    return reader_.visit(0, head.sequence, [&](const StoredEvent& stored) -> Expected<void> {
      end_ = stored.received;
      if (const auto* rule = std::get_if<accounting::RankingDeclared>(&stored.event)) {
        want(rule->contribution, wanted_);
        sum_.note(*rule);
      }
      if (stored.sequence <= begin.sequence) return {};
      ++report_.events;
      const auto* statement = std::get_if<StandingReceived>(&stored.event);
      const auto* replaced = std::get_if<LedgerReplaced>(&stored.event);
      if (replaced != nullptr) replaced_.emplace_back(stored.sequence, *replaced);
      if (statement == nullptr && replaced == nullptr && !std::holds_alternative<ConsortiumDeclared>(stored.event))
        return {};
      to_note_.push_back(stored.sequence);
      if (statement == nullptr) return {};
      const ClusterFigures& figures = statement->figures;
      want(figures.contribution, wanted_there_);
      marks_.push_back({stored.sequence, statement->cluster, figures.ledger, figures.event, figures.hash, figures.time,
                        figures.contribution});
      return {};
    });
  }

  static void want(const std::string& contribution, EstimatorSet& wanted) {
    if (const auto estimator = accounting::parse_estimator(contribution)) wanted.insert(*estimator);
  }

  // Follows the events up to each statement and each declaration, one after the other.
  Expected<void> follow() {
    SHAPLEY_TRY_ASSIGN(Fold fold, fold_to(database_, to_note_.empty() ? 0 : to_note_.back(), wanted_));
    begin_after_archive(fold.books().state);
    for (const std::int64_t sequence : to_note_) {
      progress("ranks by the sum over clusters", sequence, to_note_.back());
      SHAPLEY_TRY(fold.advance_to_event(sequence));
      SHAPLEY_TRY_ASSIGN(const StoredEvent stored, reader_.read(sequence));
      if (const auto* declared = std::get_if<ConsortiumDeclared>(&stored.event)) {
        check_weights(stored.sequence, *declared, fold.books().state);
        sum_.note(*declared);
        silences_.note(*declared);
      } else if (const auto* statement = std::get_if<StandingReceived>(&stored.event)) {
        sum_.note(*statement);
        silences_.note(*statement);
        check_signature(stored.sequence, *statement);
      } else if (const auto* replaced = std::get_if<LedgerReplaced>(&stored.event)) {
        sum_.note(*replaced);
      }
      check_ranks(stored, fold.books().state);
    }
    silences_.list(end_, report_.missing);
    return {};
  }

  // Takes over what the books know that the ledger begins with.
  void begin_after_archive(const State& books) {
    const ConsortiumDeclared* declared = books.consortium();
    if (declared == nullptr) return;
    sum_.note(*declared);
    for (const LedgerReplaced& replaced : books.replaced_ledgers()) sum_.note(replaced);
    for (const accounting::ClusterShare& share : books.shares_elsewhere()) {
      if (share.statement != nullptr) sum_.note(*share.statement);
      silences_.begin(share.cluster, share.statement == nullptr ? books.now() : share.statement->at);
    }
    silences_.note(*declared);
  }

  static std::string title(std::int64_t sequence, const StandingReceived& statement) {
    return fmt::format("event {}, the statement of {} of {}", sequence, statement.cluster,
                       format_instant(statement.figures.time));
  }

  void check_signature(std::int64_t sequence, const StandingReceived& statement) {
    const OtherCluster* other = sum_.declared(statement.cluster, statement.at);
    const std::string fingerprint = other == nullptr ? "" : other->key;
    const auto key = std::ranges::find(keys_, fingerprint, &PublicKey::fingerprint);
    if (key == keys_.end()) {
      ++unverified_[{statement.cluster, fingerprint}];
      return;
    }
    ++verified_;
    const StandingStatement text{statement.cluster, statement.figures, statement.signature};
    if (const auto good = verify_signature(text, *key); !good)
      find("signature", fmt::format("{}: {}", title(sequence, statement), good.error().what));
  }

  // A new weight changes nothing of what was given and got before: what the same clusters contribute is the same right
  // before and after its declaration.
  void check_weights(std::int64_t sequence, const ConsortiumDeclared& declared, State& books) {
    const ConsortiumDeclared* was = sum_.in_force(declared.at);
    const auto same_rows = [](const OtherCluster& a, const OtherCluster& b) {
      return a.cluster == b.cluster && a.names == b.names && a.stale_after == b.stale_after;
    };
    if (was == nullptr || was->consortium != declared.consortium ||
        !std::ranges::equal(was->clusters, declared.clusters, same_rows)) {
      return;
    }
    // One that comes with another ledger of a cluster leaves out what was of the former one.
    for (const auto& [number, replaced] : replaced_) {
      if (replaced.at == declared.at && !replaced.reason.empty()) return;
    }
    if (books.now() > declared.at) return;
    books.advance(declared.at);
    const std::vector<RankRow> before = sum_.rows(books, accounting::k_default_estimator);
    NaiveClusterSum with = sum_;
    with.note(declared);
    const std::vector<RankRow> after = with.rows(books, accounting::k_default_estimator);
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i].figures.balance == after[i].figures.balance &&
          before[i].figures.given_less_got == after[i].figures.given_less_got) {
        continue;
      }
      find("weights", fmt::format("event {}, {}: what {} is owed on other clusters changes with the weights", sequence,
                                  format_instant(declared.at), before[i].organization));
    }
  }

  void check_ranks(const StoredEvent& stored, State& books) {
    books.advance(time_of(stored.event));
    const std::string ranked_by = books.ranking_rule().contribution;
    if (accounting::is_former_estimator(ranked_by)) {
      ++unchecked_["ranks by " + ranked_by];
      return;
    }
    const EstimatorId estimator = accounting::parse_estimator(ranked_by).value_or(accounting::k_default_estimator);
    const std::vector<RankRow> ranked = books.rank_rows(estimator);
    const std::vector<RankRow> summed = sum_.rows(books, estimator);
    ++report_.rank_checks;
    for (std::size_t i = 0; i < ranked.size(); ++i) {
      if (const std::string differs = what_differs(json_of(ranked[i]), json_of(summed[i])); !differs.empty()) {
        find("ranks", fmt::format("event {}, {}: {} is ranked by another sum over clusters: {}", stored.sequence,
                                  format_instant(books.now()), ranked[i].organization, differs));
      }
    }
  }

  Expected<void> assign(std::span<const LedgerOfConsortium> others) {
    for (const LedgerOfConsortium& of : others) {
      SHAPLEY_TRY(of.ledger->rows().run("audit a consortium", [&](const Database& there) -> Expected<void> {
        SHAPLEY_TRY_ASSIGN(std::string identity, of.ledger->identity());
        SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(there));
        SHAPLEY_TRY_ASSIGN(const Head head, read_head(there));
        Other& other = others_.emplace_back(Other{of, std::move(identity), begin, head});
        for (const Mark& mark : marks_) {
          if (other.has(mark)) other.hashes.emplace(mark.event, "");
        }
        if (other.hashes.empty()) return {};
        const auto computed = compute_hashes(there, other.hashes);
        return computed ? Expected<void>() : tl::unexpected<Error>(computed.error());
      }));
    }
    struct Unfit {
      std::int64_t count = 0, first = 0, last = 0;
    };
    std::map<std::pair<std::string, std::string>, Unfit> unfit;  // by cluster and reason
    for (const Mark& mark : marks_) {
      if (accounting::is_former_estimator(mark.contribution)) {
        ++unchecked_[fmt::format("statements of {} by {}", mark.cluster, mark.contribution)];
        continue;
      }
      std::string reason = fmt::format("its ledger {} was not given", mark.ledger);
      Other* fits = nullptr;
      for (Other& other : others_) {
        if (other.identity != mark.ledger) continue;
        if (other.has(mark)) {
          fits = &other;
          // A ledger and its restored copy have one identity: the statement is of the line that has its event.
          if (other.hashes.at(mark.event) == mark.hash) break;
          continue;
        }
        reason =
            other.of.file +
            (mark.event > other.head.sequence
                 ? fmt::format(" ends at event {}: it was copied before that, or it was truncated", other.head.sequence)
                 : fmt::format(" begins after event {}: its archive was not given", other.begin.sequence));
      }
      const bool is_of_it = fits != nullptr && fits->hashes.at(mark.event) == mark.hash;
      const LedgerReplaced* replaced = is_of_it ? nullptr : given_up(mark);
      if (replaced != nullptr && std::ranges::find(others_, mark.ledger, &Other::identity) != others_.end()) {
        fits = nullptr;
        reason = fmt::format(
            "its ledger was replaced, which was found or accepted at {}: the one that it was before was not given",
            format_instant(replaced->at));
      }
      if (fits != nullptr) {
        fits->marks.push_back(mark);
        continue;
      }
      Unfit& missing = unfit[{mark.cluster, reason}];
      if (missing.count++ == 0) missing.first = missing.last = mark.event;
      missing.first = std::min(missing.first, mark.event);
      missing.last = std::max(missing.last, mark.event);
    }
    for (const auto& [why, missing] : unfit) {
      report_.missing.push_back(fmt::format("{}: {} by its events {} to {}: {}", why.first,
                                            counted(missing.count, "statement"), missing.first, missing.last,
                                            why.second));
    }
    for (Other& other : others_) {
      std::ranges::sort(other.marks, {},
                        [](const Mark& mark) { return std::tie(mark.event, mark.time, mark.sequence); });
    }
    return {};
  }

  // What the books here know of a change of the statement's ledger after it; nullptr: nothing.
  [[nodiscard]] const LedgerReplaced* given_up(const Mark& mark) const {
    for (const auto& [sequence, replaced] : replaced_) {
      if (sequence > mark.sequence && replaced.cluster == mark.cluster && replaced.former_ledger == mark.ledger)
        return &replaced;
    }
    return nullptr;
  }

  Expected<void> compare(const Other& other, const Database& there) {
    SHAPLEY_TRY_ASSIGN(Fold fold, fold_to(there, other.marks.back().event, wanted_there_));
    const std::size_t same = marks_of_same_line(other);
    find_line(other, same);
    for (const Mark& mark : std::span(other.marks).first(same)) {
      progress("statements against " + other.of.file, report_.statements, static_cast<std::int64_t>(marks_.size()));
      SHAPLEY_TRY(fold.advance_to_event(mark.event));
      SHAPLEY_TRY_ASSIGN(const StoredEvent stored, reader_.read(mark.sequence));
      ++report_.statements;
      const auto& statement = std::get<StandingReceived>(stored.event);
      const std::string differs = fault_of(statement, other.hashes.at(mark.event), fold.books().state);
      if (!differs.empty())
        find("statement",
             fmt::format("{}, compared with {}: {}", title(mark.sequence, statement), other.of.file, differs));
    }
    return {};
  }

  // The number of the first statements after which none has the hash that the ledger has at its event: a ledger that
  // was rewritten has no hash of the former one any more.
  static std::size_t marks_of_same_line(const Other& other) {
    std::size_t same = other.marks.size();
    while (same > 0 && other.marks[same - 1].hash != other.hashes.at(other.marks[same - 1].event)) --same;
    return same;
  }

  // One finding of all statements from `same` on.
  void find_line(const Other& other, std::size_t same) {
    const std::size_t count = other.marks.size() - same;
    if (count == 0) return;
    report_.statements += static_cast<std::int64_t>(count);
    const Mark& first = other.marks[same];
    const std::int64_t from = same == 0 ? other.begin.sequence + 1 : other.marks[same - 1].event + 1;
    const std::string event = std::to_string(first.event);
    find("statement", fmt::format("{}: {} by its events {} to {}, the first of {}, compared with {}: that ledger was "
                                  "rewritten, it has other hashes there; it differs {} on",
                                  first.cluster, counted(count, "statement"), event, other.marks.back().event,
                                  format_instant(first.time), other.of.file,
                                  from >= first.event ? "from event " + event
                                                      : fmt::format("from one of the events {} to {}", from, event)));
  }

  // The fault of a statement, by books that have the events up to its own only.
  static std::string fault_of(const StandingReceived& statement, const std::string& hash, State& books) {
    const ClusterFigures& stated = statement.figures;
    // Books cannot be moved back, so they must not be moved to that time.
    if (stated.time > statement.at + k_clocks_apart)
      return fmt::format("it was recorded at {}, before its own time", format_instant(statement.at));
    if (stated.time < books.now()) {
      return fmt::format("that ledger had come to {} with event {}", format_instant(books.now()), stated.event);
    }
    const auto estimator = accounting::parse_estimator(stated.contribution);
    if (!estimator)
      return fmt::format("its contribution '{}' is by no estimator that this program has", stated.contribution);
    books.advance(stated.time);
    if (const accounting::ClusterNamed* named = books.cluster();
        named != nullptr && named->cluster != statement.cluster) {
      return "that ledger is of the cluster " + named->cluster;
    }
    const ConsortiumDeclared* declared = books.consortium();
    if (declared == nullptr) return "no consortium was declared in that ledger then";
    ClusterFigures given = cluster_figures(books, {statement.cluster, *declared}, *estimator, stated.time);
    given.ledger = stated.ledger;
    given.event = stated.event;
    given.hash = hash;
    return what_differs(json_of(stated), json_of(given));
  }

  void progress(const std::string& what, std::int64_t done, std::int64_t all) const {
    report_progress(options_.on_progress, {.what = what, .done = done, .all = all});
  }

  void write_notes() {
    if (to_note_.empty()) report_.notes.emplace_back("no consortium was declared, and no statement was recorded");
    for (const auto& [sequence, replaced] : replaced_) {
      report_.notes.push_back(fmt::format(
          "{}: {}: {}{}", replaced.cluster, format_instant(replaced.at), replacement_text(replaced),
          replaced.reason.empty() ? "; found" : fmt::format("; accepted by {}: {}", replaced.author, replaced.reason)));
    }
    if (verified_ > 0)
      report_.notes.push_back(counted(verified_, "signature") + " verified with the keys that were given");
    for (const auto& [of, count] : unverified_) {
      report_.notes.push_back(
          fmt::format("{}: {}: {}", of.first, counted_as(count, "signature[|s] [was|were] not verified"),
                      of.second.empty() ? "no key of this cluster was declared"
                                        : fmt::format("its public key {} was not given", of.second)));
    }
    for (const auto& [what, count] : unchecked_) report_.leave_unchecked(fmt::format("{} ({})", what, count));
    for (const auto& [check, count] : found_) {
      if (count > k_most_listed)
        report_.notes.push_back(
            fmt::format("of {} '{}' the first {} are listed", counted(count, "finding"), check, k_most_listed));
    }
  }

  const Database& database_;
  EventReader reader_;
  std::span<const PublicKey> keys_;
  const AuditOptions& options_;
  AuditReport report_;
  EstimatorSet wanted_;                // for ranks
  EstimatorSet wanted_there_;          // by which statements are
  Instant end_;                        // the last recording
  std::vector<std::int64_t> to_note_;  // statements and declarations
  std::vector<Mark> marks_;
  std::vector<std::pair<std::int64_t, LedgerReplaced>> replaced_;  // with their numbers
  NaiveClusterSum sum_;
  Silences silences_;
  std::vector<Other> others_;
  std::int64_t verified_ = 0;
  std::map<std::pair<std::string, std::string>, std::int64_t> unverified_;  // by cluster and declared key
  std::map<std::string, std::int64_t> unchecked_;
  std::map<std::string, std::size_t> found_;  // by check
};

}  // namespace

Expected<AuditReport> audit_consortium(const Ledger& ledger, std::span<const LedgerOfConsortium> others,
                                       std::span<const PublicKey> keys, const AuditOptions& options) {
  return ledger.rows().run("audit a consortium", [&](const Database& database) -> Expected<AuditReport> {
    SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
    SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
    return ConsortiumAudit(database, std::move(reader), keys, options).run(others);
  });
}

}  // namespace shapley::ledger
