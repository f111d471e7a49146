#include "daemon/server/server.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "daemon/requests/handlers.hpp"

namespace shapley::daemon {

Server::Server(boost::asio::io_context& io, Service& service, Clock clock, Limits limits)
    : io_(io),
      service_(service),
      clock_(std::move(clock)),
      limits_(limits),
      listener_(io, service.site().configuration.socket.string(),
                [this](Session::Socket socket, const Peer& peer) { admit(std::move(socket), peer); }),
      ticker_(io),
      answer_timer_(io),
      catch_up_pause_(io),
      ledger_lane_(io, service.site().configuration.ledger, lane_hooks()),
      report_lane_(io, service.site().configuration.ledger, lane_hooks()) {}

Server::~Server() {
  close();
}

Expected<void> Server::open() {
  SHAPLEY_TRY(listener_.open());
  open_ = true;
  tick();
  return {};
}

void Server::close() {
  if (!std::exchange(open_, false)) return;
  listener_.stop();
  ticker_.cancel();
  answer_timer_.cancel();
  catch_up_pause_.cancel();
  const auto sessions = sessions_;
  for (const auto& session : sessions) session->close();
  ledger_lane_.stop();
  report_lane_.stop();
  listener_.remove();
}

void Server::admit(Session::Socket socket, const Peer& peer) {
  const auto same_user = static_cast<std::size_t>(
      std::count_if(sessions_.begin(), sessions_.end(), [&](const auto& s) { return s->peer().uid == peer.uid; }));
  const auto session = std::make_shared<Session>(std::move(socket), peer, *this, limits_.timeouts);
  sessions_.insert(session);
  // Other users cannot keep slurmctld out by occupying all connections.
  const bool full = sessions_.size() > limits_.connections || same_user >= limits_.connections_per_user;
  if (full && !may_feed(peer)) {
    spdlog::debug("server: {}: too many connections", session->name());
    session->refuse("too many connections; close some or try again later");
    return;
  }
  session->start();
}

bool Server::may_feed(const Peer& peer) const {
  return peer.uid == 0 || peer.uid == service_.site().slurm_uid;
}

bool Server::may_read(const Session& session) const {
  return &session != feeder_ || service_.accepting();
}

void Server::on_written_out(Session& session) {
  if (session.role() == protocol::Role::reader) schedule_answers();
}

void Server::on_closed(Session& session) {
  std::erase_if(orders_, [&](const HeldOrder& order) { return order.taken.session == &session; });
  query_counts_.dropped +=
      query_scheduler_.forget(session) + ledger_lane_.forget(session) + report_lane_.forget(session);
  if (held_ && held_->session == &session) {
    held_.reset();
    service_.feeder_left(clock_());
  }
  if (&session == feeder_) {
    feeder_ = nullptr;
    if (service_.controllers() == nullptr) {
      service_.end_session();
    } else {
      service_.feeder_left(clock_());
    }
    if (open_) spdlog::warn("server: {}: disconnected", session.name());
  }
  sessions_.erase(session.shared_from_this());
  // Queries may have waited for this connection's unread answer.
  if (open_) schedule_answers();
}

Expected<void> Server::on_message(Session& session, protocol::Message message) {
  if (!session.role()) {
    const auto* hello = std::get_if<protocol::Hello>(&message);
    if (hello == nullptr) return fail(Errc::protocol, "the first message is Hello");
    return greet(session, *hello);
  }
  if (&session == feeder_) return feed(session, std::move(message));
  const auto* query = std::get_if<protocol::Query>(&message);
  if (query == nullptr) return fail(Errc::protocol, "a reader sends queries only");
  session.await_answer();
  take_query(session, *query);
  return {};
}

void Server::take_query(Session& session, const protocol::Query& query) {
  const Peer& peer = session.peer();
  QueryScheduler::Waiting waiting{&session, peer.uid, may_feed(peer), query.id, parse_request(query.json)};
  switch (waiting.request.lane) {
    case Lane::memory:
      query_scheduler_.add(std::move(waiting));
      break;
    case Lane::ledger:
      ledger_lane_.add(std::move(waiting));
      break;
    case Lane::report:
      report_lane_.add(std::move(waiting));
      break;
  }
  schedule_answers();
}

bool Server::may_serve(const QueryScheduler::Waiting& waiting) const {
  if (waiting.administrator) return true;
  std::size_t unread = 0;
  for (const auto& session : sessions_) {
    if (session.get() == feeder_ || session->unwritten_bytes() == 0) continue;
    if (session->peer().uid == waiting.uid) return false;
    unread += session->unwritten_bytes();
  }
  return unread <= limits_.unread_bytes;
}

void Server::schedule_answers() {
  const auto may = [this](const auto& waiting) { return may_serve(waiting); };
  // No query waits, or queries wait until an answer is read; then on_written_out and on_closed call this. The timer is
  // used even if it is due, so that the loop polls the feeder's socket between two answers.
  if (const auto at = query_scheduler_.next_at(may)) {
    answer_timer_.expires_at(*at);
    answer_timer_.async_wait([this](const boost::system::error_code& cancelled) {
      if (!cancelled && open_) answer_next();
    });
  }
  ledger_lane_.schedule();
  report_lane_.schedule();
}

Answer Server::answer_to(const QueryScheduler::Waiting& taken) {
  protocol::QueryCounts counts = query_counts_;
  counts.waiting = query_scheduler_.waiting() + ledger_lane_.waiting() + report_lane_.waiting();
  counts.reading = (ledger_lane_.is_reading() ? 1U : 0U) + (report_lane_.is_reading() ? 1U : 0U);
  service_.note(counts);
  const Asker administrator = taken.session->asks_for_itself() ? Asker::administrator : Asker::remote_administrator;
  const Asker asker = taken.administrator ? administrator : Asker::anybody;
  return answer(service_, taken.request, clock_(), asker, taken.uid);
}

void Server::answer_next() {
  const auto began = QueryScheduler::Clock::now();
  const auto taken = query_scheduler_.next(began, [this](const auto& waiting) { return may_serve(waiting); });
  if (taken) {
    const std::int64_t before = service_.books().last_sequence();
    std::string text = std::get<std::string>(answer_to(*taken));
    const std::int64_t head = service_.books().last_sequence();
    const bool is_order = taken->request.row != nullptr && taken->request.row->may_ask == Asker::administrator;
    if (is_order && head > before && service_.controllers() != nullptr) {
      orders_.push_back({*taken, std::move(text), head, Session::Clock::now()});
    } else {
      reply(*taken, std::move(text));
    }
    query_scheduler_.done(*taken, began, QueryScheduler::Clock::now());
    // The question of the other controller may have reported its progress.
    if (service_.controllers() != nullptr) push();
  }
  schedule_answers();
}

void Server::release_orders() {
  constexpr std::chrono::seconds k_longest_wait{1};  // as Acknowledgements
  std::erase_if(orders_, [&](HeldOrder& order) {
    const Controllers& controllers = *service_.controllers();
    const bool on_both = controllers.is_on_both(order.head);
    if (!on_both && controllers.is_followed() && Session::Clock::now() < order.since + k_longest_wait) return false;
    reply(order.taken, on_both ? std::move(order.text) : said_alone(order.text));
    return true;
  });
}

void Server::reply(const QueryScheduler::Waiting& taken, std::string text) {
  const auto session = taken.session->shared_from_this();
  session->send(protocol::Reply{taken.id, std::move(text)});
  ++query_counts_.answered;
}

ReadingLane::Hooks Server::lane_hooks() {
  return {.may_serve = [this](const auto& waiting) { return may_serve(waiting); },
          .prepare = [this](const auto& taken) { return answer_to(taken); },
          .budget =
              [this](const auto& taken) { return taken.administrator ? limits_.administrators_query : limits_.query; },
          .reply = [this](const auto& taken, std::string text) { reply(taken, std::move(text)); },
          .done = [this] { schedule_answers(); }};
}

Expected<void> Server::greet(Session& session, const protocol::Hello& hello) {
  SHAPLEY_TRY(check_version(hello));
  if (hello.role == protocol::Role::reader) {
    SHAPLEY_TRY(check_books(hello));
    SHAPLEY_TRY(take_author(session, hello));
    session.welcome(hello.role);
    session.send(service_.welcome(0));
    return {};
  }
  if (!may_feed(session.peer())) {
    if (worth_logging(session.peer().uid)) {
      spdlog::warn("server: {}: refused to feed: only root and slurm_user ({}, uid {}) may", session.name(),
                   service_.site().configuration.slurm_user, service_.site().slurm_uid);
    }
    return fail(Errc::denied, fmt::format("uid {} may not feed; root and slurm_user ({}) may", session.peer().uid,
                                          service_.site().configuration.slurm_user));
  }
  SHAPLEY_TRY(service_.cluster().admit(hello, feeder_ != nullptr && !feeder_->has_gone(), clock_()));
  replace_feeder();
  session.welcome(protocol::Role::feeder);
  if (service_.controllers() != nullptr) {
    hold_feeder(session, hello);
  } else {
    install_feeder(session, hello);
  }
  return {};
}

// A reader of another host may want other books, because several clusters may share munge's key.
Expected<void> Server::check_books(const protocol::Hello& hello) const {
  const std::string& name = service_.cluster().name();
  if (!hello.cluster.empty() && name.empty()) {
    return fail(Errc::denied,
                fmt::format("no slurmctld has fed the books here yet, so it is not known whether they are "
                            "those of {}",
                            hello.cluster));
  }
  if (!service_.cluster().is_ours(hello.cluster)) {
    return fail(Errc::denied, fmt::format("the books here are those of cluster {}, not of {}", name, hello.cluster));
  }
  if (hello.ledger.empty()) return {};
  SHAPLEY_TRY_ASSIGN(const std::string ledger, service_.books().ledger().identity());
  if (hello.ledger == ledger) return {};
  return fail(Errc::denied, fmt::format("the ledger here is {}, not {}", ledger, hello.ledger));
}

// The remote listener asks on behalf of users of other hosts, with their rights.
Expected<void> Server::take_author(Session& session, const protocol::Hello& hello) const {
  if (hello.on_behalf_of == -1) return {};
  // The last number is not a user.
  if (hello.on_behalf_of < 0 || hello.on_behalf_of >= std::numeric_limits<std::uint32_t>::max()) {
    return fail(Errc::invalid_argument, fmt::format("on_behalf_of: {} is no uid", hello.on_behalf_of));
  }
  if (session.peer().uid != 0 && session.peer().uid != ::geteuid()) {
    return fail(Errc::denied, fmt::format("uid {} may ask for itself only", session.peer().uid));
  }
  session.ask_for(static_cast<std::uint32_t>(hello.on_behalf_of));
  return {};
}

void Server::replace_feeder() {
  Session* old = std::exchange(feeder_, nullptr);
  if (held_) old = held_->session;
  held_.reset();
  if (old == nullptr) return;
  spdlog::warn("server: {}: replaced by a new feeder", old->name());
  if (service_.controllers() != nullptr) service_.feeder_left(clock_());
  old->refuse("replaced by a new feeder");
}

void Server::hold_feeder(Session& session, const protocol::Hello& hello) {
  spdlog::debug("server: {}: held until this controller has what the other one has", session.name());
  held_ = Held{&session, hello};
  service_.controllers()->hold_feeder();
}

void Server::admit_held() {
  if (!held_) return;
  const auto session = held_->session->shared_from_this();
  if (!service_.is_active()) {
    const std::string refusal = service_.controllers()->refusal();
    if (!refusal.empty()) session->refuse(refusal);
    return;
  }
  const protocol::Hello hello = std::exchange(held_, std::nullopt)->hello;
  install_feeder(*session, hello);
  session->resume();
}

void Server::install_feeder(Session& session, const protocol::Hello& hello) {
  feeder_ = &session;
  service_.begin_session(hello, clock_());
  spdlog::info("server: {}: connected: {}, Slurm {}, cluster {}, scans every {} ms", session.name(), hello.program,
               hello.slurm_version, hello.cluster, hello.interval_ms);
  session.pushed.instance = hello.instance;
  session.pushed.acknowledged = service_.acknowledged(hello.instance);
  session.pushed.reading_generation = service_.reading_generation();
  push_to(session);
}

Expected<void> Server::feed(Session& session, protocol::Message message) {
  const Instant now = clock_();
  if (auto* observations = std::get_if<protocol::Observations>(&message)) {
    service_.receive(std::move(*observations), now);
  } else if (const auto* begin = std::get_if<protocol::SnapshotBegin>(&message)) {
    service_.receive(*begin, now);
  } else if (const auto* end = std::get_if<protocol::SnapshotEnd>(&message)) {
    service_.receive(*end, now);
  } else if (const auto* query = std::get_if<protocol::Query>(&message)) {
    take_query(session, *query);
    return {};
  } else {
    return fail(Errc::protocol, "a feeder sends snapshots, observations and queries only");
  }
  process_soon();
  return {};
}

void Server::process_soon() {
  // All frames of the present round of the event loop go into one commit.
  if (std::exchange(process_pending_, true)) return;
  boost::asio::post(io_, [this] {
    process_pending_ = false;
    if (!open_) return;
    service_.process(clock_());
    push();
    // Queued behind all other pending work.
    if (service_.is_unfinished()) process_soon();
  });
}

void Server::tick() {
  ticker_.expires_after(std::chrono::seconds(1));
  ticker_.async_wait([this](const boost::system::error_code& error) {
    if (error || !open_) return;
    service_.tick(clock_());
    push();
    const auto sessions = sessions_;
    for (const auto& session : sessions) session->check_progress(Session::Clock::now());
    catch_up();
    tick();
  });
}

// All other work gets as much time.
void Server::catch_up() {
  if (!service_.is_behind() || std::exchange(catching_up_, true)) return;
  const auto began = Session::Clock::now();
  service_.catch_up(clock_());
  push();
  catch_up_pause_.expires_after(Session::Clock::now() - began);
  catch_up_pause_.async_wait([this](const boost::system::error_code& error) {
    catching_up_ = false;
    if (!error && open_) catch_up();
  });
}

void Server::push() {
  admit_held();
  release_orders();
  if (feeder_ == nullptr) return;
  const auto keep = feeder_->shared_from_this();
  if (!service_.cluster().is_ours(service_.feeder()->hello.cluster)) {
    spdlog::warn("server: {}: disconnected: the cluster was renamed", keep->name());
    keep->close();
    return;
  }
  if (keep->pushed.reading_generation != service_.reading_generation()) {
    spdlog::info(
        "server: {}: disconnected, so that it sends everything again: rules, weights or workflows changed, or "
        "observations of a wrong clock were dropped",
        keep->name());
    keep->close();
    return;
  }
  push_to(*keep);
  keep->resume();
}

void Server::push_to(Session& session) {
  Session::Pushed& pushed = session.pushed;
  const bool is_reloaded = std::exchange(pushed.configuration_generation, service_.configuration_generation()) !=
                           service_.configuration_generation();
  const bool changed_hands =
      std::exchange(pushed.owners_generation, service_.owners_generation()) != service_.owners_generation();
  if (is_reloaded) session.send(service_.welcome(pushed.instance));
  if (is_reloaded || changed_hands) session.send(service_.rules());
  const std::uint64_t acknowledged = service_.acknowledged(pushed.instance);
  if (std::exchange(pushed.acknowledged, acknowledged) != acknowledged) session.send(protocol::Ack{acknowledged});
  if (!push_levels_first(session)) return;
  // A plugin that gets no message while it waits for acknowledgements assumes that shapleyd hangs, and drops the ranks.
  constexpr Duration k_sign_of_life{10};
  const bool is_awaited = service_.intake().held() && clock_() >= pushed.ranks_at + k_sign_of_life;
  const bool changed =
      std::exchange(pushed.rank_generation, service_.ranks().generation) != service_.ranks().generation;
  if (!changed && !is_awaited) return;
  pushed.ranks_at = clock_();
  session.send(service_.ranks());
}

// A plugin keeps its levels until ranks arrive without them. After a start it keeps both until a snapshot has listed
// all jobs, or until the timeout: the disk may have no space for the messages before the snapshot.
bool Server::push_levels_first(Session& session) {
  constexpr Duration k_levels_timeout{30};
  Session::Pushed& pushed = session.pushed;
  if (!service_.workflows().in_use()) return true;
  if (!service_.workflows().ready()) {
    if (!pushed.waits_since) pushed.waits_since = clock_();
    if (clock_() < *pushed.waits_since + k_levels_timeout) return false;
  }
  const protocol::Levels& levels = service_.workflows().levels();
  if (std::exchange(pushed.level_generation, levels.generation) != levels.generation) session.send(levels);
  return true;
}

bool Server::worth_logging(std::uint32_t uid) {
  // At most one line a minute and user is logged, so that no user can fill the disk with refusals.
  constexpr Duration k_silence{60};
  constexpr std::size_t k_max_users = 1000;
  const Instant now = clock_();
  if (complaints_.size() > k_max_users) complaints_.clear();
  const auto [entry, is_new] = complaints_.try_emplace(uid, now);
  if (!is_new && now < entry->second + k_silence) return false;
  entry->second = now;
  return true;
}

}  // namespace shapley::daemon
