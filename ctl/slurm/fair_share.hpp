// Slurm's own fair-share factors of users, as sshare shows them.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "ctl/slurm/job_facts.hpp"

namespace shapley::ctl {

// By account and user; a greater factor is served first, all else equal. A user who has several associations with one
// account, one for each of some partitions, has the greatest of them.
using FairShares = std::map<std::pair<std::string, std::string>, double>;

// The factors now that this user may see by sshare, one at least. The error says why they are unknown: no program is
// run here, sshare fails, or it shows none, as without slurmdbd.
[[nodiscard]] Expected<FairShares> fair_shares(const ProgramRunner& run);

}  // namespace shapley::ctl
