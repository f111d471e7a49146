#include "ctl/slurm/fair_share.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace shapley::ctl {

Expected<FairShares> fair_shares(const ProgramRunner& run) {
  if (!run) return fail(Errc::unavailable, "this program runs no others here");
  SHAPLEY_TRY_ASSIGN(const std::string output,
                     run({"sshare", "--all", "--noheader", "--parsable2", "--format=Account,User,FairShare"}));
  FairShares shares;
  for (const std::string_view line : split(output, '\n')) {
    const std::vector<std::string_view> cells = split(line, '|');
    // Rows of accounts have no user; names are indented by the depth of the tree.
    if (cells.size() != 3 || trimmed(cells[1]).empty()) continue;
    const std::string_view text = trimmed(cells[2]);
    double factor = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(factor)) continue;
    const auto [known, is_new] =
        shares.try_emplace({std::string(trimmed(cells[0])), std::string(trimmed(cells[1]))}, factor);
    if (!is_new) known->second = std::max(known->second, factor);
  }
  if (shares.empty()) return fail(Errc::not_found, "sshare shows no factor; Slurm has factors with slurmdbd only");
  return shares;
}

}  // namespace shapley::ctl
