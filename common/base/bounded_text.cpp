#include "base/bounded_text.hpp"

#include <algorithm>
#include <fstream>

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

}  // namespace shapley
