// Scenes as text: what happens, line by line, and behind "->" what comes of it.
//
// A file begins with comments (#), which say what its lines may be. A scene has a head at the margin and lines that are
// indented: one that begins with a capital letter explains, any other is played. Played by the runner itself:
//   each X: a b     the whole scene is played with $X as each of them, and comes out alike
//   again           what follows happens on a new stage
//   part NAME       the lines under the head "Part: NAME" are played here
// With SHAPLEY_WRITE_SCENES=FOLDER each file is written there as it turns out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "protocol/messages.hpp"

namespace shapley::daemon {

class Stage {
 public:
  virtual ~Stage() = default;
  // What comes of the line, in words. Empty: it only sets the scene.
  virtual std::string play(const std::string& line) = 0;
};

// The scenes of a file below tests/daemon, which has at least so many.
void expect_scenes_to_turn_out_as_written(const std::string& file, std::size_t at_least,
                                          const std::function<std::unique_ptr<Stage>()>& make_stage);

[[nodiscard]] std::vector<std::string> words_of(const std::string& line);
// The parts of a text between separators.
[[nodiscard]] std::vector<std::string> parts_of(const std::string& text, char separator);
[[nodiscard]] std::int64_t number_in(const std::string& text);

// "running 120 flip=150", "ended 120-160": a record of slurmctld's, from the word at `first` on: the state, start and
// end, and what else is not as in the record that `make` returns for the state. Times are seconds since `since`.
[[nodiscard]] protocol::JobUpdate record_in(const std::vector<std::string>& words, std::size_t first,
                                            const std::function<protocol::JobUpdate(protocol::JobState)>& make,
                                            std::int64_t since = 0);

}  // namespace shapley::daemon
