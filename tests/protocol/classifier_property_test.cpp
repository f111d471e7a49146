// The classifier against the definition: walk the rules in order and take the first that matches.
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
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

std::size_t first_match(const std::vector<Rule>& rules, const NaiveJob& job) {
  std::size_t position = 0;
  while (position < rules.size() && !matches(rules[position], job)) ++position;
  return position;
}

std::string organization_at(const std::vector<Rule>& rules, std::size_t position) {
  return position < rules.size() ? rules[position].organization : "";
}

// A small world, so that rules and jobs meet.
std::string pick_name() {
  return *rc::gen::element<std::string>("a", "b", "c", "d", "A", "bC", "Bc");
}
std::uint32_t pick_id() {
  return *rc::gen::inRange<std::uint32_t>(0, 5);
}

std::vector<Rule> some_rules() {
  std::vector<Rule> rules(*rc::gen::inRange<std::size_t>(0, 12));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    // The organization names the rule, so that a wrong choice among equal organizations shows too.
    rules[i] = {.organization = std::to_string(i),
                .kind = *rc::gen::element(RuleKind::account, RuleKind::partition, RuleKind::qos, RuleKind::user,
                                          RuleKind::group),
                .name = pick_name(),
                .id = pick_id()};
  }
  return rules;
}

NaiveJob some_job() {
  NaiveJob job{.account = pick_name(),
               .ancestors = std::vector<std::string>(*rc::gen::inRange<std::size_t>(0, 3)),
               .partition = pick_name(),
               .qos = pick_name(),
               .user_id = pick_id(),
               .group_id = pick_id()};
  for (std::string& ancestor : job.ancestors) ancestor = pick_name();
  return job;
}

JobTraits traits_of(const NaiveJob& job) {
  return {.account = job.account,
          .account_ancestors = job.ancestors,
          .partition = job.partition,
          .qos = job.qos,
          .user_id = job.user_id,
          .group_id = job.group_id};
}

RC_GTEST_PROP(Classifier, AnswersLikeAWalkOverTheRules, ()) {
  const std::vector<Rule> rules = some_rules();
  const NaiveJob job = some_job();
  const Classifier classifier(rules);
  RC_ASSERT(std::string(classifier.organization_of(traits_of(job))) == organization_at(rules, first_match(rules, job)));
}

// A list of partitions: a walk for each of them.
RC_GTEST_PROP(Classifier, AsksForEachPartitionOfAListByItself, ()) {
  const std::vector<Rule> rules = some_rules();
  const Classifier classifier(rules);
  NaiveJob job = some_job();
  std::string list;
  std::size_t last = 0;
  std::multiset<std::string> expected;
  for (int names = *rc::gen::inRange(1, 5); names > 0; --names) {
    job.partition = pick_name();
    list += (list.empty() ? "" : ",") + job.partition;
    last = std::max(last, first_match(rules, job));
    expected.insert(organization_at(rules, first_match(rules, job)));
  }
  job.partition = list;
  RC_ASSERT(std::string(classifier.organization_of(traits_of(job))) == organization_at(rules, last));
  std::multiset<std::string> visited;
  classifier.for_each_organization(traits_of(job), [&](std::string_view name) { visited.emplace(name); });
  RC_ASSERT(visited == expected);
}

}  // namespace
}  // namespace shapley::protocol
