// The content of shapley_client_t: its parts and how they are connected.
//
//   scanning thread --Scanner--> Inbox --Feeder thread--> Backlog/Spool, socket --> shapleyd
//   scanning thread <---WakeUpSignal--- RankBoard <--Feeder thread-- ranks, rules <------- shapleyd
//   scanning thread --Scanner--> Requests
//   scanning thread <--Places, by the leads of the RankBoard and what a scan saw
#pragma once

#include "plugin/client/delivery/connection.hpp"
#include "plugin/client/delivery/feeder.hpp"
#include "plugin/client/log.hpp"
#include "plugin/client/places/places.hpp"
#include "plugin/client/ranks/rank_table.hpp"
#include "plugin/client/requests/requests.hpp"
#include "plugin/client/scan/scanner.hpp"
#include "plugin/client/shapley_client.h"

struct shapley_client {
  shapley_client(shapley::client::FeederOptions options, shapley::client::Log log_to)
      : inbox(options.spool_max_bytes, event),
        scanner(inbox, requests),
        log(log_to),
        feeder(std::move(options), log, event, inbox, wake_up, board, places) {}

  // In the order of construction; the feeder is destroyed first.
  shapley::client::EventDescriptor event;
  shapley::client::WakeUpSignal wake_up;
  shapley::client::RankBoard board;
  shapley::client::Inbox inbox;
  shapley::client::Requests requests;
  shapley::client::Scanner scanner;
  shapley::client::Places places{requests};
  bool places_failed = false;  // the scanning thread's: a job of this scan is missing
  shapley::client::Log log;
  shapley::client::Feeder feeder;
};

namespace shapley::client {

// shapley_client_create with other timings, for tests.
[[nodiscard]] shapley_client_t* create(const shapley_client_options_t& options, const Timings& timings) noexcept;

}  // namespace shapley::client
