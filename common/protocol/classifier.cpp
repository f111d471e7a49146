#include "protocol/classifier.hpp"

#include <utility>

#include "base/text.hpp"

namespace shapley::protocol {

// FNV-1a over the folded letters: short names, and no copy to fold them into.
std::size_t Classifier::AccountHash::operator()(std::string_view name) const {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(lower(c))) * 0x100000001b3U;
  return hash;
}

bool Classifier::AccountEqual::operator()(std::string_view a, std::string_view b) const {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

Classifier::Classifier(std::vector<Rule> rules) : rules_(std::move(rules)) {
  for (std::size_t position = 0; position < rules_.size(); ++position) {
    const Rule& rule = rules_[position];
    // emplace keeps what is there already: the first rule wins.
    switch (rule.kind) {
      case RuleKind::account:
        accounts_.emplace(rule.name, position);
        break;
      case RuleKind::partition:
        partitions_.emplace(rule.name, position);
        break;
      case RuleKind::qos:
        qos_.emplace(rule.name, position);
        break;
      case RuleKind::user:
        users_.emplace(rule.id, position);
        break;
      case RuleKind::group:
        groups_.emplace(rule.id, position);
        break;
    }
  }
}

std::size_t Classifier::first_of(const JobTraits& job) const {
  std::size_t first = rules_.size();
  const auto consider = [&first](const auto& index, const auto& key) {
    if (const auto found = index.find(key); found != index.end()) first = std::min(first, found->second);
  };
  consider(accounts_, job.account);
  for (const std::string_view ancestor : job.account_ancestors) consider(accounts_, ancestor);
  consider(qos_, job.qos);
  consider(users_, job.user_id);
  consider(groups_, job.group_id);
  return first;
}

std::size_t Classifier::first_of_partition(std::string_view partition) const {
  const auto found = partitions_.find(partition);
  return found == partitions_.end() ? rules_.size() : found->second;
}

std::string_view Classifier::organization_at(std::size_t position) const {
  return position < rules_.size() ? std::string_view{rules_[position].organization} : std::string_view{};
}

std::size_t Classifier::deciding(const JobTraits& job) const {
  std::size_t last = 0;
  for_each_choice(job, [&last](std::size_t position) { last = std::max(last, position); });
  return last;
}

std::string_view Classifier::organization_of(const JobTraits& job) const {
  return organization_at(deciding(job));
}

const Rule* Classifier::rule_of(const JobTraits& job) const {
  const std::size_t position = deciding(job);
  return position < rules_.size() ? &rules_[position] : nullptr;
}

}  // namespace shapley::protocol
