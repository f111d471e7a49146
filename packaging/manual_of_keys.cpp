// shapleyd.yaml(5), made of the tables of keys (config/keys.hpp) and of estimators (accounting/estimators/table.hpp).
//
// Usage: manual_of_keys shapleyd.yaml.5.in shapleyd.yaml.5. The line "@KEYS@" of the template becomes one entry for
// each key.
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include "accounting/estimators/table.hpp"
#include "config/keys.hpp"

namespace {

using namespace shapley;

// Text with `code` as bold text of roff; hyphens are those of options and names.
std::string roff(std::string_view text) {
  std::string out;
  bool code = false;
  for (const char c : text) {
    if (c == '`') {
      out += code ? "\\fR" : "\\fB";
      code = !code;
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\\') {
      out += "\\e";
    } else {
      out += c;
    }
  }
  return out;
}

// As a sentence begins.
std::string capitalized(std::string_view text) {
  std::string sentence(text);
  if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z') sentence[0] = static_cast<char>(sentence[0] - 32);
  return sentence;
}

void print(std::ostream& out, const config::Key& key) {
  const std::string fallback = key.fallback == config::k_required ? "required" : "default: " + roff(key.fallback);
  out << ".TP\n\\fB" << roff(key.name) << "\\fR (" << fallback << ")\n"
      << roff(capitalized(key.meaning)) << ".\n"
      << roff(key.type) << ".\n";
  if (key.name != "contribution") return;
  out << ".RS\n";
  for (const accounting::EstimatorRow& row : accounting::estimators())
    out << ".TP\n.B " << row.name << '\n' << roff(row.meaning) << ".\n";
  out << ".RE\n";
}

void print_keys(std::ostream& out) {
  for (const config::KeyTable& table : config::key_tables()) {
    if (!table.heading.empty()) out << ".SS \"" << table.heading << "\"\n";
    for (const config::Key& key : table.keys) print(out, key);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: manual_of_keys TEMPLATE PAGE\n";
    return 1;
  }
  std::ifstream in(arguments[1]);
  std::ofstream out(arguments[2]);
  bool has_keys = false;
  for (std::string line; std::getline(in, line);) {
    if (line == "@KEYS@") {
      print_keys(out);
      has_keys = true;
    } else {
      out << line << '\n';
    }
  }
  out.close();
  if (has_keys && out.good()) return 0;
  std::cerr << "manual_of_keys: " << arguments[1] << " has no line @KEYS@, or " << arguments[2]
            << " cannot be written\n";
  return 1;
}
