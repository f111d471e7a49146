// The first configuration of a site, from what Slurm knows of it: a text to be read and corrected by people. Pure.
#pragma once

#include <string>

#include "base/error.hpp"
#include "ctl/adoption/slurm_site.hpp"

namespace shapley::ctl {

// The file's text, in mode observe; comments explain each choice. An organization is an account directly below root
// (with slurmdbd) or a partition (without). It is given the nodes of partitions that it alone may use, or that have its
// name; those of other partitions are left to people, in a comment. Errc::not_found: Slurm has neither accounts nor
// partitions.
[[nodiscard]] Expected<std::string> propose_configuration(const SlurmSite& slurm);

}  // namespace shapley::ctl
