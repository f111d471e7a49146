// The audit of what entered ranks besides a ledger's own books: recorded statements of other clusters, compared with
// these clusters' ledgers, and the sum over clusters.
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

// For every StandingReceived among the ledger's own events (those of an archive are the archive's own): whether the
// ledger that the statement names agrees with it at the event that it names. That ledger's events up to it are applied
// in the order of recording, its books are moved to the statement's time, and their figures and the hash computed from
// the content of its rows are compared ("statement"). All statements of a ledger take one pass over it.
//
// The signature is verified if one of `keys` has the fingerprint that was declared for the cluster ("signature");
// otherwise a note states that it was not. Whenever a statement or a consortium was recorded, the rows that ranks are
// made from are compared with a sum that is computed in another way ("ranks").
//
// Where the ledger of a cluster was replaced (LedgerReplaced), statements are compared with the one of `others` that
// has their event; those that only the former one could have are `missing` where it was not given.
//
// Not findings but `missing`: statements whose ledger is not among `others` or does not reach that event, declared
// clusters without any recorded statement, and times longer than an hour and some minutes without a statement of a
// cluster.
[[nodiscard]] Expected<AuditReport> audit_consortium(const Ledger& ledger, std::span<const LedgerOfConsortium> others,
                                                     std::span<const PublicKey> keys, const AuditOptions& options = {});

}  // namespace shapley::ledger
