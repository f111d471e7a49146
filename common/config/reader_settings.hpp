// Where shapleyctl finds shapleyd from another host: the file /etc/shapley/shapleyctl.yaml.
//
//   host: ctl1:7020          # or a list, of which the first that answers is asked; required
//   slurm_user: slurm        # the user that shapleyd runs as there, if not root
//   munge_socket: /path      # munged's; without it where libmunge looks for it
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.hpp"
#include "config/values.hpp"

namespace shapley::config {

struct ReaderSettings {
  std::vector<Endpoint> hosts;
  std::string slurm_user = "slurm";
  std::filesystem::path munge_socket = {};
};

// Every fault at once, with its line.
[[nodiscard]] tl::expected<ReaderSettings, std::vector<Fault>> parse_reader_settings(std::string_view text);

}  // namespace shapley::config
