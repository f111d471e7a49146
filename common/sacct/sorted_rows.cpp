#include "sacct/sorted_rows.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/slurm_text.hpp"
#include "sacct/packed.hpp"

namespace shapley::sacct {

void pack(const SacctRow& row, std::string& bytes) {
  Packer packer(bytes);
  pass_members(row, packer);
  packer(collapse_names(row.nodes));  // a list of thousands takes some bytes
}

SacctRow unpack_row(std::string_view& bytes) {
  SacctRow row;
  Unpacker unpacker(bytes);
  pass_members(row, unpacker);
  std::string nodes;
  unpacker(nodes);
  if (nodes.empty()) return row;
  row.nodes = expand_brackets(nodes, k_max_nodes_of_job).value();
  std::sort(row.nodes.begin(), row.nodes.end());
  return row;
}

Expected<void> SortedRows::add(const SacctRow& row) {
  ++added_;
  if (!row.ran()) ++never_ran_;
  std::string record;
  add_ordered(row.job, record);
  add_ordered(row.ran() ? 0 : 1, record);
  add_ordered(row.start.value_or(k_end_of_time).value, record);
  add_ordered(row.end.value_or(k_end_of_time).value, record);
  add_ordered(row.submit.value, record);
  add_ordered(row.line, record);
  pack(row, record);
  return sorted_.add(record);
}

Expected<void> SortedRows::for_each_job(
    const std::function<Expected<void>(const std::vector<SacctRow>&)>& visit) const {
  constexpr std::size_t k_key = 6 * sizeof(std::int64_t);
  std::vector<SacctRow> of_job;
  std::size_t names = 0;
  const auto take = [&](std::string_view record) -> Expected<void> {
    record.remove_prefix(k_key);
    SacctRow row = unpack_row(record);
    if (left_out_.contains(row.line)) return {};
    if (!of_job.empty() && of_job.front().job != row.job) {
      SHAPLEY_TRY(visit(of_job));
      of_job.clear();
      names = 0;
    }
    names += row.nodes.size();
    if (names > k_max_names) {
      return fail(Errc::invalid_argument,
                  fmt::format("line {}: the rows of job {} name more than {} nodes; correct them, or leave them out",
                              row.line, row.job, k_max_names));
    }
    of_job.push_back(std::move(row));
    return {};
  };
  SHAPLEY_TRY(sorted_.for_each(take));
  return of_job.empty() ? Expected<void>{} : visit(of_job);
}

}  // namespace shapley::sacct
