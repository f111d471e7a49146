// Ctrl-C keeps finished results: after the first SIGINT long work stops at the end of the current piece, the second
// ends the program at once.
#pragma once

namespace shapley::sim {

// From here on the first SIGINT only sets a flag.
void catch_interrupt();
[[nodiscard]] bool interrupted();

}  // namespace shapley::sim
