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

namespace shapley::daemon {

class Consortium {
 public:
  // Of the text of statements, on average, beyond those of the hour; an hour of it may come at once. With what the
  // ledger adds to each row, 20 clusters of 50 organizations take 200 bytes a second at most (tests/bench).
  static constexpr std::int64_t k_bytes_a_second = 80;
  static constexpr std::int64_t k_most_bytes = 3600 * k_bytes_a_second;
  static constexpr Duration k_hour{3600};

  using Keys = std::vector<std::shared_ptr<const ledger::PublicKey>>;
  // `books` must outlive it.
  explicit Consortium(Books& books) : books_(books) {}

  // What is known of clusters that stay is kept. REQUIRES: a key for each cluster.
  void configure(const config::ConsortiumConfig& configuration, const Keys& keys);

  // This cluster's own statement, signed. Errc::not_found: no consortium is configured. Errc::unavailable: the books
  // cannot say how things stand, or the cluster has no name yet.
  [[nodiscard]] Expected<ledger::StandingStatement> statement(const std::string& own_name,
                                                              const ledger::SigningKey* key, Instant now);

  // What came for a cluster, or why nothing did. Of a cluster that is not configured any more: nothing.
  void receive(const std::string& cluster, const Expected<std::string>& text, const std::string& own_name, Instant now);
  // Records the statements that are to be. REQUIRES: this one writes the ledger. Errors: the commit failed; it is tried
  // again by the next call.
  [[nodiscard]] Expected<void> record(Instant now);

  struct Cluster {
    config::OtherClusterConfig configuration;
    std::shared_ptr<const ledger::PublicKey> key;
    std::optional<ledger::StandingStatement> offered;  // the newest that was accepted, recorded or not
    std::int64_t bytes = 0;                            // of the text of `offered`, which record() weighs each second
    bool changes_nothing = false;                      // `offered` was found to change no rank when it came
    Instant asked = k_beginning_of_time;               // when it was asked for last
    std::string fault = {};                            // why the last answer did not count; empty: it did
    bool is_refused = false;                           // `fault` is of a statement that came; else none came
    std::uint64_t refused = 0;                         // statements that came and did not count, since the start
    std::optional<Duration> ahead = {};                // of the clock here: the time of its newest signed statement
  };
  [[nodiscard]] const std::vector<Cluster>& clusters() const { return clusters_; }
  [[nodiscard]] const config::ConsortiumConfig& configuration() const { return configuration_; }
  // nullptr: no cluster of this name is configured.
  [[nodiscard]] const Cluster* find(const std::string& cluster) const;
  // The next cluster whose statement is to be asked for, which is noted as asked; nullptr: none yet.
  [[nodiscard]] const Cluster* next_to_ask(Instant now);

 private:
  [[nodiscard]] Cluster* find(const std::string& cluster);
  [[nodiscard]] Expected<void> accept(Cluster& cluster, const std::string& text, const std::string& own_name,
                                      Instant now) const;
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
