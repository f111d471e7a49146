#include "base/sorted_records.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <queue>

#include <fcntl.h>

namespace shapley {

namespace {

constexpr std::size_t k_block = std::size_t{1} << 16U;
using Length = std::uint32_t;  // before each record in the file

}  // namespace

// One part of the file, read from its begin to its end.
class SortedRecords::Part {
 public:
  Part(int file, Place place) : file_(file), place_(place) {}

  // False: there is no further record.
  [[nodiscard]] Expected<bool> next() {
    if (place_.size == 0 && used_ == buffer_.size()) return false;
    SHAPLEY_TRY(need(sizeof(Length)));
    Length length = 0;
    std::memcpy(&length, buffer_.data() + used_, sizeof length);
    used_ += sizeof length;
    SHAPLEY_TRY(need(length));
    record_ = std::string_view(buffer_).substr(used_, length);
    used_ += length;
    return true;
  }
  [[nodiscard]] std::string_view record() const { return record_; }  // valid until the next call of next()

 private:
  // Reads until the buffer holds so many unused bytes.
  Expected<void> need(std::size_t bytes) {
    if (buffer_.size() - used_ >= bytes) return {};
    buffer_.erase(0, std::exchange(used_, 0));
    while (buffer_.size() < bytes) {
      const std::size_t have = buffer_.size();
      buffer_.resize(have + std::min(place_.size, std::max(k_block, bytes) - have));
      const ssize_t got = ::pread(file_, buffer_.data() + have, buffer_.size() - have, static_cast<off_t>(place_.at));
      const int cause = errno;
      buffer_.resize(have + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      if (got < 0 && cause == EINTR) continue;
      if (got <= 0) return system_failure("sorting: the temporary file cannot be read", got < 0 ? cause : EIO);
      place_.at += static_cast<std::size_t>(got);
      place_.size -= static_cast<std::size_t>(got);
    }
    return {};
  }

  int file_;
  Place place_;  // what is still to be read
  std::string buffer_;
  std::size_t used_ = 0;
  std::string_view record_;
};

SortedRecords::SortedRecords(std::filesystem::path directory, std::size_t memory)
    : directory_(std::move(directory)), memory_(memory) {}

Expected<void> SortedRecords::add(std::string_view record) {
  places_.push_back({bytes_.size(), record.size()});
  bytes_ += record;
  // A string that grows holds twice as much as it needs.
  return 2 * bytes_.size() + places_.size() * sizeof(Place) < memory_ ? Expected<void>{} : spill();
}

std::vector<SortedRecords::Place> SortedRecords::sorted() const {
  std::vector<Place> places = places_;
  std::sort(places.begin(), places.end(), [this](Place a, Place b) { return at(a) < at(b); });
  return places;
}

Expected<void> SortedRecords::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file_.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_failure("sorting: a temporary file in " + directory_.string(), errno);
    written_ += static_cast<std::size_t>(put);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Expected<void> SortedRecords::spill() {
  if (!file_.is_open()) {
    std::string name = (directory_ / ".shapley-sort.XXXXXX").string();
    file_ = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (!file_.is_open()) return system_failure("sorting: no temporary file in " + directory_.string(), errno);
    ::unlink(name.c_str());
  }
  Place part{written_, 0};
  std::string block;
  for (const Place place : sorted()) {
    const auto length = static_cast<Length>(place.size);
    char head[sizeof length];
    std::memcpy(head, &length, sizeof length);
    block.append(head, sizeof head).append(at(place));
    if (block.size() < k_block) continue;
    SHAPLEY_TRY(write(block));
    block.clear();
  }
  SHAPLEY_TRY(write(block));
  part.size = written_ - part.at;
  parts_.push_back(part);
  bytes_.clear();
  places_.clear();
  return {};
}

Expected<void> SortedRecords::for_each(const std::function<Expected<void>(std::string_view)>& visit) const {
  using Next = std::pair<std::string_view, std::size_t>;  // a record, and the index of its part
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  std::vector<Part> parts;
  for (const Place place : parts_) parts.emplace_back(file_.get(), place);
  const std::vector<Place> places = sorted();
  std::size_t used = 0;  // of `places`, the part after those of the file
  const auto advance = [&](std::size_t part) -> Expected<void> {
    if (part == parts.size()) {
      if (used < places.size()) next.emplace(at(places[used++]), part);
      return {};
    }
    SHAPLEY_TRY_ASSIGN(const bool more, parts[part].next());
    if (more) next.emplace(parts[part].record(), part);
    return {};
  };
  for (std::size_t part = 0; part <= parts.size(); ++part) SHAPLEY_TRY(advance(part));
  while (!next.empty()) {
    const auto [record, part] = next.top();
    SHAPLEY_TRY(visit(record));
    next.pop();
    SHAPLEY_TRY(advance(part));
  }
  return {};
}

}  // namespace shapley
