#include "ledger/store/compact.hpp"

#include <string>
#include <system_error>
#include <vector>

#include "ledger/store/database.hpp"
#include "ledger/store/file_operations.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger/store/writer_lock.hpp"

namespace shapley::ledger {

namespace {

using std::filesystem::path;

Expected<void> write_compact(const Database& from, const path& to, const OnProgress& on_progress) {
  SHAPLEY_TRY_ASSIGN(const std::int64_t pages, from.integer("PRAGMA main.page_count"));
  SHAPLEY_TRY_ASSIGN(const std::int64_t unused, from.integer("PRAGMA main.freelist_count"));
  SHAPLEY_TRY_ASSIGN(const std::int64_t page_size, from.integer("PRAGMA main.page_size"));
  const StepNotice notice(from, [&] {
    std::error_code error;
    const std::uintmax_t written = std::filesystem::file_size(to, error);
    if (!error) tell(on_progress, {"bytes written", static_cast<std::int64_t>(written), (pages - unused) * page_size});
  });
  const std::string target = to.string();
  SHAPLEY_TRY_ASSIGN(Statement vacuum, from.prepare("VACUUM main INTO ?1"));
  SHAPLEY_TRY(vacuum.bind(1, target).run());
  return sync_file(to);
}

Expected<std::vector<std::string>> tables_of(const Database& database) {
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"));
  std::vector<std::string> tables;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return tables;
    tables.emplace_back(select.text(0));
  }
}

bool same_row(const Statement& a, const Statement& b) {
  if (a.columns() != b.columns()) return false;
  for (int column = 0; column < a.columns(); ++column) {
    if (a.is_null(column) != b.is_null(column) || a.text(column) != b.text(column)) return false;
  }
  return true;
}

Expected<void> compare_table(const Database& a, const Database& b, const std::string& table,
                             const OnProgress& on_progress) {
  const std::string sql = "SELECT * FROM main." + table;
  SHAPLEY_TRY_ASSIGN(Statement left, a.prepare(sql));
  SHAPLEY_TRY_ASSIGN(Statement right, b.prepare(sql));
  std::int64_t rows = 0;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool more, left.step());
    SHAPLEY_TRY_ASSIGN(const bool as_many, right.step());
    if (more != as_many || (more && !same_row(left, right))) {
      return fail(Errc::corrupt, "the new file differs in row " + std::to_string(rows + 1) + " of " + table);
    }
    if (!more) return {};
    if (++rows % k_events_between_calls == 0) tell(on_progress, {"rows compared", rows});
  }
}

Expected<void> compare_files(const Database& a, const path& file, const OnProgress& on_progress) {
  SHAPLEY_TRY_ASSIGN(const Database b, open_alone(file));
  SHAPLEY_TRY_ASSIGN(const std::vector<std::string> tables, tables_of(a));
  SHAPLEY_TRY_ASSIGN(const std::vector<std::string> copied, tables_of(b));
  if (tables != copied) return fail(Errc::corrupt, "the new file has other tables");
  for (const std::string& table : tables) SHAPLEY_TRY(compare_table(a, b, table, on_progress));
  return {};
}

Expected<CompactResult> rewrite(const path& ledger, const OnProgress& on_progress) {
  std::error_code error;
  CompactResult result;
  result.bytes_before = std::filesystem::file_size(ledger, error);
  if (error) return fail(Errc::not_found, error.message() + "; check the path");
  SHAPLEY_TRY_ASSIGN(const WriterLock lock, WriterLock::acquire(ledger));
  // Where there was none yet, root has just made the lock file.
  take_owner_of(ledger, ledger.string() + ".lock");
  const PartialFile partial(ledger.string() + ".compact");
  {
    SHAPLEY_TRY_ASSIGN(const Database database, open_for_writing(ledger, on_progress));
    SHAPLEY_TRY(take_alone(database));
    SHAPLEY_TRY(partial.create(k_live_file_mode));
    SHAPLEY_TRY(write_compact(database, partial.file(), on_progress));
    SHAPLEY_TRY(compare_files(database, partial.file(), on_progress));
  }
  tell(on_progress, {.what = "the new file's hash chain is being computed"});
  SHAPLEY_TRY_ASSIGN(result.verified, verify_copy(partial.file()));
  take_owner_of(ledger, partial.file());
  result.bytes_after = std::filesystem::file_size(partial.file(), error);
  SHAPLEY_TRY(partial.become(ledger));
  return result;
}

}  // namespace

Expected<CompactResult> compact(const path& ledger, const OnProgress& on_progress) {
  auto result = rewrite(ledger, on_progress);
  if (!result) return with_context("compact: " + ledger.string(), std::move(result).error());
  return result;
}

}  // namespace shapley::ledger
