# Finds the configured source tree of the Slurm release that will load the plugin and offers it as shapley::slurm_headers.
#
# SLURM_SOURCE_DIR, when given, is that tree. Otherwise, on Debian and its derivatives, the source package of the installed
# slurmctld (or of the one that would be installed) is fetched and configured once, outside the preset's build folder so
# that presets share it. The folder bears the whole Debian version: a revision may patch Slurm without changing its number. A
# priority plugin reads slurmctld's own structures, so nothing but the exact release will do; SlurmRelease.cmake compares.
include("${CMAKE_CURRENT_LIST_DIR}/SlurmRelease.cmake")

# Sets `out` to the Debian version of the source of the slurmctld to build for, empty if this machine has none. A rebuild of the same
# source adds +b1 to the version of the binary package only.
function(shapley_debian_slurm_version out)
  execute_process(COMMAND dpkg-query -W -f "\${db:Status-Status} \${source:Version}" slurmctld
                  OUTPUT_VARIABLE installed ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND installed MATCHES "^installed (.+)$")
    set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND apt-cache policy slurmctld OUTPUT_VARIABLE policy ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND policy MATCHES "Candidate: ([0-9][^\n]*)")
    string(REGEX REPLACE "\\+b[0-9]+$" "" version "${CMAKE_MATCH_1}")
    set(${out} "${version}" PARENT_SCOPE)
  else()
    set(${out} "" PARENT_SCOPE)
  endif()
endfunction()

set(shapley_slurm_remedy
    "Give the configured source tree of your Slurm with -DSLURM_SOURCE_DIR=DIR, or build without the plugin: -DSHAPLEY_PLUGIN=OFF.")

if(SLURM_SOURCE_DIR)
  set(shapley_slurm_tree "${SLURM_SOURCE_DIR}")
else()
  shapley_debian_slurm_version(shapley_slurm_version)
  if(NOT shapley_slurm_version)
    message(FATAL_ERROR "Slurm source: no slurmctld package is installed or offered by apt. ${shapley_slurm_remedy}")
  endif()
  string(REGEX REPLACE "^[0-9]+:|-[^-]*$" "" shapley_slurm_upstream "${shapley_slurm_version}")
  # Before anything is fetched.
  shapley_check_known_release("${shapley_slurm_upstream}")
  shapley_check_slurmctld("${shapley_slurm_upstream}" "Debian's package slurmctld, whose source would be fetched,")
  string(REPLACE ":" "_" shapley_slurm_folder "${shapley_slurm_version}")
  set(shapley_slurm_tree "${SHAPLEY_ROOT}/build/slurm-source-${shapley_slurm_folder}")
  if(NOT EXISTS "${shapley_slurm_tree}/.shapley-configured")
    execute_process(COMMAND "${CMAKE_CURRENT_LIST_DIR}/fetch_slurm_source.sh" "${shapley_slurm_version}"
                            "${shapley_slurm_tree}" RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "Slurm source: slurm-wlm ${shapley_slurm_version} could not be fetched and configured. "
                          "${shapley_slurm_remedy}")
    endif()
  endif()
endif()

foreach(shapley_slurm_file config.h slurm/slurm_version.h src/slurmctld/slurmctld.h)
  if(NOT EXISTS "${shapley_slurm_tree}/${shapley_slurm_file}")
    message(FATAL_ERROR "Slurm source: ${shapley_slurm_tree} has no ${shapley_slurm_file}; it must be Slurm's source tree "
                        "after its ./configure. ${shapley_slurm_remedy}")
  endif()
endforeach()
file(STRINGS "${shapley_slurm_tree}/META" shapley_slurm_meta REGEX "^[ \t]*Version:")
string(REGEX REPLACE "^[ \t]*Version:[ \t]*" "" SHAPLEY_SLURM_VERSION "${shapley_slurm_meta}")
shapley_check_known_release("${SHAPLEY_SLURM_VERSION}")
shapley_check_slurmctld("${SHAPLEY_SLURM_VERSION}" "the source tree ${shapley_slurm_tree}")
message(STATUS "Slurm source: ${SHAPLEY_SLURM_VERSION} in ${shapley_slurm_tree}")

# SYSTEM: our warnings are for our own code.
add_library(shapley_slurm_headers INTERFACE)
add_library(shapley::slurm_headers ALIAS shapley_slurm_headers)
target_include_directories(shapley_slurm_headers SYSTEM INTERFACE "${shapley_slurm_tree}")
target_compile_definitions(shapley_slurm_headers INTERFACE HAVE_CONFIG_H)
# For who builds tests against it: SlurmLibrary.cmake.
set_target_properties(shapley_slurm_headers PROPERTIES SHAPLEY_SLURM_TREE "${shapley_slurm_tree}" SHAPLEY_SLURM_VERSION "${SHAPLEY_SLURM_VERSION}")
