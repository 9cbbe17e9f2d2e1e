#pragma once
// Bodies that flow: BodyReader gives a request's body as it arrives, BodyWriter sends a response's
// body as it is made. Both hold a bounded amount, whatever the body, and whoever is too fast waits.
//
//   server.post("/upload", [](http::Request&, http::BodyReader& body) -> Task<Result<Response>> {
//     std::size_t bytes = 0;
//     for (;;) {
//       const Result<std::string_view> piece = co_await body.read();
//       if (!piece) co_return failure(piece.error());
//       if (piece->empty()) break;
//       bytes += piece->size();
//     }
//     co_return http::text(std::to_string(bytes));
//   });
//
// A handler that takes a BodyReader is called when the head has arrived. `Expect: 100-continue` is
// answered by the first read(); a handler that answers without one spares the client the body.
//
// On a fiber it is wait(body.read()), in a coroutine co_await body.read(): one at a time.
//
// Errors of read(): closed when the client ended in the middle, connection_reset, malformed,
// limit_reached (413), timed_out (408), cancelled. Whatever the handler then returns, the client is
// told the status that fits. Errors of write(): connection_reset when the client is gone,
// cancelled; nothing more can be sent then.
//
// Thread safety: none; used by the handler they were given to, until it ends.

#include <string_view>

#include "sennit/base/result.hpp"
#include "sennit/http/detail/body_channel.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::http {

class BodyReader {
 public:
  explicit BodyReader(detail::BodyChannel& channel) : channel_(&channel) {}

  class Read {
   public:
    explicit Read(detail::BodyChannel& channel) : channel_(channel) {}
    [[nodiscard]] bool ready() { return channel_.has_body(); }
    [[nodiscard]] bool start(runtime::Waiter& waiter) {
      waiter_ = &waiter;
      channel_.wait_for_body(waiter);
      return true;
    }
    Result<std::string_view> take();
    void cancel();

   private:
    detail::BodyChannel& channel_;
    runtime::Waiter* waiter_ = nullptr;
    bool is_cancelled_ = false;
  };

  /// The next bytes; empty at the end, again and again. Lent until the next read().
  [[nodiscard]] Read read() { return Read(*channel_); }

 private:
  detail::BodyChannel* channel_;
};

class BodyWriter {
 public:
  explicit BodyWriter(detail::BodyChannel& channel) : channel_(&channel) {}

  class Write {
   public:
    Write(detail::BodyChannel& channel, std::string_view bytes)
        : channel_(channel), bytes_(bytes) {}
    [[nodiscard]] bool ready() { return channel_.write(bytes_); }
    [[nodiscard]] bool start(runtime::Waiter& waiter) {
      waiter_ = &waiter;
      channel_.wait_for_room(waiter);
      return true;
    }
    Result<void> take();
    void cancel();

   private:
    detail::BodyChannel& channel_;
    std::string_view bytes_;
    runtime::Waiter* waiter_ = nullptr;
    bool is_cancelled_ = false;
  };

  /// Sends `bytes` after those before. Small pieces are copied and leave at once; large ones are
  /// sent from where they are. Waits while more than 64 KiB are not yet taken by the client.
  [[nodiscard]] Write write(std::string_view bytes) { return {*channel_, bytes}; }

 private:
  detail::BodyChannel* channel_;
};

}  // namespace sennit::http
