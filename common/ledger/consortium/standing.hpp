// Standing statements: the figures of a consortium's organizations in a cluster's books, signed with its ledger's key,
// so that any transport may carry them (docs/operating/consortium.md).
//
// One line of canonical JSON: members ascend by name, no blanks, amounts exact. The Ed25519 signature is over the line
// "shapley standing 1", a line feed and the canonical JSON without the member `signature`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "accounting/events/event.hpp"
#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

struct StandingStatement {
  std::string cluster;
  accounting::ClusterFigures figures;
  std::string signature;  // 128 hexadecimal digits
  friend bool operator==(const StandingStatement&, const StandingStatement&) = default;

  [[nodiscard]] std::string signed_text() const;
  [[nodiscard]] std::string text() const;  // with a final line feed
  [[nodiscard]] accounting::StandingReceived received(Instant at) const { return {at, cluster, figures, signature}; }
};
SHAPLEY_DESCRIBE(StandingStatement, cluster, (flattened, figures), (supplement, signature));

// A bound far above what a thousand organizations need.
inline constexpr std::size_t k_most_statement_bytes = std::size_t{1} << 20U;

// By how much a clock may be ahead of another: each second costs the error of a second's work of the whole cluster.
inline constexpr Duration k_clocks_apart{60};

// A cluster's own part in a consortium: its name and its declaration.
struct OwnCluster {
  std::string name;
  accounting::ConsortiumDeclared consortium;
};

// The figures of the books at `now`, with phi by `estimator`; unsigned. Guests are not an organization of the
// consortium. REQUIRES: the state is the fold of the ledger's events.
[[nodiscard]] Expected<StandingStatement> standing_statement(accounting::State& state, const Ledger& ledger,
                                                             const OwnCluster& own, accounting::EstimatorId estimator,
                                                             Instant now);
[[nodiscard]] accounting::ClusterFigures cluster_figures(accounting::State& state, const OwnCluster& own,
                                                         accounting::EstimatorId estimator, Instant now);
[[nodiscard]] Expected<void> sign(StandingStatement& statement, const SigningKey& key);

// Errc::corrupt names the fault.
[[nodiscard]] Expected<StandingStatement> parse_statement(std::string_view text);
// Errc::corrupt: the signature is not of this text by this key.
[[nodiscard]] Expected<void> verify_signature(const StandingStatement& statement, const PublicKey& key);

// Whether ranks may be made from this statement, of own.consortium's `cluster`: the figures of both clusters can be
// added, and it is newer than the last one (`last`; nullptr: there was none). Errc::conflict names all differences:
// another cluster or consortium, another estimator, another period, another weight, or a time that is not the present
// by the clock here, or a figure that no cluster's books have (statement_bounds.hpp); Errc::invalid_argument: it is
// older than the last one, or, as the first one, too old to begin with. Whether it is of the same ledger is another
// question (replacement).
struct JudgedBy {
  const OwnCluster& own;
  std::string contribution;  // the estimator of ranks here
  Period period = Period::none;
  const accounting::ClusterFigures* last = nullptr;
  Instant now;
  Duration stale_after{0};  // of the cluster: how old a first statement may be; 0: that is not judged
};
[[nodiscard]] Expected<void> judge(const StandingStatement& statement, std::string_view cluster, const JudgedBy& by);

// How it shows that the cluster's ledger is not the one of its last statement any more, or goes on from before that
// event; empty: it does not. A ledger that went back and has passed that event since shows it only by what it says that
// it lost. REQUIRES: judge() took the statement after `last`.
[[nodiscard]] std::string replacement(const accounting::ClusterFigures& figures,
                                      const accounting::ClusterFigures& last);
// The same of a change that the books know.
[[nodiscard]] std::string replacement_text(const accounting::LedgerReplaced& replaced);

// ---- what the books of the one that receives know of a cluster ----

// The last statement that they count; nullptr: none.
[[nodiscard]] const accounting::StandingReceived* last_statement(const accounting::State& books,
                                                                 const std::string& cluster);
// The last change of its ledger.
[[nodiscard]] std::optional<accounting::LedgerReplaced> last_replaced(const accounting::State& books,
                                                                      const std::string& cluster);
// Once a new ledger of a cluster is accepted, nothing is counted of what earlier weights made of its former figures:
// removes that from `declared`. False: there was nothing, or the ledger is the same one, at an earlier event.
bool end_earlier_weights(accounting::ConsortiumDeclared& declared, const accounting::LedgerReplaced& accepted);
// A change that was found and is not accepted.
[[nodiscard]] bool is_open(const std::optional<accounting::LedgerReplaced>& replaced);
// Why a statement of these figures does not count, although judge() takes it, until an administrator accepts its line
// of events (shapleyctl standing --accept); empty: it counts. `last`: as of JudgedBy.
[[nodiscard]] std::string other_line(const accounting::State& books, const std::string& cluster,
                                     const accounting::ClusterFigures& figures, const accounting::ClusterFigures* last);

}  // namespace shapley::ledger
