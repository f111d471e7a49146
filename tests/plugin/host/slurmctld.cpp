#include "slurmctld.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "tests/plugin/host/controller.h"

namespace shapley::host {

namespace fs = std::filesystem;

const std::string& directory() {
  static const std::string path = [] {
    std::string pattern = (fs::temp_directory_path() / "shapley-host-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
    return pattern;
  }();
  return path;
}

std::string socket_path() {
  return directory() + "/shapleyd.sock";
}

void Slurmctld::SetUp() {
  fs::create_directory(directory() + "/state");
  std::ofstream(directory() + "/slurm.conf")
      << "ClusterName=host\nSlurmctldHost=localhost(127.0.0.1)\nSlurmUser=root\nPriorityType=priority/"
         "shapley\nPrivateData=jobs\n"
      << "StateSaveLocation=" << directory() << "/state\nPriorityWeightJobSize=1000\nPriorityWeightPartition=100\n"
      << "PriorityParameters=socket=" << socket_path() << ",interval=0.1\n"
      << "PluginDir=" << SHAPLEY_PLUGIN_FOLDER << ":" << SLURM_PLUGIN_FOLDER << "\n"
      << "NodeName=n[1-8] NodeAddr=127.0.0.1 CPUs=16\nPartitionName=main Nodes=ALL\n";
  host_open((directory() + "/slurm.conf").c_str(), (directory() + "/slurmctld.log").c_str());
}

void Slurmctld::TearDown() {
  const Deadline deadline("host_close()");
  host_close();
  if (::testing::UnitTest::GetInstance()->Failed()) {
    std::cerr << "slurmctld's log is kept in " << directory() << '\n';
  } else {
    fs::remove_all(directory());
  }
}

}  // namespace shapley::host
