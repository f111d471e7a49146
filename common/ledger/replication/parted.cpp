#include "ledger/replication/parted.hpp"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include <unistd.h>

#include "ledger/store/copies.hpp"
#include "ledger/store/event_json.hpp"
#include "ledger/store/event_store.hpp"
#include "ledger/store/file_operations.hpp"
#include "ledger/store/ledger_impl.hpp"
#include "ledger/store/writer_lock.hpp"

namespace shapley::ledger {

namespace {

using std::filesystem::path;

Expected<Parted> compare(const Ledger& aside, std::int64_t common, const Database& present) {
  SHAPLEY_TRY_ASSIGN(EventStore store, EventStore::create(present));
  Parted parted;
  SHAPLEY_TRY(aside.for_each_event(common, [&](const StoredEvent& stored) -> Expected<void> {
    if (std::holds_alternative<accounting::ControllerBegan>(stored.event)) return {};
    ++parted.events;
    SHAPLEY_TRY_ASSIGN(const auto known, store.find(stored.event));
    if (!known) {
      ++parted.absent;
      return {};
    }
    SHAPLEY_TRY_ASSIGN(const std::string recorded, store.payload_of(*known));
    if (recorded != encode(stored.event)) ++parted.different;
    return {};
  }));
  return parted;
}

Expected<path> rename_ledger(const path& ledger, const path& aside) {
  // Opened and closed, it takes over what its log holds, so that one file is all there is to rename.
  SHAPLEY_TRY(Ledger::open(ledger, OpenMode::create_or_write));
  SHAPLEY_TRY_ASSIGN(const WriterLock lock, WriterLock::acquire(ledger));
  std::error_code error;
  if (std::filesystem::exists(ledger.string() + "-wal", error)) {
    return fail(Errc::conflict, "somebody reads it; it is renamed when nobody does");
  }
  if (std::filesystem::exists(aside, error)) return fail(Errc::conflict, aside.string() + " is there already");
  if (::rename(ledger.c_str(), aside.c_str()) != 0) return system_failure("cannot rename it", errno);
  SHAPLEY_TRY(sync_file(directory_of(ledger)));
  return aside;
}

}  // namespace

Expected<Parted> compare_parted(const Ledger& aside, std::int64_t common, const Ledger& present) {
  const Ledger::Impl& impl = LedgerAccess::impl(present);
  auto parted = compare(aside, common, impl.database);
  if (!parted) return impl.failed("compare with " + LedgerAccess::impl(aside).file.string(), std::move(parted).error());
  return parted;
}

Expected<path> set_aside(const path& ledger, Instant now) {
  auto renamed = rename_ledger(ledger, ledger.string() + ".superseded-" + stamp_of(now));
  if (!renamed) return with_context("ledger: set aside: " + ledger.string(), std::move(renamed).error());
  return renamed;
}

}  // namespace shapley::ledger
