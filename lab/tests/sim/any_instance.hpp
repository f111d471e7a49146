// Small random instances for property tests.
#pragma once

#include <cstdint>

#include <rapidcheck.h>

#include "scheduling/instance.hpp"

namespace shapley::sim {

struct InstanceShape {
  std::int64_t duration_max = 5;
  int jobs_max = 13;
};

// 1 to max_organizations organizations with 0 to 2 processors each; releases in 0..7, the report in 1..19.
inline scheduling::Instance any_instance(int max_organizations, const InstanceShape& shape = {}) {
  scheduling::Instance instance;
  const int organizations = *rc::gen::inRange(1, max_organizations + 1);
  for (int u = 0; u < organizations; ++u) instance.processors.push_back(*rc::gen::inRange(0U, 3U));
  const int jobs = *rc::gen::inRange(0, shape.jobs_max + 1);
  for (int j = 0; j < jobs; ++j) {
    instance.jobs.push_back({{*rc::gen::inRange<std::int64_t>(0, 8)},
                             {*rc::gen::inRange<std::int64_t>(1, shape.duration_max + 1)},
                             *rc::gen::inRange(0U, static_cast<unsigned>(organizations))});
  }
  instance.end = {*rc::gen::inRange<std::int64_t>(1, 20)};
  return instance;
}

// The same after so many organizations that own nothing and send nothing.
inline scheduling::Instance after_idle_ones(scheduling::Instance instance, std::uint32_t idle) {
  instance.processors.insert(instance.processors.begin(), idle, 0);
  for (scheduling::Job& job : instance.jobs) job.organization += idle;
  return instance;
}

}  // namespace shapley::sim
