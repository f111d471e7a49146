// Whose records the books are made of: the cluster that the ledger knows by its ClusterName (accounting::ClusterNamed),
// and the feeders of others, which are refused. A trial slurmctld with a copy of slurm.conf finds the same socket, and
// its jobs have numbers like ours. Single-threaded; time is passed in.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/books/books.hpp"

namespace shapley::daemon {

class ClusterName {
 public:
  // `books` must outlive it.
  explicit ClusterName(Books& books) : books_(books) {}

  // Errc::denied, with the remedy, for a feeder of another cluster; logged once for each name. A feeder that names no
  // cluster is let in.
  [[nodiscard]] Expected<void> admit(const std::string& cluster, Instant now);
  // States the name of the first feeder in the ledger, if it has none. Errors: the commit failed; call again later.
  [[nodiscard]] Expected<void> state_first(Instant now);
  // What it is called from `now` on. Errc::invalid_argument: it is called so already, or that is no name.
  [[nodiscard]] Expected<void> rename(accounting::ClusterNamed named);

  // Whether a feeder that calls its cluster so may feed these books.
  [[nodiscard]] bool is_ours(const std::string& cluster) const { return cluster.empty() || cluster == name(); }
  // Empty: no feeder has come yet.
  [[nodiscard]] const std::string& name() const;

  // The last feeder that was refused, since the start or the last renaming.
  struct Refused {
    std::string cluster;
    std::uint64_t times = 0;
    Instant first;
    Instant last;
  };
  [[nodiscard]] const std::optional<Refused>& refused() const { return refused_; }

 private:
  Books& books_;
  std::string first_;  // as the first feeder called it, while the ledger has no name
  std::optional<Refused> refused_;
  std::set<std::string> logged_;
};

}  // namespace shapley::daemon
