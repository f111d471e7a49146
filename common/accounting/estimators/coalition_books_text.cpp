// CoalitionBooks as lines of a checkpoint.
//
// Where every request starts in parts, on nodes of one kind, the text says nothing of forms and kinds, as it did before
// there were any. Otherwise it begins with the number of kinds and with the forms, and says more.
#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "accounting/checkpoint/text_format.hpp"
#include "accounting/estimators/coalition_books.hpp"
#include "accounting/events/event_check.hpp"

namespace shapley::accounting {

namespace {

using Image = CoalitionBooks::Schedules::Image;
using Schedule = decltype(Image::schedules)::value_type;
using Value = decltype(Schedule::value);

constexpr std::int64_t k_most_counted = 1'000'000'000;  // bound of every count
constexpr std::int64_t k_first = k_beginning_of_time.value;
constexpr std::int64_t k_last = k_end_of_time.value;
constexpr std::int64_t k_lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t k_highest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t k_level = std::numeric_limits<std::int64_t>::max() / 4;  // bound of sums of processors
constexpr Int128 k_coefficient = Int128{1} << 126U;

void write_value(TextWriter& out, const Value& value) {
  out.number(value.running).number(static_cast<Int128>(value.slope)).number(static_cast<Int128>(value.constant));
}

Value read_value(TextReader& in) {
  Value value;
  value.running = in.small(-k_level, k_level);
  value.slope = static_cast<decltype(value.slope)>(in.number(-k_coefficient, k_coefficient));
  value.constant = static_cast<decltype(value.constant)>(in.number(-k_coefficient, k_coefficient));
  return value;
}

void write_order(TextWriter& out, const hindsight::Order& order) {
  out.number(Int128{order.group}).number(order.start).number(Int128{order.run});
}

hindsight::Order read_order(TextReader& in) {
  const auto u64 = [&] { return static_cast<std::uint64_t>(in.number(0, std::numeric_limits<std::uint64_t>::max())); };
  hindsight::Order order;
  order.group = u64();
  order.start = in.small(k_lowest, k_highest);
  order.run = u64();
  return order;
}

std::int64_t read_amount(TextReader& in) {
  return in.small(1, k_max_wanted.value);
}

// Calls visit(amount) for amounts that a part may have.
template <typename Visit>
void for_parts(std::int64_t amount, Visit&& visit) {
  for (; amount > 0; amount -= std::min(amount, hindsight::k_most_of_a_part))
    visit(std::min(amount, hindsight::k_most_of_a_part));
}

std::int64_t read_begin(TextReader& in) {
  const std::int64_t begin = in.small(k_first, k_highest);
  return begin > k_last ? hindsight::k_never : begin;
}

using Position = hindsight::Position<hindsight::UInt128>;

// How schedules are written.
struct Layout {
  std::size_t kinds = 1;
  bool has_forms = false;

  void write_kind(TextWriter& out, Kind kind) const {
    if (has_forms) out.number(kind);
  }
  [[nodiscard]] Kind read_kind(TextReader& in) const {
    return has_forms ? static_cast<Kind>(in.small(0, static_cast<std::int64_t>(kinds) - 1)) : Kind{0};
  }

  void write_ends(TextWriter& out, const std::vector<hindsight::End>& ends) const {
    out.number(static_cast<Int128>(ends.size()));
    for (const hindsight::End& end : ends) {
      out.number(end.at()).number(end.start()).number(end.amount());
      write_kind(out, end.kind());
    }
  }
  [[nodiscard]] std::vector<hindsight::End> read_ends(TextReader& in) const {
    std::vector<hindsight::End> ends;
    for (std::int64_t left = in.small(0, k_most_counted); left > 0 && in.ok(); --left) {
      const std::int64_t at = in.small(0, 2 * k_last_instant.value);
      const std::int64_t start = in.small(0, k_last_instant.value);
      const std::int64_t all = read_amount(in);
      const Kind kind = read_kind(in);
      for_parts(all, [&](std::int64_t amount) { ends.emplace_back(at, start, amount, kind); });
    }
    return ends;
  }

  void write_position(TextWriter& out, const Position& position) const {
    if (has_forms) {
      out.number(position.head).number(static_cast<Int128>(position.waiting.size()));
      for (const hindsight::Waiting& of : position.waiting) out.number(of.form).number(of.place).number(of.begun);
      for (std::size_t kind = 0; kind < kinds; ++kind)
        out.number(position.pools[kind].free).number(position.pools[kind].size);
    } else {
      // The first request that waits is the first one that has not started entirely.
      const hindsight::Waiting first =
          position.waiting.empty() ? hindsight::Waiting{.place = position.head} : position.waiting.front();
      out.number(first.place).number(first.begun).number(position.pools.front().free);
    }
    write_value(out, position.value);
    write_ends(out, position.coming);
  }
  void read_position(TextReader& in, Position& position) const {
    position.head = static_cast<std::uint32_t>(in.small(0, k_most_counted));
    if (has_forms) {
      for (std::int64_t left = in.small(0, k_most_counted); left > 0 && in.ok(); --left) {
        hindsight::Waiting& of = position.waiting.emplace_back();
        of.form = static_cast<hindsight::FormId>(in.small(0, k_most_counted));
        of.place = static_cast<std::uint32_t>(in.small(0, k_most_counted));
        of.begun = in.small(0, k_max_wanted.value);
      }
      position.pools.resize(kinds);
      for (hindsight::Pool& pool : position.pools) {
        pool.free = in.small(-k_level, k_level);
        pool.size = in.small(-k_level, k_level);
      }
      position.value = read_value(in);
    } else {
      const std::int64_t begun = in.small(0, k_max_wanted.value);
      if (begun > 0) position.waiting.push_back({.place = position.head++, .begun = begun});
      const std::int64_t free = in.small(-k_level, k_level);
      position.value = read_value(in);
      position.pools.front() = {.free = free, .size = free + position.value.running};
    }
    position.coming = read_ends(in);
  }

  void write_schedule(TextWriter& out, const Schedule& schedule) const {
    out.line("schedule").number(schedule.members).number(schedule.reached);
    write_position(out, schedule);
    write_position(out, schedule.points.front());
    out.number(static_cast<Int128>(schedule.marked.size()));
    for (const Value& value : schedule.marked) write_value(out, value);
    out.number(static_cast<Int128>(schedule.parts.size()));
    for (const hindsight::Part& part : schedule.parts) {
      out.number(part.place()).number(part.start()).number(part.amount());
      write_kind(out, part.kind());
    }
  }
  [[nodiscard]] Schedule read_schedule(TextReader& in) const {
    Schedule schedule;
    schedule.members = static_cast<hindsight::Coalition>(in.small(0, std::numeric_limits<std::uint32_t>::max()));
    schedule.reached = in.small(k_lowest, k_last);
    read_position(in, schedule);
    read_position(in, schedule.points.emplace_back());
    schedule.points.front().at = schedule.reached;
    for (std::int64_t left = in.small(0, k_most_counted); left > 0 && in.ok(); --left)
      schedule.marked.push_back(read_value(in));
    for (std::int64_t left = in.small(0, k_most_counted); left > 0 && in.ok(); --left) {
      const auto place = static_cast<std::uint32_t>(in.small(0, k_most_counted));
      const std::int64_t start = in.small(0, k_last_instant.value);
      const std::int64_t all = read_amount(in);
      const Kind kind = read_kind(in);
      for_parts(all, [&](std::int64_t amount) { schedule.parts.emplace_back(place, start, amount, kind); });
    }
    return schedule;
  }
};

// With the kinds that are used: which others were named once does not follow from the facts.
Layout layout_of(const Image& image) {
  std::size_t kinds = 1;
  const auto use = [&kinds](std::size_t kind) { kinds = std::max(kinds, kind + 1); };
  for (const hindsight::Form& form : image.forms) use(std::ranges::max(form.kinds));
  for (const hindsight::CapacityChange& change : image.changes) use(change.kind);
  const auto use_pools = [&](const Position& position) {
    for (std::size_t kind = 0; kind < position.pools.size(); ++kind) {
      if (position.pools[kind] != hindsight::Pool{}) use(kind);
    }
  };
  for (const Schedule& schedule : image.schedules) {
    use_pools(schedule);
    use_pools(schedule.points.front());
  }
  const bool has_forms = std::ranges::any_of(image.forms, [](const auto& form) { return form != hindsight::Form{}; });
  return {.kinds = kinds, .has_forms = has_forms || kinds > 1};
}

void write_forms(TextWriter& out, const Layout& layout, const std::vector<hindsight::Form>& forms) {
  if (!layout.has_forms) return;
  out.line("kinds").number(static_cast<Int128>(layout.kinds));
  for (const hindsight::Form& form : forms) {
    out.line("form").number(form.width).number(static_cast<Int128>(form.kinds.size()));
    for (const Kind kind : form.kinds) out.number(kind);
  }
}

Layout read_forms(TextReader& in, std::vector<hindsight::Form>& forms) {
  Layout layout;
  if (!in.next("kinds")) return layout;
  layout = {.kinds = static_cast<std::size_t>(in.small(1, hindsight::k_most_kinds)), .has_forms = true};
  while (in.next("form")) {
    hindsight::Form form{.kinds = {}, .width = in.small(0, k_max_wanted.value)};
    for (std::int64_t left = in.small(1, hindsight::k_most_kinds); left > 0 && in.ok(); --left) {
      const Kind kind = layout.read_kind(in);
      if (form.may_use(kind)) in.fault("a form with a kind twice");
      form.kinds.push_back(kind);
    }
    forms.push_back(std::move(form));
  }
  if (forms.empty()) forms.emplace_back();
  return layout;
}

std::int64_t player_of(hindsight::Coalition owner) {
  return std::countr_zero(owner);
}

hindsight::Coalition read_owner(TextReader& in, std::size_t players) {
  return hindsight::Coalition{1} << in.small(0, std::max<std::int64_t>(static_cast<std::int64_t>(players) - 1, 0));
}

void write_request(TextWriter& out, const Layout& layout, const hindsight::Known& known) {
  out.line("request").number(known.release).number(player_of(known.owner));
  write_order(out, known.order);
  out.number(known.amount).number(known.really_began).number(known.duration);
  if (layout.has_forms) out.number(known.form).number(known.is_charged_apart);
}

hindsight::Known read_request(TextReader& in, const Layout& layout, std::size_t players) {
  hindsight::Known known;
  known.release = in.small(0, k_last_instant.value);
  known.owner = read_owner(in, players);
  known.order = read_order(in);
  known.amount = in.small(0, k_max_wanted.value);
  known.really_began = read_begin(in);
  known.duration = in.small(hindsight::k_unknown, k_last_instant.value);
  if (!layout.has_forms) return known;
  known.form = static_cast<hindsight::FormId>(in.small(0, k_most_counted)) & hindsight::k_form_bits;
  known.is_charged_apart = in.small(0, 1) == 1 ? 1 : 0;
  return known;
}

void write_stretch(TextWriter& out, const Stretch& stretch) {
  out.instant(stretch.begin).number(stretch.present).number(static_cast<Int128>(stretch.period));
}

Stretch read_stretch(TextReader& in) {
  Stretch stretch;
  stretch.begin = in.instant(k_beginning_of_time, k_end_of_time);
  stretch.present = static_cast<hindsight::Coalition>(in.small(0, std::numeric_limits<std::uint32_t>::max()));
  stretch.period = static_cast<std::size_t>(in.small(0, k_most_counted));
  return stretch;
}

}  // namespace

void CoalitionBooks::save(TextWriter& out) const {
  const auto saved = schedules_.image();
  const Image& image = saved.image;
  out.line("coalitions").instant(horizon_).number(image.time).number(image.settled);
  out.number(static_cast<Int128>(image.marks.size()));
  for (const std::int64_t mark : image.marks) out.number(mark);
  for (std::size_t i = 0; i < image.cuts.size(); ++i) {
    const bool is_final = i < image.at_final_cuts.size();
    write_stretch(out.line(is_final ? "final_stretch" : "stretch"), stretches_[shared_ + i]);
    if (is_final) out.number(image.at_final_cuts[i].work).number(image.at_final_cuts[i].moment);
  }
  const Layout layout = layout_of(image);
  write_forms(out, layout, image.forms);
  for (const hindsight::Known& known : image.requests) write_request(out, layout, known);
  for (const hindsight::CapacityChange& change : image.changes) {
    out.line("offered").number(change.at).number(player_of(change.owner)).number(change.by);
    layout.write_kind(out, change.kind);
  }
  for (const Schedule& schedule : image.schedules) layout.write_schedule(out, schedule);
  for (const auto& [key, group] : groups_) {
    out.line("group").instant(key.released).number(key.organization.value).number(key.job.value);
    out.number(static_cast<Int128>(group.size()));
    for (const KnownRequest& one : group) {
      const auto name =
          std::lower_bound(saved.names.begin(), saved.names.end(), std::pair(one.name, hindsight::Request{0}));
      out.number(name->second);
      // What it may use by now is in its form; this is what it asked for when it was released.
      if (layout.has_forms) out.number(one.is.asked.kinds);
    }
  }
}

void CoalitionBooks::load(TextReader& in, Instant now) {
  if (!in.next("coalitions")) return in.fault("the coalitions are missing");
  horizon_ = in.instant(k_beginning_of_time, now);
  Image image;
  image.time = in.small(k_lowest, now.value);
  image.settled = in.small(k_lowest, now.value);
  for (std::int64_t left = in.small(0, k_most_counted); left > 0 && in.ok(); --left)
    image.marks.push_back(in.small(k_first, k_last));
  while (in.next("final_stretch")) {
    stretches_.push_back(read_stretch(in));
    const Int128 work = in.number(-k_coefficient, k_coefficient);
    image.at_final_cuts.push_back({work, in.number(-k_coefficient, k_coefficient)});
  }
  while (in.next("stretch")) stretches_.push_back(read_stretch(in));
  for (const Stretch& stretch : stretches_) image.cuts.push_back(stretch.begin.value);
  const Layout layout = read_forms(in, image.forms);
  while (in.next("request")) image.requests.push_back(read_request(in, layout, players_));
  while (in.next("offered")) {
    hindsight::CapacityChange change;
    change.at = in.small(k_first, k_last);
    change.owner = read_owner(in, players_);
    change.by = in.small(-k_max_wanted.value, k_max_wanted.value);
    change.kind = layout.read_kind(in);
    image.changes.push_back(change);
  }
  while (in.next("schedule")) image.schedules.push_back(layout.read_schedule(in));
  const std::vector<hindsight::Known> requests = image.requests;
  const std::vector<hindsight::Form> forms = image.forms.empty() ? std::vector<hindsight::Form>(1) : image.forms;
  if (!in.ok()) return;
  if (!schedules_.restore(std::move(image))) return in.fault("these are not the schedules of coalitions");
  std::vector<bool> is_told(requests.size());
  while (in.next("group")) {
    GroupKey key;
    key.released = in.instant(k_beginning_of_time, k_end_of_time);
    key.organization.value = static_cast<std::uint32_t>(in.small(0, k_most_counted));
    key.job.value = static_cast<std::uint32_t>(in.small(0, std::numeric_limits<std::uint32_t>::max()));
    Group& group = groups_[key];
    for (std::int64_t left = in.small(0, k_most_counted); left > 0 && in.ok(); --left) {
      const auto name = static_cast<std::size_t>(in.small(0, k_most_counted));
      if (name >= requests.size() || is_told[name] || requests[name].amount == 0)
        return in.fault("a request that the schedules do not have");
      is_told[name] = true;
      const hindsight::Known& known = requests[name];
      Asked asked{.width = forms[known.form].width};
      if (layout.has_forms) asked.kinds = static_cast<KindSet>(in.number(1, ~KindSet{0}));
      group.push_back({static_cast<hindsight::Request>(name),
                       {known.release, known.order, known.amount, known.really_began, known.duration, asked}});
    }
    std::sort(group.begin(), group.end(), is_before);
  }
}

}  // namespace shapley::accounting
