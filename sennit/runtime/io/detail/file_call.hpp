#pragma once
// A FileOperation as the system call it stands for.

#include "sennit/runtime/io/backend.hpp"

namespace sennit::runtime::io::detail {

/// Blocks. The result as completions have it: a negated errno when it fails.
[[nodiscard]] int call_file(const FileOperation& operation);

}  // namespace sennit::runtime::io::detail
