// An external merge sort: records in ascending order of their bytes, when there may be more of them than fit into
// memory.
//
// Records that do not fit are written, sorted, to a temporary file without a name in `directory`; it is created when it
// is needed and removed with the object. Reading merges its parts. Memory: `memory` bytes at most, and 64 KiB for each
// part during reading.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/process.hpp"

namespace shapley {

class SortedRecords {
 public:
  static constexpr std::size_t k_memory = std::size_t{32} << 20U;
  explicit SortedRecords(std::filesystem::path directory, std::size_t memory = k_memory);

  // Errc::io and Errc::no_space name the directory.
  [[nodiscard]] Expected<void> add(std::string_view record);
  // Visits every record, equal ones as often as they were added, until `visit` returns an error. May be called again.
  [[nodiscard]] Expected<void> for_each(const std::function<Expected<void>(std::string_view)>& visit) const;

 private:
  struct Place {
    std::size_t at = 0, size = 0;  // bytes
  };
  class Part;

  [[nodiscard]] std::string_view at(Place place) const { return std::string_view(bytes_).substr(place.at, place.size); }
  [[nodiscard]] std::vector<Place> sorted() const;
  [[nodiscard]] Expected<void> spill();
  [[nodiscard]] Expected<void> write(std::string_view bytes);

  std::filesystem::path directory_;
  std::size_t memory_;
  std::string bytes_;          // the records that were not written to the file yet
  std::vector<Place> places_;  // where each of them is in bytes_
  Descriptor file_;
  std::size_t written_ = 0;
  std::vector<Place> parts_;  // the parts of the file, each sorted
};

}  // namespace shapley
