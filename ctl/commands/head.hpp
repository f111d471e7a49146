// `shapleyctl audit --head`: a signed head of the ledger, to mail or to publish.
#pragma once

#include <string>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"
#include "ledger/chain/signed_head.hpp"

namespace shapley::ctl {

struct HeadArguments {
  std::string ledger;     // empty: the daemon is asked to sign its present head
  std::string sign_with;  // a private key of one's own; empty: the newest head that `ledger` holds
  std::string output;     // empty: standard output
  bool json = false;
};

// The head that run_head hands out. Errc::not_found when the file holds none, Errc::denied or Errc::unavailable when
// the daemon has no key or is away.
[[nodiscard]] Expected<ledger::SignedHead> wanted_head(const HeadArguments& arguments, const Endpoint& endpoint);

[[nodiscard]] Expected<ExitCode> run_head(const HeadArguments& arguments, const Endpoint& endpoint,
                                          const Environment& environment);

}  // namespace shapley::ctl
