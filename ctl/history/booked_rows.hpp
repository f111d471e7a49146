// Rows of sacct against the runs that an old ledger has of the same jobs.
#pragma once

#include <vector>

#include "base/error.hpp"
#include "history/sacct_rows.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ctl {

// A run that the ledger does not have, beside one of the same job that it has and the rows do not, cannot be: the first
// such row is an error (Malformed::refuse), or they are taken out of `rows` and appended to `bad`. Answers which rows
// tell another end or number of CPUs of a run than the ledger, whose end was seen: the ledger stays as it is.
[[nodiscard]] Expected<std::vector<history::BadRow>> check_booked(const ledger::Ledger& ledger,
                                                                  history::SacctRows& sacct, history::Malformed choice);

}  // namespace shapley::ctl
