#include "accounting/state/accounts.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "accounting/checkpoint/fact_text.hpp"
#include "accounting/checkpoint/text_format.hpp"
#include "accounting/events/event_check.hpp"

namespace shapley::accounting {

namespace {

// The whole text that an estimator which is left out writes into a checkpoint.
constexpr std::string_view k_left_out = "left_out";

// Sets phi = psi for every organization.
void credit_as_got(const Estimator::Question& question, std::span<Credit> credits) {
  for (std::size_t i = 0; i < credits.size(); ++i) {
    const game::UtilitySum& got = question.got[i];
    credits[i] = {.phi = got.utility_at(question.t), .given = got.work_at(question.t), .rate = got.running()};
  }
}

// Replaces an estimator that is not kept: it ignores all facts, costs nothing, and reports phi = psi for every
// organization.
class LeftOut final : public Estimator {
 public:
  void set_organizations(const std::vector<OrgId>& /*by_name*/) override {}
  void close_period(const std::vector<Instant>& /*boundaries*/) override {}
  void set_boundaries(const std::vector<Instant>& /*boundaries*/) override {}
  void contributions(const Question& question, std::span<Credit> credits) override { credit_as_got(question, credits); }
  [[nodiscard]] bool is_off() const override { return true; }
  void save(TextWriter& out, const Remembered& /*books*/) override { out.line(k_left_out); }
  void load(TextReader& in, const Remembered& /*books*/) override { (void)in.next(k_left_out); }
};

}  // namespace

OrganizationLevel& OrganizationLevel::operator+=(const OrganizationLevel& other) {
  owned += other.owned;
  used += other.used;
  waiting += other.waiting;
  lent += other.lent;
  borrowed += other.borrowed;
  return *this;
}

void PeriodLevels::resize(std::size_t organizations) {
  for (Period& period : periods_) period.rows.resize(organizations);
}

void PeriodLevels::change(Instant t, OrgId organization, const OrganizationLevel& change) {
  for (auto period = periods_.rbegin(); period != periods_.rend() && period->end > t; ++period) {
    if (settled(*period)) return;
    period->rows[organization.value] += change;
  }
}

template <typename Change>
void PeriodLevels::fold_held(const Piece& piece, Change&& change) {
  for (auto period = periods_.rbegin(); period != periods_.rend() && period->end > piece.begin; ++period) {
    if (settled(*period)) return;
    if (piece.end >= period->end) change(period->rows);
  }
}

void PeriodLevels::fold_used(int sign, const Piece& piece) {
  fold_held(piece, [&](std::vector<OrganizationLevel>& rows) {
    rows[piece.organization.value].used += ProcessorMillionths{sign * piece.processors.value};
  });
}

void PeriodLevels::fold_lending(int sign, const Piece& piece) {
  if (piece.organization == piece.owner) return;
  fold_held(piece, [&](std::vector<OrganizationLevel>& rows) {
    const ProcessorMillionths processors{sign * piece.processors.value};
    rows[piece.owner.value].lent += processors;
    rows[piece.organization.value].borrowed += processors;
  });
}

void PeriodLevels::close_period(Instant boundary) {
  Period next{k_end_of_time, periods_.back().rows};
  periods_.back().end = boundary;
  periods_.push_back(std::move(next));
}

void PeriodLevels::set_boundaries(const std::vector<Instant>& boundaries) {
  const std::size_t organizations = periods_.back().rows.size();
  std::vector<Period> periods;
  for (std::size_t i = 0; i <= boundaries.size(); ++i) {
    const Instant end = i == boundaries.size() ? k_end_of_time : boundaries[i];
    const bool keep = i < periods_.size() && periods_[i].end == end && settled(periods_[i]);
    periods.push_back({end, keep ? std::move(periods_[i].rows) : std::vector<OrganizationLevel>(organizations)});
  }
  periods_ = std::move(periods);
}

void PeriodLevels::save(TextWriter& out) const {
  for (const Period& period : periods_) {
    if (!settled(period)) return;
    out.line("levels").instant(period.end);
    for (std::size_t i = 0; i < period.rows.size(); ++i) {
      const OrganizationLevel& level = period.rows[i];
      if (level == OrganizationLevel{}) continue;
      out.line("level").number(static_cast<Int128>(i));
      for (const ProcessorMillionths part : {level.owned, level.used, level.waiting, level.lent, level.borrowed})
        out.number(part.value);
    }
  }
}

void PeriodLevels::load(TextReader& in, std::int64_t version) {
  for (Period& period : periods_) {
    if (!settled(period)) return;
    if (!in.next("levels") || in.instant(k_beginning_of_time, k_last_instant) != period.end) {
      return in.fault("levels of a settled period are missing");
    }
    for (std::size_t next = 0; in.next("level");) {
      const auto i = static_cast<std::size_t>(in.small(0, std::numeric_limits<std::uint32_t>::max()));
      if (i < next || i >= period.rows.size()) return in.fault("levels out of order");
      OrganizationLevel& level = period.rows[i];
      for (ProcessorMillionths* part : {&level.owned, &level.used, &level.waiting, &level.lent, &level.borrowed}) {
        if (part == &level.used && version == k_text_before_blocked) continue;
        *part = {in.small(0, k_max_wanted.value)};
      }
      next = i + 1;
    }
  }
}

std::optional<bool> PeriodRules::repeats(const PeriodDeclared& event) const {
  const auto known = declarations_.find(event.at);
  return known == declarations_.end() ? std::nullopt : std::optional(known->second == event.period);
}

Instant PeriodRules::next_boundary(Instant t) const {
  auto next = declarations_.upper_bound(t);
  Period rule = next == declarations_.begin() ? Period::none : std::prev(next)->second;
  while (true) {
    const Instant candidate = period_end(rule, t);
    if (next == declarations_.end() || candidate <= next->first) return candidate;
    t = next->first;
    rule = next->second;
    ++next;
  }
}

std::vector<Instant> PeriodRules::boundaries_until(Instant t) const {
  std::vector<Instant> boundaries;
  for (Instant b = next_boundary(k_beginning_of_time); b <= t; b = next_boundary(b)) boundaries.push_back(b);
  return boundaries;
}

Period PeriodRules::rule_at(Instant t) const {
  const auto next = declarations_.upper_bound(t);
  return next == declarations_.begin() ? Period::none : std::prev(next)->second;
}

void PeriodRules::save(TextWriter& out) const {
  for (const auto& [at, period] : declarations_) out.line("period").instant(at).word(name_of(period));
}

void PeriodRules::load(TextReader& in, Instant now) {
  while (in.next("period")) {
    PeriodDeclared event{in.instant({0}, k_last_instant), Period::none};
    read_value(in, event.period);
    if (accept(in, event, now)) declare(event.at, event.period);
  }
}

Accounts::Accounts(const EstimatorSet& left_out) {
  for (const EstimatorId id : estimator_ids()) {
    estimators_.push_back(left_out.contains(id) ? std::make_unique<LeftOut>()
                                                : accounting::estimators()[id.value].make());
  }
}

void Accounts::set_organizations(const Organizations& organizations, std::vector<OrgId> rows) {
  got_.resize(organizations.names().size());
  levels_.resize(organizations.names().size());
  const std::vector<OrgId> by_name = organizations.by_name();
  for (const auto& estimator : estimators_) estimator->set_organizations(by_name);
  rows_ = std::move(rows);
}

Piece Accounts::in_rows(Piece piece) const {
  piece.organization = row_of(piece.organization);
  piece.owner = row_of(piece.owner);
  return piece;
}

void Accounts::fold_piece(int sign, const Piece& piece) {
  got_.fold(sign, piece.organization, {piece.processors, piece.begin, piece.end});
  for (const auto& estimator : estimators_) estimator->fold_piece(sign, piece);
}

void Accounts::fold_segment(int sign, const SegmentFact& segment) {
  for (const auto& estimator : estimators_) estimator->fold_segment(sign, segment);
}

void Accounts::change_levels(Instant t, OrgId organization, const LevelChange& change) {
  if (gathered_) {
    gathered_->push_back({t, organization, change});
    return;
  }
  for (const auto& estimator : estimators_) estimator->change_levels(t, organization, change);
}

void Accounts::gather_levels(const std::function<void()>& enter) {
  gathered_.emplace();
  enter();
  std::vector<GatheredLevel> all = std::exchange(gathered_, std::nullopt).value();
  const auto place_of = [](const GatheredLevel& level) {
    return std::tuple(level.t, level.organization, level.change.kind);
  };
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
  for (std::size_t i = 0; i < all.size();) {
    LevelChange sum{.running = {}, .owned = {}, .kind = all[i].change.kind};
    std::size_t end = i;
    for (; end < all.size() && place_of(all[end]) == place_of(all[i]); ++end) {
      sum.running += all[end].change.running;
      sum.owned += all[end].change.owned;
    }
    change_levels(all[i].t, all[i].organization, sum);
    i = end;
  }
}

void Accounts::close_period() {
  complete();
  const Instant boundary = next_boundary_;
  boundaries_.push_back(boundary);
  got_.close_period(boundary);
  levels_.close_period(boundary);
  for (const auto& estimator : estimators_) estimator->close_period(boundaries_);
  next_boundary_ = rules_.next_boundary(boundary);
}

bool Accounts::declare(const PeriodDeclared& event, Instant now, const std::function<void(int sign)>& fold_remembered) {
  rules_.declare(event.at, event.period);
  next_boundary_ = rules_.next_boundary(now);
  std::vector<Instant> boundaries = rules_.boundaries_until(now);
  if (boundaries == boundaries_) return false;
  complete();
  fold_remembered(-1);
  set_boundaries(std::move(boundaries));
  fold_remembered(1);
  return true;
}

void Accounts::set_boundaries(std::vector<Instant> boundaries) {
  boundaries_ = std::move(boundaries);
  got_.set_boundaries(boundaries_);
  levels_.set_boundaries(boundaries_);
  for (const auto& estimator : estimators_) estimator->set_boundaries(boundaries_);
}

bool Accounts::is_too_old(const SegmentFact* before, const SegmentFact* after) const {
  return std::any_of(estimators_.begin(), estimators_.end(),
                     [&](const auto& estimator) { return estimator->is_too_old(before, after); });
}

bool Accounts::stays(const SegmentFact& segment) const {
  return std::any_of(estimators_.begin(), estimators_.end(),
                     [&](const auto& estimator) { return estimator->stays(segment); });
}

Instant Accounts::forgettable(Instant wanted, std::uint64_t effort) const {
  complete();
  Instant next = wanted;
  for (const auto& estimator : estimators_) next = std::min(next, estimator->forgettable(wanted, effort));
  return next;
}

void Accounts::forget_before(Instant horizon) {
  complete();
  levels_.settle(horizon);
  for (const auto& estimator : estimators_) estimator->forget_before(horizon);
}

void Accounts::leave_out(EstimatorId estimator) {
  // Books that are only a memory have no estimators any more.
  if (estimator.value < estimators_.size()) estimators_[estimator.value] = std::make_unique<LeftOut>();
}

void Accounts::divide_kinds(const std::vector<KindDivided>& divisions) {
  for (const auto& estimator : estimators_) estimator->divide_kinds(divisions);
}

void Accounts::keep_at_most(Coalitions kept) {
  for (const auto& estimator : estimators_) estimator->keep_at_most(kept);
}

EstimatorSet Accounts::kept() const {
  EstimatorSet kept;
  for (std::uint32_t e = 0; e < estimators_.size(); ++e) {
    if (!estimators_[e]->is_off()) kept.insert({e});
  }
  return kept;
}

EstimatorSet Accounts::catch_up(Instant t, std::uint64_t effort) {
  complete();
  EstimatorSet able;
  for (std::uint32_t e = 0; e < estimators_.size(); ++e) {
    if (!estimators_[e]->is_off() && estimators_[e]->catch_up(t, effort)) able.insert({e});
  }
  return able;
}

std::size_t Accounts::bytes_of_coalitions() const {
  const EstimatorSet of_coalitions = estimators_with(&EstimatorRow::of_coalitions);
  std::size_t bytes = 0;
  for (std::uint32_t e = 0; e < estimators_.size(); ++e) {
    if (of_coalitions.contains({e})) bytes += estimators_[e]->bytes();
  }
  return bytes;
}

std::vector<Standing> Accounts::standings(std::size_t period, Instant t, const EstimatorSet& by) {
  complete();
  const std::vector<game::UtilitySum>& got_sums = got_.periods()[period].sums;
  const std::vector<OrganizationLevel>& period_levels = levels_.periods()[period].rows;
  std::vector<Standing> standings(got_sums.size());
  for (std::size_t i = 0; i < standings.size(); ++i) {
    Standing& standing = standings[i];
    standing.organization = {static_cast<std::uint32_t>(i)};
    standing.psi = got_sums[i].utility_at(t);
    standing.got = got_sums[i].work_at(t);
    standing.charged = got_sums[i].running();
    standing.owned = period_levels[i].owned;
    standing.used = period_levels[i].used;
    standing.waiting = period_levels[i].waiting;
    standing.lent = period_levels[i].lent;
    standing.borrowed = period_levels[i].borrowed;
  }
  std::vector<Credit> credits(standings.size());
  for (std::uint32_t e = 0; e < estimators_.size(); ++e) {
    const Estimator::Question question{.period = period, .t = t, .got = got_sums};
    if (by.contains({e})) {
      estimators_[e]->contributions(question, credits);
    } else {
      credit_as_got(question, credits);
    }
    for (std::size_t i = 0; i < standings.size(); ++i) standings[i].credits[e] = credits[i];
  }
  add_settled(period, t, standings);
  for (std::size_t i = 0; i < standings.size(); ++i) {
    if (rows_[i].value == i) continue;
    standings[rows_[i].value] += standings[i];
    standings[i] = Standing{};
    standings[i].organization = {static_cast<std::uint32_t>(i)};
  }
  return standings;
}

void Accounts::add_settled(std::size_t period, Instant t, std::vector<Standing>& standings) const {
  const PeriodSums::Period& of = got_.periods()[period];
  for (const Settlement& settlement : settled_) {
    if (settlement.at < of.begin || settlement.at >= of.end) continue;
    const Utility utility{settlement.work.value * (t - settlement.at).value};
    Standing& to = standings[settlement.to.value];
    to.psi += utility;
    to.got += settlement.work;
    to.settled_got += settlement.work;
    Standing& from = standings[settlement.from.value];
    from.settled_given += settlement.work;
    for (Credit& credit : from.credits) {
      credit.phi += utility;
      credit.given += settlement.work;
    }
  }
}

Standing& Standing::operator+=(const Standing& part) {
  psi += part.psi;
  got += part.got;
  for (std::size_t e = 0; e < credits.size(); ++e) {
    credits[e].phi += part.credits[e].phi;
    credits[e].given += part.credits[e].given;
    credits[e].rate += part.credits[e].rate;
  }
  charged += part.charged;
  owned += part.owned;
  used += part.used;
  waiting += part.waiting;
  lent += part.lent;
  borrowed += part.borrowed;
  settled_got += part.settled_got;
  settled_given += part.settled_given;
  return *this;
}

void Accounts::use_what_ran() {
  for (std::size_t i = 0; i < levels_.periods().size(); ++i) {
    PeriodLevels::Period& period = levels_.periods()[i];
    if (!levels_.settled(period)) return;
    for (std::size_t row = 0; row < period.rows.size(); ++row)
      period.rows[row].used = got_.periods()[i].sums[row].running();
  }
}

std::optional<CooperationWorth> Accounts::worth(std::size_t period, Instant t, const EstimatorSet& by,
                                                Instant first_event) {
  complete();
  for (std::uint32_t e = 0; e < estimators_.size(); ++e) {
    if (!by.contains({e})) continue;
    auto worth = estimators_[e]->worth({.period = period, .t = t, .got = got_.periods()[period].sums}, rows_);
    if (!worth) continue;
    worth->begin = period == 0 ? std::min(first_event, t) : got_.periods()[period].begin;
    return worth;
  }
  return std::nullopt;
}

void Accounts::load_periods(TextReader& in, Instant now, Instant horizon) {
  rules_.load(in, now);
  if (!in.ok()) return;
  next_boundary_ = rules_.next_boundary(now);
  levels_.settle(horizon);
  set_boundaries(rules_.boundaries_until(now));
}

void Accounts::save_estimators(TextWriter& out, const Estimator::Remembered& remembered) const {
  complete();
  for (const EstimatorId id : estimator_ids()) {
    out.line("estimator").word(name_of(id));
    estimators_[id.value]->save(out, remembered);
  }
}

void Accounts::load_estimators(TextReader& in, StateOptions& options, const Estimator::Remembered& remembered) {
  // The name of the next estimator that there still is.
  const auto next_name = [&in] {
    while (in.next("estimator")) {
      std::string name = in.word();
      if (!is_former_estimator(name)) return name;
      in.skip_to("estimator");
    }
    return std::string();
  };
  for (const EstimatorId id : estimator_ids()) {
    if (next_name() != name_of(id)) {
      return in.fault(fmt::format("the lines of {} are missing", name_of(id)));
    }
    load_estimator(in, id, options, remembered);
    if (!in.ok()) return;
  }
}

void Accounts::load_estimator(TextReader& in, EstimatorId id, StateOptions& options,
                              const Estimator::Remembered& remembered) {
  const bool is_left_out = options.left_out.contains(id);
  if (in.next(k_left_out)) {
    if (is_left_out) return;
    if (!options.as_saved) return in.fault(std::string(name_of(id)) + " was not kept");
    options.left_out.insert(id);
    leave_out(id);
  } else if (is_left_out) {
    in.skip_to("estimator");
  } else {
    estimators_[id.value]->load(in, remembered);
  }
}

}  // namespace shapley::accounting
