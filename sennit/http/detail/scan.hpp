#pragma once
// Scanning many bytes at once. Each function has a scalar twin that a test holds equal to it.

#include "sennit/http/detail/chars.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace sennit::http::detail {

/// The first byte in [at, end) that is no value_char, or end.
[[nodiscard]] inline const char* find_value_end_scalar(const char* at, const char* end) {
  while (at != end && is(*at, value_char)) ++at;
  return at;
}

/// As find_value_end_scalar(), 16 bytes at a time.
[[nodiscard]] inline const char* find_value_end(const char* at, const char* end) {
#if defined(__SSE2__)
  const __m128i tab = _mm_set1_epi8('\t');
  const __m128i del = _mm_set1_epi8(0x7f);
  const __m128i last_control = _mm_set1_epi8(0x1f);
  while (end - at >= 16) {
    const __m128i bytes =
        _mm_loadu_si128(static_cast<const __m128i*>(static_cast<const void*>(at)));
    const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes);
    const __m128i bad = _mm_or_si128(_mm_andnot_si128(_mm_cmpeq_epi8(bytes, tab), controls),
                                     _mm_cmpeq_epi8(bytes, del));
    const int mask = _mm_movemask_epi8(bad);
    if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
    at += 16;
  }
#elif defined(__aarch64__)
  while (end - at >= 16) {
    const uint8x16_t bytes = vld1q_u8(reinterpret_cast<const std::uint8_t*>(at));
    const uint8x16_t controls =
        vbicq_u8(vcleq_u8(bytes, vdupq_n_u8(0x1f)), vceqq_u8(bytes, vdupq_n_u8('\t')));
    const uint8x16_t bad = vorrq_u8(controls, vceqq_u8(bytes, vdupq_n_u8(0x7f)));
    if (vmaxvq_u8(bad) != 0) break;  // The scalar loop below finds which one.
    at += 16;
  }
#endif
  return find_value_end_scalar(at, end);
}

/// The first byte in [at, end) that is no target_char, or end.
[[nodiscard]] inline const char* find_target_end_scalar(const char* at, const char* end) {
  while (at != end && is(*at, target_char)) ++at;
  return at;
}

/// As find_target_end_scalar(), 16 bytes at a time.
[[nodiscard]] inline const char* find_target_end(const char* at, const char* end) {
#if defined(__SSE2__)
  const __m128i space = _mm_set1_epi8(' ');
  const __m128i del = _mm_set1_epi8(0x7f);
  const __m128i hash = _mm_set1_epi8('#');
  while (end - at >= 16) {
    const __m128i bytes =
        _mm_loadu_si128(static_cast<const __m128i*>(static_cast<const void*>(at)));
    const __m128i visible = _mm_cmpgt_epi8(bytes, space);  // Signed: 0x80 and above are not.
    const __m128i bad = _mm_or_si128(_mm_cmpeq_epi8(bytes, del), _mm_cmpeq_epi8(bytes, hash));
    const int mask = _mm_movemask_epi8(_mm_andnot_si128(bad, visible)) ^ 0xffff;
    if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
    at += 16;
  }
#elif defined(__aarch64__)
  while (end - at >= 16) {
    const uint8x16_t bytes = vld1q_u8(reinterpret_cast<const std::uint8_t*>(at));
    const uint8x16_t outside =
        vorrq_u8(vcleq_u8(bytes, vdupq_n_u8(' ')), vcgeq_u8(bytes, vdupq_n_u8(0x7f)));
    if (vmaxvq_u8(vorrq_u8(outside, vceqq_u8(bytes, vdupq_n_u8('#')))) != 0) break;
    at += 16;
  }
#endif
  return find_target_end_scalar(at, end);
}

/// The first byte in [at, end) that is not of the class, or end.
[[nodiscard]] inline const char* find_end_of(CharClass wanted, const char* at, const char* end) {
  while (at != end && is(*at, wanted)) ++at;
  return at;
}

}  // namespace sennit::http::detail
