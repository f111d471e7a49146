#include "base/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mutex.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"

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

namespace {

using std::filesystem::path;

// What this process was given open, as by a shell's `<(command)`; not /dev/shm, where every user may make files.
bool is_own_descriptor(const path& file) {
  return file.native().starts_with("/dev/fd/") || file.native() == "/dev/stdin";
}

constexpr mode_t k_private = S_IRUSR | S_IWUSR;

tl::unexpected<Error> unreadable(const path& file, Errc code) {
  return fail(code, file.string() + ": cannot be read; is it there, and may you read it?");
}

}  // namespace

Expected<Descriptor> open_to_read(const path& file) {
  const auto refused = [&](const char* what) { return fail(Errc::io, file.string() + ": cannot be opened: " + what); };
  // Without O_NONBLOCK a FIFO waits for a writer.
  Descriptor in(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!in.is_open() || ::fstat(in.get(), &status) != 0) {
    return system_failure(file.string() + ": cannot be opened", errno,
                          errno == ENOENT || errno == ENOTDIR ? Errc::not_found : Errc::io);
  }
  if (S_ISREG(status.st_mode)) return in;
  if (S_ISDIR(status.st_mode)) return refused("it is a directory");
  const bool is_own = S_ISFIFO(status.st_mode) && is_own_descriptor(file);
  return is_own && ::fcntl(in.get(), F_SETFL, 0) == 0 ? Expected<Descriptor>(std::move(in))
                                                      : refused("it is no regular file");
}

Expected<std::string> read_text(const Descriptor& in, const path& file, std::size_t most) {
  std::string text;
  std::array<char, 64 * 1024> part;
  while (text.size() <= most) {
    const ssize_t count = ::read(in.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unreadable(file, Errc::io);
    if (count == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  return fail(Errc::invalid_argument, file.string() + ": has more than " + std::to_string(most) +
                                          " bytes, which is the most that is read; is it the right file?");
}

Expected<std::string> read_text_file(const path& file, std::size_t most) {
  const auto in = open_to_read(file);
  if (!in) return unreadable(file, Errc::io);
  return read_text(*in, file, most);
}

namespace {

// The paths that threads are reading now. Lives as long as the process, as such a thread may.
struct PathsBeingRead {
  Mutex mutex;
  std::set<path> paths SHAPLEY_GUARDED_BY(mutex);
};

PathsBeingRead& paths_being_read() {
  static PathsBeingRead& paths = *new PathsBeingRead;
  return paths;
}

// What such a thread shares with the one that waits for it.
struct Reading {
  Mutex mutex;
  std::optional<Expected<std::string>> text SHAPLEY_GUARDED_BY(mutex);
  Descriptor done{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

bool begin_reading(const path& file) {
  PathsBeingRead& reads = paths_being_read();
  const MutexLock lock(reads.mutex);
  return reads.paths.insert(file).second;
}

void end_reading(const path& file) {
  PathsBeingRead& reads = paths_being_read();
  const MutexLock lock(reads.mutex);
  reads.paths.erase(file);
}

void read_alone(const std::shared_ptr<Reading>& reading, const path& file, std::size_t most) {
  const auto in = open_to_read(file);
  Expected<std::string> text = in ? read_text(*in, file, most) : tl::unexpected<Error>(in.error());
  end_reading(file);
  const MutexLock lock(reading->mutex);
  reading->text.emplace(std::move(text));
  ::eventfd_write(reading->done.get(), 1);
}

Expected<void> start_reading(const std::shared_ptr<Reading>& reading, const path& file, std::size_t most) {
  auto started = start_without_signals("a thread", [reading, file, most] { read_alone(reading, file, most); });
  if (started) {
    started->detach();
    return {};
  }
  end_reading(file);
  return tl::unexpected<Error>(std::move(started).error());
}

}  // namespace

Expected<std::string> read_text_file(const path& file, std::size_t most, const Patience& patience) {
  const std::string hangs = ": does not answer; is its file system reachable?";
  if (!begin_reading(file)) return fail(Errc::unavailable, file.string() + hangs);
  const auto reading = std::make_shared<Reading>();
  SHAPLEY_TRY(start_reading(reading, file, most));
  std::array<pollfd, 2> ends{pollfd{reading->done.get(), POLLIN, 0}, pollfd{patience.wake_up, POLLIN, 0}};
  const auto until = std::chrono::steady_clock::now() + patience.time;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    const int ready = ::poll(ends.data(), ends.size(), std::max(0, static_cast<int>(left.count())));
    if (ready < 0 && errno == EINTR) continue;
    break;
  }
  const MutexLock lock(reading->mutex);
  if (reading->text) return *std::move(reading->text);
  return fail(Errc::unavailable, file.string() + hangs);
}

InputFile::Buffer::int_type InputFile::Buffer::underflow() {
  ssize_t count = 0;
  do count = ::read(file_.get(), part_.data(), part_.size());
  while (count < 0 && errno == EINTR);
  // The stream becomes bad().
  if (count < 0) throw std::system_error(errno, std::generic_category());
  if (count == 0) return traits_type::eof();
  setg(part_.data(), part_.data(), part_.data() + count);
  return traits_type::to_int_type(part_.front());
}

InputFile::InputFile(std::unique_ptr<Buffer> buffer) : std::istream(buffer.get()), buffer_(std::move(buffer)) {}

InputFile::InputFile(InputFile&& other) noexcept : std::istream(std::move(other)), buffer_(std::move(other.buffer_)) {
  set_rdbuf(buffer_.get());
}

Expected<InputFile> InputFile::open(const path& file) {
  SHAPLEY_TRY_ASSIGN(Descriptor in, open_to_read(file));
  return InputFile(std::make_unique<Buffer>(std::move(in)));
}

Expected<Descriptor> create_file(const path& file, unsigned mode) {
  Descriptor out(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (out.is_open()) return out;
  if (errno == EEXIST)
    return fail(Errc::conflict, file.string() + ": exists already and is not overwritten; name another file");
  return system_failure(file.string() + ": cannot be created", errno);
}

Expected<void> write_all(const Descriptor& out, std::string_view text, const path& file) {
  while (!text.empty()) {
    const ssize_t written = ::write(out.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_failure(file.string() + ": cannot be written", errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Expected<void> write_new_file(const path& file, std::string_view text, unsigned mode) {
  SHAPLEY_TRY_ASSIGN(const Descriptor out, create_file(file, mode));
  auto written = write_all(out, text, file);
  if (written && ::fsync(out.get()) != 0) written = system_failure(file.string() + ": cannot be synced", errno);
  if (!written) ::unlink(file.c_str());
  return written;
}

Expected<void> replace_file(const path& file, std::string_view text, Readers readers) {
  constexpr unsigned k_owner = 0600;
  constexpr unsigned k_all = 0666;
  std::array<char, 8> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    return system_failure("getrandom", errno);
  const path next(file.string() + '.' + to_hex({random.data(), random.size()}) + ".new");
  SHAPLEY_TRY(write_new_file(next, text, readers == Readers::owner ? k_owner : k_all));
  auto renamed = rename_file(next, file);
  if (!renamed) ::unlink(next.c_str());
  return renamed;
}

Expected<void> overwrite_begin(const path& file, std::string_view text) {
  const Descriptor out(::open(file.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, k_private));
  if (out.is_open() && ::pwrite(out.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) return {};
  return system_failure(file.string() + ": cannot be written", errno);
}

Expected<void> sync_file(const path& file) {
  const Descriptor opened(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (opened.is_open() && ::fsync(opened.get()) == 0) return {};
  return system_failure(file.string() + ": cannot be synced", errno);
}

Expected<void> rename_file(const path& from, const path& to) {
  // Renaming replaces a device, too, such as /dev/null, and all programs of the host would lose it.
  struct stat there {};
  const bool exists = ::lstat(to.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode) && !S_ISLNK(there.st_mode) && !S_ISDIR(there.st_mode))
    return fail(Errc::conflict, to.string() + ": is no regular file and is not replaced; name another file");
  if (::rename(from.c_str(), to.c_str()) != 0) return system_failure(to.string() + ": cannot be the new name", errno);
  return sync_file(std::filesystem::absolute(to).parent_path());
}

namespace {

constexpr mode_t k_others_write = S_IWGRP | S_IWOTH;

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
