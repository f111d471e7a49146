// direct_contr: an organization gave the work done on the processors that it owns, no matter whose jobs run on them.
//
// phi is psi of those runs [FS13 Algorithm 1, as the closed form of SR13 Eq. 3; the printed algorithm's lines 15-16 and
// 22-23 are slips, see docs/references.md]. Every piece of a run adds the same to the psi of the job's organization and
// to the phi of the owner: Sum(phi) = Sum(psi).
#pragma once

#include <memory>

#include "accounting/estimators/estimator.hpp"

namespace shapley::accounting {

[[nodiscard]] std::unique_ptr<Estimator> make_direct_contr();

}  // namespace shapley::accounting
