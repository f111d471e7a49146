#include "config/yaml_reader.hpp"

#include <algorithm>
#include <exception>
#include <utility>

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

std::string known_list(std::span<const std::string_view> known) {
  return "known keys: " + join_or(known);
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

bool YamlReader::spend(const Value& value) {
  if (values_ > k_max_values) return false;
  if (++values_ <= k_max_values) return true;
  faults_.add(value.line, "more than " + std::to_string(k_max_values) + " values, aliases followed",
              "write the file without so many aliases (*name)");
  return false;
}

void YamlReader::wrong_type(const Value& value, std::string_view wanted, std::string_view remedy) {
  faults_.add(value.line,
              value.name + " is " + std::string(kind_of(value.node)) + " where " + std::string(wanted) + " is expected",
              std::string(remedy));
}

std::optional<Value> YamlReader::document(std::string_view text) {
  text_ = text;
  std::vector<YAML::Node> documents;
  try {
    documents = YAML::LoadAll(std::string(text));
  } catch (const YAML::Exception& error) {
    faults_.add(error.mark.is_null() ? 0 : error.mark.line + 1, "this is no YAML: " + error.msg,
                std::string(k_syntax_remedy));
    return std::nullopt;
  } catch (const std::exception& error) {
    faults_.add(0, std::string("this is no YAML: ") + error.what(), std::string(k_syntax_remedy));
    return std::nullopt;
  }
  if (documents.empty() || documents.front().IsNull()) {
    faults_.add(0, "the file is empty", "begin with the example, etc/shapleyd.yaml");
    return std::nullopt;
  }
  if (documents.size() > 1) {
    faults_.add(line_of(documents[1]), "a second YAML document begins here; only one is read",
                "remove the line '---' and what does not belong to the configuration");
    return std::nullopt;
  }
  if (!documents.front().IsMap()) {
    wrong_type({documents.front(), line_of(documents.front()), "the file"}, "a list of 'key: value'",
               "begin with the example, etc/shapleyd.yaml");
    return std::nullopt;
  }
  return Value{documents.front(), line_of(documents.front()), "the file"};
}

std::optional<Mapping> YamlReader::unique_entries(const Value& value, std::string_view context) {
  Mapping mapping;
  for (const auto& entry : value.node) {
    if (!spend(value)) return std::nullopt;
    const int line = line_of(entry.first);
    if (!entry.first.IsScalar()) {
      faults_.add(line, std::string(context) + "a key is " + std::string(kind_of(entry.first)), "write 'key: value'");
      continue;
    }
    const std::string& key = entry.first.Scalar();
    if (const Value* earlier = mapping.find(key)) {
      faults_.add(
          line,
          std::string(context) + "key " + shown(key) + " was given already in line " + std::to_string(earlier->line),
          "keep one of the two");
      continue;
    }
    if (!closes_its_quote(entry.second, std::string(context) + key)) continue;
    // The key's line: an alias carries its anchor's line, and a missing value the next key's.
    mapping.insert(key, {entry.second, line, std::string(context) + key});
  }
  return mapping;
}

std::optional<Mapping> YamlReader::mapping(const Value& value, std::string_view context,
                                           std::span<const std::string_view> known_keys) {
  if (!spend(value)) return std::nullopt;
  if (!value.node.IsMap()) {
    wrong_type(value, "a mapping", known_list(known_keys));
    return std::nullopt;
  }
  auto mapping = unique_entries(value, context);
  if (!mapping) return std::nullopt;
  for (const Mapping::Entry& entry : mapping->entries()) {
    if (std::find(known_keys.begin(), known_keys.end(), entry.key) != known_keys.end()) continue;
    const std::string_view near = nearest(entry.key, known_keys);
    faults_.add(entry.value.line, std::string(context) + "unknown key " + shown(entry.key),
                near.empty() ? known_list(known_keys) : "did you mean '" + std::string(near) + "'?");
  }
  return mapping;
}

std::optional<Mapping> YamlReader::table(const Value& value, std::string_view remedy) {
  if (!spend(value)) return std::nullopt;
  if (!value.node.IsMap()) {
    wrong_type(value, "a mapping", remedy);
    return std::nullopt;
  }
  return unique_entries(value, value.name + ": ");
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
  faults_.add(line_of(node), name + ": the quote that opens here is not closed on its line",
              "close it, or check the quotes of the lines below");
  return false;
}

}  // namespace shapley::config
