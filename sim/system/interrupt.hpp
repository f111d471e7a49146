// Ctrl-C keeps what is finished: the first SIGINT asks long work to stop at the next whole piece, the second ends the
// program as if nothing had been caught.
#pragma once

namespace shapley::sim {

// From here on the first SIGINT only sets the mark.
void catch_interrupt();
[[nodiscard]] bool interrupted();

}  // namespace shapley::sim
