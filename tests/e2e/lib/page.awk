# A page's commands and what they print. A block of a page is indented by four blanks; in it a line "$ COMMAND" is a command (one that ends with \
# goes on in the next line), and what follows up to the next one or to the block's end is its output.
#
# awk -v section=TITLE -v dir=DIR -f page.awk PAGE            the commands of that section: DIR/1.command, DIR/1.shown, DIR/2.command, ...
# awk -v section=TITLE -v dir=DIR -v record=1 -f page.awk PAGE   the page, with the outputs of that section replaced by DIR/1.actual, ...

function shown(line) { if (record) return; print line > (dir "/" n ".shown") }
function recorded(   line) {
  if (!record) return
  while ((getline line < (dir "/" n ".actual")) > 0) print (line == "" ? "" : "    " line)
}
# Blank lines are the output's if more of it follows, else the page's.
function blanks(of_output,   i) {
  for (i = 0; i < held; ++i) { if (of_output) shown(""); else if (record) print "" }
  held = 0
}

/^#+ / { title = $0; sub(/^#+ /, "", title) }

going_on {
  print substr($0, 5) > (dir "/" n ".command")
  if (record) print
  going_on = /\\$/
  if (!going_on) recorded()
  next
}
title == section && /^    \$ / {
  blanks(0)
  in_output = 1
  ++n
  print substr($0, 7) > (dir "/" n ".command")
  printf "" > (dir "/" n ".shown")
  if (record) print
  going_on = /\\$/
  if (!going_on) recorded()
  next
}
in_output && /^$/ { ++held; next }
in_output && /^    / { blanks(1); shown(substr($0, 5)); next }
{
  blanks(0)
  in_output = 0
  if (record) print
}
END { blanks(0) }
