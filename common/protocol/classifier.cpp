#include "protocol/classifier.hpp"

#include <algorithm>
#include <utility>

namespace shapley::protocol {

namespace {

bool same_account(std::string_view rule, std::string_view account) {
  // Slurm keeps accounts in lower case; the rule may have been typed otherwise.
  return rule.size() == account.size() && std::equal(rule.begin(), rule.end(), account.begin(), [](char a, char b) {
           const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
           return lower(a) == lower(b);
         });
}

bool matches_account(const Rule& rule, const JobTraits& job) {
  if (same_account(rule.name, job.account)) return true;
  for (const std::string_view ancestor : job.account_ancestors) {
    if (same_account(rule.name, ancestor)) return true;
  }
  return false;
}

bool matches(const Rule& rule, const JobTraits& job) {
  switch (rule.kind) {
    case RuleKind::account:
      return matches_account(rule, job);
    case RuleKind::partition:
      return rule.name == job.partition;
    case RuleKind::qos:
      return rule.name == job.qos;
    case RuleKind::user:
      return rule.id == job.user_id;
    case RuleKind::group:
      return rule.id == job.group_id;
  }
  return false;
}

}  // namespace

Classifier::Classifier(std::vector<Rule> rules) : rules_(std::move(rules)) {}

std::string_view Classifier::organization_of(const JobTraits& job) const {
  for (const Rule& rule : rules_) {
    if (matches(rule, job)) return rule.organization;
  }
  return {};
}

}  // namespace shapley::protocol
