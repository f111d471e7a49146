// MUNGE's proof of who sends a message on a host of the same cluster: text in a credential, encrypted, which one user
// can read, once on a host and within a minute, and which names its author's uid. Slurm authenticates its own hosts in
// the same way, so what it needs (one key on all hosts, clocks that agree) is there already.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/error.hpp"

namespace shapley::remote {

class Munge {
 public:
  // munged's socket; empty: where libmunge looks for it. Nothing is opened yet.
  explicit Munge(std::filesystem::path socket) : socket_(std::move(socket)) {}

  struct Opened {
    std::string text;
    uid_t uid = 0;  // of who sealed it
  };
  // For `reader` alone: munged opens it for no other user, root included. munged takes a mebibyte at most, its own base
  // 64 included. Errc::unavailable: there is no munged; both block as long as it does.
  [[nodiscard]] Expected<std::string> seal(std::string_view text, uid_t reader) const;
  // Errc::denied: it is no credential of this cluster, is for another user, is too old, or was opened before.
  [[nodiscard]] Expected<Opened> open(const std::string& credential) const;

 private:
  std::filesystem::path socket_;
};

}  // namespace shapley::remote
