// Answers to readers' requests: JSON text in, JSON text out. docs/reference/protocol.md, "Queries", lists them.
//
// requests() is the one table of them: what is known, who may ask and what error messages and the two pages of the
// documentation list follows from it. Never fails: what cannot be answered is answered with
// {"error": {"code": ..., "what": ...}}. What needs the books in memory is answered at once, in the serving thread;
// what reads the ledger is prepared there and answered elsewhere: of a few tables in a thread (reading_thread.hpp), of
// the past in a process of its own (reports.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/requests/reading_thread.hpp"
#include "daemon/requests/visibility.hpp"
#include "daemon/service.hpp"

namespace shapley::daemon {

// Who asks; each may ask what those before it may.
enum class Asker : std::uint8_t {
  anybody,
  remote_administrator,  // root or slurm_user, of another host or for whom another one asks: nothing is changed for
                         // them
  administrator,         // root or slurm_user by a connection of their own, as the kernel says
};

// Where a request is answered, so that none waits for one that takes longer.
enum class Lane : std::uint8_t {
  memory,  // at once, in the serving thread
  ledger,  // from some of the ledger's tables, in a thread
  report,  // from much of the ledger, in a process that another thread waits for
};

// Nobody's uid: of whom nothing is known but that he is no administrator.
inline constexpr std::uint32_t k_unknown_user = 0xffffffff;

// One request as it came in.
struct Question {
  const nlohmann::json& request;
  Instant now;
  const Visibility& visible;
  std::uint32_t user_id = k_unknown_user;  // the asker's, as the kernel says
};

// The answer, or what makes one from the ledger, for any thread: beyond its budget an error of code `limit`.
using Answer = std::variant<std::string, ReadingThread::Question>;

// One kind of request.
struct Request {
  std::string_view name;  // the member "request"
  Asker may_ask;          // anybody: administrators, too
  Lane lane;
  std::string_view tells;  // as docs/reference/protocol.md says it
  Answer (*handler)(Service& service, const Question& question);
};

// In the order of their names.
[[nodiscard]] std::span<const Request> requests();

// The row of `table` that `request` asks for. Errors: Errc::protocol when it has no member "request", Errc::not_found
// when no row has its name, Errc::denied when its asker may not ask that.
[[nodiscard]] Expected<const Request*> find_request(std::span<const Request> table, const nlohmann::json& request,
                                                    Asker asker);

// Where the answer comes from, unless the request is refused. Cheap.
[[nodiscard]] Lane lane_of(std::string_view request);

// `user_id`: the asker's, for what is private. REQUIRES: the serving thread.
[[nodiscard]] Answer answer(Service& service, std::string_view request, Instant now, Asker asker = Asker::anybody,
                            std::uint32_t user_id = k_unknown_user);

}  // namespace shapley::daemon
