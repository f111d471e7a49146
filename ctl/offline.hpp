// What commands that answer from a ledger's file that the user named share: the two sources of an answer, and times.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "answers/past.hpp"
#include "answers/ranks.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "reports/requests.hpp"

namespace shapley::ctl {

// A time on the command line (base/time_text.hpp). Errc::invalid_argument names `option` and what is allowed.
[[nodiscard]] Expected<Instant> parse_time(const std::string& text, const std::string& option);

// The same for a time that must not be in the future, as all times that the books are asked about. A time that `ledger`
// (if not empty) has recorded is in the past, whatever this host's clock says.
[[nodiscard]] Expected<Instant> parse_past_time(const std::string& text, const std::string& option,
                                                const std::filesystem::path& ledger = {});

// The times of --since, which must not lie in the future, and of --until, which must be after it; empty: not given.
struct TimesAsked {
  std::optional<Instant> since;
  std::optional<Instant> until;
};
[[nodiscard]] Expected<TimesAsked> parse_times(const std::string& since_text, const std::string& until_text,
                                               const std::filesystem::path& ledger = {});

// An option that is about a ledger's file, as it was given; `value` is empty if it was not.
struct FileOption {
  std::string_view name;
  std::string_view value;
};
// Errc::invalid_argument: one of them was given, and no ledger file (`ledger` is empty).
[[nodiscard]] Expected<void> check_file_options(const std::filesystem::path& ledger,
                                                std::initializer_list<FileOption> options);

// The report that a request asks for: of the named ledger file, or, if none is named, of the daemon.
template <typename Request>
[[nodiscard]] Expected<typename Request::Report> answer_to(const Request& request, const answers::LedgerFile& file,
                                                           const Endpoint& endpoint) {
  if (!file.path.empty()) return answers::answer(request, file);
  return ask_for<typename Request::Report>(endpoint, ledger::request_of(request));
}

// The reply to a request of shapleyd to its reading program (ledger::Reading), as text: {"report": ...} or {"error":
// ...}.
[[nodiscard]] std::string offline_answer(const std::string& reading);

}  // namespace shapley::ctl
