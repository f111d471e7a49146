// What is behind shapley_client_t: the parts and how they hang together.
//
//   scanning thread --Scanner--> Inbox --Feeder thread--> Backlog/Spool, socket --> shapleyd
//   scanning thread <---Alarm--- RankBoard <--Feeder thread-- ranks, rules <------- shapleyd
#pragma once

#include "plugin/client/alarm.hpp"
#include "plugin/client/delivery/feeder.hpp"
#include "plugin/client/delivery/inbox.hpp"
#include "plugin/client/descriptor.hpp"
#include "plugin/client/log.hpp"
#include "plugin/client/ranks/rank_table.hpp"
#include "plugin/client/scan/scanner.hpp"
#include "plugin/client/shapley_client.h"

struct shapley_client {
  shapley_client(shapley::client::FeederOptions options, shapley::client::Log log_to)
      : inbox(options.spool_max_bytes, bell),
        scanner(inbox),
        log(log_to),
        feeder(std::move(options), log, bell, inbox, alarm, board) {}

  // In the order of construction; the feeder goes first when the client is destroyed.
  shapley::client::Doorbell bell;
  shapley::client::Alarm alarm;
  shapley::client::RankBoard board;
  shapley::client::Inbox inbox;
  shapley::client::Scanner scanner;
  shapley::client::Log log;
  shapley::client::Feeder feeder;
};

namespace shapley::client {

// shapley_client_create with other timings, for tests.
[[nodiscard]] shapley_client_t* create(const shapley_client_options_t& options, const Timings& timings) noexcept;

}  // namespace shapley::client
