// Requests about the past: answered by shapleyctl itself, which reads the ledger file in a process of its own, so that
// neither the feed nor other readers wait, and what it costs is bounded and gone afterwards.
//
// A request's members are checked here and become options of a command line that is fixed otherwise: whoever asks
// chooses no file and no option.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "daemon/requests/queries.hpp"

namespace shapley::daemon {

// {"request": "status_at", "at": SECONDS, "contribution": NAME, "worth": true}, all but the first two optional: the
// report of `shapleyctl status --at`.
[[nodiscard]] Answer status_at(const Service& service, const Question& question);

// {"request": "statement", "since": SECONDS, "until": SECONDS, "organizations": [NAME...], "contribution": NAME}, all
// but the first optional: the report of `shapleyctl statement`; history: likewise, with "by": an interval of --by.
[[nodiscard]] Answer statement(const Service& service, const Question& question);
[[nodiscard]] Answer history(const Service& service, const Question& question);

// What a command of shapleyctl prints with --json of the daemon's ledger.
[[nodiscard]] Answer report_of(const Service& service, std::string command, std::vector<std::string> options,
                               const Visibility& visible);

// Where shapleyctl is: beside this program, or in the directory bin beside its directory (/usr/sbin, /usr/bin).
[[nodiscard]] std::filesystem::path reading_program();

}  // namespace shapley::daemon
