#include "ledger/archive/packed_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <lzma.h>
#include <unistd.h>

#include "ledger/store/file_operations.hpp"

namespace shapley::ledger {

namespace {

using std::filesystem::path;

constexpr std::size_t k_buffer = 1U << 16U;
constexpr std::string_view k_magic(
    "\xFD"
    "7zXZ\0",
    6);
// More would take more memory, 94 MB each, for little.
constexpr std::uint32_t k_most_threads = 4;
constexpr std::uint32_t k_level = LZMA_PRESET_DEFAULT;
// Of what comes from elsewhere: a small file must not fill a disk.
constexpr std::uintmax_t k_most_expansion = 1000;

class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { lzma_end(&stream_); }
  lzma_stream& get() { return stream_; }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

// A file that is being written.
class Output {
 public:
  static Expected<Output> create(const path& file, unsigned mode) {
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor >= 0) return Output(file, descriptor);
    return system_failure(file.string() + ": cannot create it", errno, errno == EEXIST ? Errc::conflict : Errc::io);
  }
  Output(Output&& other) noexcept
      : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)), written_(other.written_) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  Output& operator=(Output&&) = delete;
  ~Output() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  Expected<void> write(const std::uint8_t* bytes, std::size_t count) {
    while (count > 0) {
      const ssize_t taken = ::write(descriptor_, bytes, count);
      if (taken < 0 && errno == EINTR) continue;
      if (taken < 0) return system_failure(file_.string() + ": cannot write", errno);
      bytes += taken;
      count -= static_cast<std::size_t>(taken);
      written_ += static_cast<std::uintmax_t>(taken);
    }
    return {};
  }
  [[nodiscard]] std::uintmax_t written() const { return written_; }

 private:
  Output(path file, int descriptor) : file_(std::move(file)), descriptor_(descriptor) {}
  path file_;
  int descriptor_;
  std::uintmax_t written_ = 0;
};

tl::unexpected<Error> cannot_read(const path& file) {
  return fail(Errc::io, file.string() + ": cannot be read; check path and permissions");
}

std::string words_of(lzma_ret result) {
  switch (result) {
    case LZMA_FORMAT_ERROR:
      return "it is no xz file";
    case LZMA_BUF_ERROR:
      return "it was cut short";
    case LZMA_OPTIONS_ERROR:
    case LZMA_UNSUPPORTED_CHECK:
      return "it was made by a newer xz";
    default:
      return "its content is damaged";
  }
}

tl::unexpected<Error> lzma_failure(const path& file, lzma_ret result) {
  if (result == LZMA_MEM_ERROR) return fail(Errc::limit, file.string() + ": there is not enough memory");
  return fail(Errc::corrupt, file.string() + ": " + words_of(result));
}

struct Pump {
  path from;
  std::string_view what;       // for progress
  std::uintmax_t most_output;  // bytes; more is Errc::corrupt
};

// Runs all of the input through the stream.
Expected<void> pump(lzma_stream& stream, const Pump& job, Output& out, const OnProgress& on_progress) {
  std::error_code error;
  const auto all = static_cast<std::int64_t>(std::filesystem::file_size(job.from, error));
  std::ifstream in(job.from, std::ios::binary);
  if (!in) return cannot_read(job.from);
  std::vector<std::uint8_t> input(k_buffer);
  std::vector<std::uint8_t> output(k_buffer);
  lzma_ret result = LZMA_OK;
  lzma_action action = LZMA_RUN;
  for (std::int64_t read = 0; result != LZMA_STREAM_END;) {
    if (stream.avail_in == 0 && action == LZMA_RUN) {
      in.read(reinterpret_cast<char*>(input.data()), static_cast<std::streamsize>(input.size()));
      if (in.bad()) return cannot_read(job.from);
      stream.next_in = input.data();
      stream.avail_in = static_cast<std::size_t>(in.gcount());
      read += in.gcount();
      if (in.eof()) action = LZMA_FINISH;
      tell(on_progress, {job.what, read, error ? 0 : all});
    }
    stream.next_out = output.data();
    stream.avail_out = output.size();
    result = lzma_code(&stream, action);
    if (result != LZMA_OK && result != LZMA_STREAM_END) return lzma_failure(job.from, result);
    SHAPLEY_TRY(out.write(output.data(), output.size() - stream.avail_out));
    if (out.written() > job.most_output) return fail(Errc::corrupt, job.from.string() + ": it unpacks to too much");
  }
  if (stream.avail_in == 0 && in.peek() == std::ifstream::traits_type::eof()) return {};
  return fail(Errc::corrupt, job.from.string() + ": something follows its end");
}

}  // namespace

bool is_packed(const path& file) {
  std::ifstream in(file, std::ios::binary);
  std::array<char, k_magic.size()> first{};
  in.read(first.data(), first.size());
  return in.gcount() == static_cast<std::streamsize>(first.size()) &&
         std::string_view(first.data(), first.size()) == k_magic;
}

Expected<void> pack(const path& from, const path& to, const OnProgress& on_progress) {
  Stream stream;
  lzma_mt options{};
  options.threads = std::clamp<std::uint32_t>(lzma_cputhreads(), 1, k_most_threads);
  options.preset = k_level;
  options.check = LZMA_CHECK_SHA256;
  if (const lzma_ret begun = lzma_stream_encoder_mt(&stream.get(), &options); begun != LZMA_OK) {
    return lzma_failure(to, begun);
  }
  SHAPLEY_TRY_ASSIGN(Output out, Output::create(to, 0440));
  SHAPLEY_TRY(
      pump(stream.get(), {.from = from, .what = "bytes compressed", .most_output = UINTMAX_MAX}, out, on_progress));
  return sync_file(to);
}

Expected<void> unpack(const path& from, const path& to, const OnProgress& on_progress) {
  std::error_code error;
  const std::uintmax_t packed = std::filesystem::file_size(from, error);
  if (error) return fail(Errc::not_found, from.string() + ": " + error.message());
  Stream stream;
  if (const lzma_ret begun = lzma_stream_decoder(&stream.get(), UINT64_MAX, 0); begun != LZMA_OK) {
    return lzma_failure(from, begun);
  }
  SHAPLEY_TRY_ASSIGN(Output out, Output::create(to, k_live_file_mode));
  return pump(stream.get(), {.from = from, .what = "bytes unpacked", .most_output = packed * k_most_expansion}, out,
              on_progress);
}

Expected<void> compare_bytes(const path& a, const path& b) {
  std::ifstream left(a, std::ios::binary);
  std::ifstream right(b, std::ios::binary);
  if (!left) return cannot_read(a);
  if (!right) return cannot_read(b);
  std::vector<char> ours(k_buffer);
  std::vector<char> theirs(k_buffer);
  while (true) {
    left.read(ours.data(), static_cast<std::streamsize>(ours.size()));
    right.read(theirs.data(), static_cast<std::streamsize>(theirs.size()));
    const auto count = static_cast<std::size_t>(left.gcount());
    if (left.gcount() != right.gcount() || !std::equal(ours.data(), ours.data() + count, theirs.data())) {
      return fail(Errc::corrupt, b.string() + ": it does not read back as it was written; check the disk");
    }
    if (count == 0) return {};
  }
}

}  // namespace shapley::ledger
