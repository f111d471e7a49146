// Whose records the books are made of: the cluster that the ledger knows by its ClusterName (accounting::ClusterNamed),
// and the feeders of others, which are refused. A trial slurmctld with a copy of slurm.conf finds the same socket, and
// its jobs have numbers like ours. Where it has the same ClusterName, too, its StateSaveLocation tells it apart: while
// a feeder is connected, one of another StateSaveLocation is refused. Single-threaded; time is passed in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/books/books.hpp"
#include "daemon/books/kept_feeder.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

class ClusterName {
 public:
  // `books` must outlive it. `feeder_file`: feeder_file_of(). shapleyd starts `now`.
  ClusterName(Books& books, std::filesystem::path feeder_file, Instant now);

  // Errc::denied, with the remedy, for a feeder of another cluster, or of a second slurmctld while the first one is
  // connected (`is_connected`); logged once for each. The second one is refused for k_patience longer, and after a
  // start of shapleyd, so that it does not take the place of the first one that restarts. A feeder that names neither
  // cluster nor StateSaveLocation is let in. REQUIRES: who is let in becomes the feeder.
  static constexpr Duration k_patience{600};
  [[nodiscard]] Expected<void> admit(const protocol::Hello& hello, bool is_connected, Instant now);
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
    std::string state_location;  // of a second slurmctld of this cluster; empty: it is of another cluster
    std::uint64_t times = 0;
    Instant first;
    Instant last;
  };
  [[nodiscard]] const std::optional<Refused>& refused() const { return refused_; }
  // How often feeders were refused since the start.
  [[nodiscard]] std::uint64_t refusals() const { return refusals_; }

 private:
  [[nodiscard]] bool is_second(const protocol::Hello& hello, bool is_connected, Instant now);
  void keep(const protocol::Hello& hello);
  [[nodiscard]] tl::unexpected<Error> refuse(const protocol::Hello& hello, bool is_second, Instant now);

  Books& books_;
  std::string first_;  // as the first feeder called it, while the ledger has no name
  std::optional<Refused> refused_;
  std::uint64_t refusals_ = 0;
  std::set<std::string> logged_;
  std::filesystem::path feeder_file_;
  Instant started_at_;
  KeptFeeder feeder_;                       // that was let in last
  bool is_recalled_ = false;                // from the file: none was let in since the start
  std::map<std::string, Instant> seconds_;  // by state_location_id, when they were refused beside a connected feeder
};

}  // namespace shapley::daemon
