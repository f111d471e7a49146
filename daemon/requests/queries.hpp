// Answers to readers' requests: JSON text in, JSON text out. docs/reference/protocol.md, "Queries", lists them.
//
// requests() is the one table of them: what is known, who may ask and what error messages and the two pages of the
// documentation list follows from it. Never fails: what cannot be answered is answered with
// {"error": {"code": ..., "what": ...}}.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/service.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::daemon {

// Who asks, as the kernel says: any user of the machine, or root and slurm_user.
enum class Asker : std::uint8_t { anybody, administrator };

// One request as it came in.
struct Question {
  const nlohmann::json& request;
  Instant now;
  ledger::QueryBudget budget;  // of work in the ledger; beyond it the answer is an error of code `limit`
};

// One kind of request.
struct Request {
  std::string_view name;   // the member "request"
  Asker may_ask;           // anybody: administrators, too
  std::string_view tells;  // as docs/reference/protocol.md says it
  nlohmann::json (*handler)(Service& service, const Question& question);
};

// In the order of their names.
[[nodiscard]] std::span<const Request> requests();

// The row of `table` that `request` asks for. Errors: Errc::protocol when it has no member "request", Errc::not_found
// when no row has its name, Errc::denied when its asker may not ask that.
[[nodiscard]] Expected<const Request*> find_request(std::span<const Request> table, const nlohmann::json& request,
                                                    Asker asker);

[[nodiscard]] std::string answer(Service& service, std::string_view request, Instant now, Asker asker = Asker::anybody,
                                 ledger::QueryBudget budget = {});

}  // namespace shapley::daemon
