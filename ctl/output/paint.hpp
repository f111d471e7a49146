// Colours in text for people. A text carries them as escape sequences; what it says beside them was made printable
// before, so no other sequence is in it.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

namespace shapley::ctl {

// Colours say what the text says too; nothing is told by colour alone.
enum class Paint { none, good, bad, dim };

// `text` in the escape sequence of `paint`; unchanged when colour is off or paint is none.
[[nodiscard]] std::string painted(std::string_view text, Paint paint, bool colour);

// Writes a text with painted parts. A PrintableStream lets those sequences pass, and nothing else.
void print_painted(std::ostream& out, std::string_view text);

}  // namespace shapley::ctl
