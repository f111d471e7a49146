// A file as a stream of its text: plain, gzip or xz, distinguished by the first bytes, decompressed while it is read.
#pragma once

#include <filesystem>
#include <functional>
#include <istream>

#include "base/error.hpp"

namespace shapley::workload {

// Calls `read` with the text of `file` and returns what it returns. Errors name the file; Errc::corrupt when a
// compressed file is damaged or cut short, whatever `read` made of the part before.
[[nodiscard]] Expected<void> read_input_file(const std::filesystem::path& file,
                                             const std::function<Expected<void>(std::istream&)>& read);

}  // namespace shapley::workload
