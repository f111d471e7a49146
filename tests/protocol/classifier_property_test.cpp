// The classifier against the definition: walk the rules in order and take the first that matches.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "protocol/classifier.hpp"

namespace shapley::protocol {
namespace {

struct NaiveJob {
  std::string account;
  std::vector<std::string> ancestors;
  std::string partition, qos;
  std::uint32_t user_id = 0, group_id = 0;
};

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

bool matches(const Rule& rule, const NaiveJob& job) {
  if (rule.kind == RuleKind::partition) return rule.name == job.partition;
  if (rule.kind == RuleKind::qos) return rule.name == job.qos;
  if (rule.kind == RuleKind::user) return rule.id == job.user_id;
  if (rule.kind == RuleKind::group) return rule.id == job.group_id;
  return lower(rule.name) == lower(job.account) ||
         std::any_of(job.ancestors.begin(), job.ancestors.end(),
                     [&](const std::string& ancestor) { return lower(rule.name) == lower(ancestor); });
}

std::string naive_organization_of(const std::vector<Rule>& rules, const NaiveJob& job) {
  for (const Rule& rule : rules) {
    if (matches(rule, job)) return rule.organization;
  }
  return "";
}

// A small world, so that rules and jobs meet.
std::string pick_name() {
  return *rc::gen::element<std::string>("a", "b", "c", "d", "A", "bC", "Bc");
}
std::uint32_t pick_id() {
  return *rc::gen::inRange<std::uint32_t>(0, 5);
}

RC_GTEST_PROP(Classifier, AnswersLikeAWalkOverTheRules, ()) {
  std::vector<Rule> rules(*rc::gen::inRange<std::size_t>(0, 12));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    // The organization names the rule, so that a wrong choice among equal organizations shows too.
    rules[i] = {.organization = std::to_string(i),
                .kind = *rc::gen::element(RuleKind::account, RuleKind::partition, RuleKind::qos, RuleKind::user,
                                          RuleKind::group),
                .name = pick_name(),
                .id = pick_id()};
  }
  NaiveJob job{.account = pick_name(),
               .ancestors = std::vector<std::string>(*rc::gen::inRange<std::size_t>(0, 3)),
               .partition = pick_name(),
               .qos = pick_name(),
               .user_id = pick_id(),
               .group_id = pick_id()};
  for (std::string& ancestor : job.ancestors) ancestor = pick_name();
  const Classifier classifier(rules);
  const std::string answer{classifier.organization_of({.account = job.account,
                                                       .account_ancestors = job.ancestors,
                                                       .partition = job.partition,
                                                       .qos = job.qos,
                                                       .user_id = job.user_id,
                                                       .group_id = job.group_id})};
  RC_ASSERT(answer == naive_organization_of(rules, job));
}

}  // namespace
}  // namespace shapley::protocol
