#include "sennit/runtime/detail/stack_trace.hpp"

#include <cstdint>
#include <cstdlib>
#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/core.h>
#include <memory>
#include <string_view>
#include <unistd.h>
#include <unwind.h>

#ifdef SENNIT_HAS_LIBDW
#include <elfutils/libdwfl.h>
#endif

namespace sennit::runtime::detail {
namespace {

struct Unwinding {
  std::span<const std::byte> stack;
  std::vector<const void*> addresses;
};

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* argument) {
  auto& unwinding = *static_cast<Unwinding*>(argument);
  const std::uintptr_t frame = _Unwind_GetCFA(context);
  const auto low = reinterpret_cast<std::uintptr_t>(unwinding.stack.data());
  const std::uintptr_t address = _Unwind_GetIP(context);
  if (address == 0 || frame < low || frame > low + unwinding.stack.size() ||
      unwinding.addresses.size() >= trace_frames_max) {
    return _URC_END_OF_STACK;
  }
  // The address returned to may already belong to the next function; the one before it does not.
  unwinding.addresses.push_back(reinterpret_cast<const void*>(address - 1));
  return _URC_NO_REASON;
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? readable.get() : name;
}

std::string in_hexadecimal(const void* address) { return fmt::format("{}", address); }

}  // namespace

std::vector<const void*> trace_stack(std::span<const std::byte> stack) {
  Unwinding unwinding{stack, {}};
  unwinding.addresses.reserve(trace_frames_max);
  _Unwind_Backtrace(&note_frame, &unwinding);
  // The innermost frame is our own.
  if (!unwinding.addresses.empty()) unwinding.addresses.erase(unwinding.addresses.begin());
  return std::move(unwinding.addresses);
}

#ifdef SENNIT_HAS_LIBDW

struct Symbols::Modules {
  Dwfl_Callbacks callbacks{};
  Dwfl* session = nullptr;
};

bool Symbols::is_complete() { return true; }

// Debug information is looked for in the program itself alone: neither on disk nor, as libdw would
// if the environment says so, in the network.
Symbols::Symbols() : modules_(new Modules) {
  modules_->callbacks.find_elf = &::dwfl_linux_proc_find_elf;
  modules_->callbacks.find_debuginfo = [](auto...) { return -1; };
  modules_->session = ::dwfl_begin(&modules_->callbacks);
  if (modules_->session == nullptr) return;
  ::dwfl_linux_proc_report(modules_->session, ::getpid());
  ::dwfl_report_end(modules_->session, nullptr, nullptr);
}

Symbols::~Symbols() {
  if (modules_->session != nullptr) ::dwfl_end(modules_->session);
  delete modules_;
}

std::string Symbols::describe(const void* address) const {
  const auto at = reinterpret_cast<Dwarf_Addr>(address);
  Dwfl_Module* const module = ::dwfl_addrmodule(modules_->session, at);
  const char* const name = module == nullptr ? nullptr : ::dwfl_module_addrname(module, at);
  if (name == nullptr) return in_hexadecimal(address);
  std::string text = demangled(name);
  int line = 0;
  Dwfl_Line* const found = ::dwfl_module_getsrc(module, at);
  const char* const file = found == nullptr
                               ? nullptr
                               : ::dwfl_lineinfo(found, nullptr, &line, nullptr, nullptr, nullptr);
  if (file == nullptr) return text;
  const std::string_view path(file);
  return fmt::format("{} ({}:{})", text, path.substr(path.rfind('/') + 1), line);
}

#else

bool Symbols::is_complete() { return false; }
Symbols::Symbols() = default;
Symbols::~Symbols() = default;

std::string Symbols::describe(const void* address) const {
  Dl_info info{};
  if (::dladdr(address, &info) == 0 || info.dli_sname == nullptr) return in_hexadecimal(address);
  return demangled(info.dli_sname);
}

#endif

}  // namespace sennit::runtime::detail
