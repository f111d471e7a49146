#include "ctl/commands/keygen.hpp"

#include <CLI/CLI.hpp>

#include "base/printable.hpp"
#include "ledger/chain/signing.hpp"

namespace shapley::ctl {

void add_keygen(CLI::App& app, KeygenArguments& arguments) {
  CLI::App* command = app.add_subcommand("keygen", "Make the pair of keys that signs heads of the ledger");
  command->add_option("FILE", arguments.file, "The private key; the public one goes to FILE.pub")->required();
}

Expected<ExitCode> run_keygen(const KeygenArguments& arguments, const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(const ledger::PublicKey key, ledger::make_key_files(arguments.file));
  environment.out << "private key: " << printable(arguments.file) << " (for shapleyd's user alone)\n"
                  << "public key: " << printable(arguments.file) << ".pub (give it to every member)\n"
                  << "fingerprint: " << key.fingerprint() << '\n';
  return ExitCode::success;
}

}  // namespace shapley::ctl
