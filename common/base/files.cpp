#include "base/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

namespace shapley {

bool Lines::next(std::string& line) {
  line.clear();
  if (fault_) return false;
  ++number_;
  for (bool ended = false; !ended;) {
    ended = take_part(line);
    if (fault_) return false;
    if (ended && text_.gcount() == 0 && line.empty()) {
      --number_;
      return false;
    }
  }
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return true;
}

bool Lines::take_part(std::string& line) {
  text_.getline(part_.data(), static_cast<std::streamsize>(part_.size()));
  const auto taken = static_cast<std::size_t>(text_.gcount());
  const std::string where = "line " + std::to_string(number_) + ": ";
  if (taken > left_) {
    fault_ = Error{Errc::invalid_argument, where + "the text goes on after " + std::to_string(most_) +
                                               " bytes, which is the most that is read; is it the right file? Else "
                                               "read it in parts, as of a shorter time each"};
    return true;
  }
  left_ -= taken;
  const bool is_full = text_.fail() && !text_.eof() && !text_.bad() && taken > 0;
  const std::size_t of_line = taken - (text_.good() ? 1 : 0);  // without the line's end
  line.append(part_.data(), std::min(of_line, k_max_line + 1 - std::min(line.size(), k_max_line + 1)));
  if (line.size() > k_max_line && longer_ == Long::refuse) {
    fault_ = Error{Errc::invalid_argument, where + "longer than " + std::to_string(k_max_line) +
                                               " bytes, which is the most that a line may have; is it the right file? "
                                               "Else leave the line out"};
    return true;
  }
  if (is_full) text_.clear();
  return !is_full;
}

Expected<void> Lines::end() const {
  if (fault_) return tl::unexpected<Error>(*fault_);
  if (text_.bad()) {
    return fail(Errc::io, "cannot be read beyond line " + std::to_string(number_) +
                              "; is the disk in order, and the file whole?");
  }
  return {};
}

Expected<std::string> read_text_file(const std::filesystem::path& file, std::size_t most) {
  std::ifstream in(file, std::ios::binary);
  std::string text;
  std::array<char, 64 * 1024> part;
  while (in && text.size() <= most) {
    in.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (text.size() > most) {
    return fail(Errc::invalid_argument, file.string() + ": has more than " + std::to_string(most) +
                                            " bytes, which is the most that is read; is it the right file?");
  }
  if (!in.eof() || in.bad())
    return fail(Errc::io, file.string() + ": cannot be read; is it there, and may you read it?");
  return text;
}

namespace {

using std::filesystem::path;

constexpr mode_t k_others_write = S_IWGRP | S_IWOTH;
constexpr mode_t k_private = S_IRUSR | S_IWUSR;

std::string octal(mode_t mode) {
  std::string text;
  for (const unsigned shift : {9U, 6U, 3U, 0U}) text += static_cast<char>('0' + ((mode >> shift) & 7U));
  return text;
}

// The text as one word of a shell, whatever characters it has.
std::string quoted(const path& file) {
  std::string text = "'";
  for (const char c : file.string()) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + '\'';
}

tl::unexpected<Error> unseen(const path& file, std::string_view what, int error) {
  return fail(error == ENOENT ? Errc::not_found : Errc::io,
              std::string(what) + ": " + file.string() + ": " + std::strerror(error));
}

Expected<struct stat> look_at(const path& file, std::string_view what) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return unseen(file, what, errno);
  return status;
}

std::string found(const path& file, std::string_view what, const struct stat& status) {
  return std::string(what) + ": " + file.string() + " has mode " + octal(status.st_mode & 07777U) + " and owner uid " +
         std::to_string(status.st_uid) + ": ";
}

Expected<void> check_owner(const path& file, std::string_view what, const struct stat& status) {
  if (status.st_uid == 0 || status.st_uid == ::geteuid()) return {};
  return fail(Errc::denied, found(file, what, status) + "its owner is neither root nor uid " +
                                std::to_string(::geteuid()) + ", which this program runs as; run: chown " +
                                std::to_string(::geteuid()) + ' ' + quoted(file));
}

Expected<void> check_bits(const path& file, std::string_view what, const struct stat& status, mode_t forbidden,
                          const char* fault, const char* remedy) {
  if ((status.st_mode & forbidden) == 0) return {};
  return fail(Errc::denied, found(file, what, status) + fault + "; run: chmod " + remedy + ' ' + quoted(file));
}

}  // namespace

Expected<void> check_unwritable(const path& file, std::string_view what) {
  SHAPLEY_TRY_ASSIGN(const struct stat status, look_at(file, what));
  SHAPLEY_TRY(check_owner(file, what, status));
  return check_bits(file, what, status, k_others_write, "others could change it", "go-w");
}

Expected<std::optional<std::string>> make_private(const path& file, std::string_view what) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0) return unseen(file, what, errno);
  if (S_ISLNK(status.st_mode)) {
    return fail(Errc::denied, std::string(what) + ": " + file.string() +
                                  " is a symbolic link, and must be the file itself; run: rm " + quoted(file));
  }
  SHAPLEY_TRY(check_owner(file, what, status));
  SHAPLEY_TRY(check_bits(file, what, status, k_others_write, "others could change it", "go-w"));
  const mode_t mode = status.st_mode & 07777U;
  if (!S_ISREG(status.st_mode) || (mode & ~k_private) == 0) return std::nullopt;
  if (::chmod(file.c_str(), mode & k_private) != 0) {
    return fail(Errc::denied, found(file, what, status) +
                                  "only its owner may have rights to it, and they cannot be set (" +
                                  std::strerror(errno) + "); run: chmod 600 " + quoted(file));
  }
  return octal(mode);
}

Expected<void> check_directory(const path& directory, std::string_view what, Sticky sticky) {
  std::error_code error;
  const path whole = std::filesystem::canonical(directory.empty() ? "." : directory, error);
  if (error) return unseen(directory, what, error.value());
  for (path at = whole;; at = at.parent_path()) {
    SHAPLEY_TRY_ASSIGN(const struct stat status, look_at(at, what));
    const bool itself = at == whole;
    if (itself) SHAPLEY_TRY(check_owner(at, what, status));
    const bool shared = (status.st_mode & S_ISVTX) != 0 && (!itself || sticky == Sticky::allowed);
    // Some of those above belong to a group of administrators, as Debian's /usr/local does.
    const mode_t forbidden = shared ? 0 : itself ? k_others_write : S_IWOTH;
    const char* remedy = itself ? "go-w" : "o-w";
    SHAPLEY_TRY(check_bits(at, what, status, forbidden, "others could replace what is in it", remedy));
    if (at == at.parent_path()) return {};
  }
}

}  // namespace shapley
