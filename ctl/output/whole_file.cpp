#include "ctl/output/whole_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

namespace shapley::ctl {

Expected<void> write_whole_file(const std::filesystem::path& file, std::string_view text) {
  const std::string partial = file.native() + ".partial";
  std::ofstream out(partial, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out || std::rename(partial.c_str(), file.c_str()) != 0) {
    const std::string cause = std::strerror(errno);
    std::remove(partial.c_str());
    return fail(Errc::io, file.native() + ": cannot be written: " + cause);
  }
  return {};
}

}  // namespace shapley::ctl
