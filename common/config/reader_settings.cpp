#include "config/reader_settings.hpp"

#include <array>
#include <exception>
#include <utility>

#include "config/values.hpp"
#include "config/yaml_reader.hpp"

namespace shapley::config {

namespace {

constexpr std::array<std::string_view, 3> k_keys{"host", "munge_socket", "slurm_user"};

class Reading {
 public:
  tl::expected<ReaderSettings, std::vector<Fault>> read(std::string_view text) {
    const auto document = reader_.document(text);
    const auto mapping = document ? reader_.mapping(*document, "", k_keys) : std::nullopt;
    if (mapping) take(*document, *mapping);
    if (!faults_.empty()) return tl::unexpected(faults_.take());
    return std::move(settings_);
  }

 private:
  void take(const Value& document, const Mapping& mapping) {
    if (const Value* host = mapping.find("host")) {
      take_hosts(*host);
    } else {
      faults_.add(document.line, "host is missing", "write host: NAME:PORT, where shapleyd has `listen`");
    }
    if (const Value* user = mapping.find("slurm_user")) {
      if (auto name = reader_.text(*user, "write a login name")) settings_.slurm_user = *std::move(name);
    }
    if (const Value* socket = mapping.find("munge_socket")) {
      const auto path = reader_.text(*socket, "write a path that begins with '/'");
      if (path && !path->starts_with('/')) {
        faults_.add(socket->line, "munge_socket: " + shown(*path) + " is no absolute path",
                    "write a path that begins with '/'");
      }
      if (path) settings_.munge_socket = *path;
    }
  }

  void take_hosts(const Value& value) {
    constexpr std::string_view k_remedy = "write NAME:PORT, or a list of such";
    if (!value.node.IsSequence()) return take_host(value);
    const auto hosts = reader_.list(value, k_remedy);
    if (hosts && hosts->empty()) faults_.add(value.line, "host: the list is empty", std::string(k_remedy));
    if (hosts) {
      for (const Value& host : *hosts) take_host(host);
    }
  }

  void take_host(const Value& value) {
    const auto text = reader_.text(value, "write NAME:PORT");
    if (!text) return;
    auto endpoint = parse_endpoint(*text);
    if (endpoint) {
      settings_.hosts.push_back(*std::move(endpoint));
    } else {
      faults_.add(value.line, "host: " + shown(*text) + " is no place to connect", endpoint.error().what);
    }
  }

  FaultList faults_;
  YamlReader reader_{faults_};
  ReaderSettings settings_;
};

}  // namespace

tl::expected<ReaderSettings, std::vector<Fault>> parse_reader_settings(std::string_view text) {
  try {
    return Reading().read(text);
  } catch (const std::exception& error) {
    FaultList faults;
    faults.add(0, std::string("cannot be read: ") + error.what(), "write it as docs/reference/shapleyctl.md says");
    return tl::unexpected(faults.take());
  }
}

}  // namespace shapley::config
