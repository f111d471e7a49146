#include "daemon/consortium/consortium.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/calendar.hpp"
#include "ledger/consortium/statement_bounds.hpp"
#include "ledger/reports/moment.hpp"
#include "ledger/reports/other_clusters.hpp"

namespace shapley::daemon {

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
      cluster = {.configuration = other, .key = keys[i], .offered = {}, .other = {}};
    }
  }
  clusters_ = std::move(clusters);
  configuration_ = configuration;
}

void Consortium::date_weights(accounting::ConsortiumDeclared& declared) const {
  const accounting::State& state = books_.state();
  const accounting::ConsortiumDeclared* before = state.consortium();
  if (before == nullptr || books_.incomplete()) return;
  for (accounting::OtherCluster& other : declared.clusters) {
    other.earlier =
        accounting::earlier_figures(*before, declared, other.cluster, ledger::last_statement(state, other.cluster),
                                    state.residual(), state.period());
  }
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
    return fail(Errc::unavailable, fmt::format("{} is behind what happened", accounting::name_of(estimator)));
  }
  SHAPLEY_TRY_ASSIGN(auto made,
                     ledger::standing_statement(state, books_.ledger(), {own_name, *declared}, estimator, now));
  SHAPLEY_TRY(ledger::sign(made, *key));
  return made;
}

HeardStatement read_statement(const Expected<std::string>& text, std::shared_ptr<const ledger::PublicKey> key) {
  HeardStatement heard{.key = std::move(key), .came = text.has_value(), .statement = {}, .bytes = 0};
  if (!text) {
    heard.statement = tl::unexpected(text.error());
    return heard;
  }
  heard.bytes = static_cast<std::int64_t>(text->size());
  heard.statement = ledger::parse_statement(*text);
  if (!heard.statement) return heard;
  if (const auto verified = ledger::verify_signature(*heard.statement, *heard.key); !verified)
    heard.statement = tl::unexpected(verified.error());
  return heard;
}

void Consortium::receive(const std::string& cluster, HeardStatement heard, const std::string& own_name, Instant now) {
  Cluster* found = find(cluster);
  if (found == nullptr || books_.incomplete() || heard.key->fingerprint() != found->key->fingerprint()) return;
  const bool came = heard.came;
  // Until a slurmctld has connected this cluster has no name by which the other one's weights could be judged.
  if (came && own_name.empty()) return;
  const auto accepted = accept(*found, std::move(heard), own_name, now);
  if (accepted) {
    if (!found->fault.empty()) spdlog::info("consortium: {}: its statements count again", cluster);
    found->fault.clear();
    found->is_refused = false;
    return;
  }
  found->is_refused = came;
  if (came) ++found->refused;
  if (found->fault != accepted.error().what) {
    spdlog::warn("consortium: {}: {}: {}; its last statement goes on until it is too old", cluster,
                 came ? "its statement is refused" : "no statement came", accepted.error().what);
  }
  found->fault = accepted.error().what;
}

Expected<void> Consortium::accept(Cluster& cluster, HeardStatement heard, const std::string& own_name,
                                  Instant now) const {
  if (!heard.statement) return tl::unexpected(heard.statement.error());
  const accounting::State& state = books_.state();
  const accounting::ConsortiumDeclared* declared = state.consortium();
  if (declared == nullptr) return fail(Errc::unavailable, "the consortium is not in the books yet");
  ledger::StandingStatement& statement = *heard.statement;
  // A file is read again and again; only when it is new does its time say something about the other clock.
  if (cluster.offered != statement) cluster.ahead = std::max(Duration{0}, statement.figures.time - now);
  const accounting::ClusterFigures* last = last_of(cluster);
  const ledger::OwnCluster own{own_name, *declared};
  SHAPLEY_TRY(ledger::judge(
      statement, cluster.configuration.name,
      {own, std::string(accounting::name_of(ledger::ranking_estimator(state))), state.period(), last, now,
       accounting::stale_after(*accounting::find_cluster(*declared, cluster.configuration.name), state.residual())}));
  if (std::string refusal = ledger::other_line(state, cluster.configuration.name, statement.figures, last);
      !refusal.empty()) {
    cluster.other = std::move(statement);
    return fail(Errc::conflict, std::move(refusal));
  }
  cluster.other.reset();
  if (std::string jumped = last == nullptr ? std::string() : ledger::jump(statement.figures, *last); !jumped.empty()) {
    spdlog::warn("consortium: {}: {}", cluster.configuration.name, jumped);
    cluster.jump = std::move(jumped);
    cluster.jumped = now;
  } else if (now >= cluster.jumped + k_named_for) {
    cluster.jump.clear();
  }
  cluster.offered = std::move(statement);
  cluster.bytes = heard.bytes;
  cluster.changes_nothing = false;
  return {};
}

const accounting::ClusterFigures* Consortium::last_of(const Cluster& cluster) const {
  const accounting::StandingReceived* in_books = ledger::last_statement(books_.state(), cluster.configuration.name);
  const accounting::ClusterFigures* last = in_books == nullptr ? nullptr : &in_books->figures;
  const bool is_newer = cluster.offered && (last == nullptr || cluster.offered->figures.time > last->time);
  return is_newer ? &cluster.offered->figures : last;
}

std::optional<Instant> Consortium::heard_at(const Cluster& cluster) const {
  const accounting::StandingReceived* last = ledger::last_statement(books_.state(), cluster.configuration.name);
  if (!cluster.offered || last == nullptr || cluster.offered->figures.time < last->figures.time) return std::nullopt;
  if (!cluster.changes_nothing && cluster.offered->figures != last->figures) return std::nullopt;
  return cluster.offered->figures.time;
}

accounting::LedgerReplaced Consortium::replaced(const Cluster& cluster, Instant now) const {
  const accounting::State& state = books_.state();
  const accounting::ClusterFigures& other = cluster.other->figures;
  accounting::LedgerReplaced event{.at = now,
                                   .cluster = cluster.configuration.name,
                                   .former_ledger = other.ledger,
                                   .former_event = 0,
                                   .ledger = other.ledger,
                                   .event = other.event,
                                   .hash = other.hash,
                                   .author = "shapleyd",
                                   .reason = {}};
  if (const accounting::ClusterFigures* last = last_of(cluster)) {
    event.former_ledger = last->ledger;
    event.former_event = last->event;
  }
  if (const auto* last = ledger::last_statement(state, event.cluster))
    event.at = std::max(event.at, last->at + Duration{1});
  if (const auto last = ledger::last_replaced(state, event.cluster))
    event.at = std::max(event.at, last->at + Duration{1});
  return event;
}

Expected<ledger::LineReport> Consortium::accept_line(const ledger::AcceptLineRequest& asked, const std::string& author,
                                                     Instant now) {
  Cluster* cluster = find(asked.cluster);
  if (cluster == nullptr)
    return fail(Errc::not_found, fmt::format("the consortium has no cluster '{}'", asked.cluster));
  if (books_.incomplete()) return fail(Errc::unavailable, "the books are being rebuilt");
  if (!cluster->other) {
    return fail(
        Errc::not_found,
        fmt::format("no statement of another ledger of '{}' has come since shapleyd started: there is nothing to "
                    "accept",
                    asked.cluster));
  }
  if (asked.reason.empty()) return fail(Errc::invalid_argument, "a reason is needed; the ledger keeps it");
  accounting::LedgerReplaced event = replaced(*cluster, now);
  event.author = author;
  event.reason = asked.reason;
  const accounting::StandingReceived received = cluster->other->received(event.at);
  ledger::LineReport report = ledger::line_report(books_.state(), event, received);
  if (!asked.book) return report;
  std::vector<accounting::Event> events{event, received};
  if (const accounting::ConsortiumDeclared* declared = books_.state().consortium(); declared != nullptr) {
    accounting::ConsortiumDeclared next = *declared;
    if (ledger::end_earlier_weights(next, event)) {
      next.at = std::max(event.at, declared->at + Duration{1});
      date_weights(next);  // of every cluster again, as of that instant
      ledger::end_earlier_weights(next, event);
      events.emplace_back(next);
    }
  }
  SHAPLEY_TRY(books_.commit(events, now));
  cluster->offered = std::move(cluster->other);
  cluster->other.reset();
  cluster->bytes = static_cast<std::int64_t>(cluster->offered->text().size());
  cluster->fault.clear();
  cluster->is_refused = false;
  report.booked = true;
  return report;
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
  return accounting::rank(state.rank_rows(by, statements), state.key_terms()) !=
         accounting::rank(state.rank_rows(by), state.key_terms());
}

Expected<void> Consortium::record(Instant now) {
  if (books_.incomplete() || books_.state().consortium() == nullptr) return {};
  const std::int64_t grown = std::clamp<std::int64_t>((now - filled_).value, 0, k_hour.value) * k_bytes_a_second;
  bytes_left_ = std::min(k_most_bytes, bytes_left_ + grown);
  filled_ = now;
  for (Cluster& cluster : clusters_) {
    if (cluster.other && !ledger::is_open(ledger::last_replaced(books_.state(), cluster.configuration.name))) {
      const accounting::Event found = replaced(cluster, now);
      SHAPLEY_TRY(books_.commit({&found, 1}, now));
    }
    if (!cluster.offered) continue;
    const accounting::StandingReceived* last = ledger::last_statement(books_.state(), cluster.configuration.name);
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
