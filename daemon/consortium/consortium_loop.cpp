#include "daemon/consortium/consortium_loop.hpp"

#include <chrono>
#include <utility>

#include "daemon/version.hpp"
#include "ledger/consortium/standing.hpp"
#include "rpc_client/client.hpp"

namespace shapley::daemon {

namespace {

// For all places of a cluster. Twenty clusters of which none answers are asked within the minute.
constexpr std::chrono::milliseconds k_longest_question{3000};

HeardStatement fetch(const ConsortiumLoop::Question& question, const std::filesystem::path& munge, int wake_up) {
  return read_statement(rpc_client::fetch_standing(question.place,
                                                   {.socket = {},
                                                    .timeout = k_longest_question,
                                                    .program = std::string(k_program),
                                                    .munge = munge,
                                                    .wake_up = wake_up},
                                                   ledger::k_most_statement_bytes),
                        question.key);
}

}  // namespace

ConsortiumLoop::ConsortiumLoop(boost::asio::io_context& io, const std::filesystem::path& munge, const Hooks& hooks)
    : loop_(io, {.every = std::chrono::seconds(1),
                 .tick = [] {},
                 .next = hooks.next,
                 .ask = [munge](const Question& question, int wake_up) { return fetch(question, munge, wake_up); },
                 .received =
                     [received = hooks.received](const Question& question, HeardStatement heard) {
                       received(question.cluster, std::move(heard));
                       return true;
                     }}) {}

}  // namespace shapley::daemon
