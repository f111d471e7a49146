// The baselines that the papers compare with [SR13 Sec. 7, FS13 Sec. 5]: ROUNDROBIN, FAIRSHARE, UTFAIRSHARE,
// CURRFAIRSHARE, FCFS.
//
// FAIRSHARE serves the smallest  (processor time used up to t) / m[u],  UTFAIRSHARE psi[u](t) / m[u],  CURRFAIRSHARE
// running[u] / m[u]. m[u] = 0 makes a ratio infinite (served last). Ratios are compared by cross-multiplication,
// exactly. ROUNDROBIN's pointer starts at organization 0 and moves past the one served. FCFS serves the earliest
// (release, position).
#pragma once

#include <deque>
#include <vector>

#include "fairness/accrual.hpp"
#include "fairness/policies/policy.hpp"

namespace shapley::fairness {

class RoundRobin final : public Policy {
 public:
  explicit RoundRobin(const Instance& instance) : organizations_(instance.organizations()) {}
  void released(std::int64_t, const Job&) override {}
  std::int32_t started(std::int64_t, std::size_t organization) override {
    next_ = (organization + 1) % organizations_;
    return k_any_owner;
  }
  void completed(std::int64_t, std::size_t, std::int32_t) override {}
  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) override;

 private:
  std::size_t organizations_;
  std::size_t next_ = 0;
};

class FirstComeFirstServed final : public Policy {
 public:
  explicit FirstComeFirstServed(const Instance& instance) : order_(instance.organizations()) {}
  void released(std::int64_t, const Job& job) override { order_[job.organization].push_back(released_++); }
  std::int32_t started(std::int64_t, std::size_t organization) override {
    order_[organization].pop_front();
    return k_any_owner;
  }
  void completed(std::int64_t, std::size_t, std::int32_t) override {}
  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) override;

 private:
  std::vector<std::deque<std::uint64_t>> order_;  // position in the common queue, by organization
  std::uint64_t released_ = 0;
};

enum class Share { used_time, utility, running };

class FairShare final : public Policy {
 public:
  FairShare(const Instance& instance, Share share)
      : share_(share), processors_(instance.processors), own_(instance.organizations()) {}
  void released(std::int64_t, const Job&) override {}
  std::int32_t started(std::int64_t t, std::size_t organization) override {
    own_[organization].change(t, 1);
    return k_any_owner;
  }
  void completed(std::int64_t t, std::size_t organization, std::int32_t) override { own_[organization].change(t, -1); }
  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) override;

 private:
  [[nodiscard]] std::int64_t measure(std::int64_t t, std::size_t organization);
  Share share_;
  std::vector<std::uint32_t> processors_;
  std::vector<Accrual> own_;
};

}  // namespace shapley::fairness
