// Placements: the nodes that a job may use, as it requested them, and the nodes that result.
//
// A placement is a text that many jobs share: words in this order, with one blank between them, of what the job asks
// for; values hold no blanks.
//
//   partition=P[,Q...] nodes=LIST exclude=LIST features=CONSTRAINT reservation=R[,S...]
//
// Text that cannot be read admits no node, so that nothing is counted where there may be nothing. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/messages.hpp"

namespace shapley::request {

// Names separated by commas, ascending, each once: the order in which a job names them changes nothing.
[[nodiscard]] std::string sorted_names(std::string names);

// The placement that a job requests, or requested before it started; empty: any node will do. A list or constraint that
// may have been cut in transfer (protocol::k_max_placement_text) becomes `*`, which no node meets.
[[nodiscard]] std::string placement_of(const protocol::JobUpdate& record);

// A placement, read once to be asked about many nodes.
class Placement {
 public:
  explicit Placement(std::string text);

  [[nodiscard]] const std::string& text() const { return text_; }

  // How many nodes a job names, all of which it needs.
  [[nodiscard]] std::size_t named_nodes() const { return nodes_ ? nodes_->size() : 0; }

  // Whether it asks for this one, or for none in particular; whether it asks for this one.
  [[nodiscard]] bool asks_for_partition(std::string_view name) const;
  [[nodiscard]] bool asks_for_reservation(std::string_view name) const;

  // These partitions (ascending) no longer count, unless it is in no others.
  void leave_out(std::span<const std::string> partitions);

  // Whether jobs of it may use the node, up or not: the node fits, and
  // - is in one of the job's reservations; for a job without: in no reservation.
  [[nodiscard]] bool admits(const protocol::NodeRecord& node, bool partitions_known = true) const;
  // Whether they may use it when reservations are over: the node
  // - is in one of the partitions (`partitions_known` false: the feeder is an older one that sends them of no node),
  // - is among `nodes`: a job that names some counts for these alone, even if it asks for more nodes than it names,
  // - is not among `exclude`,
  // - is admitted by `features` (admits()).
  [[nodiscard]] bool fits(const protocol::NodeRecord& node, bool partitions_known = true) const;

 private:
  [[nodiscard]] bool read();

  std::string text_;
  bool readable_ = false;
  std::vector<std::string> partitions_;
  std::optional<std::vector<std::string>> nodes_;  // ascending
  std::vector<std::string> excluded_;              // ascending
  std::string features_;
  std::vector<std::string> reservations_;
};

using NodeTable = std::map<std::string, protocol::NodeRecord, std::less<>>;

// Whether the feeder sends the partitions of nodes.
[[nodiscard]] bool partitions_known(const NodeTable& nodes);

// The nodes that jobs of this placement may use, ascending: one that is down, too, because it offers nothing anyway.
[[nodiscard]] std::vector<std::string> usable_nodes(std::string_view placement, const NodeTable& nodes);

// Whether a node with these features (ascending) may be one of a job's with this --constraint: features joined by `&`
// (or `,`) and `|`, which Slurm evaluates from the left to the right, neither before the other, and groups of them in
// parentheses. Where nodes of several kinds serve one job, each kind will do: of alternatives in brackets
// ("[rack1|rack2]") and of counted features ("gpu*2&big*1") a node needs any one. nullopt: the text is no constraint.
[[nodiscard]] std::optional<bool> admits(std::string_view constraint, std::span<const std::string> features);

}  // namespace shapley::request
