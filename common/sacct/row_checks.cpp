#include "sacct/row_checks.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <queue>
#include <vector>

#include <fmt/format.h>

#include "base/calendar.hpp"
#include "base/text.hpp"
#include "sacct/runs.hpp"

namespace shapley::sacct {

void Findings::take(Faults& faults) {
  count_ += faults.size();
  kept_.merge(faults);
  faults.clear();
  if (choice_ == Malformed::refuse && kept_.size() > 1) kept_.erase(std::next(kept_.begin()), kept_.end());
}

Expected<void> Findings::finish() {
  if (count_ == 0) return {};
  if (choice_ == Malformed::refuse) {
    const auto& [line, why] = *kept_.begin();
    const std::size_t others = count_ - 1;
    return refused({line, others == 0 ? why : fmt::format("{} (and {})", why, counted(others, "more such row"))});
  }
  for (auto& [line, why] : kept_) {
    sacct_.rows.leave_out(line);
    sacct_.bad.push_back({line, std::move(why)});
  }
  std::ranges::sort(sacct_.bad, {}, &BadRow::line);
  return {};
}

namespace {

std::string line_text(const SacctRow& row) {
  return "line " + std::to_string(row.line);
}

bool same_owner(const SacctRow& a, const SacctRow& b) {
  return a.user_id && b.user_id ? a.user_id == b.user_id : a.user == b.user;
}

bool same_nodes(const SacctRow& a, const SacctRow& b) {
  return a.nodes.empty() || b.nodes.empty() || a.nodes == b.nodes;
}

// "account and end"
std::string differences(const SacctRow& a, const SacctRow& b) {
  std::vector<std::string> names;
  if (!same_owner(a, b)) names.emplace_back("user");
  if (a.account != b.account) names.emplace_back("account");
  if (!same_nodes(a, b)) names.emplace_back("node list");
  if (a.cpus != b.cpus) names.emplace_back("number of CPUs");
  if (a.start != b.start) names.emplace_back("start");
  if (a.end != b.end) names.emplace_back("end");
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " and ") + names[i];
  return text;
}

// Checks a job's rows in the order of time.
void check_job(const std::vector<SacctRow>& of_job, Faults& faults) {
  const SacctRow* before = nullptr;  // the row so far that ends last
  for (const SacctRow& each : of_job) {
    const SacctRow* row = &each;
    if (!row->ran()) continue;
    const bool beside =
        before != nullptr && (!before->end || *row->start < *before->end || row->start == before->start);
    const std::string name = "job " + std::to_string(row->job);
    if (!beside) {
      before = row;
    } else if (!before->end && *row->start > *before->start) {
      faults.emplace(
          before->line,
          fmt::format("End: {} ran again from {} on ({}), so it had ended, and nothing says when; correct the row",
                      name, format_instant(*row->start), line_text(*row)));
      before = row;
    } else if (row->start == before->start && before->state == "RESIZING" && same_owner(*row, *before)) {
      before = row;
    } else if (row->start == before->start && before->end && !row->end && same_owner(*row, *before)) {
      faults.emplace(row->line,
                     fmt::format("End: is missing, but {} has it for the same run of {}; leave one of the rows out",
                                 line_text(*before), name));
    } else if (const std::string what = differences(*row, *before); !what.empty()) {
      const auto contradict = [&](const SacctRow& one, const SacctRow& other) {
        faults.emplace(one.line, fmt::format("{} has another {} in {} at the same time; are these jobs of two "
                                             "clusters? Export one at a time (sacct -M)",
                                             name, what, line_text(other)));
      };
      contradict(*row, *before);
      contradict(*before, *row);
      if (!row->end || (before->end && *row->end > *before->end)) before = row;
    }
  }
}

// A run with one bad row is bad as a whole.
void add_run(const Run& run, const std::string& why, Faults& faults) {
  for (const std::int64_t line : run.lines()) faults.emplace(line, why);
}

void check_submission(const Run& run, Faults& faults) {
  constexpr Duration k_set{600};  // clocks are set now and then
  const SacctRow& row = run.first();
  if (*row.start >= row.submit - k_set) return;
  add_run(run,
          fmt::format("Start: {} lies before Submit, {}, and no row RESIZING says what the run held before; correct "
                      "the row, or export from before its start on",
                      format_instant(*row.start), format_instant(row.submit)),
          faults);
}

void check_sizes(const Run& run, const SiteNodes& nodes, Faults& faults) {
  for (const SacctRow& row : run.rows) {
    std::uint64_t cpus = 0;
    for (const std::string& name : row.nodes) {
      const auto node = nodes.find(name);
      if (node == nodes.end()) {
        return add_run(
            run,
            fmt::format("NodeList: it is not known what node {} has; --nodes must name every node that ran anything",
                        name),
            faults);
      }
      cpus += node->second.cpus;
    }
    if (row.nodes.empty() || row.cpus <= cpus) continue;
    return add_run(
        run,
        fmt::format("AllocCPUS: {} are more than the {} that its nodes have; correct the row, or what --nodes says",
                    row.cpus, cpus),
        faults);
  }
}

// Puts the runs on the nodes, in the order of time, and finds those that have no room.
class Placing {
 public:
  Placing(const SiteNodes& nodes, Findings& findings) : findings_(findings) {
    for (const auto& [name, record] : nodes) nodes_[name].size = record.cpus;
  }

  // What a run held from one resize to the next.
  void place(const std::shared_ptr<Run>& run, std::size_t index) {
    const SacctRow& row = run->rows[index];
    const Part part{run, &row, least_of(row)};
    if (run->is_left_out || !has_room(part, run->begin_of(index))) return;
    for (std::size_t i = 0; i < part.least.size(); ++i) {
      Node& node = nodes_[row.nodes[i]];
      node.busy += part.least[i];
      if (row.end) {
        node.held.push({*row.end, part.least[i], row.line});
      } else {
        node.open.push_back(part);
      }
    }
  }

 private:
  struct Part {
    std::shared_ptr<Run> run;
    const SacctRow* row;               // of it
    std::vector<std::uint64_t> least;  // CPUs of each of the row's nodes, as far as that is certain
  };
  struct Held {
    Instant until;
    std::uint64_t cpus;
    std::int64_t line;
    friend bool operator<(const Held& a, const Held& b) { return a.until > b.until; }
  };
  struct Node {
    std::uint64_t size = 0, busy = 0;
    std::priority_queue<Held> held;  // the first to end on top
    std::vector<Part> open;          // they go on
  };

  // The CPUs that the other nodes cannot have held, and one at least.
  std::vector<std::uint64_t> least_of(const SacctRow& row) {
    std::uint64_t sum = 0;
    for (const std::string& name : row.nodes) sum += nodes_[name].size;
    std::vector<std::uint64_t> least;
    for (const std::string& name : row.nodes) {
      const std::uint64_t size = nodes_[name].size;
      const std::uint64_t others = sum - size;
      least.push_back(std::min<std::uint64_t>(size, row.cpus > others ? row.cpus - others : 1));
    }
    return least;
  }

  void leave_out(Run& run, const std::string& why) {
    Faults faults;
    add_run(run, why, faults);
    findings_.take(faults);
    run.is_left_out = true;
  }

  bool has_room(const Part& part, Instant begin) {
    for (std::size_t i = 0; i < part.least.size(); ++i) {
      const std::string& name = part.row->nodes[i];
      Node& node = nodes_[name];
      for (; !node.held.empty() && node.held.top().until <= begin; node.held.pop()) node.busy -= node.held.top().cpus;
      const auto too_much = [&](std::int64_t beside) {
        return fmt::format(
            "NodeList: beside line {} its run would hold more than the {} CPUs of node {}; correct the row, or say "
            "--oversubscribed where jobs share CPUs",
            beside, node.size, name);
      };
      while (node.busy + part.least[i] > node.size) {
        if (node.open.empty()) {
          leave_out(*part.run, too_much(node.held.top().line));
          return false;
        }
        // Of the two the row without a known end is more likely wrong.
        const Part open = node.open.back();
        leave_out(*open.run, too_much(part.row->line));
        remove(open);
      }
    }
    return true;
  }

  void remove(const Part& open) {
    for (std::size_t i = 0; i < open.least.size(); ++i) {
      Node& node = nodes_[open.row->nodes[i]];
      node.busy -= open.least[i];
      std::erase_if(node.open, [&](const Part& part) { return part.row == open.row; });
    }
  }

  Findings& findings_;
  std::map<std::string, Node, std::less<>> nodes_;
};

}  // namespace

Expected<void> check_rows(SacctExport& sacct, Malformed choice) {
  Findings findings(sacct, choice);
  SHAPLEY_TRY(sacct.rows.for_each_job([&](const std::vector<SacctRow>& of_job) -> Expected<void> {
    Faults faults;
    check_job(of_job, faults);
    for (const Run& run : runs_of(of_job)) check_submission(run, faults);
    findings.take(faults);
    return {};
  }));
  return findings.finish();
}

Expected<void> check_nodes(SacctExport& sacct, const SiteNodes& nodes, bool oversubscribed, Malformed choice) {
  Findings sizes(sacct, choice);
  SHAPLEY_TRY(for_each_run(sacct.rows, [&](const Run& run) -> Expected<void> {
    Faults faults;
    check_sizes(run, nodes, faults);
    sizes.take(faults);
    return {};
  }));
  SHAPLEY_TRY(sizes.finish());
  if (oversubscribed) return {};
  Findings places(sacct, choice);
  Placing placing(nodes, places);
  const auto is_placed = [](const Run& run) { return run.suspended().value == 0 && run.last().state != "SUSPENDED"; };
  SHAPLEY_TRY(
      for_each_part(sacct.rows, is_placed, [&](const std::shared_ptr<Run>& run, std::size_t row) -> Expected<void> {
        placing.place(run, row);
        return {};
      }));
  return places.finish();
}

Expected<void> check_billing(SacctExport& sacct, Malformed choice) {
  Findings findings(sacct, choice);
  SHAPLEY_TRY(for_each_run(sacct.rows, [&](const Run& run) -> Expected<void> {
    if (std::ranges::all_of(run.rows, [](const SacctRow& row) { return row.billing.has_value(); })) return {};
    Faults faults;
    add_run(run,
            "AllocTRES: is missing, which says what Slurm bills (charge: billing); export that column, or correct the "
            "row",
            faults);
    findings.take(faults);
    return {};
  }));
  return findings.finish();
}

Expected<void> check_places(SacctExport& sacct, Malformed choice) {
  Findings findings(sacct, choice);
  SHAPLEY_TRY(sacct.rows.for_each_job([&](const std::vector<SacctRow>& of_job) -> Expected<void> {
    Faults faults;
    for (const SacctRow& row : of_job) {
      if (!row.ran() || !row.nodes.empty()) continue;
      faults.emplace(
          row.line,
          fmt::format("NodeList: job {} ran, and on no node; export the column NodeList, or leave the row out",
                      row.job));
    }
    findings.take(faults);
    return {};
  }));
  return findings.finish();
}

}  // namespace shapley::sacct
