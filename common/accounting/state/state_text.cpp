// State as text, for checkpoints.
//
// The text has the remembered facts and, for what is forgotten, only its results: sums of finished pieces, the levels
// of settled periods, and the text of every estimator. load() enters the facts again through the code that entered them
// first; so a checkpoint cannot hold books that contradict its facts. Everything in it is ordered, so equal states have
// equal texts. Each part writes and reads its own lines; this file has their order.
#include <limits>
#include <optional>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "accounting/checkpoint/fact_text.hpp"
#include "accounting/checkpoint/text_format.hpp"
#include "accounting/state/state_impl.hpp"
#include "base/contract.hpp"

namespace shapley::accounting {

namespace {

constexpr std::string_view k_format = "shapley-state";
constexpr std::int64_t k_u32_max = std::numeric_limits<std::uint32_t>::max();

template <typename... Facts>
void write_kept(TextWriter& out, const KeptFacts& kept, std::type_identity<std::variant<Facts...>> /*event*/) {
  const auto write_kind = [&]<typename Fact>(std::type_identity<Fact>) {
    for (const Fact& fact : kept.all<Fact>()) write_fact(out, fact);
  };
  (write_kind(std::type_identity<Facts>{}), ...);
}

void write_forgotten_starts(TextWriter& out, const std::vector<Instant>& starts) {
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (starts[i] != k_beginning_of_time) out.line("last_start").number(static_cast<Int128>(i)).instant(starts[i]);
  }
}

// Reads in the order in which save() writes. After a fault every read yields harmless values and the loops end.
class Loader {
 public:
  Loader(std::string_view text, State::Impl& state, const std::atomic<bool>* stop)
      : in_(text), state_(state), stop_(stop) {}

  Expected<void> run() {
    const std::int64_t version = in_.next(k_format) ? in_.small(0, k_u32_max) : 0;
    if (version < k_text_before_blocked || version > k_text_version) in_.fault("unknown format or version");
    has_rules_ = version > k_text_before_rules;
    read_present();
    read_organizations();
    state_.accounts.load_periods(in_, state_.present.now, state_.present.memory_horizon);
    while (in_.next("configuration")) read_value(in_, state_.configurations[in_.instant({0}, k_last_instant)]);
    state_.nodes.load(in_, state_.present.now, version);
    state_.placements.load(in_, state_.present.now, state_.nodes);
    read_kept(std::type_identity<Event>{});
    state_.accounts.got().load(in_);
    state_.accounts.levels().load(in_, version);
    read_forgotten_starts();
    state_.accounts.gather_levels([this] {
      state_.jobs.load(
          in_, state_.present.now, state_.organizations,
          [this](const SegmentRecord& segment) { state_.posting.restore(segment); }, stop_);
      if (in_.ok() && !is_set(stop_)) state_.posting.restore_all();
    });
    if (is_set(stop_)) return fail(Errc::unavailable, "checkpoint: the reading was ended");
    state_.accounts.load_estimators(in_, state_.options, state_.posting.remembered());
    if (!in_.finished()) {
      return fail(Errc::corrupt, fmt::format("checkpoint: {}; rebuild it from the events", in_.complaint()));
    }
    // These follow from all facts together.
    if (version == k_text_before_blocked) state_.accounts.use_what_ran();
    state_.posting.restate_levels();
    state_.closed_stale = true;
    return {};
  }

 private:
  void read_present() {
    Present& present = state_.present;
    if (!in_.next("present")) in_.fault("the present is missing");
    present.now = in_.instant(k_beginning_of_time, k_last_instant);
    present.memory_horizon = in_.instant(k_beginning_of_time, k_last_instant);
    present.first_event = in_.instant(k_beginning_of_time, k_end_of_time);
    if (present.memory_horizon > present.now) in_.fault("the memory horizon lies in the future");
  }

  void read_organizations() {
    std::size_t count = 0;
    for (; in_.next("organization"); ++count) {
      const std::string name = in_.word();
      if (name.empty() || state_.join(name).value != count) return in_.fault("organizations out of order");
    }
    if (count != state_.organizations.names().size()) in_.fault("guests and commons are missing");
    while (in_.next("declared")) {
      OrganizationsDeclared fact;
      read_value(in_, fact);
      for (const std::string& name : fact.names) {
        if (!state_.organizations.find(name)) in_.fault("an organization that is not in the books");
      }
      if (accept(in_, fact, state_.present.now)) state_.organizations.declare(fact.at, fact.names);
    }
  }

  template <typename... Facts>
  void read_kept(std::type_identity<std::variant<Facts...>> /*event*/) {
    const std::size_t organizations = state_.organizations.names().size();
    (read_kept_kind<Facts>(), ...);
    if (state_.organizations.names().size() != organizations) in_.fault("an organization that is not in the books");
  }

  template <typename Fact>
  void read_kept_kind() {
    constexpr std::string_view word = k_description<Fact>.kept_as;
    while (!word.empty() && in_.next(word)) {
      Fact fact;
      std::optional<std::string_view> missing;
      if (std::same_as<Fact, RankingDeclared> && !has_rules_) missing = "rule";
      read_fact(in_, fact, missing);
      if (!accept(in_, fact, state_.present.now)) return;
      if (state_.kept.find(fact) != nullptr) return in_.fault(fmt::format("a {} twice", std::string(word)));
      restore(fact);
    }
  }

  void restore(const OwnershipStated& statement) {
    state_.nodes.state(state_.nodes.index_of(statement.node), {statement.effective, statement.revision},
                       state_.spans_of(statement), state_.present.now);
    state_.kept.keep(statement);
  }
  void restore(const HindsightDefined& fact) {
    state_.posting.restore(fact);
    state_.kept.keep(fact);
  }
  template <typename Fact>
  void restore(const Fact& fact) {
    state_.fold(Event{fact});
  }

  void read_forgotten_starts() {
    std::vector<Instant>& starts = state_.forgotten_starts;
    for (std::size_t next = 0; in_.next("last_start");) {
      const auto i = static_cast<std::size_t>(in_.small(0, k_u32_max));
      if (i < next || i >= starts.size()) return in_.fault("last starts out of order");
      starts[i] = in_.instant({0}, state_.present.now);
      next = i + 1;
    }
  }

  TextReader in_;
  bool has_rules_ = true;  // the text has RankingDeclared::rule
  State::Impl& state_;
  const std::atomic<bool>* stop_;
};

}  // namespace

std::string State::save(const std::atomic<bool>* stop) const {
  SHAPLEY_REQUIRE(!impl_->memory_only);
  TextWriter out;
  out.line(k_format).number(k_text_version);
  const Present& present = impl_->present;
  out.line("present").instant(present.now).instant(present.memory_horizon).instant(present.first_event);
  for (const std::string& name : impl_->organizations.names()) out.line("organization").word(name);
  for (const auto& [at, names] : impl_->organizations.declarations()) {
    write_value(out.line("declared"), OrganizationsDeclared{at, names});
  }
  impl_->accounts.rules().save(out);
  for (const auto& [at, hash] : impl_->configurations) out.line("configuration").instant(at).number(Int128{hash});
  impl_->nodes.save(out);
  impl_->placements.save(out);
  write_kept(out, impl_->kept, std::type_identity<Event>{});
  impl_->posting.got_by_forgotten().save(out);
  impl_->accounts.levels().save(out);
  write_forgotten_starts(out, impl_->forgotten_starts);
  impl_->jobs.save(out, stop);
  if (is_set(stop)) return {};
  impl_->accounts.save_estimators(out, impl_->posting.remembered());
  return out.finish();
}

Expected<State> State::load(std::string_view text, StateOptions options, const std::atomic<bool>* stop) {
  State state(options);
  SHAPLEY_TRY(Loader(text, *state.impl_, stop).run());
  return state;
}

}  // namespace shapley::accounting
