#include "daemon/controllers/superseded.hpp"

#include <spdlog/spdlog.h>

#include "daemon/controllers/controller_record.hpp"
#include "ledger/replication/parted.hpp"

namespace shapley::daemon {

Expected<void> set_ledger_aside(const std::filesystem::path& ledger, const Controllers::Parting& parting, Instant now) {
  SHAPLEY_TRY_ASSIGN(ControllerRecord record, read_record(record_file(ledger)));
  SHAPLEY_TRY_ASSIGN(const std::filesystem::path aside, ledger::set_aside(ledger, now));
  spdlog::warn("controllers: the ledger that was superseded is kept as {}: its {} events after event {} are its own",
               aside.string(), parting.own, parting.common);
  record.set_aside.push_back({.at = now, .file = aside.string(), .common = parting.common, .parted = std::nullopt});
  if (record.set_aside.size() > k_max_set_aside) record.set_aside.erase(record.set_aside.begin());
  return write_record(record_file(ledger), record);
}

}  // namespace shapley::daemon
