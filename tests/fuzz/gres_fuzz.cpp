// Slurm's texts about generic resources, of which users choose a part: read under slurmctld's locks.
#include <set>
#include <string>

#include "fuzz.hpp"
#include "plugin/client/scan/records.hpp"

namespace {

namespace client = shapley::client;
using shapley::fuzz::require;

void check(const std::vector<shapley::protocol::Tres>& gres) {
  std::set<std::string> names;
  for (const auto& [name, count] : gres) {
    require(name.size() > 5 && name.starts_with("gres/"), "a resource has a name");
    require(count > 0 && count <= client::k_max_gres_count, "a count is within bounds");
    require(names.insert(name).second, "each resource is named once");
  }
  require(names.size() <= client::k_max_gres_kinds, "there are not too many");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto gres = client::read_gres(text.c_str());
  check(gres);
  // What was read can be written and read again.
  std::string written;
  for (const auto& [name, count] : gres) written += name + ":" + std::to_string(count) + ",";
  if (written.size() <= client::k_max_gres_text)
    require(client::read_gres(written.c_str()) == gres, "it is read again");
  const std::uint32_t times = size > 0 ? 1U << (data[0] % 32U) : 1;
  check(client::requested_gres({text.c_str(), text.c_str(), nullptr, text.c_str(), times}, 3, gres));
  return 0;
}
