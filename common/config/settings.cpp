#include "config/settings.hpp"

#include <array>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "accounting/estimators/table.hpp"
#include "base/slurm_text.hpp"
#include "config/checks.hpp"
#include "config/values.hpp"
#include "config/yaml_reader.hpp"
#include "game/serving_order.hpp"

namespace shapley::config {

namespace {

// A Unix socket's address holds no longer path (sun_path, with its final zero).
constexpr std::size_t k_max_socket_path = 107;

// A node of a thousand processors stays below the million weighted processors that the daemon takes for a real node.
constexpr IntegerRange k_weight_range{1, 1000};

// The rank's part of a job's priority is a site factor, which Slurm keeps in 31 bits.
constexpr IntegerRange k_rank_weight_range{1, 1'000'000'000};

constexpr std::array<std::pair<std::string_view, Charge>, 4> k_charges{
    {{"dominant", Charge::dominant}, {"cpu", Charge::cpu}, {"weights", Charge::weights}, {"billing", Charge::billing}}};

class SettingsReader {
 public:
  SettingsReader(YamlReader& reader, const Mapping& file, FaultList& faults)
      : reader_(reader), file_(file), faults_(faults) {}

  void path(std::string_view key, std::filesystem::path& path, std::size_t max_length) {
    const Value* value = file_.find(key);
    const auto text = value ? reader_.text(*value, "write an absolute path") : std::nullopt;
    if (text) take_path(*value, *text, faults_, max_length, path);
  }

  // "none" empties the path.
  void path_or_none(std::string_view key, std::filesystem::path& path, std::size_t max_length) {
    const Value* value = file_.find(key);
    const auto text = value ? reader_.text(*value, "write an absolute path, or none") : std::nullopt;
    if (text == "none") {
      path.clear();
    } else if (text) {
      take_path(*value, *text, faults_, max_length, path);
    }
  }

  // "none" empties it.
  void endpoint_or_none(std::string_view key, std::string& endpoint) {
    const Value* value = file_.find(key);
    const auto text = value ? reader_.text(*value, "write HOST:PORT, or none") : std::nullopt;
    if (text == "none") {
      endpoint.clear();
    } else if (text) {
      take_endpoint(*value, *text, faults_, endpoint);
    }
  }

  // Another shapleyd's socket, or HOST:PORT.
  void peer(Configuration& configuration) {
    const Value* value = file_.find("peer");
    const auto text = value ? reader_.text(*value, "write a socket's path, HOST:PORT, or none") : std::nullopt;
    if (!text || text == "none") return;
    if (!text->starts_with('/')) return take_endpoint(*value, *text, faults_, configuration.peer);
    std::filesystem::path socket;
    take_path(*value, *text, faults_, k_max_socket_path, socket);
    configuration.peer = socket.string();
    if (socket != configuration.socket) return;
    add(*value, "is this daemon's own socket", "name the socket of the other controller's shapleyd");
  }

  void user(std::string_view key, std::string& user) {
    const Value* value = file_.find(key);
    const auto text = value ? reader_.text(*value, "write a user name") : std::nullopt;
    if (!text) return;
    const bool plausible = !text->empty() && text->find_first_of(" \t\r\n:/") == std::string::npos;
    if (!plausible) return add(*value, shown(*text) + " is no user name", "write a login name or a numeric id");
    user = *text;
  }

  template <typename Choice, std::size_t N>
  void choice(std::string_view key, const std::array<std::pair<std::string_view, Choice>, N>& choices, Choice& chosen) {
    const Value* value = file_.find(key);
    if (const auto read = value ? read_choice(reader_, faults_, *value, choices) : std::nullopt) chosen = *read;
  }

  void estimator(std::string_view key, accounting::EstimatorId& chosen) {
    std::vector<std::pair<std::string_view, accounting::EstimatorId>> choices;
    for (const accounting::EstimatorId id : accounting::estimator_ids()) {
      choices.emplace_back(accounting::name_of(id), id);
    }
    const Value* value = file_.find(key);
    const auto read = value ? read_choice(reader_, faults_, *value, std::span(std::as_const(choices))) : std::nullopt;
    if (read) chosen = *read;
  }

  // The keys that turn estimators off. The estimator that makes ranks cannot be turned off.
  void kept_estimators(Configuration& configuration) {
    for (const accounting::EstimatorId id : accounting::estimator_ids()) {
      if (!accounting::estimators()[id.value].has_key) continue;
      const std::string name(accounting::name_of(id));
      bool on = true;
      choice(name, std::array{std::pair{std::string_view("on"), true}, std::pair{std::string_view("off"), false}}, on);
      if (on) continue;
      configuration.off.insert(id);
      if (configuration.contribution != id) continue;
      add(*file_.find(name), "off, but contribution: " + name + " makes the ranks by it",
          "write " + name + ": on, or another contribution");
    }
  }

  void memory(std::string_view key, std::int64_t& bytes) {
    const Value* value = file_.find(key);
    const auto text = value ? reader_.text(*value, "write bytes such as 512M, or auto") : std::nullopt;
    if (!text || *text == "auto") return;
    if (const auto parsed = parse_memory(*text)) {
      bytes = *parsed;
    } else {
      add(*value, shown(*text) + " is no such amount of memory", parsed.error().what);
    }
  }

  void rank_weight(std::uint32_t& weight) {
    const Value* value = file_.find("rank_weight");
    if (const auto number = value ? whole_number(*value, k_rank_weight_range) : std::nullopt) {
      weight = static_cast<std::uint32_t>(*number);
    }
  }

  void part(std::string_view key, std::int64_t& parts_per_million) {
    const Value* value = file_.find(key);
    if (value != nullptr) read_part(reader_, *value, faults_, parts_per_million);
  }

  void duration(std::string_view key, Duration least, Duration most, Duration& duration) {
    const Value* value = file_.find(key);
    if (value != nullptr) read_duration(reader_, *value, faults_, least, most, duration);
  }

  // The rule of charge and its weights. A file with weights that was written before the key `charge` existed means
  // weights.
  void charge(Configuration& configuration) {
    const Value* weights = file_.find("weights");
    const Value* nodes = file_.find("node_weights");
    if (weights != nullptr) configuration.charge = Charge::weights;
    choice("charge", k_charges, configuration.charge);
    const std::string name(name_of(configuration.charge));
    const bool by_weights = configuration.charge == Charge::weights;
    if (weights != nullptr && !by_weights) {
      add(*weights, "is not read with charge: " + name, "write charge: weights, or remove weights");
    }
    if (nodes != nullptr && (by_weights || configuration.charge == Charge::billing)) {
      add(*nodes,
          "is not read with charge: " + name + ", where " +
              (by_weights ? "weights say" : "slurmctld says (TRESBillingWeights)") + " what a node is worth",
          "write charge: dominant or charge: cpu, or remove node_weights");
    }
    read_weights(configuration.weights);
    read_node_weights(configuration.node_weights);
  }

  void read_weights(std::vector<std::pair<std::string, std::int64_t>>& weights) {
    constexpr std::string_view k_remedy = "write a table such as {cpu: 1, gres/gpu: 32}";
    const Value* value = file_.find("weights");
    const auto table = value ? reader_.table(*value, k_remedy) : std::nullopt;
    if (!table) return;
    std::vector<std::pair<std::string, std::int64_t>> read;
    for (const Mapping::Entry& entry : table->entries()) {
      check_resource(entry);
      if (const auto number = whole_number(entry.value, k_weight_range)) read.emplace_back(entry.key, *number);
    }
    if (table->entries().empty()) return add(*value, "the table is empty", std::string(k_remedy));
    weights = std::move(read);
  }

  void read_node_weights(std::vector<NodeWeight>& weights) {
    constexpr std::string_view k_remedy = "write a table such as {\"gpu[1-4]\": 4}";
    const Value* value = file_.find("node_weights");
    const auto table = value ? reader_.table(*value, k_remedy) : std::nullopt;
    if (!table) return;
    if (table->entries().empty()) return add(*value, "the table is empty", std::string(k_remedy));
    std::set<std::string> seen;
    for (const Mapping::Entry& entry : table->entries()) {
      auto nodes = expand_brackets(entry.key);
      if (!nodes) {
        add(entry.value, nodes.error().what, "write nodes as in slurm.conf, such as gpu[1-4]");
        continue;
      }
      for (const std::string& node : *nodes) {
        if (!seen.insert(node).second) add(entry.value, "node " + node + " has a weight twice", "give it one weight");
      }
      const auto number = whole_number(entry.value, k_weight_range);
      if (number) weights.push_back({*std::move(nodes), *number, entry.key});
    }
  }

 private:
  void add(const Value& value, const std::string& what, std::string remedy) {
    faults_.add(value.line, value.name + ": " + what, std::move(remedy));
  }

  std::optional<std::int64_t> whole_number(const Value& value, IntegerRange range) {
    const auto text = reader_.text(value, "write a whole number");
    if (!text) return std::nullopt;
    const auto number = parse_integer(*text, range);
    if (number) return *number;
    add(value, shown(*text) + " is no such number", number.error().what);
    return std::nullopt;
  }

  // Only resources that nodes have in countable units can be weighed against processors: memory in MiB would dwarf
  // them, licenses have no owner, and Slurm's billing uses other weights for jobs than for nodes.
  void check_resource(const Mapping::Entry& entry) {
    const std::string_view key = entry.key;
    constexpr std::string_view k_gres = "gres/";
    const bool is_gres =
        key.starts_with(k_gres) && key.size() > k_gres.size() && key.find_first_of(" \t,=") == std::string_view::npos;
    if (key == "cpu" || is_gres) return;
    add(entry.value, "a resource of this name has no weight", "allowed are cpu, gres/NAME and gres/NAME:TYPE");
  }

  YamlReader& reader_;
  const Mapping& file_;
  FaultList& faults_;
};

std::string text_or_none(const std::string& text) {
  return text.empty() ? "none" : text;
}

std::string weights_text(const Configuration& c) {
  std::string text;
  for (const auto& [name, weight] : c.weights)
    text += (text.empty() ? "" : ", ") + name + ": " + std::to_string(weight);
  return text;
}

std::string node_weights_text(const Configuration& c) {
  std::string text;
  for (const NodeWeight& w : c.node_weights) {
    text += (text.empty() ? "" : ", ") + w.expression + ": " + std::to_string(w.weight);
  }
  return text_or_none(text);
}

}  // namespace

void read_part(YamlReader& reader, const Value& value, FaultList& faults, std::int64_t& parts_per_million) {
  const auto text = reader.text(value, "write a part such as 0.5");
  if (!text) return;
  if (const auto parts = parse_part(*text)) {
    parts_per_million = *parts;
  } else {
    faults.add(value.line, value.name + ": " + shown(*text) + " is no such part", parts.error().what);
  }
}

void read_duration(YamlReader& reader, const Value& value, FaultList& faults, Duration least, Duration most,
                   Duration& duration) {
  const auto text = reader.text(value, "write a duration such as 5m");
  if (!text) return;
  if (const auto parsed = parse_duration(*text, least, most)) {
    duration = *parsed;
  } else {
    faults.add(value.line, value.name + ": " + shown(*text) + " is no such duration", parsed.error().what);
  }
}

void take_path(const Value& value, const std::string& text, FaultList& faults, std::size_t max_length,
               std::filesystem::path& path) {
  if (!text.starts_with('/') || text.find('\0') != std::string::npos) {
    faults.add(value.line, value.name + ": " + shown(text) + " is no absolute path",
               "write a path that begins with '/'");
  } else if (text.size() > max_length) {
    faults.add(value.line, value.name + ": a path of " + std::to_string(text.size()) + " characters",
               "use one of at most " + std::to_string(max_length));
  } else {
    path = text;
  }
}

void take_endpoint(const Value& value, const std::string& text, FaultList& faults, std::string& endpoint) {
  if (const auto parsed = parse_endpoint(text)) {
    endpoint = text;
  } else {
    faults.add(value.line, value.name + ": " + shown(text) + " is no place to listen or connect", parsed.error().what);
  }
}

void read_settings(YamlReader& reader, const Mapping& file, FaultList& faults, Configuration& configuration) {
  using namespace std::string_view_literals;
  SettingsReader settings(reader, file, faults);
  settings.path("ledger", configuration.ledger, k_max_path);
  settings.path("socket", configuration.socket, k_max_socket_path);
  settings.peer(configuration);
  settings.endpoint_or_none("listen", configuration.listen);
  settings.path_or_none("munge_socket", configuration.munge_socket, k_max_socket_path);
  settings.path_or_none("signing_key", configuration.signing_key, k_max_path);
  settings.user("slurm_user", configuration.slurm_user);
  settings.estimator("contribution", configuration.contribution);
  settings.kept_estimators(configuration);
  settings.memory("hindsight_memory", configuration.hindsight_memory);
  settings.choice("rule",
                  std::array{std::pair{"braking"sv, accounting::KeyRule::braking},
                             std::pair{"published"sv, accounting::KeyRule::horizon}},
                  configuration.rule);
  settings.part("guarantee", configuration.guarantee);
  settings.choice(
      "guests",
      std::array{std::pair{"last"sv, accounting::Guests::last}, std::pair{"ranked"sv, accounting::Guests::ranked}},
      configuration.guests);
  settings.choice("order",
                  std::array{std::pair{name_of(Order::strict), Order::strict},
                             std::pair{name_of(Order::weighted), Order::weighted}},
                  configuration.order);
  settings.rank_weight(configuration.rank_weight);
  settings.choice("mode",
                  std::array{std::pair{name_of(Mode::priorities), Mode::priorities},
                             std::pair{name_of(Mode::observe), Mode::observe}},
                  configuration.mode);
  settings.choice("period",
                  std::array{std::pair{"none"sv, Period::none}, std::pair{"monthly"sv, Period::monthly},
                             std::pair{"quarterly"sv, Period::quarterly}, std::pair{"yearly"sv, Period::yearly}},
                  configuration.period);
  settings.duration("stale_after", Duration{1}, k_longest_duration, configuration.stale_after);
  settings.charge(configuration);
}

std::vector<std::pair<std::string, std::string>> values_of(const Configuration& c) {
  std::vector<std::pair<std::string, std::string>> values{
      {"ledger", c.ledger.string()},
      {"socket", c.socket.string()},
      {"peer", text_or_none(c.peer)},
      {"listen", text_or_none(c.listen)},
      {"munge_socket", text_or_none(c.munge_socket.string())},
      {"signing_key", text_or_none(c.signing_key.string())},
      {"slurm_user", c.slurm_user},
      {"contribution", std::string(accounting::name_of(c.contribution))},
      {"hindsight_memory", c.hindsight_memory == 0 ? "auto" : memory_text(c.hindsight_memory)},
      {"rule", c.rule == accounting::KeyRule::braking ? "braking" : "published"},
      {"guarantee", part_text(c.guarantee)},
      {"guests", std::string(name_of(c.guests))},
      {"order", std::string(name_of(c.order))},
      {"rank_weight", std::to_string(c.rank_weight)},
      {"mode", std::string(name_of(c.mode))},
      {"period", std::string(name_of(c.period))},
      {"stale_after", seconds_text(c.stale_after)},
      {"charge", std::string(name_of(c.charge))},
      {"weights", weights_text(c)},
      {"node_weights", node_weights_text(c)},
      {"within_organization", c.workflows.fairness ? "workflow_fairness" : "fifo"},
      {"workflows", workflows_text(c.workflows)},
      {"consortium", consortium_text(c.consortium)},
  };
  for (const accounting::EstimatorId id : accounting::estimator_ids()) {
    if (!accounting::estimators()[id.value].has_key) continue;
    const auto next = std::ranges::find(values, "hindsight_memory", &std::pair<std::string, std::string>::first);
    values.emplace(next, accounting::name_of(id), c.off.contains(id) ? "off" : "on");
  }
  return values;
}

}  // namespace shapley::config
