# Whether the plugin may be built for a Slurm release: plugin/slurm/slurm_compat.h knows it, and it is the one that will load the plugin.
# Functions only, so that `cmake -P` can test them (tests/plugin/slurm_release_test.sh).
#
# SHAPLEY_SLURMCTLD, when given, is the slurmctld that will load the plugin, or "none" where it is not installed here. Otherwise
# it is the first in PATH, if there is one. SHAPLEY_UNTESTED_SLURM=ON tries releases that the header does not know.

set(shapley_compat_header "${CMAKE_CURRENT_LIST_DIR}/../plugin/slurm/slurm_compat.h")

# Ends the configuration unless the header knows the release of `version`, such as 24.11.5.
function(shapley_check_known_release version)
  get_filename_component(header "${shapley_compat_header}" ABSOLUTE)
  file(STRINGS "${header}" lines)
  set(number 0)
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    if(line MATCHES "^#define SHAPLEY_SLURM_RELEASES \"([0-9. ]+)\"$")
      string(REPLACE " " ";" known "${CMAKE_MATCH_1}")
      break()
    endif()
  endforeach()
  if(NOT known)
    message(FATAL_ERROR "Slurm release: ${header} has no line #define SHAPLEY_SLURM_RELEASES \"...\".")
  endif()
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" release "${version}")
  list(GET known 0 oldest)
  if(NOT release)
    message(FATAL_ERROR "Slurm release: \"${version}\" is no version of Slurm.")
  elseif(release VERSION_LESS oldest)
    message(FATAL_ERROR "Slurm release: Slurm ${release} is not supported, and the plugin does not compile against it; the oldest that will do is "
                        "${oldest}. Upgrade Slurm, or build without the plugin: -DSHAPLEY_PLUGIN=OFF.")
  elseif(NOT release IN_LIST known)
    set(what "Slurm release: the plugin was never tried with Slurm ${release}; it knows ${known}")
    string(REPLACE ";" ", " what "${what}")
    if(SHAPLEY_UNTESTED_SLURM)
      message(WARNING "${what}. Trying nevertheless, because of -DSHAPLEY_UNTESTED_SLURM=ON: test it on a cluster without users.")
    else()
      message(FATAL_ERROR "${what}. Once its tests pass with it, add ${release} at ${header}:${number}. To try it before: "
                          "-DSHAPLEY_UNTESTED_SLURM=ON.")
    endif()
  endif()
endfunction()

# The slurmctld that will load the plugin, empty if this machine has none.
function(shapley_find_slurmctld out)
  set(${out} "" PARENT_SCOPE)
  if(SHAPLEY_SLURMCTLD STREQUAL "none")
    return()
  endif()
  if(SHAPLEY_SLURMCTLD)
    set(${out} "${SHAPLEY_SLURMCTLD}" PARENT_SCOPE)
    return()
  endif()
  # PATH is that of today: an answer from the cache may be of another Slurm. Not every user has sbin in it.
  unset(shapley_slurmctld_found CACHE)
  find_program(shapley_slurmctld_found slurmctld PATHS /usr/local/sbin /usr/sbin NO_CMAKE_PATH NO_CMAKE_ENVIRONMENT_PATH NO_CMAKE_SYSTEM_PATH)
  if(shapley_slurmctld_found)
    set(${out} "${shapley_slurmctld_found}" PARENT_SCOPE)
  endif()
  unset(shapley_slurmctld_found CACHE)
endfunction()

# Ends the configuration if the slurmctld that will load the plugin is of another release than `version`, which `of` has: Slurm's
# loader refuses a plugin of any other micro number.
function(shapley_check_slurmctld version of)
  shapley_find_slurmctld(slurmctld)
  if(NOT slurmctld)
    return()
  endif()
  set(other "If another slurmctld will load the plugin, name it: -DSHAPLEY_SLURMCTLD=PATH, or none for one that is not installed here.")
  execute_process(COMMAND "${slurmctld}" -V OUTPUT_VARIABLE answer ERROR_VARIABLE fault RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed OR NOT answer MATCHES "^[^ ]+ ([0-9]+\\.[0-9]+\\.[0-9]+)")
    message(FATAL_ERROR "Slurm release: ${slurmctld} -V does not print its version: \"${answer}${fault}\" (${failed}). ${other}")
  endif()
  set(loading "${CMAKE_MATCH_1}")
  string(REGEX MATCH "^[0-9]+\\.[0-9]+\\.[0-9]+" built "${version}")
  if(NOT loading STREQUAL built)
    message(FATAL_ERROR "Slurm release: ${slurmctld} is ${loading}, but ${of} is ${version}: that slurmctld would refuse the plugin. "
                        "Give the configured source tree of ${loading} with -DSLURM_SOURCE_DIR=DIR. ${other}")
  endif()
endfunction()
