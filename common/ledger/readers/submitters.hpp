// Whose jobs are: looked up in the files when somebody asks, for there may be more jobs than the memory holds.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/name_index.hpp"
#include "base/types.hpp"
#include "ledger/store/database.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// Whose a job is.
struct Submitter {
  std::uint32_t account = 0;  // of Submitters::accounts()
  std::uint32_t user_id = 0;
};

class Submitters {
 public:
  // REQUIRES: the files outlive it and stay where they are.
  [[nodiscard]] static Expected<Submitters> open(const std::vector<const Ledger*>& files);

  // The last submission of the job before `start`, as far as it was described; else account "" and user 0.
  [[nodiscard]] Expected<Submitter> of(JobId job, Instant start);
  [[nodiscard]] const NameIndex& accounts() const { return accounts_; }
  // Whose jobs were looked up so far will hardly be asked for again.
  void forget() { known_.clear(); }

 private:
  Submitters() { (void)accounts_.number_of(""); }

  std::vector<Statement> lookups_;  // by file
  NameIndex accounts_;              // the first is ""
  std::map<std::pair<JobId, Instant>, Submitter> known_;
};

}  // namespace shapley::ledger
