#include "sennit/shm/store.hpp"

namespace sennit::shm {

void set_store_hook(StoreHook hook) {
  // release: pairs with the acquire in hook_allows, for what the hook reads.
  detail::store_hook.store(hook, std::memory_order_release);
}

}  // namespace sennit::shm
