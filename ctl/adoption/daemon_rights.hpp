// Whether shapleyd will be able to read what its configuration names: check-config is run by root, shapleyd is not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace shapley::ctl {

struct NotReadable {
  std::string what;    // "FILE: slurm, as which shapleyd runs, cannot read it"
  std::string remedy;  // the command that lets that user read it
};
enum class Secret { no, yes };  // yes: for that user alone

// What keeps `user` from reading a file that exists. nullopt: nothing does, or it cannot be tried, as this process is
// not root's or the machine does not know the user.
[[nodiscard]] std::optional<NotReadable> not_readable(std::uint32_t user, const std::filesystem::path& file,
                                                      Secret secret);

}  // namespace shapley::ctl
