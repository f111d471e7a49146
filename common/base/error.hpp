// Errors as values. Libraries return Expected<T>; nothing below the programs' main functions throws on purpose.
//
// An Error says in one sentence which object failed, how, and what to do about it; no trailing period. Callers add the
// operation and the object they know by prefixing (`with_context`), so that a message reads
// "ledger: open: /var/lib/shapley/ledger.db: permission denied". Several faults of one file, and what another program
// says in several lines, are one error with further lines.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace shapley {

enum class Errc {
  invalid_argument,  // the caller's input cannot be understood or is out of range
  not_found,         // the named thing does not exist
  conflict,          // contradicts what is already recorded, or is in use elsewhere
  corrupt,           // stored data does not satisfy its own checks
  io,                // the operating system or SQLite refused
  protocol,          // the peer does not speak our protocol
  denied,            // the peer may not do this
  limit,             // a stated limit would be exceeded
  unavailable,       // the other side is away; trying again may help
  no_space,          // a disk or quota is full; it works again when there is room
};

struct Error {
  Errc code;
  std::string what;
  std::vector<std::string> more = {};  // the lines below it
};

template <typename T>
using Expected = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(Errc code, std::string what) {
  return tl::unexpected<Error>(Error{code, std::move(what)});
}

// "context: " and the first of these lines; the others are Error::more, and empty ones are left out. An empty context
// is left out, too.
[[nodiscard]] tl::unexpected<Error> fail_in_lines(Errc code, std::string_view context, std::string_view lines);

// Whether this errno says that a disk or quota is full.
[[nodiscard]] bool is_out_of_space(int cause);

// "what: " and the system's text for the errno `cause`; Errc::no_space, with its remedy, when a disk or quota is full,
// else `code`. Thread-safe.
[[nodiscard]] tl::unexpected<Error> system_failure(std::string_view what, int cause, Errc code = Errc::io);

// Same error with "context: " before its text, not before the lines below it.
[[nodiscard]] tl::unexpected<Error> with_context(std::string_view context, Error error);

// The stable lower-case name of a code, for JSON and logs ("invalid_argument", ...).
[[nodiscard]] std::string_view name_of(Errc code);

}  // namespace shapley

#define SHAPLEY_CONCAT_INNER(a, b) a##b
#define SHAPLEY_CONCAT(a, b) SHAPLEY_CONCAT_INNER(a, b)

// SHAPLEY_TRY(expression): return the error of an Expected<...> to our own caller, go on otherwise.
#define SHAPLEY_TRY(expression)                                                       \
  do {                                                                                \
    if (auto shapley_try_result = (expression); !shapley_try_result) {                \
      return tl::unexpected<::shapley::Error>(std::move(shapley_try_result).error()); \
    }                                                                                 \
  } while (false)

// SHAPLEY_TRY_ASSIGN(auto x, expression): as above, and x becomes the value.
#define SHAPLEY_TRY_ASSIGN(target, expression)                                                          \
  auto SHAPLEY_CONCAT(shapley_try_, __LINE__) = (expression);                                           \
  if (!SHAPLEY_CONCAT(shapley_try_, __LINE__)) {                                                        \
    return tl::unexpected<::shapley::Error>(std::move(SHAPLEY_CONCAT(shapley_try_, __LINE__)).error()); \
  }                                                                                                     \
  target = std::move(SHAPLEY_CONCAT(shapley_try_, __LINE__)).value()
