#include "answers/board.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "accounting/state/consortium.hpp"
#include "base/calendar.hpp"
#include "base/text.hpp"
#include "config/checks.hpp"
#include "config/configuration.hpp"
#include "ledger/readers/declarations.hpp"
#include "ledger/readers/past_books.hpp"
#include "ledger/reports/adjustment_report.hpp"

namespace shapley::answers {

namespace {

using accounting::ConsortiumDeclared;
using accounting::LedgerReplaced;
using accounting::OtherCluster;
using accounting::StandingReceived;
using ledger::ClusterHeard;
using ledger::Decision;

// What other releases accepted and this one refuses is not compared.
std::optional<config::Configuration> parsed(const accounting::ConfigurationLoaded& loaded) {
  auto recorded = config::parse_recorded(loaded.text);
  return recorded ? std::optional(std::move(recorded->configuration)) : std::nullopt;
}

std::string weights_text(const ConsortiumDeclared& declared, const std::string& own) {
  std::string text = own + ' ' + format_micro(declared.weight);
  for (const OtherCluster& other : declared.clusters) text += ", " + other.cluster + ' ' + format_micro(other.weight);
  return text;
}

// The decisions of a time, in the order of recording.
class Decisions {
 public:
  Decisions(std::string cluster, Instant since, Instant until)
      : cluster_(std::move(cluster)), since_(since), until_(until) {}

  void operator()(const accounting::ConfigurationLoaded& loaded) {
    if (!before_) {
      add(loaded.at, "configuration", "the first configuration", std::nullopt);
    } else {
      const auto was = parsed(*before_);
      const auto is = parsed(loaded);
      if (!was || !is)
        add(loaded.at, "configuration", "changed; this release cannot read both", std::nullopt);
      else
        for (const std::string& line : config::differences(*was, *is, loaded.at))
          add(loaded.at, "configuration", line, std::nullopt);
    }
    before_ = loaded;
  }
  // Weights are in the list by themselves: they decide what sums over clusters are.
  void operator()(const ConsortiumDeclared& declared) {
    std::string weights = declared.consortium.empty() ? "in no consortium" : weights_text(declared, cluster_);
    if (weights != weights_) add(declared.at, "weights", weights, std::nullopt);
    weights_ = std::move(weights);
  }
  void operator()(const accounting::AdjustmentMade& made) {
    add(made.at, std::string(name_of(made.kind)),
        "adjustment " + std::to_string(made.number) + ": " + ledger::adjustment_row(made).sentence(), made.author,
        made.reason);
  }
  void operator()(const LedgerReplaced& replaced) {
    if (replaced.reason.empty()) return;  // found, and not accepted
    add(replaced.at, "ledger", "the ledger of " + replaced.cluster + " was replaced: accepted", replaced.author,
        replaced.reason);
  }
  void operator()(const accounting::ClusterNamed& named) {
    add(named.at, "cluster", "the cluster is called " + named.cluster, named.author, named.reason);
  }
  void operator()(const accounting::HistoryImported& imported) {
    add(imported.at, "import", grouped(imported.runs) + " runs of " + imported.file, imported.author, imported.reason);
  }
  template <typename Other>
  void operator()(const Other& /*no decision*/) {}

  [[nodiscard]] std::vector<Decision> take() && {
    std::ranges::stable_sort(all_, {}, [](const Decision& decision) { return decision.at.value; });
    return std::move(all_);
  }

 private:
  void add(Instant at, std::string kind, std::string what, std::optional<std::string> author, std::string reason = {}) {
    if (at < since_ || at >= until_) return;
    all_.push_back({at, cluster_, std::move(kind), std::move(what), std::move(author), std::move(reason)});
  }

  std::string cluster_;
  Instant since_, until_;
  std::optional<accounting::ConfigurationLoaded> before_ = {};
  std::string weights_ = {};
  std::vector<Decision> all_ = {};
};

template <typename Fact>
std::vector<Fact> facts_of(const std::vector<accounting::Event>& events) {
  std::vector<Fact> facts;
  for (const accounting::Event& event : events) {
    if (const auto* fact = std::get_if<Fact>(&event)) facts.push_back(*fact);
  }
  std::ranges::stable_sort(facts, {}, &Fact::at);
  return facts;
}

// The last one at t; nullptr: there is none yet.
template <typename Fact>
const Fact* last_at(const std::vector<Fact>& facts, Instant t) {
  const auto next = std::ranges::upper_bound(facts, t, {}, &Fact::at);
  return next == facts.begin() ? nullptr : &*std::prev(next);
}

// What the ledger says over time of the other clusters.
class Listening {
 public:
  Listening(const std::vector<accounting::Event>& events, std::vector<StandingReceived> statements)
      : declared_(facts_of<ConsortiumDeclared>(events)), residuals_(facts_of<accounting::ResidualMeasured>(events)) {
    for (const LedgerReplaced& replaced : facts_of<LedgerReplaced>(events))
      replaced_[replaced.cluster].push_back(replaced);
    for (StandingReceived& statement : statements) statements_[statement.cluster].push_back(std::move(statement));
  }

  [[nodiscard]] std::vector<ClusterHeard> heard(const std::string& own, Instant since, Instant until) const {
    std::set<std::string> names;
    for (const ConsortiumDeclared& declared : declared_) {
      for (const OtherCluster& other : declared.clusters) names.insert(other.cluster);
    }
    std::vector<ClusterHeard> all;
    for (const std::string& name : names) {
      ClusterHeard heard = of(name, since, until);
      heard.cluster = own;
      if (heard.in_consortium > Duration{}) all.push_back(std::move(heard));
    }
    return all;
  }

 private:
  [[nodiscard]] ClusterHeard of(const std::string& name, Instant since, Instant until) const {
    ClusterHeard heard{.statements = name, .until = until};
    bool was_stale = false;
    const std::set<Instant> instants = instants_of(name, since, until);
    for (auto begin = instants.begin(); std::next(begin) != instants.end(); ++begin)
      add(heard, was_stale, *begin, *std::next(begin));
    return heard;
  }

  // Between two of them nothing is recorded.
  [[nodiscard]] std::set<Instant> instants_of(const std::string& name, Instant since, Instant until) const {
    std::set<Instant> instants{since, until};
    const auto take = [&](const auto& facts) {
      for (const auto& fact : facts) {
        if (fact.at > since && fact.at < until) instants.insert(fact.at);
      }
    };
    take(declared_);
    take(residuals_);
    if (const auto found = replaced_.find(name); found != replaced_.end()) take(found->second);
    if (const auto found = statements_.find(name); found != statements_.end()) take(found->second);
    return instants;
  }

  void add(ClusterHeard& heard, bool& was_stale, Instant begin, Instant end) const {
    const ConsortiumDeclared* declared = last_at(declared_, begin);
    const OtherCluster* other = declared == nullptr ? nullptr : accounting::find_cluster(*declared, heard.statements);
    if (other == nullptr) {
      was_stale = false;
      return;
    }
    heard.in_consortium += end - begin;
    const auto lines = replaced_.find(heard.statements);
    const LedgerReplaced* line = lines == replaced_.end() ? nullptr : last_at(lines->second, begin);
    if (line != nullptr && line->reason.empty()) heard.refused += end - begin;
    const auto found = statements_.find(heard.statements);
    const StandingReceived* last = found == statements_.end() ? nullptr : last_at(found->second, begin);
    if (last != nullptr && lines != replaced_.end() && !is_of_line(*last, lines->second, begin)) last = nullptr;
    if (last == nullptr) {
      heard.without += end - begin;
      was_stale = false;
      return;
    }
    heard.last_stated = last->figures.time;
    const accounting::ResidualMeasured* measured = last_at(residuals_, begin);
    // While none was measured, the hour that it is at least.
    const Duration residual = measured == nullptr ? Duration{} : Duration{measured->seconds};
    const Instant stale_at = std::max(begin, last->figures.time + accounting::stale_after(*other, residual));
    if (stale_at >= end) {
      was_stale = false;
      return;
    }
    heard.stale += end - stale_at;
    if (!was_stale || stale_at > begin) ++heard.stale_times;
    was_stale = true;
  }

  // Statements of before the last line that was accepted count no more.
  static bool is_of_line(const StandingReceived& statement, const std::vector<LedgerReplaced>& lines, Instant t) {
    return std::ranges::none_of(lines, [&](const LedgerReplaced& line) {
      return line.at <= t && !line.reason.empty() && statement.at < line.at;
    });
  }

  std::vector<ConsortiumDeclared> declared_;
  std::vector<accounting::ResidualMeasured> residuals_;
  std::map<std::string, std::vector<LedgerReplaced>> replaced_ = {};
  std::map<std::string, std::vector<StandingReceived>> statements_ = {};  // ascending by `at`
};

}  // namespace

Expected<ledger::ClusterBoard> board(const LedgerFile& file, Instant since, Instant until) {
  return from_ledger(file.path, [&](const ledger::Ledger& ledger) -> Expected<ledger::ClusterBoard> {
    ledger::ClusterBoard board;
    SHAPLEY_TRY_ASSIGN(board.cluster, ledger::cluster_name(ledger));
    SHAPLEY_TRY_ASSIGN(const std::vector<accounting::Event> events, ledger::decisions(ledger));
    Decisions decisions(board.cluster, since, until);
    for (const accounting::Event& event : events) std::visit(decisions, event);
    board.decisions = std::move(decisions).take();
    SHAPLEY_TRY_ASSIGN(const Instant recorded, ledger::last_recorded(ledger));
    until = std::min(until, std::max(recorded, file.known_until.value_or(recorded)));
    if (until <= since) return board;
    SHAPLEY_TRY_ASSIGN(auto statements, ledger::statements_received(ledger, since, until));
    board.heard = Listening(events, std::move(statements)).heard(board.cluster, since, until);
    return board;
  });
}

}  // namespace shapley::answers
