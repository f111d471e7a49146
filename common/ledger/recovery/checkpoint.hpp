// Checkpoints as rows of the ledger: the books as text (State::save), in parts (cut) that checkpoints share,
// so that only what changed is written.
//
// A checkpoint exists once its row in `checkpoints` does, which is written last. A process that ends before that leaves
// parts that no checkpoint names; the next checkpoint uses or removes them, so no repair is needed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "accounting/state/state.hpp"
#include "base/error.hpp"
#include "base/mutex.hpp"
#include "ledger/file/database.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// Cuts a text of lines so that texts that are mostly equal have mostly equal parts.

// The lines themselves (their hashes) determine where a part ends, not the amount of text before them: lines that are
// added, removed or changed affect the part that they are in, and sometimes its neighbour. A part has `lines` lines on
// average; one that exceeds `most_bytes` ends after its current line. The concatenated parts are the text. REQUIRES:
// lines > 0.
struct PartSize {
  std::size_t lines = 128;
  std::size_t most_bytes = 256U << 10U;
};
[[nodiscard]] std::vector<std::string_view> cut(std::string_view text, PartSize size = {});

// The books of the checkpoint at event `sequence`. nullopt: it does not exist, it does not fit the event, its text is
// damaged, or State does not know its format. Errc::unavailable once `stop` is set.
[[nodiscard]] Expected<std::optional<Recovered>> read_checkpoint(const Database& database, std::int64_t sequence,
                                                                 accounting::StateOptions options,
                                                                 const std::atomic<bool>* stop = nullptr);

struct CheckpointWriting {
  PartSize part;
  std::size_t transaction_bytes = 256U << 10U;  // of text
  std::function<Expected<void>()> between;      // called after each transaction; its error ends the writing
  const std::atomic<bool>* stop = nullptr;      // once it is set, the writing ends with Errc::unavailable
};

// Adds a checkpoint of the books after event `sequence`, and removes all except the newest three. Works in short
// transactions, each within a turn of `writing`. After an error the checkpoints are as before, or the new one exists,
// too. Errc::invalid_argument: there is no such event.
[[nodiscard]] Expected<void> write_checkpoint(const Database& database, Mutex& writing, const accounting::State& state,
                                              std::int64_t sequence, Instant at, const CheckpointWriting& how = {});

}  // namespace shapley::ledger
