// Text that may be shown. Names of jobs, files, tables and programs are others' choice; a terminal that gets them as
// they are can be made to wipe its screen, to show another text than the one that is there, or one more line of ours.
//
// printable() is the one function that every byte of text output goes through, and its table (printable.cpp) the one
// list:
//   - C0 (U+0000..U+001F) and DEL: begin escape sequences, move the cursor, erase, end the line;
//   - C1 (U+0080..U+009F): the same to terminals that take them for ESC and a letter; as bytes 0x80..0x9f they are
//     invalid UTF-8;
//   - marks of direction (U+061C, U+200E, U+200F, U+202A..U+202E, U+2066..U+2069): show text in another order than it
//     has, so that "ab" reads "ba";
//   - U+2028 and U+2029: end the line where C0 does not;
//   - characters without width (U+200B..U+200D, U+2060..U+206F, U+FEFF, U+FFF9..U+FFFB, the tags U+E0000..U+E007F): two
//     names that differ would look the same;
//   - noncharacters (U+FDD0..U+FDEF, U+FFFE and U+FFFF of each plane): never text, and terminals differ about them;
//   - what is not UTF-8 (overlong forms, surrogates, beyond U+10FFFF, cut short): terminals differ about where it ends.
// All other text stays as it is. Terminals are taken to speak UTF-8.
//
// An escape is \x1b for a byte below 0x20 or one that is not UTF-8, and else what JSON writes for the character:
// \u202e, \udb40\udc01 beyond U+FFFF. So JSON that is written in UTF-8 stays JSON, of the same value. A backslash stays
// as it is: names with one are plain text, and printable(printable(t)) == printable(t). Who must tell a name `\x1b`
// from an escape asks for --json.
#pragma once

#include <string>
#include <string_view>

namespace shapley {

enum class Newlines {
  escaped,  // a value: it stays within its line
  kept,     // a text of several lines that a program wrote, its values escaped before
};

[[nodiscard]] std::string printable(std::string_view text, Newlines newlines = Newlines::escaped);

}  // namespace shapley
