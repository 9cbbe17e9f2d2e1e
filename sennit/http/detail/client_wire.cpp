#include "sennit/http/detail/client_wire.hpp"

#include <algorithm>
#include <fmt/core.h>

#include "sennit/base/assert.hpp"
#include "sennit/http/h1/serializer.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::http::detail {
namespace {

// Bodies up to this size leave in one piece with their head.
constexpr std::size_t joined_bytes_max = std::size_t{16} * 1024;
constexpr std::string_view empty_line = "\r\n\r\n";

WireError wire_error(Phase phase, Errc code, std::string doing) {
  return {phase, Error(code, std::move(doing)), false};
}

}  // namespace

bool ClientWire::start_idling(service::Pool& pool) {
  if (!is_reusable()) return false;
  connection_.start_idling([this, &pool] { pool.discard(*this); });
  return true;
}

bool ClientWire::is_reusable() const {
  return has_answer_ && head_.keep_alive && all_sent_ && !connection_.is_sending() &&
         !connection_.failure() && !connection_.has_ended() && connection_.received().empty();
}

WireError ClientWire::broken(Phase phase) const {
  const auto& reason = phase == Phase::send ? connection_.failure() : connection_.end_error();
  Error error = reason ? *reason : Error(Errc::closed, "read an answer");
  return {phase, std::move(error), !saw_bytes_};
}

Result<void> ClientWire::write_head(const WireRequest& request, bool is_chunked) {
  std::optional<std::uint64_t> length;
  if (request.body != nullptr) length = request.body->size();
  if (request.source != nullptr && !is_chunked) length = request.source_bytes;
  const bool is_usually_with_body = request.method == Method::post ||
                                    request.method == Method::put ||
                                    request.method == Method::patch;
  if (!length && !is_chunked && is_usually_with_body) length = 0;  // RFC 9110, section 8.6.
  if (!is_chunked && !request.expects_continue) {
    return h1::write_request_head(connection_.output(), request.method_name, request.target,
                                  request.authority, *request.headers, length);
  }
  Buffer head;
  auto written = h1::write_request_head(head, request.method_name, request.target,
                                        request.authority, *request.headers, length);
  if (!written) return written;
  Buffer& out = connection_.output();
  out.append(head.view().substr(0, head.size() - 2));  // Without the empty line.
  if (is_chunked) out.append("Transfer-Encoding: chunked\r\n");
  if (request.expects_continue) out.append("Expect: 100-continue\r\n");
  out.append("\r\n");
  return {};
}

Task<WireResult> ClientWire::exchange(const WireRequest& request, const WireLimits& limits,
                                      Deadline deadline) {
  method_ = request.method;
  looked_at_ = scanned_ = 0;
  interim_count_ = 0;
  has_answer_ = has_continue_ = all_sent_ = saw_bytes_ = false;
  if (!connection_.received().empty() || connection_.has_ended()) {
    WireError stirred = broken(Phase::first_byte);
    stirred.may_be_stale = true;
    co_return std::unexpected(std::move(stirred));
  }
  WireResult sent = co_await send_request(request, limits, deadline);
  if (!sent) {
    // The answer to what could not be sent may be there: a 413, and the connection is closed.
    const bool may_be_answered = connection_.failure().has_value() && !has_answer_;
    if (!may_be_answered) co_return sent;
    const WireResult read = co_await read_head(limits, deadline);
    if (!read) {
      sent.error().may_be_stale = !saw_bytes_;
      co_return sent;
    }
    co_return WireResult();
  }
  if (has_answer_) co_return WireResult();
  WireResult read = co_await read_head(limits, deadline);
  co_return read;
}

Task<WireResult> ClientWire::send_request(const WireRequest& request, const WireLimits& limits,
                                          Deadline deadline) {
  const bool is_chunked = request.source != nullptr && !request.source_bytes;
  if (auto written = write_head(request, is_chunked); !written) {
    co_return std::unexpected(WireError{Phase::prepare, std::move(written).error(), false});
  }
  const std::string_view body = request.body == nullptr ? std::string_view() : *request.body;
  const bool is_joined = body.size() <= joined_bytes_max && !request.expects_continue;
  if (is_joined) connection_.output().append(body);
  connection_.flush();
  if (request.expects_continue) {
    WireResult waited = co_await await_continue(request, limits, deadline);
    if (!waited || has_answer_) co_return waited;
  }
  if (request.source != nullptr) {
    WireResult sent = co_await send_source(request, limits, is_chunked, deadline);
    co_return sent;
  }
  if (!is_joined) {
    WireResult drained = co_await drain_output(limits, deadline);
    if (!drained || has_answer_) co_return drained;
    connection_.send(body, request.body);
  }
  WireResult drained = co_await drain_output(limits, deadline);
  all_sent_ = drained && !connection_.is_sending();
  co_return drained;
}

// Until all was taken by the kernel, or an answer is there.
Task<WireResult> ClientWire::drain_output(const WireLimits& limits, Deadline deadline) {
  while (connection_.is_sending()) {
    const Result<void> waited =
        co_await connection_.wait_any(connection_.received().size(), deadline);
    if (!waited) co_return std::unexpected(WireError{Phase::send, waited.error(), false});
    if (connection_.failure()) break;
    const Result<HeadState> seen = look(limits);
    if (!seen) co_return std::unexpected(WireError{Phase::head, seen.error(), false});
    if (has_answer_) co_return WireResult();
    if (connection_.has_ended()) break;  // It will not answer what is still to be sent.
  }
  if (connection_.failure()) co_return std::unexpected(broken(Phase::send));
  if (connection_.is_sending()) co_return std::unexpected(broken(Phase::first_byte));
  co_return WireResult();
}

// Until the server says go on, gives its final answer, or has said nothing for too long: some never
// do (RFC 9110, section 10.1.1).
Task<WireResult> ClientWire::await_continue(const WireRequest& request, const WireLimits& limits,
                                            Deadline deadline) {
  WireResult drained = co_await drain_output(limits, deadline);
  if (!drained) co_return drained;
  const Clock& clock = runtime::Worker::here().clock();
  const Deadline patience = std::min(deadline, Deadline::after(request.continue_timeout, clock));
  while (!has_answer_ && !has_continue_ && !connection_.has_ended()) {
    const std::size_t seen = connection_.received().size();
    const Result<void> waited = co_await connection_.wait_received(seen, patience);
    if (!waited) {
      const bool only_silent = waited.error().code() == Errc::timed_out && patience < deadline;
      if (only_silent) break;
      co_return std::unexpected(WireError{Phase::first_byte, waited.error(), false});
    }
    const Result<HeadState> looked = look(limits);
    if (!looked) co_return std::unexpected(WireError{Phase::head, looked.error(), false});
  }
  co_return WireResult();
}

Task<WireResult> ClientWire::send_source(const WireRequest& request, const WireLimits& limits,
                                         bool is_chunked, Deadline deadline) {
  std::uint64_t left = request.source_bytes.value_or(UINT64_MAX);
  for (;;) {
    // A piece is asked for when the one before has been taken: that is the backpressure.
    WireResult drained = co_await drain_output(limits, deadline);
    if (!drained || has_answer_) co_return drained;
    if (!is_chunked && left == 0) break;
    Result<std::string_view> piece = co_await (*request.source)();
    if (!piece) co_return std::unexpected(WireError{Phase::send, std::move(piece).error(), false});
    if (!is_chunked && (piece->empty() || piece->size() > left)) {
      co_return std::unexpected(wire_error(Phase::send, Errc::invalid_argument,
                                           "send a body of the length that was announced"));
    }
    left -= piece->size();
    Buffer& out = connection_.output();
    if (is_chunked) out.append(fmt::format("{:x}\r\n", piece->size()));
    out.append(*piece);
    if (is_chunked) out.append("\r\n");
    connection_.flush();
    if (piece->empty()) {
      drained = co_await drain_output(limits, deadline);
      if (!drained || has_answer_) co_return drained;
      break;
    }
  }
  all_sent_ = true;
  co_return WireResult();
}

// Parses what has come of a head, if that can lead anywhere.
Result<ClientWire::HeadState> ClientWire::look(const WireLimits& limits) {
  for (;;) {
    const std::string_view bytes = connection_.received();
    if (bytes.empty()) return HeadState::partial;
    saw_bytes_ = true;
    const std::size_t from = scanned_ < empty_line.size() ? 0 : scanned_ - empty_line.size() + 1;
    const bool may_be_whole = bytes.find(empty_line, from) != std::string_view::npos;
    scanned_ = bytes.size();
    if (!may_be_whole && bytes.size() < 2 * looked_at_) return HeadState::partial;
    looked_at_ = bytes.size();
    const h1::ParseOutcome outcome = h1::parse_response_head(bytes, limits.head, method_, head_);
    if (outcome.status == h1::ParseStatus::error) {
      return failure(Errc::malformed,
                     fmt::format("understand an answer's head ({})", outcome.reason));
    }
    if (outcome.status == h1::ParseStatus::partial) return HeadState::partial;
    if (head_.status == 101) return failure(Errc::malformed, "read an answer (unasked upgrade)");
    if (head_.status >= 200) {
      keep_headers();
      has_answer_ = true;
      connection_.consume(head_.head_bytes);
      return HeadState::complete;
    }
    if (++interim_count_ > limits.interim_max) {
      return failure(Errc::limit_reached, "read an answer (too many interim ones)");
    }
    has_continue_ = has_continue_ || head_.status == 100;
    connection_.consume(head_.head_bytes);
    looked_at_ = scanned_ = 0;
  }
}

void ClientWire::keep_headers() {
  const char* const base = connection_.received().data();
  headers_ = Headers();
  for (std::uint32_t i = 0; i < head_.field_count; ++i) {
    const h1::Field& field = head_.fields[i];
    [[maybe_unused]] const auto added = headers_.add(field.name.in(base), field.value.in(base));
  }
}

Task<WireResult> ClientWire::read_head(const WireLimits& limits, Deadline deadline) {
  for (;;) {
    const Result<HeadState> seen = look(limits);
    if (!seen) co_return std::unexpected(WireError{Phase::head, seen.error(), false});
    if (has_answer_) co_return WireResult();
    const Phase phase = connection_.received().empty() ? Phase::first_byte : Phase::head;
    if (connection_.has_ended()) co_return std::unexpected(broken(phase));
    const Result<void> waited =
        co_await connection_.wait_received(connection_.received().size(), deadline);
    if (!waited) co_return std::unexpected(WireError{phase, waited.error(), false});
  }
}

}  // namespace sennit::http::detail
