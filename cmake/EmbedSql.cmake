# Writes OUTPUT, a C++ source that holds the migrations INPUTS (semicolon list, in order) as text, so that the programs need no
# path at run time. Usage: cmake -DOUTPUT=... -DINPUTS=... -P EmbedSql.cmake
set(body "")
set(number 0)
foreach(input IN LISTS INPUTS)
  math(EXPR number "${number} + 1")
  get_filename_component(name "${input}" NAME)
  # A gap or a swap in the list would give ledgers of one version different schemas.
  string(REGEX MATCH "^[0-9]+" prefix "${name}")
  math(EXPR prefix "1${prefix} - 1000")
  if(NOT prefix EQUAL number)
    message(FATAL_ERROR "EmbedSql: ${name} is not migration number ${number}")
  endif()
  file(READ "${input}" text)
  string(APPEND body "    R\"sql(${text})sql\",\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made from sql/ by cmake/EmbedSql.cmake.\n#include \"ledger/store/ledger_file.hpp\"\n\nnamespace shapley::ledger {\n
namespace {\nconstexpr std::string_view k_migrations[] = {\n${body}};\n}  // namespace\n
std::span<const std::string_view> migrations() {\n  return k_migrations;\n}\n\n}  // namespace shapley::ledger\n")
