#include "sennit/load/detail/response_reader.hpp"

#include <algorithm>

namespace sennit::load::detail {

namespace h1 = http::h1;

ResponseReader::Step ResponseReader::take(std::string_view bytes) {
  std::size_t consumed = 0;
  for (;;) {
    Step step{Status::partial, bytes.size()};
    switch (body_) {
      case Body::head:
        step = take_head(bytes);
        break;
      case Body::length:
        step = take_length(bytes);
        break;
      case Body::chunked:
        step = take_chunks(bytes);
        break;
      case Body::until_close:
        break;
    }
    consumed += step.consumed;
    bytes.remove_prefix(step.consumed);
    if (step.status != Status::partial || bytes.empty()) return {step.status, consumed};
  }
}

ResponseReader::Step ResponseReader::take_head(std::string_view bytes) {
  const std::size_t held = head_.size();
  if (held > 0) head_.append(bytes);
  const std::string_view all = held > 0 ? head_.view() : bytes;
  h1::ResponseHead head;
  const h1::ParseOutcome outcome =
      h1::parse_response_head(all, h1::Limits{}, request_method_, head);
  if (outcome.status == Status::error) return fail(outcome.reason);
  if (outcome.status == Status::partial) {
    if (held == 0) head_.append(bytes);
    return {Status::partial, bytes.size()};
  }
  head_.clear();
  return {begin_body(head), head.head_bytes - held};
}

ResponseReader::Status ResponseReader::begin_body(const h1::ResponseHead& head) {
  constexpr int switching_protocols = 101;
  if (head.status < 200 && head.status != switching_protocols) return Status::partial;
  http_status_ = head.status;
  keep_alive_ = head.keep_alive && head.status != switching_protocols;
  switch (head.body) {
    case h1::Body::none:
      return Status::complete;
    case h1::Body::length:
      body_ = Body::length;
      left_ = head.content_length;
      break;
    case h1::Body::chunked:
      body_ = Body::chunked;
      chunks_.reset();
      break;
    case h1::Body::until_close:
      body_ = Body::until_close;
      break;
  }
  return Status::partial;
}

ResponseReader::Step ResponseReader::take_length(std::string_view bytes) {
  const std::size_t taken = std::min<std::uint64_t>(left_, bytes.size());
  left_ -= taken;
  return {left_ == 0 ? Status::complete : Status::partial, taken};
}

ResponseReader::Step ResponseReader::take_chunks(std::string_view bytes) {
  const h1::ChunkedDecoder::Step step = chunks_.next(bytes);
  if (step.status == Status::error) return fail(step.reason);
  return {step.status, step.consumed};
}

ResponseReader::Status ResponseReader::end() const {
  return body_ == Body::until_close ? Status::complete : Status::error;
}

ResponseReader::Step ResponseReader::fail(const char* reason) {
  reason_ = reason;
  return {Status::error, 0};
}

}  // namespace sennit::load::detail
