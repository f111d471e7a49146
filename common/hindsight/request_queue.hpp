// The requests of all organizations in the order in which every schedule serves them: by release, organization, group,
// form, start.
//
// Requests of one form are linked in that order. What starts of them in a schedule does so in that order, too, because
// where one does not fit, no other does.
//
// A request keeps its name while other requests are inserted and dropped. Single-threaded; VirtualSchedules owns it.
#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "game/shapley_value.hpp"

namespace shapley::hindsight {

using game::Coalition;

// Names a request; 0, 1, 2, ... in the order in which they were added.
using Request = std::uint32_t;

inline constexpr std::int64_t k_never = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t k_unknown = -1;
inline constexpr Request k_no_request = std::numeric_limits<Request>::max();

// Of equal releases of one organization the requests of the smaller group are served first; of one group those of one
// form go together, by forms; of one form the request that started earlier goes first, and what still waits last.
struct Order {
  Order() = default;
  Order(std::uint64_t of_group, std::int64_t of_start = 0, std::uint64_t of_run = 0)  // NOLINT: an integer is an order
      : group(of_group), start(of_start), run(of_run) {}
  std::uint64_t group = 0;
  std::int64_t start = 0;
  std::uint64_t run = 0;
  friend auto operator<=>(const Order&, const Order&) = default;
};

// Names a kind of nodes, as what they offer is one pool.
using Kind = std::uint8_t;
inline constexpr std::size_t k_most_kinds = 64;

// Where a request may run, and what of it starts together.
struct Form {
  // The kinds that it may use, in the order in which they are tried; none of them twice.
  std::vector<Kind> kinds = {0};
  // So much of it starts together, in one kind; a request of several times that is as many that are alike. 0: any part
  // of it starts.
  std::int64_t width = 0;
  [[nodiscard]] bool is_multiple(std::int64_t amount) const { return width == 0 || amount % width == 0; }
  [[nodiscard]] bool may_use(Kind kind) const { return std::ranges::find(kinds, kind) != kinds.end(); }
  // `added` is tried right behind `kind` if that may be used, unless it may be used already.
  void add_behind(Kind kind, Kind added) {
    const auto place = std::ranges::find(kinds, kind);
    if (place != kinds.end() && !may_use(added)) kinds.insert(place + 1, added);
  }
  friend auto operator<=>(const Form&, const Form&) = default;
};
using FormId = std::uint32_t;
inline constexpr FormId k_form_bits = 0x7FFF'FFFF;  // the 31 that a request keeps of it

struct Known {
  std::int64_t release = 0;
  std::int64_t amount = 0;              // 0: withdrawn
  std::int64_t duration = k_unknown;    // of its run
  std::int64_t really_began = k_never;  // k_never while it waits
  Order order;
  Coalition owner = 0;  // one bit
  Request name = 0;
  FormId form : 31 = 0;
  FormId is_charged_apart : 1 = 0;  // it starts as one where its form's width fits, whatever the amount
  Request next = 0;                 // of this form, or k_no_request
  friend bool operator==(const Known&, const Known&) = default;
};

class RequestQueue {
 public:
  RequestQueue() = default;
  RequestQueue(std::vector<std::uint32_t> ranks, std::vector<Form> forms);
  [[nodiscard]] const std::vector<std::uint32_t>& ranks() const { return ranks_; }

  // By organization: its rank among equal releases; all ranks are equal at first. REQUIRES: organizations that have
  // requests keep their order.
  void set_ranks(std::vector<std::uint32_t> by_organization) { ranks_ = std::move(by_organization); }

  // Names a request and inserts it behind those that are served before it or rank equally. Requests at its place and
  // behind move one further. Returns the place.
  std::uint32_t insert(Known known);
  // As insert(), at this place. REQUIRES: that keeps the order.
  void insert_at(std::uint32_t place, Known known);

  // The number of a form, which known.form names.
  [[nodiscard]] FormId form_of(const Form& form);
  [[nodiscard]] const std::vector<Form>& forms() const { return forms_; }
  [[nodiscard]] const Form& form_at(std::uint32_t place) const { return forms_[queue_[place].form]; }
  // Whether every request has the same form, so that all start in their order.
  [[nodiscard]] bool is_fcfs() const { return forms_.size() <= 1; }
  // Form::add_behind of every form.
  void add_kind_behind(Kind kind, Kind added);
  // The place of the next request of the same form; size() if no later one is of it.
  [[nodiscard]] std::uint32_t next_alike(std::uint32_t place) const {
    const Request next = queue_[place].next;
    return next == k_no_request ? static_cast<std::uint32_t>(queue_.size()) : place_of(next);
  }

  // Withdrawn requests of this organization and release in front of `place` have no order of their own: they get one
  // before `order`.
  void move_withdrawn_before(std::uint32_t place, const Order& order);

  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  [[nodiscard]] const Known& operator[](std::uint32_t place) const { return queue_[place]; }
  [[nodiscard]] Known& operator[](std::uint32_t place) { return queue_[place]; }
  [[nodiscard]] std::uint32_t place_of(Request request) const { return place_[request - first_name_]; }
  [[nodiscard]] const std::vector<Known>& all() const { return queue_; }
  [[nodiscard]] bool is_ordered() const;
  // Memory in bytes.
  [[nodiscard]] std::size_t bytes() const;

  // For each old place, and the end, its new place or that of the next kept request; for each old form of a kept
  // request its new number.
  struct Moved {
    std::vector<std::uint32_t> places;
    std::vector<FormId> forms;
  };
  // Drops requests that are not kept, and forms that none has.
  Moved drop(const std::vector<bool>& keep);
  // Gives all requests the names 0, 1, 2, ... in their order.
  void rename();

 private:
  static constexpr std::uint32_t k_dropped = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] bool before(const Known& a, const Known& b) const;
  [[nodiscard]] std::uint32_t rank_of(const Known& known) const {
    const auto organization = static_cast<std::size_t>(std::countr_zero(known.owner));
    return organization < ranks_.size() ? ranks_[organization] : 0;
  }

  void link(std::uint32_t place);
  void link_all();
  std::vector<FormId> drop_forms();

  std::vector<Known> queue_;
  std::vector<std::uint32_t> place_;  // by request, from first_name_ on; k_dropped for dropped ones
  Request first_name_ = 0;
  std::vector<std::uint32_t> ranks_;
  std::vector<Form> forms_;
  std::map<Form, FormId> form_ids_;
  std::vector<Request> last_;  // by form: its last request, or k_no_request
};

}  // namespace shapley::hindsight
