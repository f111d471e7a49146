// The other clusters of the consortium: what they state, and which of their statements ranks are made by.
//
// A statement that comes is verified and judged (ledger/consortium/standing.hpp); one that is refused changes nothing.
// Ranks are made by what is in the ledger alone, so that they can be audited: a statement is recorded when it changes
// the ranks, before the recorded one is too old to be carried on, and once an hour at least. What this costs the ledger
// has a bound (k_bytes_a_second): beyond it, statements wait for the hour. Single-threaded; who asks is another class
// (consortium_loop.hpp), and time is passed in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accounting/state/ranking.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "config/configuration.hpp"
#include "daemon/books/books.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/consortium/standing.hpp"
#include "ledger/reports/report.hpp"
#include "reports/requests.hpp"

namespace shapley::daemon {

// What came for a cluster, or why nothing did. It is read and its signature verified before it is given to the
// consortium, in another thread, because a text of a megabyte takes long.
struct HeardStatement {
  // By the key of the time when it was asked for; of another key it does not count.
  std::shared_ptr<const ledger::PublicKey> key;
  bool came = false;  // else `statement` says why nothing did
  Expected<ledger::StandingStatement> statement;
  std::int64_t bytes = 0;  // of its text
};
[[nodiscard]] HeardStatement read_statement(const Expected<std::string>& text,
                                            std::shared_ptr<const ledger::PublicKey> key);

class Consortium {
 public:
  // Of the text of statements, on average, beyond those of the hour; an hour of it may come at once. With what the
  // ledger adds to each row, 20 clusters of 50 organizations take 200 bytes a second at most (tests/bench).
  static constexpr std::int64_t k_bytes_a_second = 80;
  static constexpr std::int64_t k_most_bytes = 3600 * k_bytes_a_second;
  static constexpr Duration k_hour{3600};
  // So long a jump is named.
  static constexpr Duration k_named_for{24 * 3600};

  using Keys = std::vector<std::shared_ptr<const ledger::PublicKey>>;
  // `books` must outlive it.
  explicit Consortium(Books& books) : books_(books) {}

  // What is known of clusters that stay is kept. REQUIRES: a key for each cluster.
  void configure(const config::ConsortiumConfig& configuration, const Keys& keys);

  // What the weights in force make of other clusters' figures stays when this declaration comes into force
  // (accounting::OtherCluster::earlier).
  void date_weights(accounting::ConsortiumDeclared& declared) const;

  // This cluster's own statement, signed. Errc::not_found: no consortium is configured. Errc::unavailable: the books
  // cannot say how things stand, or the cluster has no name yet.
  [[nodiscard]] Expected<ledger::StandingStatement> statement(const std::string& own_name,
                                                              const ledger::SigningKey* key, Instant now);

  // Takes what came for a cluster. Of a cluster that is not configured any more, or by another key: nothing.
  void receive(const std::string& cluster, HeardStatement heard, const std::string& own_name, Instant now);
  // Records the statements that are to be. REQUIRES: this one writes the ledger. Errors: the commit failed; it is tried
  // again by the next call.
  [[nodiscard]] Expected<void> record(Instant now);

  // An administrator accepts that a cluster's statements are of another line of events than before
  // (accounting::LedgerReplaced): its newest statement counts from now on, and those of the former line no more.
  // Errc::not_found: no cluster of this name is configured, or no such statement of it came since the start.
  // Errc::invalid_argument: there is no reason.
  [[nodiscard]] Expected<ledger::LineReport> accept_line(const ledger::AcceptLineRequest& asked,
                                                         const std::string& author, Instant now);

  struct Cluster {
    config::OtherClusterConfig configuration;
    std::shared_ptr<const ledger::PublicKey> key;
    std::optional<ledger::StandingStatement> offered;  // the newest that was accepted, recorded or not
    std::optional<ledger::StandingStatement> other;    // the newest of another line of events, which is not accepted
    std::int64_t bytes = 0;                            // of the text of `offered`, which record() weighs each second
    bool changes_nothing = false;                      // `offered` was found to change no rank when it came
    Instant asked = k_beginning_of_time;               // when it was asked for last
    std::string fault = {};                            // why the last answer did not count; empty: it did
    bool is_refused = false;                           // `fault` is of a statement that came; else none came
    std::uint64_t refused = 0;                         // statements that came and did not count, since the start
    std::optional<Duration> ahead = {};                // of the clock here: the time of its newest signed statement
    std::string jump = {};  // what it cannot have done between two statements (ledger::jump); empty: nothing of late
    Instant jumped = k_beginning_of_time;  // when that came
  };
  [[nodiscard]] const std::vector<Cluster>& clusters() const { return clusters_; }
  [[nodiscard]] const config::ConsortiumConfig& configuration() const { return configuration_; }
  // The time of its newest statement, if that is the one by whose figures ranks go or changes none of them, so that it
  // was not recorded; nullopt: it is neither.
  [[nodiscard]] std::optional<Instant> heard_at(const Cluster& cluster) const;
  // nullptr: no cluster of this name is configured.
  [[nodiscard]] const Cluster* find(const std::string& cluster) const;
  // The next cluster whose statement is to be asked for, which is noted as asked; nullptr: none yet.
  [[nodiscard]] const Cluster* next_to_ask(Instant now);

 private:
  [[nodiscard]] Cluster* find(const std::string& cluster);
  [[nodiscard]] Expected<void> accept(Cluster& cluster, HeardStatement heard, const std::string& own_name,
                                      Instant now) const;
  // The statement after which the next one is judged; nullptr: none counts.
  [[nodiscard]] const accounting::ClusterFigures* last_of(const Cluster& cluster) const;
  // That the cluster's statements are of another line, as it is found or accepted; `at` is after all that is known.
  [[nodiscard]] accounting::LedgerReplaced replaced(const Cluster& cluster, Instant now) const;
  // The statement in the books stands still at the second next answer, if not now.
  [[nodiscard]] bool is_too_old_soon(const Cluster& cluster, Instant now);
  [[nodiscard]] bool changes_ranks(const Cluster& cluster, Instant now);

  Books& books_;
  config::ConsortiumConfig configuration_;
  std::vector<Cluster> clusters_;
  std::int64_t bytes_left_ = k_most_bytes;
  Instant filled_ = k_beginning_of_time;  // up to when the bound has grown
};

}  // namespace shapley::daemon
