// Which instants the times of a row are, where clocks show an hour twice. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "base/slurm_text.hpp"
#include "base/types.hpp"

namespace shapley::history {

struct RowTimes {
  SlurmTime submit, eligible, start, end;
};

// Settles every time on one of its readings: the earliest ones in which nothing ends before it begins (submitted,
// eligible, started, ended) and the run lasts `elapsed` seconds beside its suspensions, if that is known. A part of a
// resized run may begin before its own Submit, so where no reading is in that order only the run itself has to be.
// False: other readings would fit as well, and nothing says which ones are meant.
[[nodiscard]] bool settle(RowTimes& times, Duration suspended, std::optional<std::int64_t> elapsed);

}  // namespace shapley::history
