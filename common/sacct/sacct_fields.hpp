// The fields of sacct's rows, one text each, and the times of a row together. Pure. Times and durations:
// base/slurm_text.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/slurm_text.hpp"
#include "base/types.hpp"
#include "protocol/messages.hpp"

namespace shapley::sacct {

// No run began before this, the year of Slurm's first lines.
inline constexpr Instant k_first_slurm{978'307'200};  // 2001-01-01

// Whether a job of this state may have begun and not have ended.
[[nodiscard]] bool may_go_on(std::string_view state);

// Slurm's words for an absent time limit.
[[nodiscard]] bool is_no_limit(std::string_view text);

struct HeldResources {
  std::uint64_t memory = 0;  // MiB
  std::vector<protocol::Tres> gres;
  std::optional<std::uint64_t> billing;  // nullopt: there is no list; Slurm leaves a 0 out of it
};
// "cpu=4,mem=8G,node=1,gres/gpu=2,gres/gpu:tesla=2"; empty: nothing. nullopt: it is not of this form.
[[nodiscard]] std::optional<HeldResources> parse_tres(std::string_view text);
// A number with one of the letters K, M, G, T, P or none, in MiB: "512M" is 512; without a letter it is MiB.
[[nodiscard]] std::optional<std::uint64_t> parse_mib(std::string_view text);

// The times of a row; each has two instants if clocks show its hour twice.
struct RowTimes {
  SlurmTime submit, eligible, start, end;
};

// Chooses one reading of every time: the earliest ones in which nothing ends before it begins (submitted, eligible,
// started, ended) and the run lasts `elapsed` seconds besides its suspensions, if that is known. A part of a resized
// run may begin before its own Submit, so if no reading is in that order only the run itself has to be. False: other
// readings fit as well, and it is not known which ones are meant.
[[nodiscard]] bool choose_readings(RowTimes& times, Duration suspended, std::optional<std::int64_t> elapsed);

}  // namespace shapley::sacct
