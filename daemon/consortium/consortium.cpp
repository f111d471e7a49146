#include "daemon/consortium/consortium.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "ledger/reports/moment.hpp"

namespace shapley::daemon {

namespace {

const accounting::StandingReceived* recorded(const accounting::State& state, const std::string& cluster) {
  const auto statements = state.statements();
  const auto found = std::ranges::find(statements, cluster, &accounting::StandingReceived::cluster);
  return found == statements.end() ? nullptr : *found;
}

}  // namespace

const Consortium::Cluster* Consortium::find(const std::string& cluster) const {
  const auto found =
      std::ranges::find_if(clusters_, [&](const Cluster& each) { return each.configuration.name == cluster; });
  return found == clusters_.end() ? nullptr : &*found;
}

Consortium::Cluster* Consortium::find(const std::string& cluster) {
  return const_cast<Cluster*>(std::as_const(*this).find(cluster));
}

void Consortium::configure(const config::ConsortiumConfig& configuration, const Keys& keys) {
  std::vector<Cluster> clusters;
  for (std::size_t i = 0; i < configuration.clusters.size(); ++i) {
    const config::OtherClusterConfig& other = configuration.clusters[i];
    const Cluster* known = find(other.name);
    Cluster& cluster = clusters.emplace_back(known == nullptr ? Cluster{} : *known);
    // What was accepted by another key or from another place need not be accepted now.
    if (cluster.configuration != other || cluster.key == nullptr ||
        cluster.key->fingerprint() != keys.at(i)->fingerprint()) {
      cluster = {.configuration = other, .key = keys[i], .offered = {}};
    }
  }
  clusters_ = std::move(clusters);
  configuration_ = configuration;
}

Expected<ledger::StandingStatement> Consortium::statement(const std::string& own_name, const ledger::SigningKey* key,
                                                          Instant now) {
  accounting::State& state = books_.state();
  const accounting::ConsortiumDeclared* declared = state.consortium();
  if (configuration_.name.empty() || declared == nullptr) {
    return fail(Errc::not_found, "this cluster is in no consortium: the configuration has no key `consortium`");
  }
  if (key == nullptr) {
    return fail(Errc::unavailable,
                "a standing statement is signed: make a key with shapleyctl keygen and name it in the configuration "
                "(signing_key)");
  }
  if (own_name.empty()) return fail(Errc::unavailable, "the cluster has no name yet: no slurmctld has connected");
  if (books_.incomplete()) return fail(Errc::unavailable, "the books are being rebuilt");
  const accounting::EstimatorId estimator = ledger::ranking_estimator(state);
  if (!books_.able(now).contains(estimator)) {
    return fail(Errc::unavailable, std::string(accounting::name_of(estimator)) + " is behind what happened");
  }
  SHAPLEY_TRY_ASSIGN(auto made,
                     ledger::standing_statement(state, books_.ledger(), {own_name, *declared}, estimator, now));
  SHAPLEY_TRY(ledger::sign(made, *key));
  return made;
}

void Consortium::receive(const std::string& cluster, const Expected<std::string>& text, const std::string& own_name,
                         Instant now) {
  Cluster* found = find(cluster);
  if (found == nullptr || books_.incomplete()) return;
  // Until a slurmctld has connected this cluster has no name by which the other one's weights could be judged.
  if (text && own_name.empty()) return;
  const auto accepted = text ? accept(*found, *text, own_name, now) : Expected<void>(tl::unexpected(text.error()));
  if (accepted) {
    if (!found->fault.empty()) spdlog::info("consortium: {}: its statements count again", cluster);
    found->fault.clear();
    found->is_refused = false;
    return;
  }
  found->is_refused = text.has_value();
  if (text) ++found->refused;
  if (found->fault != accepted.error().what) {
    spdlog::warn("consortium: {}: {}: {}; its last statement goes on until it is too old", cluster,
                 text ? "its statement is refused" : "no statement came", accepted.error().what);
  }
  found->fault = accepted.error().what;
}

Expected<void> Consortium::accept(Cluster& cluster, const std::string& text, const std::string& own_name,
                                  Instant now) const {
  const accounting::State& state = books_.state();
  const accounting::ConsortiumDeclared* declared = state.consortium();
  if (declared == nullptr) return fail(Errc::unavailable, "the consortium is not in the books yet");
  SHAPLEY_TRY_ASSIGN(auto statement, ledger::parse_statement(text));
  SHAPLEY_TRY(ledger::verify_signature(statement, *cluster.key));
  // A file is read again and again; only when it is new does its time say something about the other clock.
  if (cluster.offered != statement) cluster.ahead = std::max(Duration{0}, statement.figures.time - now);
  const accounting::StandingReceived* in_books = recorded(state, cluster.configuration.name);
  const accounting::ClusterFigures* last = in_books == nullptr ? nullptr : &in_books->figures;
  if (cluster.offered && (last == nullptr || cluster.offered->figures.time > last->time))
    last = &cluster.offered->figures;
  const ledger::OwnCluster own{own_name, *declared};
  SHAPLEY_TRY(ledger::judge(
      statement, cluster.configuration.name,
      {own, std::string(accounting::name_of(ledger::ranking_estimator(state))), state.period(), last, now}));
  cluster.offered = std::move(statement);
  cluster.bytes = static_cast<std::int64_t>(cluster.offered->text().size());
  cluster.changes_nothing = false;
  return {};
}

bool Consortium::is_too_old_soon(const Cluster& cluster, Instant now) {
  for (const accounting::ClusterShare& share : books_.state().shares_elsewhere()) {
    if (share.cluster == cluster.configuration.name)
      return share.statement != nullptr && now + configuration_.every + configuration_.every >= share.stale_at;
  }
  return false;
}

bool Consortium::changes_ranks(const Cluster& cluster, Instant now) {
  accounting::State& state = books_.state();
  const auto by = accounting::acting(ledger::ranking_estimator(state), books_.able(now));
  const accounting::StandingReceived offered = cluster.offered->received(now);
  std::vector<const accounting::StandingReceived*> statements = state.statements();
  std::erase_if(statements, [&](const auto* each) { return each->cluster == offered.cluster; });
  statements.push_back(&offered);
  return accounting::rank(state.rank_rows(now, by, statements), state.key_terms()) !=
         accounting::rank(state.rank_rows(now, by), state.key_terms());
}

Expected<void> Consortium::record(Instant now) {
  if (books_.incomplete() || books_.state().consortium() == nullptr) return {};
  const std::int64_t grown = std::clamp<std::int64_t>((now - filled_).value, 0, k_hour.value) * k_bytes_a_second;
  bytes_left_ = std::min(k_most_bytes, bytes_left_ + grown);
  filled_ = now;
  for (Cluster& cluster : clusters_) {
    if (!cluster.offered) continue;
    const accounting::StandingReceived* last = recorded(books_.state(), cluster.configuration.name);
    if (last != nullptr && (last->figures == cluster.offered->figures || last->at >= now)) continue;
    const bool is_due = last == nullptr || now >= last->at + k_hour;
    if (!is_due) {
      if (cluster.bytes > bytes_left_) continue;
      if (!is_too_old_soon(cluster, now)) {
        if (cluster.changes_nothing) continue;
        cluster.changes_nothing = !changes_ranks(cluster, now);
        if (cluster.changes_nothing) continue;
      }
    }
    const accounting::Event event = cluster.offered->received(now);
    SHAPLEY_TRY(books_.commit({&event, 1}, now));
    if (!is_due) bytes_left_ -= cluster.bytes;
  }
  return {};
}

const Consortium::Cluster* Consortium::next_to_ask(Instant now) {
  const auto due = std::ranges::find_if(clusters_, [&](const Cluster& cluster) {
    return now >= cluster.asked + configuration_.every || now < cluster.asked;
  });
  if (due == clusters_.end()) return nullptr;
  due->asked = now;
  return &*due;
}

}  // namespace shapley::daemon
