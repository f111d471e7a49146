// What the ledger's own source files share. Not for other layers.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include "ledger/chain/hash_chain.hpp"
#include "ledger/projections/projections.hpp"
#include "ledger/store/database.hpp"
#include "ledger/store/event_store.hpp"
#include "ledger/store/ledger.hpp"
#include "ledger/store/writer_lock.hpp"

namespace shapley::ledger {

// The newest row of the chain.
struct Head {
  std::int64_t sequence = 0;
  Digest hash{};
};

// What only a writer needs, kept ready between appends.
struct Writer {
  Hasher hasher;
  Projector projector;
  EventStore store;
  Head head;
};

struct Ledger::Impl {
  std::filesystem::path file;
  // The lock outlives the connection: members are destroyed in reverse, and the last act of a connection writes.
  std::optional<WriterLock> lock;
  Database database;
  std::optional<Writer> writer;
  std::shared_ptr<std::mutex> turns;  // whose turn it is to write: Ledger::turns

  // "ledger: OPERATION: FILE: " before the error.
  [[nodiscard]] tl::unexpected<Error> failed(std::string_view operation, Error error) const;
  [[nodiscard]] Expected<Writer*> to_write();
};

// Lets the ledger's own functions (audit) reach the connection.
struct LedgerAccess {
  static Ledger::Impl& impl(const Ledger& ledger) { return *ledger.impl_; }
};

// The newest row, of any schema; {0, zeros} when there is none.
[[nodiscard]] Expected<Head> read_head(const Database& database);

}  // namespace shapley::ledger
