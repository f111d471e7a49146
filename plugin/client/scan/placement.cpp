#include "plugin/client/scan/placement.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "plugin/client/shapley_client.h"
#include "protocol/messages.hpp"

namespace shapley::client {

namespace {

using protocol::k_max_features_text, protocol::k_max_node_names, protocol::k_max_placement_text;

// The shim's fingerprints reach as far as what is passed on.
static_assert(k_max_placement_text == k_shapley_max_placement_text);
static_assert(k_max_node_names == k_shapley_max_node_names);
static_assert(k_max_features_text == k_shapley_max_features_text);

std::string_view view_up_to(const char* text, std::size_t most) {
  return text == nullptr ? std::string_view() : std::string_view(text, ::strnlen(text, most));
}

void sort_each_once(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

// The whole names of a list, as far as it may be read.
std::string_view whole_features(const char* text) {
  const std::string_view read = view_up_to(text, k_max_features_text);
  if (read.size() < k_max_features_text || text[read.size()] == '\0' || text[read.size()] == ',') return read;
  const std::size_t last_comma = read.rfind(',');
  return last_comma == std::string_view::npos ? std::string_view() : read.substr(0, last_comma);
}

}  // namespace

std::string placement_text(const char* text) {
  return std::string(view_up_to(text, k_max_placement_text));
}

std::vector<std::string> node_names(const char* const* names, std::size_t count) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < std::min(count, k_max_node_names); ++i) {
    if (const std::string_view name = view_up_to(names[i], k_max_placement_text); !name.empty())
      result.emplace_back(name);
  }
  sort_each_once(result);
  return result;
}

std::vector<std::string> node_features(const char* text) {
  std::vector<std::string> result;
  for (std::string_view rest = whole_features(text); !rest.empty() && result.size() < k_max_node_names;) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    if (!name.empty()) result.emplace_back(name.substr(0, k_max_placement_text));
  }
  sort_each_once(result);
  return result;
}

}  // namespace shapley::client
