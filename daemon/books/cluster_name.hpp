// The cluster that the books belong to, by its ClusterName in the ledger (accounting::ClusterNamed). Feeders of other
// clusters are refused: a trial slurmctld with a copy of slurm.conf finds the same socket, and its jobs have the same
// numbers. If it has the same ClusterName, too, it has another StateSaveLocation: while a feeder is connected, one of
// another StateSaveLocation is refused. Single-threaded; time is passed in.
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
#include "daemon/books/side_files.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

class ClusterName {
 public:
  // `books`, those of the file `ledger`, must outlive it. shapleyd starts `now`.
  ClusterName(Books& books, const std::filesystem::path& ledger, Instant now)
      : books_(books), started_at_(now), feeder_(ledger), is_recalled_(feeder_.value().has_value()) {}

  // Errc::denied, with the remedy, for a feeder of another cluster, or of a second slurmctld while the first one is
  // connected (`is_connected`); logged once for each. The second one is refused for k_patience longer, and after a
  // start of shapleyd, so that it does not take the place of the first one that restarts. A feeder that names neither
  // cluster nor StateSaveLocation is admitted. REQUIRES: one that is admitted becomes the feeder.
  static constexpr Duration k_patience{600};
  [[nodiscard]] Expected<void> admit(const protocol::Hello& hello, bool is_connected, Instant now);
  // The file of the feeder that was admitted last; a failed write has to be repeated.
  [[nodiscard]] SideFile<KeptFeeder>& feeder_file() { return feeder_; }
  // Records the name of the first feeder's cluster, if the ledger has none. Errors: the commit failed; call again
  // later.
  [[nodiscard]] Expected<void> state_first(Instant now);
  // Changes the name from `now` on. Errc::invalid_argument: the cluster has this name already, or the name is
  // malformed.
  [[nodiscard]] Expected<void> rename(accounting::ClusterNamed named);

  // Whether a feeder with this ClusterName may feed these books.
  [[nodiscard]] bool is_ours(const std::string& cluster) const { return cluster.empty() || cluster == name(); }
  // Empty: no feeder has connected yet.
  [[nodiscard]] const std::string& name() const;

  // The last feeder that was refused, since the start or the last renaming.
  struct Refused {
    std::string cluster;
    std::string state_location;  // that of a second slurmctld of this cluster; empty: the feeder is of another cluster
    std::uint64_t times = 0;
    Instant first;
    Instant last;
  };
  [[nodiscard]] const std::optional<Refused>& refused() const { return refused_; }
  // The number of refusals since the start.
  [[nodiscard]] std::uint64_t refusals() const { return refusals_; }

 private:
  [[nodiscard]] bool is_second(const protocol::Hello& hello, bool is_connected, Instant now);
  void note_let_in(const protocol::Hello& hello);
  [[nodiscard]] tl::unexpected<Error> refuse(const protocol::Hello& hello, bool is_second, Instant now);

  Books& books_;
  std::string first_;  // reported by the first feeder, while the ledger has no name
  std::optional<Refused> refused_;
  std::uint64_t refusals_ = 0;
  std::set<std::string> logged_;
  Instant started_at_;
  SideFile<KeptFeeder> feeder_;             // that was admitted last
  bool is_recalled_;                        // from the file: none was admitted since the start
  std::map<std::string, Instant> seconds_;  // by state_location_id, when they were refused beside a connected feeder
};

}  // namespace shapley::daemon
