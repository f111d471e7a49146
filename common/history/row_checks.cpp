#include "history/row_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "base/calendar.hpp"
#include "base/counted.hpp"
#include "history/runs.hpp"

namespace shapley::history {

Expected<void> leave_out(SacctRows& sacct, const Faults& faults, Malformed choice) {
  if (faults.empty()) return {};
  if (choice == Malformed::refuse) {
    const auto& [line, why] = *faults.begin();
    const std::size_t others = faults.size() - 1;
    return refused({line, others == 0 ? why : why + " (and " + counted(others, "more such row") + ")"});
  }
  std::erase_if(sacct.rows, [&](const SacctRow& row) { return faults.contains(row.line); });
  for (const auto& [line, why] : faults) sacct.bad.push_back({line, why});
  std::sort(sacct.bad.begin(), sacct.bad.end(), [](const BadRow& a, const BadRow& b) { return a.line < b.line; });
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

// Looks at a job's rows in the order of time.
void check_job(const std::vector<const SacctRow*>& rows, Faults& faults) {
  const SacctRow* before = nullptr;  // of those so far the one that ends last
  for (const SacctRow* row : rows) {
    const bool beside =
        before != nullptr && (!before->end || *row->start < *before->end || row->start == before->start);
    const std::string name = "job " + std::to_string(row->job);
    if (!beside) {
      before = row;
    } else if (!before->end && *row->start > *before->start) {
      faults.emplace(before->line, "End: " + name + " ran again from " + format_instant(*row->start) + " on (" +
                                       line_text(*row) + "), so it had ended, and nothing says when; correct the row");
      before = row;
    } else if (row->start == before->start && before->state == "RESIZING" && same_owner(*row, *before)) {
      before = row;
    } else if (row->start == before->start && before->end && !row->end && same_owner(*row, *before)) {
      faults.emplace(row->line, "End: is missing, but " + line_text(*before) + " has it for the same run of " + name +
                                    "; leave one of the rows out");
    } else if (const std::string what = differences(*row, *before); !what.empty()) {
      const auto contradict = [&](const SacctRow& one, const SacctRow& other) {
        faults.emplace(one.line,
                       name + " has another " + what + " in " + line_text(other) +
                           " at the same time; are these jobs of two clusters? Export one at a time (sacct -M)");
      };
      contradict(*row, *before);
      contradict(*before, *row);
      if (!row->end || (before->end && *row->end > *before->end)) before = row;
    }
  }
}

// A run with one bad row is bad as a whole.
void add_run(const Run& run, const std::string& why, Faults& faults) {
  for (const SacctRow* row : run.rows) faults.emplace(row->line, why);
}

void check_submission(const Run& run, Faults& faults) {
  constexpr Duration k_set{600};  // clocks are set now and then
  const SacctRow& row = run.first();
  if (*row.start >= row.submit - k_set) return;
  add_run(
      run,
      "Start: " + format_instant(*row.start) + " lies before Submit, " + format_instant(row.submit) +
          ", and no row RESIZING says what the run held before; correct the row, or export from before its start on",
      faults);
}

void check_sizes(const Run& run, const SiteNodes& nodes, Faults& faults) {
  for (const SacctRow* row : run.rows) {
    std::uint64_t cpus = 0;
    for (const std::string& name : row->nodes) {
      const auto node = nodes.find(name);
      if (node == nodes.end()) {
        return add_run(
            run, "NodeList: it is not known what node " + name + " has; --nodes must name every node that ran anything",
            faults);
      }
      cpus += node->second.cpus;
    }
    if (row->nodes.empty() || row->cpus <= cpus) continue;
    return add_run(run,
                   "AllocCPUS: " + std::to_string(row->cpus) + " are more than the " + std::to_string(cpus) +
                       " that its nodes have; correct the row, or what --nodes says",
                   faults);
  }
}

// What a run held from one resize to the next.
struct Part {
  Instant begin, end;  // k_end_of_time: it goes on
  const SacctRow* row;
  const Run* run;
  std::vector<std::uint64_t> least;  // CPUs of each of the row's nodes, as far as that is certain
};

// Puts the runs on the nodes, in the order of time, and says which ones find no room.
class Placing {
 public:
  Placing(const std::vector<Run>& runs, const SiteNodes& nodes) {
    for (const auto& [name, record] : nodes) nodes_[name].size = record.cpus;
    for (const Run& run : runs) {
      if (run.suspended().value == 0 && run.last().state != "SUSPENDED") add_parts(run);
    }
    std::stable_sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
      return std::pair(a.begin, a.row->line) < std::pair(b.begin, b.row->line);
    });
  }

  void place(Faults& faults) {
    for (const Part& part : parts_) {
      if (faults.contains(part.row->line) || !has_room(part, faults)) continue;
      for (std::size_t i = 0; i < part.least.size(); ++i) {
        Node& node = nodes_[part.row->nodes[i]];
        node.busy += part.least[i];
        if (part.end == k_end_of_time) {
          node.open.push_back(&part);
        } else {
          node.held.push({part.end, part.least[i], part.row->line});
        }
      }
    }
  }

 private:
  struct Held {
    Instant until;
    std::uint64_t cpus;
    std::int64_t line;
    friend bool operator<(const Held& a, const Held& b) { return a.until > b.until; }
  };
  struct Node {
    std::uint64_t size = 0, busy = 0;
    std::priority_queue<Held> held;  // the first to end on top
    std::vector<const Part*> open;
  };

  void add_parts(const Run& run) {
    for (std::size_t i = 0; i < run.rows.size(); ++i) {
      const SacctRow& row = *run.rows[i];
      parts_.push_back({run.begin_of(i), row.end.value_or(k_end_of_time), &row, &run, least_of(row)});
    }
  }

  // All that the other nodes cannot have held, and one CPU at least.
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

  bool has_room(const Part& part, Faults& faults) {
    for (std::size_t i = 0; i < part.least.size(); ++i) {
      const std::string& name = part.row->nodes[i];
      Node& node = nodes_[name];
      for (; !node.held.empty() && node.held.top().until <= part.begin; node.held.pop())
        node.busy -= node.held.top().cpus;
      const auto too_much = [&](std::int64_t beside) {
        return "NodeList: beside line " + std::to_string(beside) + " its run would hold more than the " +
               std::to_string(node.size) + " CPUs of node " + name +
               "; correct the row, or say --oversubscribed where jobs share CPUs";
      };
      while (node.busy + part.least[i] > node.size) {
        if (node.open.empty()) {
          add_run(*part.run, too_much(node.held.top().line), faults);
          return false;
        }
        // Of two the one whose end is not known is likelier to be wrong.
        const Part open = *node.open.back();
        add_run(*open.run, too_much(part.row->line), faults);
        remove(open);
      }
    }
    return true;
  }

  void remove(const Part& open) {
    for (std::size_t i = 0; i < open.least.size(); ++i) {
      Node& node = nodes_[open.row->nodes[i]];
      node.busy -= open.least[i];
      std::erase_if(node.open, [&](const Part* part) { return part->row == open.row; });
    }
  }

  std::vector<Part> parts_;
  std::map<std::string, Node, std::less<>> nodes_;
};

}  // namespace

Expected<void> check_rows(SacctRows& sacct, Malformed choice) {
  Faults faults;
  for (const std::vector<const SacctRow*>& of_job : rows_by_job(sacct.rows)) check_job(of_job, faults);
  for (const Run& run : runs_of(sacct.rows)) check_submission(run, faults);
  return leave_out(sacct, faults, choice);
}

Expected<void> check_nodes(SacctRows& sacct, const SiteNodes& nodes, bool oversubscribed, Malformed choice) {
  Faults faults;
  for (const Run& run : runs_of(sacct.rows)) check_sizes(run, nodes, faults);
  SHAPLEY_TRY(leave_out(sacct, faults, choice));
  if (oversubscribed) return {};
  faults.clear();
  const std::vector<Run> runs = runs_of(sacct.rows);
  Placing(runs, nodes).place(faults);
  return leave_out(sacct, faults, choice);
}

Expected<void> check_places(SacctRows& sacct, Malformed choice) {
  Faults faults;
  for (const SacctRow& row : sacct.rows) {
    if (!row.ran() || !row.nodes.empty()) continue;
    faults.emplace(row.line, "NodeList: job " + std::to_string(row.job) +
                                 " ran, and on no node; export the column NodeList, or leave the row out");
  }
  return leave_out(sacct, faults, choice);
}

}  // namespace shapley::history
