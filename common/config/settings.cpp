#include "config/settings.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "accounting/estimators/table.hpp"
#include "base/slurm_text.hpp"
#include "config/checks.hpp"

namespace shapley::config {

namespace {

// A Unix socket's address holds no longer path (sun_path, with its final zero).
constexpr std::size_t k_max_socket_path = 107;
std::string socket_path() {
  return fmt::format("Absolute path of at most {} characters", k_max_socket_path);
}

// A node of a thousand processors stays below the million weighted processors that the daemon takes for a real node.
constexpr IntegerRange k_weight_range{1, 1000};

// The rank's part of a job's priority is a site factor, which Slurm keeps in 31 bits.
constexpr IntegerRange k_rank_weight_range{1, 1'000'000'000};

constexpr std::array<std::pair<std::string_view, Charge>, 4> k_charges{
    {{"dominant", Charge::dominant}, {"cpu", Charge::cpu}, {"weights", Charge::weights}, {"billing", Charge::billing}}};

template <typename T>
Format<T> whole_number(IntegerRange range) {
  const auto parse = [range](std::string_view text) {
    return parse_integer(text, range).map([](std::int64_t number) { return static_cast<T>(number); });
  };
  return scalar<T>(fmt::format("Whole number from {} to {}", range.least, range.most), "write a whole number",
                   or_fault(parse, " is no such number"), [](const T& number) { return std::to_string(number); });
}

OrFault<std::string> parse_place(const std::string& text) {
  const auto place = or_fault(parse_endpoint, " is no place to listen or connect")(text);
  return place.map([&](const Endpoint&) { return text; });
}

// Another shapleyd's socket, or HOST:PORT.
OrFault<std::string> parse_peer(const std::string& text) {
  if (!text.starts_with('/')) return parse_place(text);
  return parse_path(text, k_max_socket_path).map([](const std::filesystem::path& path) { return path.string(); });
}

OrFault<std::string> parse_user(const std::string& text) {
  if (!text.empty() && text.find_first_of(" \t\r\n:/") == std::string::npos) return text;
  return tl::unexpected(Fault{0, shown(text) + " is no user name", "write a login name or a numeric id"});
}

std::string as_it_is(const std::string& text) {
  return text;
}

Row<Configuration> peer_row() {
  auto row = key("peer", &Configuration::peer,
                 scalar<std::string>(socket_path() + ", `HOST:PORT`", "write a socket's path, HOST:PORT, or none",
                                     parse_peer, as_it_is, "none"),
                 "where the other one of two controllers is");
  row.read = [read = row.read](YamlReader& reader, const Mapping& entries, Configuration& into) {
    read(reader, entries, into);
    if (into.peer.empty() || into.peer != into.socket) return;
    reader.fault(*entries.find("peer"), "is this daemon's own socket",
                 "name the socket of the other controller's shapleyd");
  };
  return row;
}

Format<accounting::EstimatorId> estimator() {
  Choices<accounting::EstimatorId> choices;
  for (const accounting::EstimatorId id : accounting::estimator_ids()) {
    choices.emplace_back(accounting::name_of(id), id);
  }
  Format<accounting::EstimatorId> format = choice(choices, "Name of an estimator");
  format.read = [read = format.read](YamlReader& reader, const Value& value, accounting::EstimatorId& into) {
    const std::string said = value.node.IsScalar() ? value.node.Scalar() : std::string();
    const auto former = std::ranges::find(accounting::former_estimators(), said, &accounting::FormerEstimator::name);
    if (former == accounting::former_estimators().end()) return read(reader, value, into);
    reader.gone(value, fmt::format("{}: {}: {}", value.name, said, former->why),
                "write hindsight, or direct_contr, which is easiest to audit (docs/operating/choosing.md)");
  };
  return format;
}

// The key that turns an estimator off. The one that makes ranks cannot be turned off.
Row<Configuration> row_of(accounting::EstimatorId id) {
  const Format<bool> format = on_or_off();
  const std::string name(accounting::name_of(id));
  Row<Configuration> row{
      {accounting::name_of(id), format.type, "`on`", fmt::format("whether phi by {} is kept", name)}};
  row.read = [format, id, name](YamlReader& reader, const Mapping& entries, Configuration& into) {
    const Value* value = entries.find(name);
    bool on = true;
    if (value != nullptr) format.read(reader, *value, on);
    if (on) return;
    into.off.insert(id);
    if (into.contribution != id) return;
    reader.fault(*value, fmt::format("off, but contribution: {} makes the ranks by it", name),
                 fmt::format("write {}: on, or another contribution", name));
  };
  row.text = [format, id](const Configuration& of) { return format.text(!of.off.contains(id)); };
  return row;
}

// A file with weights that was written before the key `charge` existed means weights.
void read_charge(YamlReader& reader, const Mapping& entries, Configuration& into) {
  const Value* weights = entries.find("weights");
  const Value* nodes = entries.find("node_weights");
  if (weights != nullptr) into.charge = Charge::weights;
  if (const Value* value = entries.find("charge")) choice(k_charges).read(reader, *value, into.charge);
  const std::string name(name_of(into.charge));
  const bool by_weights = into.charge == Charge::weights;
  if (weights != nullptr && !by_weights) {
    reader.fault(*weights, "is not read with charge: " + name, "write charge: weights, or remove weights");
  }
  if (nodes != nullptr && (by_weights || into.charge == Charge::billing)) {
    reader.fault(*nodes,
                 fmt::format("is not read with charge: {}, where {} what a node is worth", name,
                             by_weights ? "weights say" : "slurmctld says (TRESBillingWeights)"),
                 "write charge: dominant or charge: cpu, or remove node_weights");
  }
}

// Only resources that nodes have in countable units can be weighed against processors: memory in MiB would dwarf them,
// licenses have no owner, and Slurm's billing uses other weights for jobs than for nodes.
void check_resource(YamlReader& reader, const Mapping::Entry& entry) {
  const std::string_view key = entry.key;
  constexpr std::string_view k_gres = "gres/";
  const bool is_gres =
      key.starts_with(k_gres) && key.size() > k_gres.size() && key.find_first_of(" \t,=") == std::string_view::npos;
  if (key == "cpu" || is_gres) return;
  reader.fault(entry.value, "a resource of this name has no weight", "allowed are cpu, gres/NAME and gres/NAME:TYPE");
}

// The entries of a table of weights.
std::vector<Mapping::Entry> weights_in(YamlReader& reader, const Value& value, const std::string& example) {
  const auto table = reader.table(value, "write a table such as " + example);
  if (table && table->entries().empty()) {
    reader.fault(value, "the table is empty", "write a table such as " + example);
  }
  return table ? table->entries() : std::vector<Mapping::Entry>{};
}

// 0 after a fault.
std::int64_t weight_of(YamlReader& reader, const Mapping::Entry& entry) {
  std::int64_t weight = 0;
  whole_number<std::int64_t>(k_weight_range).read(reader, entry.value, weight);
  return weight;
}

using ResourceWeights = std::vector<std::pair<std::string, std::int64_t>>;

void read_resource_weights(YamlReader& reader, const Value& value, ResourceWeights& into) {
  into.clear();
  for (const Mapping::Entry& entry : weights_in(reader, value, "{cpu: 1, gres/gpu: 32}")) {
    check_resource(reader, entry);
    into.emplace_back(entry.key, weight_of(reader, entry));
  }
}

void read_node_weights(YamlReader& reader, const Value& value, std::vector<NodeWeight>& into) {
  std::set<std::string> seen;
  for (const Mapping::Entry& entry : weights_in(reader, value, "{\"gpu[1-4]\": 4}")) {
    auto nodes = expand_brackets(entry.key);
    if (!nodes) {
      reader.fault(entry.value, nodes.error().what, "write nodes as in slurm.conf, such as gpu[1-4]");
      continue;
    }
    for (const std::string& node : *nodes) {
      if (seen.insert(node).second) continue;
      reader.fault(entry.value, fmt::format("node {} has a weight twice", node), "give it one weight");
    }
    into.push_back({*std::move(nodes), weight_of(reader, entry), entry.key});
  }
}

std::string resource_weights_text(const ResourceWeights& weights) {
  std::string text;
  for (const auto& [name, weight] : weights) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, weight);
  return text;
}

std::string node_weights_text(const std::vector<NodeWeight>& weights) {
  ResourceWeights by_name;
  for (const NodeWeight& w : weights) by_name.emplace_back(w.expression, w.weight);
  return weights.empty() ? "none" : resource_weights_text(by_name);
}

constexpr std::size_t k_max_delimiter = 8;

void read_workflow_rules(YamlReader& reader, const Value& value, std::vector<workflow::KeyRule>& into) {
  const auto list = reader.list(value, "write a list such as [wckey, array], or [] for none");
  if (!list) return;
  into.clear();
  for (const Value& element : *list) {
    const std::size_t faults = reader.reported();
    workflow::KeyRule rule{};
    choice(workflow::k_key_rules).read(reader, element, rule);
    if (reader.reported() != faults) continue;
    if (std::ranges::find(into, rule) != into.end()) reader.fault(element, "a rule is named twice", "name it once");
    into.push_back(rule);
  }
}

std::string workflow_rules_text(const std::vector<workflow::KeyRule>& rules) {
  std::string text;
  for (const workflow::KeyRule rule : rules)
    text += (text.empty() ? "" : ", ") + choice(workflow::k_key_rules).text(rule);
  return '[' + text + ']';
}

Format<std::string> delimiter() {
  const std::string allowed = fmt::format("1 to {} characters without blanks", k_max_delimiter);
  const auto parse = [allowed](const std::string& text) -> OrFault<std::string> {
    const auto unfit = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 127; };
    if (!text.empty() && text.size() <= k_max_delimiter && std::ranges::none_of(text, unfit)) return text;
    return tl::unexpected(Fault{0, shown(text) + " is no delimiter", "write " + allowed});
  };
  auto format = scalar<std::string>(allowed, "write the text that parts a job's name, such as \"-\"", parse,
                                    [](const std::string& text) { return '\'' + text + '\''; });
  format.written = [](const std::string& text) { return '"' + text + '"'; };
  return format;
}

Expected<std::int64_t> parse_threshold(std::string_view text) {
  return parse_share(text).map([](const Share& share) { return share.parts_per_million(); });
}

Rows<Configuration> daemon_rows() {
  return {
      key("ledger", &Configuration::ledger, path("Absolute path"), "the file with the books"),
      key("socket", &Configuration::socket, path(socket_path(), k_max_socket_path),
          "where the plugin and shapleyctl find the daemon"),
      peer_row(),
      key("listen", &Configuration::listen,
          scalar<std::string>("A place `HOST:PORT`", "write HOST:PORT, or none", parse_place, as_it_is, "none"),
          "where other hosts may ask, and the other one of two controllers follow"),
      key("munge_socket", &Configuration::munge_socket, path(socket_path(), k_max_socket_path, "none"),
          "where munged listens, for all that goes over TCP"),
      key("signing_key", &Configuration::signing_key, path("Absolute path of a private key", k_max_path, "none"),
          "signs heads of the ledger"),
      key("slurm_user", &Configuration::slurm_user,
          scalar<std::string>("Login name or numeric id", "write a user name", parse_user, as_it_is),
          "who may feed the books, besides root"),
  };
}

Rows<Configuration> estimator_rows() {
  Rows<Configuration> rows{
      key("contribution", &Configuration::contribution, estimator(), "what an organization gave, for the ranks")};
  for (const accounting::EstimatorId id : accounting::estimator_ids()) {
    if (accounting::estimators()[id.value].has_key) rows.push_back(row_of(id));
  }
  rows.push_back(key("hindsight_memory", &Configuration::hindsight_memory,
                     scalar<std::int64_t>("Bytes, or a number with `K`, `M`, `G` or `T`, from 16 MiB to 1 TiB",
                                          "write bytes such as 512M, or auto",
                                          or_fault(parse_memory, " is no such amount of memory"), memory_text, "auto"),
                     "how much memory phi by hindsight may take"));
  rows.push_back(key(
      "hindsight_jobs", &Configuration::hindsight_jobs,
      choice<HindsightJobs>(
          {{"unchanged", HindsightJobs::unchanged}, {"whole", HindsightJobs::whole}, {"parts", HindsightJobs::parts}}),
      "how jobs start in hindsight's virtual schedules"));
  return rows;
}

Rows<Configuration> rank_rows() {
  using accounting::Guests;
  using accounting::KeyRule;
  return {
      key("rule", &Configuration::rule,
          choice<KeyRule>({{"braking", KeyRule::braking}, {"published", KeyRule::horizon}}), "what ranks look at"),
      key("guarantee", &Configuration::guarantee, part(),
          "the part of its own processors that an organization may count on"),
      key("guests", &Configuration::guests, choice<Guests>({{"last", Guests::last}, {"ranked", Guests::ranked}}),
          "whether jobs of no organization go after all others"),
      key("order", &Configuration::order,
          choice<Order>({{name_of(Order::strict), Order::strict}, {name_of(Order::weighted), Order::weighted}}),
          "whether ranks outweigh Slurm's own factors"),
      key("rank_weight", &Configuration::rank_weight, whole_number<std::uint32_t>(k_rank_weight_range),
          "what the first rank adds with `order: weighted`"),
      key("mode", &Configuration::mode,
          choice<Mode>({{name_of(Mode::priorities), Mode::priorities}, {name_of(Mode::observe), Mode::observe}}),
          "whether ranks act on priorities"),
      key("period", &Configuration::period,
          choice<Period>({{"none", Period::none},
                          {"monthly", Period::monthly},
                          {"quarterly", Period::quarterly},
                          {"yearly", Period::yearly}}),
          "when standings begin again from zero"),
      key("stale_after", &Configuration::stale_after, duration(Duration{1}, k_longest_duration),
          "how long the last ranks hold without shapleyd"),
  };
}

Rows<Configuration> charge_rows() {
  auto charge = key("charge", &Configuration::charge, choice(k_charges), "what a job is charged on a node");
  charge.read = read_charge;
  return {
      std::move(charge),
      key("weights", &Configuration::weights,
          {"Table of resources with whole numbers from 1 to 1000", read_resource_weights, resource_weights_text},
          "what counts as processors with `charge: weights`", "each CPU 1"),
      key("node_weights", &Configuration::node_weights,
          {"Table of nodes with whole numbers from 1 to 1000", read_node_weights, node_weights_text},
          "what a CPU of a node is worth", "none"),
  };
}

Rows<Configuration> table_rows() {
  const auto consortium = [](YamlReader& reader, const Mapping& file, Configuration& into) {
    if (const Value* value = file.find("consortium")) read_consortium(reader, *value, into);
  };
  return {
      within(&Configuration::workflows, workflow_order("how one organization's jobs are ordered")),
      key("workflows", &Configuration::workflows, workflow_table("Table with the keys below"),
          "what a workflow is and how it is measured", "as each of them says"),
      {{"consortium", "Table with the keys below", "none",
        "one consortium, several clusters: ranks by the sum over them"},
       consortium,
       consortium_text,
       true},
      {{"organizations", "List of organizations", std::string(k_required), "in the order that breaks ties of rank"},
       read_organizations},
  };
}

template <typename Table>
std::vector<Key> keys_of(const Rows<Table>& rows) {
  std::vector<Key> keys;
  std::ranges::transform(rows, std::back_inserter(keys), &Row<Table>::key);
  return keys;
}

}  // namespace

std::string_view name_of(Charge charge) {
  const auto found = std::ranges::find(k_charges, charge, &std::pair<std::string_view, Charge>::second);
  return found == k_charges.end() ? std::string_view{} : found->first;
}

const Rows<Configuration>& file_rows() {
  static const Rows<Configuration> rows = [] {
    Rows<Configuration> all;
    for (const auto part : {daemon_rows, estimator_rows, rank_rows, charge_rows, table_rows}) {
      std::ranges::move(part(), std::back_inserter(all));
    }
    return all;
  }();
  return rows;
}

const Rows<workflow::Settings>& workflow_rows() {
  using workflow::Settings;
  static const Rows<Settings> rows{
      key("workflow_key", &Settings::workflow_key, {"List of rules", read_workflow_rules, workflow_rules_text},
          "names a job's workflow"),
      key("activity_key", &Settings::activity_key, {"List of the same rules", read_workflow_rules, workflow_rules_text},
          "names a job's activity"),
      key("name_delimiter", &Settings::name_delimiter, delimiter(), "parts the job's name"),
      key("mode", &Settings::mode, choice(workflow::k_modes), "what is measured of an activity"),
      key("relative_duration", &Settings::relative_duration, on_or_off(),
          "whether activities of long tasks weigh more"),
      key("threshold", &Settings::threshold_ppm,
          scalar<std::int64_t>("Fraction, percentage or decimal above 0 and at most 1",
                               "write a part of 1, such as 0.2", or_fault(parse_threshold, " is no threshold"),
                               part_text),
          "how uneven it may be"),
  };
  return rows;
}

Row<workflow::Settings> workflow_order(std::string meaning, std::string fallback) {
  return key("within_organization", &workflow::Settings::fairness,
             choice<bool>({{"fifo", false}, {"workflow_fairness", true}}), std::move(meaning), std::move(fallback));
}

Format<workflow::Settings> workflow_table(std::string type) {
  const auto read = [](YamlReader& reader, const Value& value, workflow::Settings& into) {
    const auto entries = reader.mapping(value, names_of(workflow_rows()));
    if (entries) read_rows(reader, *entries, workflow_rows(), into);
  };
  return {std::move(type), read,
          [](const workflow::Settings& settings) { return rows_text(workflow_rows(), settings); }};
}

std::vector<KeyTable> key_tables() {
  return {{"", "", keys_of(file_rows())},
          {"workflows: ", "Of workflows", keys_of(workflow_rows())},
          {"consortium: ", "Of consortium", keys_of(consortium_rows())},
          {"consortium: clusters: ", "Of a cluster of the consortium", keys_of(cluster_rows())},
          {"organizations: ", "Of an organization", keys_of(organization_rows())},
          {"organizations: nodes: ", "Of a claim in its long form", keys_of(claim_rows())}};
}

}  // namespace shapley::config
