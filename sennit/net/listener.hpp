#pragma once
// Listening sockets: opened before there is a worker for them, and stopped without losing anybody.
//
// Thread safety: functions of their arguments.

#include "sennit/base/result.hpp"
#include "sennit/net/address.hpp"
#include "sennit/runtime/io/backend.hpp"

namespace sennit::net {

struct ListenOptions {
  int backlog = 4096;  // Connections that wait to be accepted; the kernel caps it (somaxconn).
  /// Several sockets share the address and the kernel spreads connections over them: one a worker.
  bool reuse_port = false;
};

/// A listening socket, not yet with any worker. The caller owns the descriptor.
/// A Unix path that nobody listens on any more is taken over.
/// Errors: already_exists for an address in use, permission_denied, ...
[[nodiscard]] Result<int> open_listener(const Address& address, const ListenOptions& options);

/// The same where `backend` gets its sockets: from the real kernel, or from a simulated one.
[[nodiscard]] Result<int> open_listener(runtime::io::Backend& backend, const Address& address,
                                        const ListenOptions& options);

/// Makes the listening socket drop new connection attempts, while those that the kernel has begun
/// still complete: accept these and close, and nobody is reset. TCP only; no-op elsewhere.
[[nodiscard]] Result<void> refuse_new_connections(int listener);
[[nodiscard]] Result<void> refuse_new_connections(runtime::io::Backend& backend, int listener);

/// A stream socket for an address of this family, ready to connect; the caller owns it.
[[nodiscard]] Result<int> open_stream(runtime::io::Backend& backend, int family);
/// What a descriptor got from `backend` or the functions above is bound to.
[[nodiscard]] Result<Address> local_address(runtime::io::Backend& backend, int descriptor);
/// Closes such a descriptor while no backend has adopted it.
void discard(runtime::io::Backend& backend, int descriptor);

}  // namespace sennit::net
