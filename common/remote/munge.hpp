// MUNGE's proof of a message's author on a host of the same cluster: text in an encrypted credential, which only one
// user can read, once on a host and within a minute, and which names its author's uid. Slurm authenticates its own
// hosts in the same way, so what it needs (one key on all hosts, synchronous clocks) exists already.
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
    uid_t uid = 0;  // of the user who sealed it
  };
  // Seals text for `reader` alone: munged opens it for no other user, root included. munged takes a mebibyte at most,
  // in base 64. Errc::unavailable: there is no munged. seal() and open() block as long as munged does.
  [[nodiscard]] Expected<std::string> seal(std::string_view text, uid_t reader) const;
  // Errc::denied: it is no credential of this cluster, is for another user, is too old, or was opened before.
  [[nodiscard]] Expected<Opened> open(const std::string& credential) const;

 private:
  std::filesystem::path socket_;
};

}  // namespace shapley::remote
