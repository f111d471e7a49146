// The audit of what ranks were made by besides a ledger's own books: the statements of other clusters that it recorded,
// against the ledgers of these clusters, and the sum over clusters that followed from them.
#pragma once

#include <span>
#include <string>

#include "base/error.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// A ledger of the consortium, or an archive of one.
struct LedgerOfConsortium {
  std::string file;
  const Ledger* ledger = nullptr;
};

// Of every StandingReceived of the ledger's own events (an archive's are its own): whether the ledger that the
// statement names says so at the event that it names. That ledger's events up to it are applied in the order of
// recording, its books are moved to the statement's time, and their figures and the hash computed from the content of
// its rows are compared ("statement"). All statements of a ledger take one pass over it.
//
// The signature is verified where one of `keys` has the fingerprint that was declared of the cluster ("signature");
// else a note says that it was not. Whenever a statement or a consortium was recorded, the rows that ranks are made
// from are compared with a sum that is computed in another way ("ranks").
//
// No findings but `missing`: statements whose ledger is not among `others` or does not reach there, declared clusters
// of which no statement was recorded, and longer than an hour and some minutes without a statement of one.
[[nodiscard]] Expected<AuditReport> audit_consortium(const Ledger& ledger, std::span<const LedgerOfConsortium> others,
                                                     std::span<const PublicKey> keys, const AuditOptions& options = {});

}  // namespace shapley::ledger
