// What the lines of daemon.txt and clock.txt mean, which say so themselves: a host, what its slurmctld and plugin do,
// and what is asked of shapleyd.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "scenes.hpp"
#include "tests/daemon/world/host.hpp"
#include "tests/daemon/world/slurmctld.hpp"

namespace shapley::daemon {

class DaemonStage : public Stage {
 public:
  DaemonStage();
  std::string play(const std::string& line) override;

 private:
  using Words = std::vector<std::string>;  // without the command itself

  void add_commands_of_time();
  void add_commands_of_shapleyd();
  void add_commands_of_the_plugin();
  void add_commands_of_files();
  void add_questions();
  void add_corrections();
  void add(const std::string& command, std::function<std::string(const Words&)> act);

  void start();
  void pass(std::int64_t seconds);
  void set_clock(const Words& words);
  void configure(const Words& words);
  void job(const Words& words);
  [[nodiscard]] std::string connect(const Words& words);
  void send(FeederFrame frame);
  void work();
  void many(const Words& words);
  void snapshot(const Words& words);
  [[nodiscard]] protocol::Observations observations(const Words& words) const;
  void back_up(const Words& words);
  void restore(const Words& words);
  void crash(const Words& words);
  // Of the events since the last question.
  [[nodiscard]] std::string new_events();
  [[nodiscard]] std::string booked(const std::string& kind) const;
  [[nodiscard]] std::string rows(const std::string& sql) const;
  [[nodiscard]] std::string asked(const std::string& request, const Words& pointers) const;
  [[nodiscard]] std::filesystem::path ledger(const std::string& suffix) const {
    return host_.site.configuration.ledger.string() + suffix;
  }

  Host host_;
  Slurmctld slurmctld_{host_};
  bool is_automatic_ = false;   // slurmctld_ and its plugin are there; otherwise the lines say what is sent
  std::uint64_t instance_ = 0;  // of the plugin, if the lines say what it sends
  std::uint64_t sequence_ = 0;
  std::int64_t known_events_ = 0;
  std::uint32_t last_job_ = 0;  // of those that are not named
  std::map<std::string, std::function<std::string(const Words&)>> commands_;
};

}  // namespace shapley::daemon
