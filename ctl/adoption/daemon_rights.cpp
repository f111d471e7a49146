#include "ctl/adoption/daemon_rights.hpp"

#include <array>
#include <cstddef>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace shapley::ctl {

namespace {

using std::filesystem::path;

struct User {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
};

std::optional<User> find_user(std::uint32_t uid) {
  std::array<char, 16 * 1024> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return std::nullopt;
  return User{.name = found->pw_name, .uid = found->pw_uid, .gid = found->pw_gid};
}

// Gives the calling thread the user's rights, for as long as it runs: Linux keeps them by thread, and only the C
// library changes those of all threads. REQUIRES: root.
bool become(const User& user) {
  std::vector<gid_t> groups(64);
  auto count = static_cast<int>(groups.size());
  while (::getgrouplist(user.name.c_str(), user.gid, groups.data(), &count) < 0) {
    groups.resize(static_cast<std::size_t>(count));
  }
  return ::syscall(SYS_setgroups, count, groups.data()) == 0 &&
         ::syscall(SYS_setresgid, user.gid, user.gid, user.gid) == 0 &&
         ::syscall(SYS_setresuid, user.uid, user.uid, user.uid) == 0;
}

bool may(const path& file, int access) {
  return ::faccessat(AT_FDCWD, file.c_str(), access, AT_EACCESS) == 0;
}

// The first folder on the way to the file that the present user cannot enter; empty: all can be entered.
path closed_folder(const path& file) {
  path folder;
  for (const path& part : file.parent_path()) {
    folder /= part;
    if (!may(folder, X_OK)) return folder;
  }
  return {};
}

}  // namespace

std::optional<NotReadable> not_readable(std::uint32_t user, const path& file, Secret secret) {
  const auto who = ::geteuid() == 0 && user != 0 ? find_user(user) : std::nullopt;
  if (!who) return std::nullopt;
  path closed;
  bool can_read = true;
  std::thread([&] {
    if (!become(*who)) return;
    closed = closed_folder(file);
    can_read = closed.empty() && may(file, R_OK);
  }).join();
  if (can_read) return std::nullopt;
  const std::string what = fmt::format("{}: {}, as which shapleyd runs, cannot read it", file.string(), who->name);
  if (!closed.empty())
    return NotReadable{fmt::format("{}: it may not enter {}", what, closed.string()), "chmod a+x " + closed.string()};
  const std::string command = secret == Secret::yes ? fmt::format("chown {}: ", who->name) : "chmod a+r ";
  return NotReadable{what, command + file.string()};
}

}  // namespace shapley::ctl
