// The two ways in which other files of common/ledger reach the rows of an open ledger: Ledger::rows() to read,
// Ledger::to_append() to write. Not for other layers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "base/mutex.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "ledger/encoding/chain_walk.hpp"
#include "ledger/encoding/event_store.hpp"
#include "ledger/file/database.hpp"
#include "ledger/file/typed_rows.hpp"
#include "ledger/projections/projections.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

class ReadRows {
 public:
  ReadRows(std::filesystem::path file, Database database) : file_(std::move(file)), database_(std::move(database)) {}

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] const Database& database() const { return database_; }
  // "ledger: OPERATION: FILE: " before the error.
  [[nodiscard]] tl::unexpected<Error> failed(std::string_view operation, Error error) const {
    return with_context("ledger: " + std::string(operation) + ": " + file_.string(), std::move(error));
  }
  // Returns the result of `operate`, which gets the data base and the arguments; adds the above to its error.
  template <typename Operate, typename... Arguments>
  [[nodiscard]] std::invoke_result_t<const Operate&, const Database&, const Arguments&...> run(
      std::string_view operation, const Operate& operate, const Arguments&... arguments) const {
    auto result = operate(database_, arguments...);
    if (!result) return failed(operation, std::move(result).error());
    return result;
  }

 private:
  std::filesystem::path file_;
  Database database_;
};

// The objects that a writer keeps between appends.
class AppendRows {
 public:
  // REQUIRES: the data base outlives it and is not moved.
  [[nodiscard]] static Expected<AppendRows> create(const Database& database, std::shared_ptr<Mutex> turns);

  // Calls `write` within one transaction and one of the ledger's turns. On error nothing of it is stored.
  template <typename Write>
  [[nodiscard]] std::invoke_result_t<Write> in_transaction(const Write& write) {
    const MutexLock turn(*turns_);
    const Head before = head_;
    auto written = [&]() -> std::invoke_result_t<Write> {
      SHAPLEY_TRY_ASSIGN(Transaction transaction, Transaction::begin(*database_, Transaction::Kind::write));
      auto result = write();
      if (result) SHAPLEY_TRY(transaction.commit());
      return result;
    }();
    if (!written) {
      head_ = before;
      store_.rolled_back();
    }
    return written;
  }

  // Adds the next row of the chain to the open transaction and returns its hash. REQUIRES: row.sequence follows head();
  // the store does not have the event, and the event does not contradict the projections.
  [[nodiscard]] Expected<Digest> add(const accounting::Event& event, const EventRow& row);

  [[nodiscard]] const Head& head() const { return head_; }
  [[nodiscard]] EventStore& store() { return store_; }
  [[nodiscard]] Projector& projector() { return projector_; }
  // Whether the event changes what only an archive has (Genesis::memory_horizon).
  [[nodiscard]] Expected<bool> is_archived(const accounting::Event& event);

 private:
  AppendRows(const Database& database, std::shared_ptr<Mutex> turns, Hasher hasher, EventStore store, Head head,
             std::optional<Instant> archived_before)
      : database_(&database),
        turns_(std::move(turns)),
        hasher_(std::move(hasher)),
        projector_(database, "main"),
        store_(std::move(store)),
        head_(head),
        archived_before_(archived_before) {}

  const Database* database_;
  std::shared_ptr<Mutex> turns_;
  Hasher hasher_;
  Projector projector_;
  EventStore store_;
  Head head_;
  std::optional<Instant> archived_before_;
};

// The rows of a SELECT as structs (file/typed_rows.hpp), within the budget. `bind` binds its parameters.
template <Described Record, typename Bind = void (*)(Statement&)>
[[nodiscard]] Expected<std::vector<Record>> read_within(
    const Database& database, const std::string& sql, const QueryBudget& budget, const Bind& bind = [](Statement&) {}) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(sql));
  bind(select);
  const StepLimit limit(database, budget.steps, budget.ended);
  return typed_rows<Record>(select, budget.rows);
}

}  // namespace shapley::ledger
