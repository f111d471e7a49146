#include "base/error.hpp"

#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <system_error>

#include "base/contract.hpp"
#include "base/text.hpp"

namespace shapley {

void contract_is_broken(const char* condition, const char* file, int line) {
  std::cerr << file << ':' << line << ": the caller breaks a contract: " << condition << " does not hold" << std::endl;
  std::abort();
}

tl::unexpected<Error> fail_in_lines(Errc code, std::string_view context, std::string_view lines) {
  Error error{code, std::string(context)};
  bool is_first = true;
  for (const std::string_view line : split(lines, '\n')) {
    if (line.empty()) continue;
    if (is_first) {
      error.what.append(context.empty() ? "" : ": ").append(line);
    } else {
      error.more.emplace_back(line);
    }
    is_first = false;
  }
  return tl::unexpected<Error>(std::move(error));
}

bool is_out_of_space(int cause) {
  return cause == ENOSPC || cause == EDQUOT;
}

tl::unexpected<Error> system_failure(std::string_view what, int cause, Errc code) {
  const bool full = is_out_of_space(cause);
  // std::generic_category, because strerror is not safe among slurmctld's threads.
  return fail(full ? Errc::no_space : code,
              std::string(what) + ": " + std::generic_category().message(cause) + (full ? "; make room" : ""));
}

tl::unexpected<Error> with_context(std::string_view context, Error error) {
  error.what = std::string(context) + ": " + error.what;
  return tl::unexpected<Error>(std::move(error));
}

std::string_view name_of(Errc code) {
  switch (code) {
    case Errc::invalid_argument:
      return "invalid_argument";
    case Errc::not_found:
      return "not_found";
    case Errc::conflict:
      return "conflict";
    case Errc::corrupt:
      return "corrupt";
    case Errc::io:
      return "io";
    case Errc::protocol:
      return "protocol";
    case Errc::denied:
      return "denied";
    case Errc::limit:
      return "limit";
    case Errc::unavailable:
      return "unavailable";
    case Errc::no_space:
      return "no_space";
  }
  return "unknown";
}

}  // namespace shapley
