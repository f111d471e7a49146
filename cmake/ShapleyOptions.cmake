# Settings shared by every target of the project: `shapley_options` (language, include roots, sanitizers) and
# `shapley_warnings`. Both are linked privately by our own code only, never by third parties.
# The laboratory includes this file before the product does when it is built alone.
include_guard(GLOBAL)
get_filename_component(SHAPLEY_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)  # the product's source tree

set(SHAPLEY_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")
option(SHAPLEY_WARNINGS_AS_ERRORS "Treat warnings as errors (development presets)" OFF)
option(SHAPLEY_FUZZ "Build the fuzz targets with libFuzzer (clang) instead of the replays of their corpora" OFF)
option(SHAPLEY_PLUGIN "Build the Slurm plugins (needs Slurm's source, fetched on Debian)" ON)
set(SLURM_SOURCE_DIR "" CACHE PATH "Configured source tree of the Slurm release that will load the plugin")
set(SHAPLEY_SLURMCTLD "" CACHE STRING "The slurmctld that will load the plugin (default: the first in PATH), or none: not installed here")
option(SHAPLEY_LAB "Build the laboratory (lab/): shapley-sim, the papers' simulator" OFF)
option(SHAPLEY_UNTESTED_SLURM "Build the plugin for a Slurm release that it was never tried with" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)  # there are none, and CMake joins no files that it scans
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

find_program(SHAPLEY_CCACHE ccache)
if(SHAPLEY_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER "${SHAPLEY_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${SHAPLEY_CCACHE}")
  # It caches nothing that is compiled with them, unless its settings allow it.
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()

# A third of the time for the links of a hundred tests. Releases are linked as the distribution links.
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  find_program(SHAPLEY_LLD ld.lld)
  if(SHAPLEY_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

add_library(shapley_options INTERFACE)
target_include_directories(shapley_options INTERFACE "${SHAPLEY_ROOT}" "${SHAPLEY_ROOT}/common")
# Debug information apart from what is installed is found by it (packaging).
target_link_options(shapley_options INTERFACE LINKER:--build-id)
if(SHAPLEY_SANITIZE)
  target_compile_options(shapley_options INTERFACE -fsanitize=${SHAPLEY_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(shapley_options INTERFACE -fsanitize=${SHAPLEY_SANITIZE})
  # GCC and clang report a sanitizer by macros of their own; tests that must know check this one.
  target_compile_definitions(shapley_options INTERFACE SHAPLEY_SANITIZED)
  if(SHAPLEY_SANITIZE MATCHES "undefined")
    # Null and misaligned pointers, objects that are too small and wrong types are left to the address sanitizer, which finds what is read or
    # written there: these checks are most of the code that this sanitizer makes, and a third of the time to compile it.
    target_compile_options(shapley_options INTERFACE -fno-sanitize-recover=undefined -fno-sanitize=null,alignment,object-size,vptr)
    # The library's own checks of indices and iterators find what sanitizers cannot see: an element of an empty vector that has room for it.
    target_compile_definitions(shapley_options INTERFACE _GLIBCXX_ASSERTIONS)
  endif()
  # The thread sanitizer does not understand memory fences. Asio's fences only order what its
  # own mutexes order already, so this preset builds without them.
  if(SHAPLEY_SANITIZE MATCHES "thread")
    target_compile_definitions(shapley_options INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
endif()
if(SHAPLEY_FUZZ)
  # Coverage for libFuzzer in everything that a target links; its main() is linked to the targets only.
  target_compile_options(shapley_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

add_library(shapley_warnings INTERFACE)
target_compile_options(shapley_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual
                       $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
# One rule for both compilers: GCC's -Wconversion leaves the sign out in C++. Only clang checks locks (base/mutex.hpp).
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(shapley_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-sign-conversion -Wthread-safety>)
endif()
if(SHAPLEY_WARNINGS_AS_ERRORS)
  target_compile_options(shapley_warnings INTERFACE -Werror)
endif()
# What most libraries include, compiled once for those that are not optimized: see README.md. GCC takes longer with it than without.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/precompiled.cpp" CONTENT "")  # as it is, if it is there
  add_library(shapley_headers STATIC "${CMAKE_BINARY_DIR}/precompiled.cpp")
  target_link_libraries(shapley_headers PRIVATE shapley_options shapley_warnings)
  target_precompile_headers(shapley_headers PRIVATE <nlohmann/json.hpp> <boost/multiprecision/cpp_int.hpp> <fmt/format.h> <tl/expected.hpp> <algorithm>
                            <chrono> <filesystem> <functional> <map> <memory> <optional> <set> <sstream> <string> <string_view> <tuple> <utility>
                            <variant> <vector>)
endif()

# shapley_precompiled(NAME): of this library, which is compiled without optimizing.
function(shapley_precompiled name)
  if(TARGET shapley_headers)
    target_precompile_headers(${name} REUSE_FROM shapley_headers)
  endif()
endfunction()

# shapley_library(NAME SOURCES ... [LINKS ...] [PRIVATE_LINKS ...] [COMPUTES]): a static library `shapley_NAME`, alias shapley::NAME. The presets
# of developers compile without optimizing, which takes a third of the time; only what COMPUTES is too slow for its tests then (README.md).
function(shapley_library name)
  cmake_parse_arguments(ARG "COMPUTES" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(shapley_${name} STATIC ${ARG_SOURCES})
  add_library(shapley::${name} ALIAS shapley_${name})
  target_link_libraries(shapley_${name} PUBLIC shapley_options ${ARG_LINKS} PRIVATE shapley_warnings ${ARG_PRIVATE_LINKS})
  if(ARG_COMPUTES AND NOT SHAPLEY_SANITIZE)
    target_compile_options(shapley_${name} PRIVATE $<$<CONFIG:Debug>:-O1>)
  else()
    shapley_precompiled(shapley_${name})
  endif()
endfunction()

# Seconds after which ctest ends a test, unless its declaration says otherwise: more than ten times what any of them needs on a busy machine, by
# a sanitizer too, and several times what a test waits for anything (tests/support/waiting.hpp), so that its own message comes first.
set(SHAPLEY_TEST_TIMEOUT_S 1200)

# The cost, in ctest's sense, of tests that take about a minute: they begin first and none of them is left alone at the end.
set(SHAPLEY_LONG_TEST 60)

# Labels that every test of a folder gets beside its own.
set(SHAPLEY_TEST_LABELS "")

# shapley_command_test(NAME LABEL ... COMMAND ... [TIMEOUT SECONDS] [LONG]): a command registered with ctest. Those labelled `files` are about
# files: sources, scripts, pages, what is packaged. A sanitizer sees nothing in them that it does not see in other tests.
function(shapley_command_test name)
  cmake_parse_arguments(ARG "LONG" "TIMEOUT" "LABEL;COMMAND" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT ${SHAPLEY_TEST_TIMEOUT_S})
  endif()
  add_test(NAME ${name} COMMAND ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABEL};${SHAPLEY_TEST_LABELS}" TIMEOUT ${ARG_TIMEOUT})
  if(ARG_LONG)
    set_tests_properties(${name} PROPERTIES COST ${SHAPLEY_LONG_TEST})
  endif()
endfunction()

# Property tests draw their cases from this seed, so that a revision has one outcome; `random` draws others each time, to look for faults.
set(SHAPLEY_PROPERTY_SEED "26112026" CACHE STRING "seed of the property tests' cases, or random")

# shapley_cases(NAME [COUNT]): how many cases each property of this test tries (100). A sanitizer tries a tenth: each case is many times as slow,
# and a sanitizer looks for other faults than what a property says.
function(shapley_cases name)
  set(cases 100)
  if(ARGN)
    set(cases ${ARGN})
  endif()
  if(SHAPLEY_SANITIZE)
    math(EXPR cases "${cases} / 10")
  endif()
  set(parameters "max_success=${cases}")
  if(NOT SHAPLEY_PROPERTY_SEED STREQUAL "random")
    list(APPEND parameters "seed=${SHAPLEY_PROPERTY_SEED}")
  endif()
  list(JOIN parameters " " parameters)
  get_test_property(${name} ENVIRONMENT environment)
  if(NOT environment)
    set(environment "")
  endif()
  list(FILTER environment EXCLUDE REGEX "^RC_PARAMS=")
  list(APPEND environment "RC_PARAMS=${parameters}")
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}")
endfunction()

# shapley_test(NAME LABEL unit|property [threads] [libraries] [PROGRAM NAME] SOURCES ... LINKS ... [TIMEOUT SECONDS] [NOT_SANITIZED PATTERN ...]):
# an entry of ctest, all tests of these files (`*_test.cpp`; others are what they share). The files of all entries of one PROGRAM are compiled
# together to test_PROGRAM, a batch of files at a time; without PROGRAM the entry has a program of its own:
# what replaces operators or links another library in place of the product's. Sanitizers leave out tests of these names (as in --gtest_filter):
# those that cost minutes there and call nothing that others do not call. Those labelled `threads` run under the thread sanitizer too, those
# labelled `libraries` with the libraries of another release of Debian; the targets `threads_tests` and `libraries_tests` build just the programs
# that hold them. An entry without a test fails (tests/support/main.cpp).
function(shapley_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT;PROGRAM" "LABEL;SOURCES;LINKS;NOT_SANITIZED" ${ARGN})
  set(program "test_${name}")
  set(files ${ARG_SOURCES})
  list(FILTER files INCLUDE REGEX "_test\\.cpp$")
  list(TRANSFORM files REPLACE ".*/" "")
  if(ARG_PROGRAM)
    set(program "test_${ARG_PROGRAM}")
  endif()
  if(NOT TARGET ${program})
    add_executable(${program} "${SHAPLEY_ROOT}/tests/support/main.cpp")
    target_link_libraries(${program} PRIVATE shapley_options shapley_warnings GTest::gtest)
    set_target_properties(${program} PROPERTIES UNITY_BUILD_BATCH_SIZE 32)  # README.md
    if(TARGET shapley_test_headers)
      target_precompile_headers(${program} REUSE_FROM shapley_test_headers)
    endif()
    if(NOT SHAPLEY_SANITIZE)
      # A core dump and what is installed need the lines of programs; those of tests cost a seventh of the time to compile them.
      target_compile_options(${program} PRIVATE $<$<CONFIG:Debug>:-g0>)
    endif()
  endif()
  target_sources(${program} PRIVATE ${ARG_SOURCES})
  target_link_libraries(${program} PRIVATE ${ARG_LINKS})
  shapley_command_test(${name} LABEL ${ARG_LABEL} COMMAND ${program} ${files} TIMEOUT ${ARG_TIMEOUT})
  if(SHAPLEY_SANITIZE AND ARG_NOT_SANITIZED)
    list(JOIN ARG_NOT_SANITIZED ":" left_out)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "GTEST_FILTER=-${left_out}")
  endif()
  shapley_cases(${name})
  foreach(label threads libraries)
    if(label IN_LIST ARG_LABEL)
      add_dependencies(${label}_tests ${program})
    endif()
  endforeach()
endfunction()
add_custom_target(threads_tests)
add_custom_target(libraries_tests)

# shapley_benchmark(NAME SOURCES ... LINKS ...): a program that measures and asserts nothing. The target `benchmarks` builds all of them; no test
# needs one, so the target `all` leaves them out.
add_custom_target(benchmarks)
function(shapley_benchmark name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE shapley_options shapley_warnings ${ARG_LINKS})
  add_dependencies(benchmarks ${name})
endfunction()

# shapley_embed_texts(OUTPUT HEADER FILE NAMESPACE NAME FUNCTION NAME ELEMENT TYPE INPUTS FILE...): OUTPUT is made, a C++ source that holds these
# files as text (EmbedTexts.cmake).
function(shapley_embed_texts output)
  cmake_parse_arguments(ARG "" "HEADER;NAMESPACE;FUNCTION;ELEMENT" "INPUTS" ${ARGN})
  set(script "${SHAPLEY_ROOT}/cmake/EmbedTexts.cmake")
  add_custom_command(OUTPUT "${output}"
                     COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DINPUTS=${ARG_INPUTS}" "-DHEADER=${ARG_HEADER}" "-DNAMESPACE=${ARG_NAMESPACE}"
                             "-DFUNCTION=${ARG_FUNCTION}" "-DELEMENT=${ARG_ELEMENT}" -P "${script}"
                     DEPENDS ${ARG_INPUTS} "${script}" VERBATIM)
endfunction()

# shapley_embed_sql(OUTPUT INPUT...): the ledger's migrations, in order.
function(shapley_embed_sql output)
  shapley_embed_texts("${output}" HEADER "ledger/store/ledger_file.hpp" NAMESPACE shapley::ledger FUNCTION migrations ELEMENT std::string_view
                      INPUTS ${ARGN})
endfunction()

# shapley_embed_templates(OUTPUT HEADER FILE NAMESPACE NAME FUNCTION NAME INPUTS FILE...): templates of pages (common/tables/page.hpp).
function(shapley_embed_templates output)
  shapley_embed_texts("${output}" ELEMENT ::shapley::tables::Template ${ARGN})
endfunction()
