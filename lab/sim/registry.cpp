#include "sim/registry.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "game/braking.hpp"
#include "scheduling/policies/coalition_policy.hpp"
#include "scheduling/policies/policies.hpp"
#include "scheduling/policies/policy.hpp"

namespace shapley::sim {

namespace {

using scheduling::Instance;
using PolicyPtr = std::unique_ptr<scheduling::Policy>;
using Maker = PolicyPtr (*)(const Instance&, const PolicyOptions&);

constexpr std::size_t k_max_rand_coalitions = std::size_t{1} << 20;    // 56 bytes each, besides their running jobs
constexpr std::size_t k_max_rand_permutations = std::size_t{1} << 22;  // in memory while the weights are computed
constexpr std::string_view k_instead_of_coalitions = "use shapley_rate_sampled";
constexpr std::string_view k_once = "/once";
constexpr std::string_view k_braking = "braking";  // in place of a horizon

struct Traits {
  bool ruled = false;  // ranks by phi - psi, so horizon, guarantee and the weight of what runs mean something
  // It values coalitions, which is undefined if a job is wider than all processors of a coalition.
  bool of_coalitions = false;
  // It orders organizations by the schedule that is made. ref does not, because its grand coalition decides by the rule
  // among all other coalitions; fcfs orders jobs.
  bool can_be_once_a_pass = true;
  std::size_t max_organizations = scheduling::k_max_organizations;
  std::string_view alternative = "merge small organizations";                // named when max_organizations is exceeded
  Expected<void> (*check)(const Instance&, const PolicyOptions&) = nullptr;  // limits of its own
};

struct Entry {
  std::string_view name;
  Maker make;
  Traits traits{};
};

std::size_t permutation_count(const Instance& instance, const PolicyOptions& options) {
  if (!options.permutations.empty()) return options.permutations.size();
  return options.accuracy ? scheduling::permutations_for(instance.organizations(), *options.accuracy) : options.samples;
}
std::vector<scheduling::Permutation> permutations_of(const Instance& instance, const PolicyOptions& options) {
  if (!options.permutations.empty()) return options.permutations;
  return scheduling::draw_permutations(instance.organizations(), permutation_count(instance, options), options.seed);
}

bool is_psi_sp(const PolicyOptions& options) {
  return options.utility == scheduling::utility_functions().front().name;
}
PolicyPtr make_ref_for(const Instance& instance, const PolicyOptions& options) {
  if (is_psi_sp(options)) return scheduling::make_ref(instance, options.rule);
  return scheduling::make_ref_arbitrary(instance, **scheduling::find_utility_function(options.utility));
}

template <scheduling::RateMethod Method>
PolicyPtr make_rate(const Instance& instance, const PolicyOptions& options) {
  return scheduling::make_shapley_rate(instance, {.method = Method, .seed = options.seed, .rule = options.rule});
}
template <bool Identity>
PolicyPtr make_direct(const Instance& instance, const PolicyOptions& options) {
  return scheduling::make_direct_contr(
      instance, {.identity = Identity, .seed = options.seed, .rule = options.rule, .taken = options.taken});
}
template <PolicyPtr (*Make)(const Instance&, const game::ServingRule&)>
PolicyPtr make_ruled(const Instance& instance, const PolicyOptions& options) {
  return Make(instance, options.rule);
}
template <std::unique_ptr<scheduling::HindsightPolicy> (*Make)(const Instance&, const game::ServingRule&)>
PolicyPtr make_in_hindsight(const Instance& instance, const PolicyOptions& options) {
  return Make(instance, options.rule);
}
template <PolicyPtr (*Make)(const Instance&)>
PolicyPtr make_plain(const Instance& instance, const PolicyOptions&) {
  return Make(instance);
}

Expected<void> check_permutations(const Instance& instance, const std::vector<scheduling::Permutation>& permutations) {
  for (scheduling::Permutation permutation : permutations) {
    std::sort(permutation.begin(), permutation.end());
    bool fits = permutation.size() == instance.organizations();
    for (std::size_t u = 0; fits && u < permutation.size(); ++u) fits = permutation[u] == u;
    if (!fits) {
      return fail(Errc::invalid_argument, "--permutations: each must name every organization from 0 to " +
                                              std::to_string(instance.organizations() - 1) + " once");
    }
  }
  return {};
}

Expected<void> check_rand(const Instance& instance, const PolicyOptions& options) {
  const std::size_t k = instance.organizations();
  const std::size_t count = permutation_count(instance, options);
  if (count == 0) return fail(Errc::invalid_argument, "policy rand: no permutation; give --samples 1 or more");
  const bool few = k < 20 || count <= k_max_rand_coalitions / k;
  if (!few || count > k_max_rand_permutations) {
    return fail(Errc::limit,
                "policy rand: " + std::to_string(count) + " permutations of " + std::to_string(k) +
                    " organizations need more than a million simulated coalitions; lower --samples or raise --epsilon");
  }
  return {};
}

Expected<void> check_utility(const Instance& instance, const PolicyOptions& options) {
  SHAPLEY_TRY(scheduling::find_utility_function(options.utility));
  if (!is_psi_sp(options) && options.rule != game::ServingRule{}) {
    return fail(Errc::invalid_argument, "policy ref with utility " + options.utility +
                                            ": horizon, guarantee and the weight of what runs are defined for psi_sp; "
                                            "take that, or none of them");
  }
  if (is_psi_sp(options) || instance.organizations() <= scheduling::k_ref_arbitrary_organizations) return {};
  return fail(Errc::limit, "policy ref with utility " + options.utility + ": " +
                               std::to_string(instance.organizations()) + " organizations exceed its limit of " +
                               std::to_string(scheduling::k_ref_arbitrary_organizations) + "; use psi_sp");
}

Expected<void> check_ref_memory(const Instance& instance) {
  const std::uint64_t bound = scheduling::ref_memory_bound(instance);
  if (bound <= scheduling::k_max_ref_memory) return {};
  return fail(Errc::limit, "policy ref: " + std::to_string(instance.organizations()) + " organizations on " +
                               std::to_string(instance.total_processors()) + " processors may take " +
                               std::to_string(bound >> 20U) + " MiB, the limit is " +
                               std::to_string(scheduling::k_max_ref_memory >> 20U) +
                               "; use rand or shapley_rate_sampled");
}

Expected<void> check_ref(const Instance& instance, const PolicyOptions& options) {
  SHAPLEY_TRY(check_utility(instance, options));
  return check_ref_memory(instance);
}

constexpr Traits k_of_some_coalitions{.ruled = true,
                                      .of_coalitions = true,
                                      .max_organizations = scheduling::k_coalition_organizations,
                                      .alternative = k_instead_of_coalitions};

const std::array k_policies{
    Entry{"ref",
          make_ref_for,
          {.ruled = true,
           .of_coalitions = true,
           .can_be_once_a_pass = false,
           .max_organizations = game::k_max_lattice_organizations,
           .alternative = "use rand or shapley_rate_sampled",
           .check = check_ref}},
    Entry{"rand",
          [](const Instance& i, const PolicyOptions& o) {
            return scheduling::make_rand(i, permutations_of(i, o), o.rule);
          },
          {.ruled = true,
           .of_coalitions = true,
           .max_organizations = scheduling::k_coalition_organizations,
           .alternative = k_instead_of_coalitions,
           .check = check_rand}},
    Entry{"direct_contr", make_direct<false>, {.ruled = true}},
    Entry{"direct_contr_identity", make_direct<true>, {.ruled = true}},
    Entry{"round_robin", make_plain<scheduling::make_round_robin>},
    Entry{"fair_share", make_plain<scheduling::make_fair_share>},
    Entry{"ut_fair_share", make_plain<scheduling::make_ut_fair_share>},
    Entry{"curr_fair_share", make_plain<scheduling::make_curr_fair_share>},
    Entry{"fcfs", make_plain<scheduling::make_fcfs>, {.can_be_once_a_pass = false}},
    Entry{"shapley_rate",
          make_rate<scheduling::RateMethod::exact>,
          {.ruled = true,
           .max_organizations = game::k_max_lattice_organizations,
           .alternative = "use shapley_rate_sampled"}},
    Entry{"shapley_rate_sampled", make_rate<scheduling::RateMethod::sampled>, {.ruled = true}},
    Entry{"shapley_rate_loo", make_rate<scheduling::RateMethod::leave_one_out>, {.ruled = true}},
    Entry{"coalitions_loo", make_ruled<scheduling::make_coalitions_loo>, k_of_some_coalitions},
    Entry{"coalitions_pair", make_ruled<scheduling::make_coalitions_pair>, k_of_some_coalitions},
    Entry{"coalitions_all",
          make_ruled<scheduling::make_coalitions_all>,
          {.ruled = true,
           .of_coalitions = true,
           .max_organizations = game::k_max_lattice_organizations,
           .alternative = "use coalitions_pair or rand"}},
    Entry{"hindsight",
          make_in_hindsight<scheduling::make_hindsight>,
          {.ruled = true,
           .of_coalitions = true,
           .max_organizations = scheduling::k_hindsight_organizations,
           .alternative = "use hindsight_pair"}},
    Entry{"hindsight_pair", make_in_hindsight<scheduling::make_hindsight_pair>, k_of_some_coalitions},
    Entry{"karma", make_plain<scheduling::make_karma>},
    Entry{"fair_tree",
          [](const Instance& i, const PolicyOptions& o) { return scheduling::make_fair_tree(i, o.fair_tree); }},
};

Expected<void> check_rigid(const Entry& entry, const Instance& instance, const PolicyOptions& options) {
  if (!entry.traits.of_coalitions || (!options.backfill && !instance.has_rigid_jobs())) return {};
  return fail(Errc::invalid_argument,
              "policy " + std::string(entry.name) +
                  ": rigid parallel jobs have no schedule in a coalition with fewer processors than one of them needs, "
                  "so its value, and the Shapley value, are undefined; use shapley_rate or direct_contr (also as "
                  "--reference), or take parallel jobs as copies (--parallel copies)");
}

Expected<void> check_rule_of(const Entry& entry, std::string_view text, const NamedPolicy& named) {
  if (named.once && !entry.traits.can_be_once_a_pass) {
    return fail(Errc::invalid_argument,
                "policy " + std::string(text) + ": " + std::string(entry.name) +
                    " does not order organizations by the schedule that is made, so not once a pass either; leave "
                    "\"/once\" out");
  }
  const std::size_t at = text.find('@');
  if (entry.traits.ruled || at == std::string_view::npos) return {};
  return fail(Errc::invalid_argument, "policy " + std::string(text) + ": " + std::string(entry.name) +
                                          " does not rank by phi - psi, so it has no horizon and no guarantee; leave "
                                          "\"" +
                                          std::string(text.substr(at)) + "\" out");
}

}  // namespace

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const Entry& entry : k_policies) names.emplace_back(entry.name);
  return names;
}

std::string policy_list() {
  std::map<std::size_t, std::string> names;
  for (const Entry& entry : k_policies) {
    std::string& those = names[entry.traits.max_organizations];
    those.append(those.empty() ? "" : ", ").append(entry.name);
  }
  std::string list;
  // Words with two blanks before them are commands to bash's completion.
  for (const auto& [most, those] : names)
    list += "    up to " + std::to_string(most) + " organizations  " + those + "\n";
  return list;
}

Expected<NamedPolicy> parse_policy(std::string_view text, const game::ServingRule& otherwise) {
  const bool once = text.ends_with(k_once);
  const std::string_view said = once ? text.substr(0, text.size() - k_once.size()) : text;
  const std::size_t at = said.find('@');
  NamedPolicy policy{std::string(said.substr(0, at)), otherwise, once};
  if (at == std::string_view::npos) return policy;
  std::string_view rest = said.substr(at + 1);
  const auto next = [&rest] {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
    return part;
  };
  const auto wrong = [&](const char* what, const Error& error) {
    return with_context("policy " + std::string(text) + ": " + what, error);
  };
  const bool guaranteed = rest.find('/') != std::string_view::npos;
  const std::string_view first = next();
  const bool brakes = first == k_braking;
  const auto horizon = game::parse_horizon(brakes ? "0" : first);
  if (!horizon) return wrong("horizon", horizon.error());
  policy.rule = {.horizon = *horizon, .pace = brakes ? game::pace_under({}) : game::Pace{}};
  if (!guaranteed) return policy;
  const bool weighed = rest.find('/') != std::string_view::npos;
  const auto guarantee = game::parse_guarantee(next());
  if (!guarantee) return wrong("guarantee", guarantee.error());
  policy.rule.guarantee = *guarantee;
  if (brakes) policy.rule.pace = game::pace_under(*guarantee);
  if (!weighed) return policy;
  if (brakes) {
    const auto pace = game::parse_pace(rest);
    if (!pace) return wrong("pace", pace.error());
    policy.rule.pace = *pace;
    return policy;
  }
  const auto weight = game::parse_running_weight(rest);
  if (!weight) return wrong("weight of what runs", weight.error());
  policy.rule.running = *weight;
  return policy;
}

std::string policy_text(std::string_view name, const game::ServingRule& rule, bool once) {
  std::string text(name);
  const bool brakes = rule.pace != game::Pace{};
  const bool paced = brakes && rule.pace != game::pace_under(rule.guarantee);
  const bool weighed = !brakes && rule.running != game::RunningWeight{};
  if (rule != game::ServingRule{}) text += '@' + (brakes ? std::string(k_braking) : game::format_horizon(rule.horizon));
  if (weighed || paced || rule.guarantee != game::Guarantee{}) text += '/' + game::format_guarantee(rule.guarantee);
  if (weighed) text += '/' + game::format_running_weight(rule.running);
  if (paced) text += '/' + game::format_pace(rule.pace);
  if (once) text += k_once;
  return text;
}

Expected<PolicyPtr> make_policy(std::string_view policy, const Instance& instance, const PolicyOptions& given) {
  SHAPLEY_TRY_ASSIGN(const NamedPolicy named, parse_policy(policy, given.rule));
  const std::string& name = named.name;
  PolicyOptions options = given;
  options.rule = named.rule;
  const auto* entry =
      std::find_if(k_policies.begin(), k_policies.end(), [&](const Entry& e) { return e.name == name; });
  if (entry == k_policies.end()) {
    std::string known;
    for (const Entry& e : k_policies) known += (known.empty() ? "" : ", ") + std::string(e.name);
    return fail(Errc::invalid_argument, "policy \"" + name + "\" is unknown; known are " + known);
  }
  SHAPLEY_TRY(check_rule_of(*entry, policy, named));
  const Traits& traits = entry->traits;
  if (instance.organizations() > traits.max_organizations) {
    return fail(Errc::limit, "policy " + name + ": " + std::to_string(instance.organizations()) +
                                 " organizations exceed its limit of " + std::to_string(traits.max_organizations) +
                                 "; " + std::string(traits.alternative));
  }
  SHAPLEY_TRY(check_rigid(*entry, instance, options));
  SHAPLEY_TRY(scheduling::check_horizon(instance, options.rule));
  SHAPLEY_TRY(check_permutations(instance, options.permutations));
  if (traits.check != nullptr) SHAPLEY_TRY(traits.check(instance, options));
  PolicyPtr made = entry->make(instance, options);
  const bool as_all = given.once_a_pass && policy == name && traits.ruled && traits.can_be_once_a_pass;
  return named.once || as_all ? scheduling::make_once_a_pass(std::move(made)) : std::move(made);
}

Expected<std::vector<scheduling::Permutation>> parse_permutations(std::string_view text) {
  std::vector<scheduling::Permutation> permutations(1);
  for (const char c : text) {
    if (c == ',') {
      permutations.emplace_back();
    } else if (c >= '0' && c <= '9') {
      permutations.back().push_back(static_cast<std::uint32_t>(c - '0'));
    } else if (c >= 'a' && c <= 'v') {
      permutations.back().push_back(static_cast<std::uint32_t>(c - 'a' + 10));
    } else {
      return fail(Errc::invalid_argument,
                  std::string("--permutations: unexpected character '") + c + "'; write them as 012,210");
    }
  }
  return permutations;
}

}  // namespace shapley::sim
