// Readers' requests: each is JSON text, and so is its answer. docs/reference/protocol.md, "Queries", lists them.
//
// requests() is the table of all requests and of the users who may ask them; error messages and two pages of the
// documentation follow from it. A request is parsed once, into its row and the struct of its members
// (reports/requests.hpp). A request that needs the books in memory is answered at once, in the serving thread;
// one that reads the ledger is prepared there and answered elsewhere: from a few tables in a thread
// (reading_thread.hpp), or about the past in a process of its own (reports.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/requests/reading_thread.hpp"
#include "daemon/service.hpp"

namespace shapley::daemon {

class Visibility;  // visibility.hpp

// The kinds of askers; each may ask everything that those before it may.
enum class Asker : std::uint8_t {
  anybody,
  remote_administrator,  // root or slurm_user on another host, or through a process that asks on behalf of other users:
                         // they cannot change the books
  administrator,         // root or slurm_user by a connection of their own, according to the kernel
};

// Where a request is answered, so that quick requests do not wait for slow ones.
enum class Lane : std::uint8_t {
  memory,  // at once, in the serving thread
  ledger,  // from a few of the ledger's tables, in a thread
  report,  // from many events of the ledger, in a process that another thread waits for
};

// The user id of an unknown asker, who is no administrator.
inline constexpr std::uint32_t k_unknown_user = 0xffffffff;

// The time of an answer, and the asker.
struct Context {
  Instant now;
  const Visibility& visible;
  std::uint32_t user_id = k_unknown_user;  // that of the asker, from the kernel
};

// The answer, or a function for any thread that makes it from the ledger; beyond its budget, an error of code `limit`.
using Answer = std::variant<std::string, ReadingThread::Question>;

// Answers a request, whose members it contains. REQUIRES: the serving thread.
using Handler = std::function<Expected<Answer>(Service& service, const Context& context)>;

// One kind of request.
struct Request {
  std::string_view name;  // the member "request"
  Asker may_ask;          // these askers and the later kinds
  Lane lane;
  std::string_view subject;  // its text in docs/reference/protocol.md
  // Reads its members. Errc::invalid_argument names a missing or malformed one.
  Expected<Handler> (*parse)(const nlohmann::json& request);
  // A member that makes the answer costly: where it is true, the answer is made in Lane::ledger. Empty: no member does.
  std::string_view costly_member = {};
};

// In the order of their names.
[[nodiscard]] std::span<const Request> requests();

// The row of `table` that `request` names. Errc::protocol: it has no member "request"; Errc::not_found: no row has its
// name.
[[nodiscard]] Expected<const Request*> find_request(std::span<const Request> table, const nlohmann::json& request);
// Errc::denied: this asker may not send the request.
[[nodiscard]] Expected<void> check_asker(const Request& row, Asker asker);

// A received request.
struct ParsedRequest {
  const Request* row = nullptr;  // nullptr: there is no such request
  Expected<Handler> handler = fail(Errc::protocol, "no request");
  Lane lane = Lane::memory;
};
// If the request cannot be parsed, the handler is the error. Cheap; any thread.
[[nodiscard]] ParsedRequest parse_request(std::string_view text);

// Always returns an answer, if necessary text_of_error. `user_id`: that of the asker, for private data. REQUIRES: the
// serving thread.
[[nodiscard]] Answer answer(Service& service, const ParsedRequest& request, Instant now, Asker asker = Asker::anybody,
                            std::uint32_t user_id = k_unknown_user);

// {"error": {"code": ..., "what": ...}}, valid UTF-8 in any case.
[[nodiscard]] std::string text_of_error(const Error& error);

}  // namespace shapley::daemon
