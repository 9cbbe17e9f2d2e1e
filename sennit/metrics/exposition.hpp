#pragma once
// The metrics of a registry as text, for Prometheus and whatever reads its formats.
//
// A family that had to fold label combinations into one series (family.hpp) shows up in
// sennit_metrics_label_overflow_total, by the family's name.
//
// Thread safety: from any thread, while workers record. The text of one call is no snapshot of one
// instant, as no scrape of a running program is.

#include <string>
#include <string_view>

#include "sennit/metrics/registry.hpp"

namespace sennit::metrics {

enum class TextFormat : unsigned char {
  prometheus,   // Version 0.0.4.
  openmetrics,  // Version 1.0.0.
};

/// For the Content-Type header. Static storage.
[[nodiscard]] std::string_view content_type(TextFormat format);

/// What the Accept header of a scraper asks for: OpenMetrics if it is named there at all.
[[nodiscard]] TextFormat format_for_accept(std::string_view accept);

[[nodiscard]] std::string exposition(const Registry& registry, TextFormat format);

}  // namespace sennit::metrics
