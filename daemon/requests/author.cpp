#include "daemon/requests/author.hpp"

#include <array>

#include <pwd.h>

namespace shapley::daemon {

std::string author_of(std::uint32_t uid) {
  std::array<char, 16384> room{};
  passwd entry{};
  passwd* found = nullptr;
  std::string author = "uid " + std::to_string(uid);
  if (::getpwuid_r(uid, &entry, room.data(), room.size(), &found) == 0 && found != nullptr) {
    author += " (" + std::string(entry.pw_name) + ")";
  }
  return author;
}

}  // namespace shapley::daemon
