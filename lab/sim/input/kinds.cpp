#include "sim/input/kinds.hpp"

#include <algorithm>
#include <utility>

#include "base/number.hpp"
#include "base/text.hpp"

namespace shapley::sim {

namespace {

tl::unexpected<Error> wrong_option(const std::string& option, const std::string& text, const std::string& why) {
  return fail(Errc::invalid_argument, option + ": \"" + text + "\": " + why);
}

// "NAME=REST".
Expected<std::pair<std::string, std::string>> name_and_rest(const std::string& option, const std::string& text,
                                                            const std::string& form) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    return wrong_option(option, text, "expected " + form);
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Expected<std::vector<std::uint32_t>> numbers_of(const std::string& text, const std::string& list) {
  constexpr std::uint32_t k_most = 10'000'000;
  std::vector<std::uint32_t> numbers;
  for (const std::string_view word : split(list, ',')) {
    const auto number = parse_number<std::uint32_t>(word);
    if (!number || *number > k_most)
      return wrong_option("--owned", text, "\"" + std::string(word) + "\" is no number of processors, 0 to 10,000,000");
    numbers.push_back(*number);
  }
  return numbers;
}

Expected<scheduling::KindOrder> order_of(const std::string& text, const std::string& list,
                                         const std::vector<std::string>& names) {
  std::vector<std::uint32_t> order;
  for (const std::string_view word : split(list, '+')) {
    const auto place = std::find(names.begin(), names.end(), word);
    if (place == names.end()) {
      std::string known;
      for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
      return wrong_option("--kinds", text,
                          "there is no kind \"" + std::string(word) + "\"; " +
                              (known.empty() ? "give --owned KIND=N,N,... for each kind" : "--owned names " + known));
    }
    const auto kind = static_cast<std::uint32_t>(place - names.begin());
    if (std::find(order.begin(), order.end(), kind) != order.end())
      return wrong_option("--kinds", text, "the kind \"" + std::string(word) + "\" is there twice; name it once");
    order.push_back(kind);
  }
  return scheduling::KindOrder(order);
}

}  // namespace

Expected<Kinds> parse_kinds(const KindOptions& options) {
  Kinds kinds;
  std::vector<std::string> names;
  for (const std::string& text : options.owned) {
    SHAPLEY_TRY_ASSIGN(const auto entry, name_and_rest("--owned", text, "KIND=N,N,..., such as gpu=0,0,8"));
    if (std::find(names.begin(), names.end(), entry.first) != names.end())
      return wrong_option("--owned", text, "this kind was given before; give it once");
    if (names.size() == scheduling::k_most_kinds)
      return wrong_option("--owned", text,
                          "more than " + std::to_string(scheduling::k_most_kinds) + " kinds; put kinds together");
    SHAPLEY_TRY_ASSIGN(auto numbers, numbers_of(text, entry.second));
    if (!kinds.owned.empty() && numbers.size() != kinds.owned.front().size())
      return wrong_option("--owned", text,
                          "of another number of organizations than the kind before; write 0 for those that own none");
    names.push_back(entry.first);
    kinds.owned.push_back(std::move(numbers));
  }
  for (const std::string& text : options.kinds) {
    SHAPLEY_TRY_ASSIGN(const auto entry,
                       name_and_rest("--kinds", text, "PARTITION=KIND, such as gpu=gpu or all=cpu+gpu"));
    SHAPLEY_TRY_ASSIGN(const auto order, order_of(text, entry.second, names));
    if (!kinds.of_partition.emplace(entry.first, order).second)
      return wrong_option("--kinds", text, "this partition was given before; give it once");
  }
  return kinds;
}

Expected<scheduling::EasyInstance> whole_jobs_of(const workload::Trace& trace, const workload::Window& window,
                                                 const Kinds& kinds) {
  for (const auto& [partition, order] : kinds.of_partition) {
    if (std::find(trace.partitions.begin(), trace.partitions.end(), partition) != trace.partitions.end()) continue;
    std::string known;
    for (const std::string& name : trace.partitions) known += (known.empty() ? "" : ", ") + name;
    return wrong_option(
        "--kinds", partition,
        known.empty() ? "the trace names no partitions" : "the trace has no such partition; it has " + known);
  }
  scheduling::EasyInstance instance;
  instance.kinds = kinds.owned;
  if (instance.kinds.empty()) instance.kinds = {window.instance.processors};
  if (instance.kinds.front().size() != window.instance.organizations()) {
    return fail(Errc::invalid_argument, "--owned: names " + std::to_string(instance.kinds.front().size()) +
                                            " organizations, and the window has " +
                                            std::to_string(window.instance.organizations()) +
                                            "; give --organizations as many");
  }
  for (std::size_t i = 0; i < window.instance.jobs.size(); ++i) {
    const workload::TraceJob& of_trace = trace.jobs[window.trace_job[i]];
    scheduling::Job job = window.instance.jobs[i];
    if (of_trace.partition < trace.partitions.size()) {
      const auto order = kinds.of_partition.find(trace.partitions[of_trace.partition]);
      if (order != kinds.of_partition.end()) job.kinds = order->second;
    }
    instance.jobs.push_back(job);
    instance.requested.push_back(std::max(of_trace.requested, job.duration));
  }
  instance.until = window.instance.end;
  SHAPLEY_TRY(scheduling::finish_kinds(instance));
  return instance;
}

}  // namespace shapley::sim
