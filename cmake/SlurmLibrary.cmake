# Finds the library and the stock plugins of the Slurm whose source SlurmSource.cmake found: tests of the plugin link and
# load them. Sets SLURM_PLUGIN_DIR, or ends the configuration with what is needed: tests must not vanish without a word.
#
# SLURM_PLUGIN_DIR, when given, is the folder (slurm.conf's PluginDir). Otherwise it is where the source tree would install
# to, or where Debian's packages do. The library must be of the source's very version.
if(TARGET shapley_slurm_headers)
  get_target_property(shapley_slurm_tree shapley_slurm_headers SHAPLEY_SLURM_TREE)
  get_target_property(SHAPLEY_SLURM_VERSION shapley_slurm_headers SHAPLEY_SLURM_VERSION)
endif()
set(SLURM_PLUGIN_DIR "" CACHE PATH "Plugin folder of the Slurm to test with (default: the source tree's, then Debian's)")

# Empty, or what the folder lacks.
function(shapley_slurm_library_fault folder out)
  set(${out} "" PARENT_SCOPE)
  foreach(file libslurmfull.so priority_multifactor.so)
    if(NOT EXISTS "${folder}/${file}")
      set(${out} "it has no ${file}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  string(REPLACE "." "\\." version "${SHAPLEY_SLURM_VERSION}")
  file(STRINGS "${folder}/libslurmfull.so" found REGEX "^${version}$" LIMIT_COUNT 1)
  if(NOT found)
    set(${out} "its libslurmfull.so is of another version" PARENT_SCOPE)
  endif()
endfunction()

# Where `make install` in the source tree puts plugins, empty when its Makefile does not say.
function(shapley_slurm_install_folder tree out)
  set(folder "\${pkglibdir}")
  foreach(name pkglibdir libdir PACKAGE exec_prefix prefix)
    if(EXISTS "${tree}/Makefile")
      file(STRINGS "${tree}/Makefile" line REGEX "^${name} = " LIMIT_COUNT 1)
      string(REGEX REPLACE "^${name} = " "" value "${line}")
      string(REGEX REPLACE "\\$[{(]${name}[})]" "${value}" folder "${folder}")
    endif()
  endforeach()
  if(NOT IS_ABSOLUTE "${folder}")
    set(folder "")
  endif()
  set(${out} "${folder}" PARENT_SCOPE)
endfunction()

if(SLURM_PLUGIN_DIR)
  set(shapley_slurm_folders "${SLURM_PLUGIN_DIR}")
else()
  shapley_slurm_install_folder("${shapley_slurm_tree}" shapley_slurm_folders)
  list(APPEND shapley_slurm_folders "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/slurm-wlm")
endif()
set(shapley_slurm_faults "")
foreach(shapley_slurm_folder IN LISTS shapley_slurm_folders)
  shapley_slurm_library_fault("${shapley_slurm_folder}" shapley_slurm_fault)
  if(NOT shapley_slurm_fault)
    set(SLURM_PLUGIN_DIR "${shapley_slurm_folder}")
    message(STATUS "Slurm library: ${SHAPLEY_SLURM_VERSION} in ${SLURM_PLUGIN_DIR}")
    return()
  endif()
  string(APPEND shapley_slurm_faults "\n  ${shapley_slurm_folder}: ${shapley_slurm_fault}")
endforeach()
message(FATAL_ERROR "Slurm library: the tests of the plugin need libslurmfull.so and the stock plugins of Slurm "
                    "${SHAPLEY_SLURM_VERSION}:${shapley_slurm_faults}\n"
                    "Install that release (on Debian: slurmctld), or give its plugin folder with -DSLURM_PLUGIN_DIR=DIR, "
                    "or build without tests: -DBUILD_TESTING=OFF.")
