// Slurm's words for why a job does not start, as sentences.
#pragma once

#include <string>
#include <string_view>

namespace shapley::ctl {

// What the reason of squeue means ("Priority", "Dependency", "AssocGrpCpuLimit", ...), without a full stop. One that
// is not known is given as Slurm's word.
[[nodiscard]] std::string reason_sentence(std::string_view reason);

}  // namespace shapley::ctl
