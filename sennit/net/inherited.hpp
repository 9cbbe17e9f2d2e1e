#pragma once
// Inherited listening sockets: a service manager (systemd's LISTEN_FDS) or the process before us
// opens them, so that no connection is refused while one process follows another.
//
// Thread safety: reads the environment; call it before threads change that.

#include <vector>

#include "sennit/base/result.hpp"

namespace sennit::net {

/// The first descriptor that a service manager hands over.
inline constexpr int first_inherited = 3;

/// The descriptors that were handed over: those that LISTEN_FDS counts, if LISTEN_PID is us. They
/// stay the caller's. Empty if there are none.
/// Errors: invalid_argument if one is not a listening stream socket, or the count is no number.
[[nodiscard]] Result<std::vector<int>> inherited_listeners(int first = first_inherited);

/// A duplicate to serve: close-on-exec, and without the filter that whoever stopped serving it may
/// have left (see refuse_new_connections()).
/// Errors: invalid_argument if it is not a listening stream socket; what the kernel says.
[[nodiscard]] Result<int> duplicate_listener(int descriptor);

}  // namespace sennit::net
