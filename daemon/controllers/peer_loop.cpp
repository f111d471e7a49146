#include "daemon/controllers/peer_loop.hpp"

#include <chrono>
#include <utility>

namespace shapley::daemon {

namespace {

// A feeder of the other controller waits about this long for its acknowledgements.
constexpr std::chrono::milliseconds k_between{100};
// An answer that takes longer counts as no answer.
constexpr std::chrono::seconds k_patience{5};

}  // namespace

PeerLoop::PeerLoop(boost::asio::io_context& io, Controllers& controllers, rpc_client::Endpoint peer, Hooks hooks)
    : controllers_(controllers),
      peer_(std::move(peer)),
      hooks_(std::move(hooks)),
      loop_(io, {.every = k_between,
                 .tick = hooks_.changed,
                 .next = [this] { return next(); },
                 .ask = [this](const Question& asked, int wake_up) { return answer_to(asked.request, wake_up); },
                 .received = [this](const Question& asked,
                                    const Expected<std::string>& answer) { return on_answer(asked.done, answer); }}) {}

std::optional<PeerLoop::Question> PeerLoop::next() {
  std::optional<Question> question;
  controllers_.poll([&](std::string request, Controllers::Done done) {
    question = Question{std::move(request), std::move(done)};
  });
  return question;
}

Expected<std::string> PeerLoop::answer_to(const std::string& request, int wake_up) {
  const auto until = std::chrono::steady_clock::now() + k_patience;
  peer_.wake_up = wake_up;
  if (!connection_) {
    SHAPLEY_TRY_ASSIGN(connection_, rpc_client::connect(peer_, until));
  }
  auto answered = connection_->ask(request, until);
  if (!answered) connection_.reset();
  return answered;
}

bool PeerLoop::on_answer(const Controllers::Done& done, const Expected<std::string>& answer) {
  done(answer, hooks_.clock());
  hooks_.changed();
  if (!controllers_.has_parted()) return controllers_.has_more();
  hooks_.parted();
  return false;
}

}  // namespace shapley::daemon
