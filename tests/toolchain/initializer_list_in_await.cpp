// Compiled by a test, never run: GCC 12 refuses a braced list of arguments inside a co_await
// ("array used as initializer"). So no function of ours that is awaited takes an initializer_list.
// Should a compiler that refused it come to accept it, the test says so.

#include <coroutine>
#include <initializer_list>

struct Coroutine {
  struct promise_type {
    Coroutine get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

std::suspend_never take(std::initializer_list<int>) { return {}; }

Coroutine await_a_list() { co_await take({1, 2}); }
