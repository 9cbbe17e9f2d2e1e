#include "sennit/runtime/sync/detail/wait_list.hpp"

namespace sennit::runtime::detail {

Result<void> outcome(const WaitNode& node, const char* doing) {
  switch (node.state) {
    case WaitState::granted:
      return {};
    case WaitState::cancelled:
      return failure(Errc::cancelled, doing);
    case WaitState::closed:
      return failure(Errc::closed, doing);
    case WaitState::idle:
    case WaitState::waiting:
      break;
  }
  SENNIT_ASSERT(node.state == WaitState::granted && "take() comes after ready() or the wake-up");
  return {};
}

}  // namespace sennit::runtime::detail
