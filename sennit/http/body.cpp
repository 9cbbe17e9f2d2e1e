#include "sennit/http/body.hpp"

namespace sennit::http {

Result<std::string_view> BodyReader::Read::take() {
  if (is_cancelled_) return failure(Errc::cancelled, "read a request's body");
  return channel_.take_body();
}

void BodyReader::Read::cancel() {
  if (waiter_ == nullptr || !channel_.stop_waiting_for_body()) return;
  is_cancelled_ = true;
  waiter_->wake();
}

Result<void> BodyWriter::Write::take() {
  if (is_cancelled_) return failure(Errc::cancelled, "send a response's body");
  return channel_.write_result();
}

void BodyWriter::Write::cancel() {
  if (waiter_ == nullptr || !channel_.stop_waiting_for_room()) return;
  is_cancelled_ = true;
  waiter_->wake();
}

}  // namespace sennit::http
