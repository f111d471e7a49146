// What each user of each account got this period, as metrics (--users). Their number has a bound. They are served only
// while slurm.conf's PrivateData hides neither jobs nor usage, even where the exporter runs as root: every host that
// reaches the page can read it.
//
// The figures are those of a statement (docs/reference/protocol.md), which the daemon computes from its ledger; so they
// are asked for at intervals and not at each scrape.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/mutex.hpp"
#include "base/process.hpp"
#include "exporter/metrics.hpp"
#include "reports/statement.hpp"
#include "rpc_client/client.hpp"

namespace shapley::exporter {

// They are filled from the member `users` of a status, which UserFigures::latest() has.
[[nodiscard]] std::vector<Metric> user_metrics();

// Whether PrivateData hides users from others, by a status; true where it is not known yet.
[[nodiscard]] bool hides_users(const ledger::StatusReport& status);

// Of a statement's users those that got the most, at most so many; of equals those first by organization, account and
// name. What is hidden from the asker is in no row. Pure.
[[nodiscard]] ChosenUsers chosen_users(const ledger::AccountReport& statement, std::size_t most);

// Any thread may call its functions.
class UserFigures {
 public:
  struct Latest {
    std::optional<ChosenUsers> figures;  // nullopt: there are none
    std::string state;                   // for the log: whether there are figures, else why not; empty: not asked yet
  };

  // `most` > 0.
  UserFigures(rpc_client::Endpoint endpoint, std::size_t most);
  ~UserFigures();
  UserFigures(const UserFigures&) = delete;
  UserFigures& operator=(const UserFigures&) = delete;

  // Asks the daemon once.
  void ask();
  // Asks at once and then at these intervals, in a thread of its own, until this object ends. REQUIRES: it is called
  // once.
  void ask_every(std::chrono::seconds interval);
  // By the last question and by `status`, a newer one: no figures if that hides users.
  [[nodiscard]] Latest latest(const ledger::StatusReport& status) const;

 private:
  Descriptor stop_;  // becomes readable when the thread is to end
  rpc_client::Endpoint endpoint_;
  std::size_t most_;
  mutable Mutex mutex_;
  Latest latest_ SHAPLEY_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace shapley::exporter
