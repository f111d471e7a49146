#include "ledger/archive/prepared.hpp"

#include <limits>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "ledger/archive/archive.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/archive/part.hpp"
#include "ledger/recovery/replay.hpp"
#include "ledger/store/copies.hpp"
#include "ledger/store/event_reader.hpp"
#include "ledger/store/file_operations.hpp"
#include "ledger/store/genesis.hpp"
#include "ledger/store/ledger.hpp"
#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

using std::filesystem::path;

constexpr std::size_t k_events_in_a_commit = 10'000;

// Whether all archives from where the ledger begins up to where `prepared` does are there, whole, and follow each
// other.
Expected<bool> archives_are_whole(const path& prepared, const path& directory, const Head& begin,
                                  const OnProgress& on_progress) {
  SHAPLEY_TRY_ASSIGN(OpenedFile file, OpenedFile::open(prepared));
  std::optional<ArchiveLink> link;
  while (true) {
    SHAPLEY_TRY_ASSIGN(link, archive_before(file.ledger(), link));
    if (!link) return begin.sequence == 0;
    if (link->sequence <= begin.sequence) return link->sequence == begin.sequence;
    tell(on_progress, {.what = "archives are read once more"});
    auto opened = open_archive(file.ledger(), *link, directory);
    if (!opened) {
      const Errc code = opened.error().code;
      if (code == Errc::corrupt || code == Errc::not_found) return false;
      return tl::unexpected<Error>(std::move(opened).error());
    }
    file = *std::move(opened);
  }
}

// Whether every event of `prepared` is one of the ledger, and it begins later than the ledger does.
Expected<bool> is_of(const Database& ledger, const Ledger& prepared) {
  const Database& database = LedgerAccess::impl(prepared).database;
  SHAPLEY_TRY_ASSIGN(const Head before, chain_begin(ledger));
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
  SHAPLEY_TRY_ASSIGN(const Head last, read_head(database));
  if (begin.sequence <= before.sequence) return false;
  SHAPLEY_TRY_ASSIGN(const auto hash_at_begin, hash_of_event(ledger, begin.sequence));
  SHAPLEY_TRY_ASSIGN(const auto hash_at_last, hash_of_event(ledger, last.sequence));
  return hash_at_begin == begin.hash && hash_at_last == last.hash;
}

// False: the prepared file refuses one of the later events.
Expected<bool> append_later_events(const Database& database, Ledger& prepared, const OnProgress& on_progress) {
  bool refused = false;
  std::vector<accounting::Event> batch;
  Instant received;
  const auto append = [&]() -> Expected<void> {
    if (batch.empty()) return {};
    SHAPLEY_TRY_ASSIGN(const AppendResult appended, prepared.append(batch, received));
    refused = refused || appended.appended != batch.size();
    batch.clear();
    tell(on_progress, {.what = "what was recorded since is added"});
    return {};
  };
  const auto take = [&](const StoredEvent& stored) -> Expected<void> {
    if (stored.received != received || batch.size() >= k_events_in_a_commit) SHAPLEY_TRY(append());
    received = stored.received;
    batch.push_back(stored.event);
    return {};
  };
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
  SHAPLEY_TRY(reader.visit(prepared.last_sequence(), std::numeric_limits<std::int64_t>::max(), take));
  SHAPLEY_TRY(append());
  return !refused;
}

}  // namespace

path prepared_file(const path& ledger) {
  return ledger.string() + ".archived";
}

void remove_prepared(const path& ledger) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    std::filesystem::remove(prepared_file(ledger).string() + suffix, ignored);
  }
}

Expected<bool> catch_up(const Database& database, const path& ledger, const OnProgress& on_progress) {
  const path file = prepared_file(ledger);
  SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
  SHAPLEY_TRY_ASSIGN(const Head head, read_head(database));
  Part part{.genesis = std::nullopt, .last = head.sequence, .hash = head.hash, .has_checkpoints = true};
  {
    auto prepared = Ledger::open(file, OpenMode::create_or_write);
    if (!prepared && prepared.error().code != Errc::corrupt) return tl::unexpected<Error>(std::move(prepared).error());
    if (!prepared) return false;
    SHAPLEY_TRY_ASSIGN(const bool fits, is_of(database, *prepared));
    if (!fits) return false;
    SHAPLEY_TRY_ASSIGN(const bool added, append_later_events(database, *prepared, on_progress));
    if (!added) return false;
    const Database& written = LedgerAccess::impl(*prepared).database;
    SHAPLEY_TRY_ASSIGN(const Head last, read_head(written));
    if (last.sequence != head.sequence || last.hash != head.hash) return false;
    SHAPLEY_TRY_ASSIGN(part.genesis, read_genesis(written));
    SHAPLEY_TRY(take_alone(written));
  }
  SHAPLEY_TRY_ASSIGN(const bool whole, archives_are_whole(file, archives_of(ledger), begin, on_progress));
  if (!whole) return false;
  SHAPLEY_TRY(renew_details(ledger, file, part));
  SHAPLEY_TRY(sync_file(file));
  return true;
}

}  // namespace shapley::ledger
