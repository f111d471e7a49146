# Writes OUTPUT, a C++ source that holds the files INPUTS (semicolon list, in order) as text, so that the programs need no path at run time:
# FUNCTION of the namespace NAMESPACE, which HEADER declares, gives them in this order. ELEMENT is std::string_view: the texts, whose files are
# numbered migrations; or another type: of the name of a file and its text.
# Usage: cmake -DOUTPUT=... -DINPUTS=... -DHEADER=... -DNAMESPACE=... -DFUNCTION=... -DELEMENT=... -P EmbedTexts.cmake
set(body "")
set(number 0)
foreach(input IN LISTS INPUTS)
  math(EXPR number "${number} + 1")
  get_filename_component(name "${input}" NAME)
  file(READ "${input}" text)
  if(ELEMENT STREQUAL "std::string_view")
    # A gap or a swap in the list would give ledgers of one version different schemas.
    string(REGEX MATCH "^[0-9]+" prefix "${name}")
    math(EXPR prefix "1${prefix} - 1000")
    if(NOT prefix EQUAL number)
      message(FATAL_ERROR "EmbedTexts: ${name} is not migration number ${number}")
    endif()
    string(APPEND body "    R\"text(${text})text\",\n")
  else()
    string(APPEND body "    {\"${name}\", R\"text(${text})text\"},\n")
  endif()
endforeach()
file(WRITE "${OUTPUT}" "// Made by cmake/EmbedTexts.cmake.\n#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n
namespace {\nconstexpr ${ELEMENT} k_texts_of_${FUNCTION}[] = {\n${body}};\n}  // namespace\n
std::span<const ${ELEMENT}> ${FUNCTION}() {\n  return k_texts_of_${FUNCTION};\n}\n\n}  // namespace ${NAMESPACE}\n")
