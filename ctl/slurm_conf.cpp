#include "ctl/slurm_conf.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace shapley::ctl {

namespace {

// Lines without comments, those that end with a backslash put together with the next.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  bool continues = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = trimmed(line.substr(0, line.find('#')));
    const bool goes_on = line.ends_with('\\');
    if (goes_on) line.remove_suffix(1);
    if (continues) {
      lines.back() += line;
    } else {
      lines.emplace_back(line);
    }
    continues = goes_on;
  }
  return lines;
}

// "ctl1(10.0.0.1)" is reached at 10.0.0.1.
std::string address_of(std::string_view host) {
  const auto open = host.find('(');
  if (open == std::string_view::npos || !host.ends_with(')')) return std::string(host);
  return std::string(host.substr(open + 1, host.size() - open - 2));
}

std::string socket_of(std::string_view auth_info) {
  constexpr std::string_view k_key = "socket=";
  while (!auth_info.empty()) {
    const auto end = std::min(auth_info.find(','), auth_info.size());
    const std::string_view part = trimmed(auth_info.substr(0, end));
    if (lower(part.substr(0, k_key.size())) == k_key) return std::string(part.substr(k_key.size()));
    auth_info.remove_prefix(std::min(end + 1, auth_info.size()));
  }
  return {};
}

}  // namespace

bool is_controller(const SlurmConf& conf, std::string_view host_name) {
  const std::string_view without_domain = host_name.substr(0, host_name.find('.'));
  return std::ranges::any_of(conf.controller_names, [&](const std::string& name) {
    return name == "localhost" || (!host_name.empty() && (name == host_name || name == without_domain));
  });
}

SlurmConf parse_slurm_conf(std::string_view text) {
  SlurmConf conf;
  for (const std::string& line : lines_of(text)) {
    const auto equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = lower(trimmed(std::string_view(line).substr(0, equals)));
    const std::string_view value = trimmed(std::string_view(line).substr(equals + 1));
    if (key == "slurmctldhost") {
      conf.controllers.push_back(address_of(value));
      conf.controller_names.emplace_back(trimmed(value.substr(0, value.find('('))));
    }
    if (key == "clustername") conf.cluster = lower(value);  // as Slurm does
    if (key == "slurmuser") conf.slurm_user = value;
    if (key == "authinfo") conf.munge_socket = socket_of(value);
  }
  return conf;
}

}  // namespace shapley::ctl
