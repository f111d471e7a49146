#include "config/yaml_reader.hpp"

#include <algorithm>
#include <sstream>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include "base/slurm_text.hpp"
#include "config/keys.hpp"
#include "config/values.hpp"

namespace shapley::config {

namespace {

constexpr std::string_view k_syntax_remedy =
    "correct the syntax; inside [ ] and { } a node list needs quotes (\"n[1-4]\"), and indentation is spaces, never "
    "tabs";

std::string_view kind_of(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return "text";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a mapping";
    case YAML::NodeType::Null:
    case YAML::NodeType::Undefined:
      break;
  }
  return "nothing";
}

int line_of(const YAML::Node& node) {
  return node.Mark().is_null() ? 0 : node.Mark().line + 1;
}

// Hears of the parser's events only where documents start.
class DocumentStarts : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { last_line = mark.line + 1; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

  int last_line = 0;
};

// YAML::Load reads one document and says nothing of the rest. YAML::LoadAll would, but it never returns from a stray
// ',', so the documents are asked for one by one.
std::optional<int> line_of_second_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStarts starts;
  if (!parser.HandleNextDocument(starts) || !parser.HandleNextDocument(starts)) return std::nullopt;
  return starts.last_line;
}

// "  - accounts [x]  # theirs" is "accounts [x]", and an item of a list.
struct PlainLine {
  std::string_view text;
  bool is_item = false;
};

PlainLine plain_line(std::string_view line) {
  for (std::size_t hash = line.find('#'); hash != std::string_view::npos; hash = line.find('#', hash + 1)) {
    if (hash == 0 || line[hash - 1] == ' ' || line[hash - 1] == '\t') line = line.substr(0, hash);
  }
  constexpr std::string_view k_blanks = " \t\r";
  PlainLine plain;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(k_blanks), line.size()));
    if (!line.starts_with("- ")) break;
    line.remove_prefix(1);
    plain.is_item = true;
  }
  plain.text = line.substr(0, line.find_last_not_of(k_blanks) + 1);
  return plain;
}

bool has_value_sign(std::string_view text) {
  return text.ends_with(':') || text.find(": ") != std::string_view::npos || text.find(":\t") != std::string_view::npos;
}

// A text goes on in the next line until something ends it, so the parser complains of the first line after a key
// without ':' that has a ':' itself. The key is in one of the lines without ':' before that: the first of them that is
// no item of a list, which may be the key's, or else the last one. `line`, counted from 1: where the parser complains.
struct LostKey {
  int line = 0;
  std::string key;
};

std::optional<LostKey> key_without_value_sign(std::string_view text, int line) {
  std::vector<PlainLine> lines;
  for (std::size_t begin = 0; begin < text.size() && std::cmp_less(lines.size(), line);) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(plain_line(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  std::optional<std::size_t> lost;
  std::size_t i = lines.size();
  // The parser complains of a line without ':' where nothing follows; a line with two is at fault itself.
  if (i > 0 && has_value_sign(lines[i - 1].text)) {
    const std::string_view complained = lines[i - 1].text;
    if (complained.find(": ") != complained.rfind(": ")) return std::nullopt;
    --i;
  }
  for (; i > 0 && !has_value_sign(lines[i - 1].text); --i) {
    const PlainLine& candidate = lines[i - 1];
    if (!candidate.text.empty() && (!lost || !candidate.is_item)) lost = i - 1;
  }
  if (!lost) return std::nullopt;
  const std::string_view found = lines[*lost].text;
  const std::string_view key =
      found.substr(0, std::min(found.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), found.size()));
  if (key.empty()) return std::nullopt;
  return LostKey{.line = static_cast<int>(*lost) + 1, .key = std::string(key)};
}

// Before the names of what a table holds.
std::string prefix_of(const Value& table) {
  return table.name.empty() ? "" : table.name + ": ";
}

std::string known_list(std::span<const std::string_view> known) {
  return "known keys: " + join(known, " and ");
}

}  // namespace

void Mapping::insert(std::string key, Value value) {
  index_.emplace(key, entries_.size());
  entries_.push_back({std::move(key), std::move(value)});
}

const Value* Mapping::find(std::string_view key) const {
  const auto found = index_.find(key);
  return found == index_.end() ? nullptr : &entries_[found->second].value;
}

void YamlReader::add(int line, std::string what, std::string remedy) {
  ++reported_;
  faults_.add(line, std::move(what), std::move(remedy));
}

void YamlReader::fault(const Value& value, const std::string& what, std::string remedy) {
  add(value.line, fmt::format("{}: {}", value.name, what), std::move(remedy));
}

bool YamlReader::spend(const Value& value) {
  if (values_ > k_max_values) return false;
  if (++values_ <= k_max_values) return true;
  add(value.line, fmt::format("more than {} values, aliases followed", k_max_values),
      "write the file without so many aliases (*name)");
  return false;
}

void YamlReader::wrong_type(const Value& value, std::string_view wanted, std::string_view remedy) {
  add(value.line, fmt::format("{} is {} where {} is expected", value.name, kind_of(value.node), wanted),
      std::string(remedy));
}

std::optional<Value> YamlReader::document(std::string_view text) {
  text_ = text;
  YAML::Node root;
  std::optional<int> second;
  try {
    root = YAML::Load(std::string(text));
    second = line_of_second_document(std::string(text));
  } catch (const YAML::Exception& error) {
    add_syntax_fault(error.mark.is_null() ? 0 : error.mark.line + 1, error.msg);
    return std::nullopt;
  }
  if (second) {
    add(*second, "what begins here belongs to no key above; is it a second YAML document?",
        "correct the indentation; a line '---' may only come first");
    return std::nullopt;
  }
  if (!root.IsDefined() || root.IsNull()) {
    add(0, "the file is empty", "shapleyctl init proposes a first configuration");
    return std::nullopt;
  }
  Value document{root, line_of(root), "the file"};
  if (!root.IsMap()) {
    wrong_type(document, "a list of 'key: value'", "begin with the example, etc/shapleyd.yaml");
    return std::nullopt;
  }
  document.name.clear();
  return document;
}

void YamlReader::add_syntax_fault(int line, const std::string& message) {
  const bool may_lack_a_sign = message == YAML::ErrorMsg::MAP_VALUE || message == YAML::ErrorMsg::END_OF_MAP;
  if (const auto lost = may_lack_a_sign ? key_without_value_sign(text_, line) : std::nullopt) {
    add(lost->line, fmt::format("'{}' is not followed by ': '", lost->key),
        fmt::format("write '{}: ...'; without it what follows cannot be read", lost->key));
    return;
  }
  add(line, "this is no YAML: " + message, std::string(k_syntax_remedy));
}

std::optional<Mapping> YamlReader::unique_entries(const Value& value) {
  Mapping mapping(value);
  const std::string context = prefix_of(value);
  for (const auto& entry : value.node) {
    if (!spend(value)) return std::nullopt;
    const int line = line_of(entry.first);
    if (!entry.first.IsScalar()) {
      add(line, fmt::format("{}a key is {}", context, kind_of(entry.first)), "write 'key: value'");
      continue;
    }
    const std::string& key = entry.first.Scalar();
    if (const Value* earlier = mapping.find(key)) {
      add(line, fmt::format("{}key {} was given already in line {}", context, shown(key), earlier->line),
          "keep one of the two");
      continue;
    }
    if (!closes_its_quote(entry.second, context + key)) continue;
    // The key's line: an alias carries its anchor's line, and a missing value the next key's.
    mapping.insert(key, {entry.second, line, context + key});
  }
  return mapping;
}

std::optional<Mapping> YamlReader::entries(const Value& value, std::span<const std::string_view> known_keys) {
  if (!spend(value)) return std::nullopt;
  if (!value.node.IsMap()) {
    wrong_type(value, "a mapping", known_list(known_keys));
    return std::nullopt;
  }
  return unique_entries(value);
}

void YamlReader::add_unknown(const Value& table, const Mapping::Entry& entry,
                             std::span<const std::string_view> known_keys) {
  if (std::find(known_keys.begin(), known_keys.end(), entry.key) != known_keys.end()) return;
  const std::string_view near = nearest(entry.key, known_keys);
  add(entry.value.line, fmt::format("{}unknown key {}", prefix_of(table), shown(entry.key)),
      near.empty() ? known_list(known_keys) : fmt::format("did you mean '{}'?", near));
}

std::optional<Mapping> YamlReader::mapping(const Value& value, std::span<const std::string_view> known_keys) {
  auto mapping = entries(value, known_keys);
  if (!mapping) return std::nullopt;
  for (const Mapping::Entry& entry : mapping->entries()) add_unknown(value, entry, known_keys);
  return mapping;
}

void YamlReader::gone(const Value& value, std::string what, std::string_view remedy) {
  if (former_ == nullptr) {
    add(value.line, std::move(what), std::string(remedy));
  } else {
    former_->push_back(std::move(what));
  }
}

std::optional<Mapping> YamlReader::file(const Value& value, std::span<const std::string_view> known_keys) {
  auto mapping = entries(value, known_keys);
  if (!mapping) return std::nullopt;
  for (const Mapping::Entry& entry : mapping->entries()) {
    const auto gone = std::ranges::find(k_former_keys, entry.key, &FormerKey::name);
    if (gone == k_former_keys.end()) {
      add_unknown(value, entry, known_keys);
      continue;
    }
    this->gone(entry.value, fmt::format("{}: {}", entry.key, gone->why), gone->remedy);
  }
  return mapping;
}

std::optional<Mapping> YamlReader::table(const Value& value, std::string_view remedy) {
  if (!spend(value)) return std::nullopt;
  if (!value.node.IsMap()) {
    wrong_type(value, "a mapping", remedy);
    return std::nullopt;
  }
  return unique_entries(value);
}

std::optional<std::vector<Value>> YamlReader::list(const Value& value, std::string_view remedy) {
  if (!spend(value)) return std::nullopt;
  if (!value.node.IsSequence()) {
    wrong_type(value, "a list", remedy);
    return std::nullopt;
  }
  std::vector<Value> values;
  for (const auto& node : value.node) {
    if (!spend(value)) return std::nullopt;
    if (!closes_its_quote(node, value.name)) continue;
    // NOLINTNEXTLINE(cppcoreguidelines-slicing): yaml-cpp means its iterator's value to be taken for a Node
    values.push_back({node, node.IsNull() ? value.line : line_of(node), value.name});
  }
  return values;
}

std::optional<std::string> YamlReader::text(const Value& value, std::string_view remedy) {
  if (!spend(value)) return std::nullopt;
  if (!value.node.IsScalar()) {
    wrong_type(value, "text", remedy);
    return std::nullopt;
  }
  return value.node.Scalar();
}

std::optional<std::vector<std::string>> YamlReader::nodes(const Value& value) {
  const auto text = this->text(value, "write node names such as \"n[1-4]\"");
  if (!text || nodes_ > k_max_expanded_nodes) return std::nullopt;
  auto names = expand_brackets(*text);
  if (!names) {
    fault(value, fmt::format("{}: {}", shown(*text), names.error().what), "write names as Slurm does: n[1-4,7],gpu01");
    return std::nullopt;
  }
  nodes_ += names->size();
  if (nodes_ > k_max_expanded_nodes) {
    fault(value, fmt::format("the file names more than {} nodes", k_max_expanded_nodes), "correct the ranges");
    return std::nullopt;
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : *names) {
    if (seen.insert(name).second) continue;
    fault(value, fmt::format("node {} is named twice in {}", name, shown(*text)), "name it once");
    return std::nullopt;
  }
  return *std::move(names);
}

bool YamlReader::closes_its_quote(const YAML::Node& node, const std::string& name) {
  const auto begin = static_cast<std::size_t>(std::max(0, node.Mark().pos));
  if (!node.IsScalar() || begin >= text_.size()) return true;
  const char quote = text_[begin];
  if (quote != '"' && quote != '\'') return true;
  for (std::size_t i = begin + 1; i < text_.size() && text_[i] != '\n'; ++i) {
    const bool escapes = quote == '"' ? text_[i] == '\\' : text_.substr(i, 2) == "''";
    if (escapes) {
      ++i;
    } else if (text_[i] == quote) {
      return true;
    }
  }
  add(line_of(node), name + ": the quote that opens here is not closed on its line",
      "close it, or check the quotes of the lines below");
  return false;
}

}  // namespace shapley::config
