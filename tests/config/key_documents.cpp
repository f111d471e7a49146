#include "key_documents.hpp"

#include <cctype>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "config/configuration.hpp"

namespace shapley::config::testing {

namespace {

std::string read(const std::string& path) {
  std::ifstream stream(SHAPLEY_SOURCE_DIR "/" + path);
  if (!stream.good()) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

// A key of a group, how the page calls it ("organizations: nodes: share"), and how a file says its default.
struct Place {
  Key key;
  std::string title;
  std::string before, after;  // of "KEY: VALUE" in a file
  std::string indent;         // of its line in the example; "-": none of its own
};

std::vector<Place> places(const KeyTable& table) {
  std::vector<Place> all;
  const auto add = [&](const std::vector<Key>& keys, const std::string& within, const Place& form) {
    for (const Key& key : keys)
      all.push_back({key, within + std::string(key.name), form.before, form.after, form.indent});
  };
  const std::string organizations = "organizations: [{name: physics}]\n";
  add(table.file, "", {{}, {}, organizations, "\n", ""});
  add(table.workflow, "workflows: ", {{}, {}, organizations + "workflows: {", "}\n", "  "});
  add(table.organization, "organizations: ", {{}, {}, "organizations: [{name: physics, ", "}]\n", "-"});
  add(table.claim,
      "organizations: nodes: ", {{}, {}, "organizations: [{name: physics, nodes: [{nodes: n1, ", "}]}]\n", "-"});
  return all;
}

// The default as a file would write it; nullopt: it is told in words.
std::optional<std::string> written_default(const Key& key) {
  if (!key.fallback.starts_with('`') || !key.fallback.ends_with('`')) return std::nullopt;
  return std::string(key.fallback.substr(1, key.fallback.size() - 2));
}

// A manual page as a reader sees it, in one line.
std::string as_read(const std::string& manual) {
  std::string text = std::regex_replace(manual, std::regex("\n\\.[A-Z]+ "), "\n");
  text = replaced(replaced(std::move(text), "\\-", "-"), "\"", "");
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

class Comparison {
 public:
  explicit Comparison(const Documents& documents) : documents_(documents), manual_(as_read(documents.manual)) {}

  void headings(const std::vector<Place>& all) {
    std::set<std::string> known;
    for (const Place& place : all) known.insert(place.title);
    const std::regex heading("(^|\n)### `([^`]+)`");
    const std::string& page = documents_.page;
    for (std::sregex_iterator it(page.begin(), page.end(), heading), end; it != end; ++it)
      if (known.erase((*it)[2]) == 0) found("page: " + (*it)[2].str(), "a section of no key, or its second");
    for (const std::string& title : known) found("page: " + title, "no section");
  }

  void page(const Place& place) {
    const Key& key = place.key;
    const std::string anchor = replaced(replaced(place.title, ":", ""), " ", "-");
    const std::string row = "| [`" + place.title + "`](#" + anchor + ") | " + std::string(key.type) + " | " +
                            std::string(key.fallback) + " | " + std::string(key.meaning) + " |\n";
    if (documents_.page.find("\n" + row) == std::string::npos) found("page: " + place.title, "no row " + row);
    const std::string holds = key.fallback == k_required ? "" : "default: ";
    const std::string begin =
        "\n### `" + place.title + "`\n\n" + std::string(key.type) + "; " + holds + std::string(key.fallback);
    const std::size_t at = documents_.page.find(begin);
    if (at == std::string::npos || std::isalnum(static_cast<unsigned char>(documents_.page[at + begin.size()])) != 0)
      found("page: " + place.title, "its section does not begin with" + begin);
  }

  void manual(const Place& place) {
    const std::string name(place.key.name);
    if (!std::regex_search(manual_, std::regex("\\b" + name + "\\b"))) found("manual: " + place.title, "not named");
    const auto value = written_default(place.key);
    if (value && manual_.find(" " + name + " (" + replaced(*value, "\"", "") + ")") == std::string::npos)
      found("manual: " + place.title, "does not say " + name + " (" + *value + ")");
  }

  void example(const Place& place) {
    const std::string name(place.key.name);
    const auto value = written_default(place.key);
    // A key whose default is told in words may be shown in a comment: some exclude each other.
    const std::string before = value ? "(^|\n)[^#\n]*\\b" : "(^|\n)(# |[^#\n]*\\b)";
    if (!std::regex_search(documents_.example, std::regex(before + name + ":")))
      found("example: " + place.title, "not shown");
    if (!value || place.indent == "-") return;
    const std::string line = "\n" + place.indent + name + ": " + *value;
    const std::size_t at = documents_.example.find(line);
    const std::size_t rest = at == std::string::npos ? at : documents_.example.find_first_not_of(' ', at + line.size());
    if (rest == std::string::npos || std::string_view("\n#").find(documents_.example[rest]) == std::string_view::npos)
      found("example: " + place.title, "no line" + line);
  }

  void parser(const Place& place) {
    const std::string name(place.key.name);
    if (const auto value = written_default(place.key)) {
      const auto said = parse(place.before + name + ": " + *value + place.after);
      // "{name: physics, }" is YAML, too.
      const auto unsaid = parse(place.before + place.after);
      if (!said || !unsaid || !(*said == *unsaid)) found("parser: " + place.title, "the default is not " + *value);
    }
    // A choice: the parser's own list of words.
    if (!place.key.type.starts_with('`')) return;
    const auto refused = parse(place.before + name + ": another-word-than-these" + place.after);
    const std::string words = "write " + replaced(std::string(place.key.type), "`", "");
    if (refused || refused.error().front().remedy != words) found("parser: " + place.title, "does not say " + words);
  }

  [[nodiscard]] std::vector<Difference> take() { return std::move(found_); }

 private:
  void found(std::string subject, std::string what) { found_.push_back({std::move(subject), std::move(what)}); }

  const Documents& documents_;
  std::string manual_;
  std::vector<Difference> found_;
};

}  // namespace

KeyTable key_table() {
  return {{k_file_keys.begin(), k_file_keys.end()},
          {k_workflow_keys.begin(), k_workflow_keys.end()},
          {k_organization_keys.begin(), k_organization_keys.end()},
          {k_claim_keys.begin(), k_claim_keys.end()}};
}

Documents documents() {
  return {.page = read("docs/reference/configuration.md"),
          .manual = read("packaging/man/shapleyd.yaml.5"),
          .example = read("etc/shapleyd.yaml")};
}

std::vector<Difference> differences(const KeyTable& table, const Documents& documents) {
  const std::vector<Place> all = places(table);
  Comparison comparison(documents);
  comparison.headings(all);
  for (const Place& place : all) {
    comparison.page(place);
    comparison.manual(place);
    comparison.example(place);
    comparison.parser(place);
  }
  return comparison.take();
}

}  // namespace shapley::config::testing
