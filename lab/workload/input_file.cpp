#include <array>
#include <fstream>
#include <memory>
#include <streambuf>
#include <string>

#include <lzma.h>
#include <zlib.h>

#include "workload/trace_files.hpp"

namespace shapley::workload {

namespace {

constexpr std::size_t k_buffer = 1U << 16U;

// Turns compressed bytes into text, as much as fits.
class Decoder {
 public:
  enum class Step { more, end, damaged };

  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  virtual ~Decoder() = default;

  [[nodiscard]] virtual bool wants_input() const = 0;
  virtual void input(char* bytes, std::size_t count) = 0;
  // Writes text to [out, out + capacity) and its length to `written`. `last`: no input will follow.
  virtual Step decode(char* out, std::size_t capacity, bool last, std::size_t& written) = 0;
};

class GzipDecoder final : public Decoder {
 public:
  GzipDecoder() { inflateInit2(&stream_, 15 + 16); }  // 15: the largest window; +16: gzip's header and checksum
  ~GzipDecoder() override { inflateEnd(&stream_); }

  [[nodiscard]] bool wants_input() const override { return stream_.avail_in == 0; }
  void input(char* bytes, std::size_t count) override {
    stream_.next_in = reinterpret_cast<Bytef*>(bytes);
    stream_.avail_in = static_cast<uInt>(count);
  }
  Step decode(char* out, std::size_t capacity, bool last, std::size_t& written) override {
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(capacity);
    if (between_members_ && stream_.avail_in > 0) {
      inflateReset(&stream_);  // `cat a.gz b.gz` is a gzip file, too
      between_members_ = false;
    }
    const int result = between_members_ ? Z_BUF_ERROR : inflate(&stream_, Z_NO_FLUSH);
    written = capacity - stream_.avail_out;
    if (result == Z_STREAM_END) between_members_ = true;
    if (between_members_) return last && stream_.avail_in == 0 ? Step::end : Step::more;
    if (result != Z_OK && result != Z_BUF_ERROR) return Step::damaged;
    return last && stream_.avail_in == 0 && written == 0 ? Step::damaged : Step::more;
  }

 private:
  z_stream stream_{};
  bool between_members_ = false;
};

class XzDecoder final : public Decoder {
 public:
  XzDecoder() { usable_ = lzma_stream_decoder(&stream_, UINT64_MAX, LZMA_CONCATENATED) == LZMA_OK; }
  ~XzDecoder() override { lzma_end(&stream_); }

  [[nodiscard]] bool wants_input() const override { return stream_.avail_in == 0; }
  void input(char* bytes, std::size_t count) override {
    stream_.next_in = reinterpret_cast<std::uint8_t*>(bytes);
    stream_.avail_in = count;
  }
  Step decode(char* out, std::size_t capacity, bool last, std::size_t& written) override {
    if (!usable_) return Step::damaged;
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out);
    stream_.avail_out = capacity;
    const lzma_ret result = lzma_code(&stream_, last ? LZMA_FINISH : LZMA_RUN);
    written = capacity - stream_.avail_out;
    if (result == LZMA_STREAM_END) return Step::end;
    return result == LZMA_OK ? Step::more : Step::damaged;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool usable_ = false;
};

class DecodingBuffer final : public std::streambuf {
 public:
  DecodingBuffer(std::istream& source, std::unique_ptr<Decoder> decoder)
      : source_(source), decoder_(std::move(decoder)) {}
  [[nodiscard]] bool damaged() const { return damaged_; }

 protected:
  int_type underflow() override {
    while (!done_) {
      if (decoder_->wants_input() && !last_) {
        source_.read(compressed_.data(), static_cast<std::streamsize>(compressed_.size()));
        last_ = source_.eof();
        decoder_->input(compressed_.data(), static_cast<std::size_t>(source_.gcount()));
      }
      std::size_t written = 0;
      const Decoder::Step step = decoder_->decode(text_.data(), text_.size(), last_, written);
      done_ = step != Decoder::Step::more;
      damaged_ = step == Decoder::Step::damaged;
      if (written > 0) {
        setg(text_.data(), text_.data(), text_.data() + written);
        return traits_type::to_int_type(text_[0]);
      }
    }
    return traits_type::eof();
  }

 private:
  std::istream& source_;
  std::unique_ptr<Decoder> decoder_;
  std::array<char, k_buffer> compressed_{};
  std::array<char, k_buffer> text_{};
  bool last_ = false;
  bool done_ = false;
  bool damaged_ = false;
};

std::unique_ptr<Decoder> decoder_for(std::istream& stream) {
  std::array<char, 6> magic{};
  stream.read(magic.data(), magic.size());
  const std::string_view head(magic.data(), static_cast<std::size_t>(stream.gcount()));
  stream.clear();
  stream.seekg(0);
  if (head.substr(0, 2) == "\x1f\x8b") return std::make_unique<GzipDecoder>();
  if (head == std::string_view("\xfd"
                               "7zXZ\0",
                               6))
    return std::make_unique<XzDecoder>();
  return nullptr;
}

}  // namespace

Expected<void> read_input_file(const std::filesystem::path& file,
                               const std::function<Expected<void>(std::istream&)>& read) {
  std::error_code ignored;
  std::ifstream plain(file, std::ios::binary);
  if (!plain || std::filesystem::is_directory(file, ignored))
    return fail(Errc::io, file.string() + ": cannot be read; is it there, and may you read it?");
  std::unique_ptr<Decoder> decoder = decoder_for(plain);
  if (!decoder) {
    if (auto done = read(plain); !done) return with_context(file.string(), done.error());
    return {};
  }
  DecodingBuffer buffer(plain, std::move(decoder));
  std::istream text(&buffer);
  const auto done = read(text);
  if (buffer.damaged())
    return fail(Errc::corrupt, file.string() + ": the compressed file is damaged or cut short; fetch it again");
  if (!done) return with_context(file.string(), done.error());
  return {};
}

}  // namespace shapley::workload
