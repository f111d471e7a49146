#include "ledger/consortium/standing.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounting/estimators/table.hpp"
#include "accounting/events/event_check.hpp"
#include "accounting/state/ranking.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "ledger/consortium/statement_bounds.hpp"
#include "ledger/replication/chain_copy.hpp"

namespace shapley::ledger {

std::string StandingStatement::signed_text() const {
  StandingStatement unsigned_one = *this;
  unsigned_one.signature.clear();
  return "shapley standing 1\n" + shapley::text_of(json_of(unsigned_one));
}

std::string StandingStatement::text() const {
  return shapley::text_of(json_of(*this)) + '\n';
}

accounting::ClusterFigures cluster_figures(accounting::State& state, const OwnCluster& own,
                                           accounting::EstimatorId estimator, Instant now) {
  const std::vector<accounting::RankRow> rows = state.advance(now).own_rank_rows(estimator);
  std::map<std::string, std::pair<CpuTime, CpuTime>> settled;  // given, got
  for (const accounting::Standing& standing : state.standings({estimator}))
    settled[state.organizations()[standing.organization.value]] = {standing.settled_given, standing.settled_got};
  accounting::ClusterFigures figures{.consortium = own.consortium.consortium,
                                     .ledger = {},
                                     .hash = {},
                                     .time = state.now(),
                                     .contribution = std::string(accounting::name_of(estimator)),
                                     .period = state.period(),
                                     .period_begin = std::max(state.period_begin(), Instant{0}),
                                     .weights = {{own.name, own.consortium.weight}},
                                     .organizations = {},
                                     .lost = {},
                                     .whole = state.whole_processors()};
  for (const accounting::ObservationGap& gap : state.observation_gaps()) {
    if (gap.cause == accounting::GapCause::events_lost) figures.lost = gap.begin;
  }
  for (const accounting::OtherCluster& other : own.consortium.clusters) {
    figures.weights.push_back({other.cluster, other.weight});
  }
  std::ranges::sort(figures.weights, {}, &accounting::ClusterWeight::cluster);
  for (const accounting::RankRow& row : rows) {
    const bool is_empty = row.figures == accounting::KeyFigures{} && row.owned.value == 0 && row.used.value == 0 &&
                          row.waiting.value == 0;
    if (is_empty || row.organization == accounting::k_guests) continue;
    figures.organizations.push_back({row.organization, row.figures, row.owned, row.used, row.waiting,
                                     settled.at(row.organization).first, settled.at(row.organization).second});
  }
  std::ranges::sort(figures.organizations, {}, &accounting::OrganizationElsewhere::organization);
  return figures;
}

Expected<StandingStatement> standing_statement(accounting::State& state, const Ledger& ledger, const OwnCluster& own,
                                               accounting::EstimatorId estimator, Instant now) {
  StandingStatement statement{
      .cluster = own.name, .figures = cluster_figures(state, own, estimator, now), .signature = {}};
  SHAPLEY_TRY_ASSIGN(statement.figures.ledger, ledger.identity());
  SHAPLEY_TRY_ASSIGN(const Position head, head_of(ledger));
  statement.figures.event = head.sequence;
  statement.figures.hash = to_hex(head.hash);
  return statement;
}

Expected<void> sign(StandingStatement& statement, const SigningKey& key) {
  SHAPLEY_TRY_ASSIGN(const Signature signature, key.sign(statement.signed_text()));
  statement.signature = to_hex({reinterpret_cast<const char*>(signature.data()), signature.size()});
  return {};
}

Expected<StandingStatement> parse_statement(std::string_view text) {
  if (text.size() > k_most_statement_bytes) {
    return fail(Errc::corrupt, fmt::format("a standing statement has at most {} bytes", k_most_statement_bytes));
  }
  const nlohmann::json object = parse_json(text);
  if (object.is_discarded()) return fail(Errc::corrupt, "a standing statement is one JSON object");
  auto statement = from_json<StandingStatement>(object);
  if (!statement) return fail(Errc::corrupt, "this is no standing statement: " + statement.error().what);
  // A statement that the ledger would refuse is refused here, too.
  if (const auto sound = accounting::check(statement->received(statement->figures.time)); !sound) {
    return fail(Errc::corrupt, "this is no standing statement: " + sound.error().what);
  }
  return statement;
}

Expected<void> verify_signature(const StandingStatement& statement, const PublicKey& key) {
  const auto bytes = from_hex(statement.signature);
  Signature signature{};
  if (bytes && bytes->size() == signature.size()) {
    std::ranges::copy(*bytes, signature.begin());
    if (key.verifies(statement.signed_text(), signature)) return {};
  }
  return fail(
      Errc::corrupt,
      fmt::format(
          "the signature is not of this text by the key {}: the statement was edited or forged, or {} has another key",
          key.fingerprint(), statement.cluster));
}

namespace {

std::string differs(std::string what, std::string_view there, std::string_view here) {
  return fmt::format("{} '{}', here '{}'", what, there, here);
}

std::int64_t weight_here(const OwnCluster& own, std::string_view cluster) {
  if (cluster == own.name) return own.consortium.weight;
  const accounting::OtherCluster* other = accounting::find_cluster(own.consortium, cluster);
  return other == nullptr ? 0 : other->weight;
}

// Everything on which the two sites differ, so that both files can be corrected at once; empty: they agree.
std::string disagreements(const accounting::ClusterFigures& figures, const JudgedBy& by) {
  std::vector<std::string> all;
  if (figures.consortium != by.own.consortium.consortium)
    all.push_back(differs("its consortium is", figures.consortium, by.own.consortium.consortium));
  if (figures.contribution != by.contribution)
    all.push_back(differs("its contribution is", figures.contribution, by.contribution));
  if (figures.period != by.period) {
    all.push_back(differs("its period is", name_of(figures.period), name_of(by.period)));
  } else if (figures.period_begin < period_begin(by.period, figures.time)) {
    all.push_back(
        fmt::format("its books count from {}, before the present period began; it is taken from the next period on",
                    format_instant(figures.period_begin)));
  }
  bool names_this = false;
  for (const accounting::ClusterWeight& stated : figures.weights) {
    names_this = names_this || stated.cluster == by.own.name;
    const std::int64_t here = weight_here(by.own, stated.cluster);
    if (here == 0 || here == stated.weight) continue;
    all.push_back(differs(fmt::format("a processor of {} is worth", stated.cluster), format_micro(stated.weight),
                          format_micro(here)));
  }
  if (!names_this) all.push_back(fmt::format("its consortium has no cluster '{}'", by.own.name));
  std::string text;
  for (const std::string& each : all) text += (text.empty() ? "" : "; ") + each;
  return text;
}

// One of two controllers that follows may be some events behind when it states for both.
constexpr Duration k_follower_behind{5};

bool is_older(const accounting::ClusterFigures& figures, const accounting::ClusterFigures& last) {
  if (figures.time < last.time) return true;
  return figures.ledger == last.ledger && figures.event < last.event && figures.time <= last.time + k_follower_behind;
}

}  // namespace

Expected<void> judge(const StandingStatement& statement, std::string_view cluster, const JudgedBy& by) {
  const accounting::ClusterFigures& figures = statement.figures;
  if (statement.cluster == by.own.name) {
    return fail(Errc::conflict, fmt::format("it is a statement of this cluster itself, '{}'", by.own.name));
  }
  if (statement.cluster != cluster)
    return fail(Errc::conflict, differs("it is of the cluster", statement.cluster, cluster));
  if (std::string differences = disagreements(figures, by); !differences.empty())
    return fail(Errc::conflict, std::move(differences));
  if (figures.time > by.now + k_clocks_apart) {
    return fail(Errc::conflict,
                fmt::format("its time {} has not come here: the clocks are apart", format_instant(figures.time)));
  }
  if (std::string fault = impossible(figures); !fault.empty()) return fail(Errc::conflict, std::move(fault));
  if (by.last == nullptr) {
    if (by.stale_after == Duration{0} || by.now < figures.time + by.stale_after) return {};
    return fail(Errc::invalid_argument,
                fmt::format("it is the first one, and of {}, too old to begin with: bring one that is newer than {}",
                            format_instant(figures.time), short_duration(by.stale_after.value)));
  }
  if (!is_older(figures, *by.last)) return {};
  return fail(Errc::invalid_argument,
              fmt::format("it is of {} and event {}, older than the last one, of {} and event {}",
                          format_instant(figures.time), figures.event, format_instant(by.last->time), by.last->event));
}

std::string replacement(const accounting::ClusterFigures& figures, const accounting::ClusterFigures& last) {
  const std::string now = "event " + std::to_string(figures.event);
  const std::string before = "event " + std::to_string(last.event);
  if (figures.ledger != last.ledger) {
    return fmt::format("its ledger was begun again: it is at {} of the ledger {}, and was at {} of {}", now,
                       figures.ledger, before, last.ledger);
  }
  if (figures.event < last.event)
    return fmt::format("its ledger went back from {} to {}: it was restored", before, figures.event);
  if (figures.event == last.event && figures.hash != last.hash)
    return fmt::format("its {} is another one than before: its ledger was restored, and goes on otherwise", now);
  if (figures.lost > last.lost && figures.lost < last.time) {
    return fmt::format("its ledger went back before {} and is at {} now: it says that it lost what it had since {}",
                       before, figures.event, format_instant(figures.lost));
  }
  return {};
}

std::string replacement_text(const accounting::LedgerReplaced& replaced) {
  const std::string before = "event " + std::to_string(replaced.former_event);
  if (replaced.former_ledger != replaced.ledger) {
    return fmt::format("its ledger was begun again: it is {} now, and was at {} of {}", replaced.ledger, before,
                       replaced.former_ledger);
  }
  if (replaced.event < replaced.former_event)
    return fmt::format("its ledger went back from {} to {}", before, replaced.event);
  return fmt::format("its ledger went back before {}, and goes on otherwise", before);
}

const accounting::StandingReceived* last_statement(const accounting::State& books, const std::string& cluster) {
  const auto statements = books.statements();
  const auto found = std::ranges::find(statements, cluster, &accounting::StandingReceived::cluster);
  return found == statements.end() ? nullptr : *found;
}

std::optional<accounting::LedgerReplaced> last_replaced(const accounting::State& books, const std::string& cluster) {
  std::optional<accounting::LedgerReplaced> last;
  for (accounting::LedgerReplaced& each : books.replaced_ledgers()) {
    if (each.cluster == cluster) last = std::move(each);
  }
  return last;
}

bool end_earlier_weights(accounting::ConsortiumDeclared& declared, const accounting::LedgerReplaced& accepted) {
  if (accepted.ledger == accepted.former_ledger) return false;
  const auto other = std::ranges::find(declared.clusters, accepted.cluster, &accounting::OtherCluster::cluster);
  return other != declared.clusters.end() && !std::exchange(other->earlier, {}).empty();
}

bool is_open(const std::optional<accounting::LedgerReplaced>& replaced) {
  return replaced && replaced->reason.empty();
}

std::string other_line(const accounting::State& books, const std::string& cluster,
                       const accounting::ClusterFigures& figures, const accounting::ClusterFigures* last) {
  std::string how = last == nullptr ? std::string() : replacement(figures, *last);
  // The text of one that was found names no present event, so that the log has it once.
  if (const auto known = last_replaced(books, cluster); is_open(known))
    how = fmt::format("{}, which was found at {}", replacement_text(*known), format_instant(known->at));
  if (how.empty()) return how;
  return fmt::format("{}; shapleyctl standing --accept {} shows what changes if it is accepted", how, cluster);
}

}  // namespace shapley::ledger
