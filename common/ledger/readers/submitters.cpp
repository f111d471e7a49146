#include "ledger/readers/submitters.hpp"

#include <optional>
#include <string>

#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

// A run is asked for once for each of its nodes.
constexpr std::size_t k_kept = 50'000;

}  // namespace

Expected<Submitters> Submitters::open(const std::vector<const Ledger*>& files) {
  Submitters submitters;
  for (const Ledger* file : files) {
    SHAPLEY_TRY_ASSIGN(Statement lookup,
                       LedgerAccess::impl(*file).database.prepare(
                           "SELECT j.submit, w.text, j.user_id FROM main.event_jobs j JOIN main.words w ON w.word = "
                           "j.account WHERE j.job = ?1 AND j.submit <= ?2 ORDER BY j.submit DESC LIMIT 1"));
    submitters.lookups_.push_back(std::move(lookup));
  }
  return submitters;
}

Expected<Submitter> Submitters::of(JobId job, Instant start) {
  if (const auto known = known_.find({job, start}); known != known_.end()) return known->second;
  Submitter submitter;
  std::optional<std::int64_t> last;
  for (Statement& lookup : lookups_) {
    SHAPLEY_TRY_ASSIGN(const bool row, lookup.bind(1, std::int64_t{job.value}).bind(2, start.value).step());
    if (row && (!last || lookup.integer(0) >= *last)) {
      last = lookup.integer(0);
      submitter = {accounts_.number_of(std::string(lookup.text(1))), static_cast<std::uint32_t>(lookup.integer(2))};
    }
    lookup.reset();
  }
  if (known_.size() >= k_kept) known_.clear();
  known_.emplace(std::pair(job, start), submitter);
  return submitter;
}

}  // namespace shapley::ledger
