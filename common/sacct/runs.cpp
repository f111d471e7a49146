#include "sacct/runs.hpp"

#include <queue>
#include <tuple>

#include <fmt/format.h>

#include "sacct/packed.hpp"

namespace shapley::sacct {

namespace {

bool continues(const Run& run, const SacctRow& row) {
  return run.last().state == "RESIZING" && (row.start == run.last().end || row.start == run.first().start);
}

bool repeats(const SacctRow& row, const SacctRow& before) {
  return row.start == before.start && row.end == before.end && row.state != "RESIZING";
}

}  // namespace

std::vector<Run> runs_of(const std::vector<SacctRow>& of_job) {
  std::vector<Run> runs;
  std::optional<Instant> left;  // the queue, for the last time
  for (const SacctRow& row : of_job) {
    if (!row.ran()) {
      left = std::max(left, row.end);
    } else if (!runs.empty() && repeats(row, runs.back().last())) {
      runs.back().repeated.push_back(row.line);
    } else if (!runs.empty() && continues(runs.back(), row)) {
      runs.back().rows.push_back(row);
    } else {
      runs.push_back({.rows = {row}});
    }
  }
  for (Run& run : runs) run.left_queue = left && run.end() && *left >= *run.end();
  return runs;
}

Expected<void> for_each_run(const SortedRows& rows, const std::function<Expected<void>(Run&)>& visit) {
  std::uint64_t number = 0;
  return rows.for_each_job([&](const std::vector<SacctRow>& of_job) -> Expected<void> {
    for (Run& run : runs_of(of_job)) {
      run.number = number++;
      SHAPLEY_TRY(visit(run));
    }
    return {};
  });
}

Expected<void> RunsInTime::add(const Run& run) {
  const std::vector<Moment> moments = moments_of_(run);
  if (moments.empty()) return {};
  Instant first = k_end_of_time;
  for (const Moment& moment : moments) first = std::min(first, moment.at);
  std::string record;
  add_ordered(first.value, record);
  Packer pack_field(record);
  pack_field(run.number);
  pack_field(run.repeated);
  pack_field(run.left_queue);
  pack_field(static_cast<std::uint32_t>(run.rows.size()));
  for (const SacctRow& row : run.rows) pack(row, record);
  return sorted_.add(record);
}

Expected<void> RunsInTime::for_each(
    const std::function<Expected<void>(const std::shared_ptr<Run>&, const Moment&)>& visit) const {
  struct Next {
    std::shared_ptr<Run> run;
    Moment moment;
    std::shared_ptr<std::size_t> left;  // moments of the run that have not come
  };
  const auto later = [](const Next& a, const Next& b) {
    const auto key = [](const Next& n) { return std::tuple(n.moment.at, n.moment.order, n.run->number, n.moment.row); };
    return key(a) > key(b);
  };
  std::priority_queue<Next, std::vector<Next>, decltype(later)> next(later);
  std::size_t names = 0;  // of the nodes of open runs
  const auto names_of = [](const Run& run) {
    std::size_t sum = 0;
    for (const SacctRow& row : run.rows) sum += row.nodes.size();
    return sum;
  };
  const auto visit_before = [&](Instant end) -> Expected<void> {
    while (!next.empty() && next.top().moment.at < end) {
      const Next now = next.top();
      next.pop();
      SHAPLEY_TRY(visit(now.run, now.moment));
      if (--*now.left == 0 && now.run->end()) names -= names_of(*now.run);
    }
    return {};
  };
  const auto take = [&](std::string_view record) -> Expected<void> {
    record.remove_prefix(sizeof(std::int64_t));
    const auto run = std::make_shared<Run>();
    Unpacker unpack(record);
    unpack(run->number);
    unpack(run->repeated);
    unpack(run->left_queue);
    std::uint32_t rows = 0;
    unpack(rows);
    for (; rows > 0; --rows) run->rows.push_back(unpack_row(record));
    names += names_of(*run);
    const std::vector<Moment> moments = moments_of_(*run);
    const auto left = std::make_shared<std::size_t>(moments.size());
    Instant first = k_end_of_time;
    for (const Moment& moment : moments) first = std::min(first, moment.at);
    SHAPLEY_TRY(visit_before(first));
    if (names > k_max_names) {
      return fail(Errc::invalid_argument,
                  fmt::format("line {}: the runs that went on when this one began name more than {} nodes; correct the "
                              "rows, or export a shorter time (sacct -S and -E)",
                              run->first().line, k_max_names));
    }
    for (const Moment& moment : moments) next.push({run, moment, left});
    return {};
  };
  SHAPLEY_TRY(sorted_.for_each(take));
  return visit_before(Instant{k_end_of_time.value + 1});
}

Expected<void> for_each_part(const SortedRows& rows, const std::function<bool(const Run&)>& is_asked,
                             const std::function<Expected<void>(const std::shared_ptr<Run>&, std::size_t row)>& visit) {
  // The end keeps the run in memory as long as it is open.
  RunsInTime in_time(rows, [](const Run& run) {
    std::vector<RunsInTime::Moment> moments;
    for (std::size_t row = 0; row < run.rows.size(); ++row)
      moments.push_back({run.begin_of(row), run.rows[row].line, row});
    moments.push_back({run.end().value_or(k_end_of_time), 0, run.rows.size()});
    return moments;
  });
  SHAPLEY_TRY(for_each_run(rows, [&](Run& run) { return is_asked(run) ? in_time.add(run) : Expected<void>{}; }));
  return in_time.for_each([&](const std::shared_ptr<Run>& run, const RunsInTime::Moment& moment) -> Expected<void> {
    return moment.row < run->rows.size() ? visit(run, moment.row) : Expected<void>{};
  });
}

}  // namespace shapley::sacct
