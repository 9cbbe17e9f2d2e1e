#include "sennit/metrics/exposition.hpp"

#include <cmath>
#include <fmt/core.h>
#include <iterator>
#include <limits>

namespace sennit::metrics {
namespace {

constexpr std::string_view total_suffix = "_total";

// Floating point as both formats take it; OpenMetrics wants bounds with a point.
std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

class Text {
 public:
  explicit Text(TextFormat format) : format_(format) {}

  /// Begins a family: its HELP, TYPE and UNIT lines.
  void begin(std::string_view name, std::string_view help, std::string_view type) {
    family_ = name;
    if (format_ == TextFormat::openmetrics && type == "counter") {
      family_.resize(family_.size() - total_suffix.size());
    }
    out_ += fmt::format("# HELP {} ", family_);
    append_escaped(out_, help, format_ == TextFormat::openmetrics);
    out_ += fmt::format("\n# TYPE {} {}\n", family_, type);
    if (format_ != TextFormat::openmetrics) return;
    for (const std::string_view unit : {"seconds", "bytes", "ratio"}) {
      if (family_.ends_with(fmt::format("_{}", unit))) {
        out_ += fmt::format("# UNIT {} {}\n", family_, unit);
      }
    }
  }

  /// One line. `name` is the sample's, with all suffixes; `le` a histogram's bound or empty.
  void sample(std::string_view name, const std::vector<std::string>& label_names,
              const LabelValues& values, std::string_view le, std::string_view value) {
    out_ += name;
    char separator = '{';
    const auto label = [&](std::string_view label_name, std::string_view label_value) {
      out_ += separator;
      separator = ',';
      out_ += label_name;
      out_ += "=\"";
      append_escaped(out_, label_value, true);
      out_ += '"';
    };
    for (std::size_t i = 0; i < values.size(); ++i) label(label_names[i], values[i]);
    if (!le.empty()) label("le", le);
    if (separator == ',') out_ += '}';
    out_ += ' ';
    out_ += value;
    out_ += '\n';
  }

  std::string finish() {
    if (format_ == TextFormat::openmetrics) out_ += "# EOF\n";
    return std::move(out_);
  }

 private:
  const TextFormat format_;
  std::string family_;
  std::string out_;
};

void show(Text& text, const std::string& name, const std::string& help,
          const Family<Counter>& family) {
  text.begin(name, help, "counter");
  family.for_each([&](const LabelValues& values, const Counter& counter) {
    text.sample(name, family.label_names(), values, {}, fmt::format("{}", counter.value()));
  });
}

void show(Text& text, const std::string& name, const std::string& help,
          const Family<Gauge>& family) {
  text.begin(name, help, "gauge");
  family.for_each([&](const LabelValues& values, const Gauge& gauge) {
    text.sample(name, family.label_names(), values, {}, number(gauge.value()));
  });
}

void show_histogram(Text& text, const std::string& name,
                    const std::vector<std::string>& label_names, const LabelValues& values,
                    const HistogramSettings& settings, const Histogram& histogram) {
  const std::string bucket = name + "_bucket";
  for (const double bound : settings.bounds) {
    const double recorded = std::nearbyint(bound * settings.divisor);
    const bool all = recorded >= static_cast<double>(histogram.options().highest);
    const std::uint64_t count =
        all ? histogram.count() : histogram.count_up_to(static_cast<std::int64_t>(recorded));
    text.sample(bucket, label_names, values, number(bound), fmt::format("{}", count));
  }
  const std::string count = fmt::format("{}", histogram.count());
  text.sample(bucket, label_names, values, "+Inf", count);
  text.sample(name + "_sum", label_names, values, {},
              number(static_cast<double>(histogram.sum()) / settings.divisor));
  text.sample(name + "_count", label_names, values, {}, count);
}

void show(Text& text, const std::string& name, const std::string& help,
          const HistogramFamily& histograms) {
  text.begin(name, help, "histogram");
  const Family<SharedHistogram>& family = histograms.family;
  family.for_each([&](const LabelValues& values, const SharedHistogram& shared) {
    show_histogram(text, name, family.label_names(), values, histograms.settings,
                   shared.snapshot());
  });
}

void show(Text& text, const std::string& name, const std::string& help,
          const Registry::Asked& asked) {
  text.begin(name, help, asked.only_goes_up ? "counter" : "gauge");
  for (const auto& [values, value] : asked.series()) {
    text.sample(name, asked.label_names, values, {}, number(value));
  }
}

void show(Text& text, const std::string& name, const std::string& help,
          const Registry::AskedHistograms& asked) {
  text.begin(name, help, "histogram");
  for (const auto& [values, histogram] : asked.series()) {
    show_histogram(text, name, asked.label_names, values, asked.settings, histogram);
  }
}

template <class T>
const T& value_of(const std::unique_ptr<T>& pointer) {
  return *pointer;
}
template <class T>
const T& value_of(const T& held) {
  return held;
}

std::uint64_t overflow_of(const HistogramFamily& histograms) {
  return histograms.family.overflow_count();
}
std::uint64_t overflow_of(const Registry::Asked&) { return 0; }
std::uint64_t overflow_of(const Registry::AskedHistograms&) { return 0; }
template <class Metric>
std::uint64_t overflow_of(const Family<Metric>& family) {
  return family.overflow_count();
}

}  // namespace

std::string_view content_type(TextFormat format) {
  return format == TextFormat::openmetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

TextFormat format_for_accept(std::string_view accept) {
  return accept.find("application/openmetrics-text") == std::string_view::npos
             ? TextFormat::prometheus
             : TextFormat::openmetrics;
}

std::string exposition(const Registry& registry, TextFormat format) {
  const std::string overflow_name = "sennit_metrics_label_overflow_total";
  Text text(format);
  std::vector<std::pair<std::string, std::uint64_t>> overflows;
  registry.for_each(
      [&](const std::string& name, const std::string& help, const Registry::Metrics& metrics) {
        std::visit(
            [&](const auto& held) {
              show(text, name, help, value_of(held));
              const std::uint64_t overflow = overflow_of(value_of(held));
              if (overflow > 0) overflows.emplace_back(name, overflow);
            },
            metrics);
      });
  if (!overflows.empty()) {
    text.begin(overflow_name, "Lookups of label values beyond a family's limit.", "counter");
  }
  for (const auto& [name, overflow] : overflows) {
    text.sample(overflow_name, {"family"}, {name}, {}, fmt::format("{}", overflow));
  }
  return text.finish();
}

}  // namespace sennit::metrics
