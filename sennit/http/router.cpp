#include "sennit/http/router.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sennit/http/detail/chars.hpp"
#include "sennit/http/percent.hpp"

namespace sennit::http {
namespace {

using namespace detail;

constexpr std::size_t segments_max = 32;  // Of a pattern: bounds the depth of the search too.

/// Orders `raw`, decoded, against `plain` as bytes: negative, 0 or positive. Escapes are valid.
int compare_decoded(std::string_view raw, std::string_view plain) {
  std::size_t at = 0;
  for (const char wanted : plain) {
    if (at >= raw.size()) return -1;
    int byte = static_cast<unsigned char>(raw[at]);
    if (byte == '%') {
      byte = hex_value(raw[at + 1]) * 16 + hex_value(raw[at + 2]);
      at += 2;
    }
    ++at;
    const int difference = byte - static_cast<unsigned char>(wanted);
    if (difference != 0) return difference;
  }
  return at < raw.size() ? 1 : 0;
}

bool is_usable_path(std::string_view path) {
  return has_valid_escapes(path) && path.find("%00") == std::string_view::npos;
}

/// What a route of this method lets a client do.
MethodSet methods_of(Method method) {
  MethodSet methods;
  methods.add(method);
  methods.add(Method::options);
  if (method == Method::get) methods.add(Method::head);
  return methods;
}

struct Segment {
  enum class Kind : std::uint8_t { literal, param, rest };
  Kind kind;
  std::string_view text;  // The literal, or the parameter's name.
};

bool is_param_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return c == '_' || c == '-' || is(to_lower(c), hex_digit) ||
           (to_lower(c) >= 'g' && to_lower(c) <= 'z');
  });
}

/// What is wrong with the pattern, or null; else its segments.
const char* split_pattern(std::string_view pattern, std::vector<Segment>& segments) {
  if (!pattern.starts_with('/')) return "a pattern begins with a slash";
  std::size_t param_count = 0;
  for (std::size_t at = 1; at <= pattern.size();) {
    if (!segments.empty() && segments.back().kind == Segment::Kind::rest) {
      return "{name*} must come last";
    }
    const std::size_t end = std::min(pattern.find('/', at), pattern.size());
    std::string_view text = pattern.substr(at, end - at);
    at = end + 1;
    if (text.find_first_of("{}") == std::string_view::npos) {
      const bool is_path = all_are(text, value_char) && text.find_first_of("?#%\t") == text.npos;
      if (!is_path) return "text of a pattern is written decoded, without ? # % or controls";
      segments.push_back({Segment::Kind::literal, text});
      continue;
    }
    if (text.front() != '{' || text.back() != '}') return "a parameter is a whole segment";
    text = text.substr(1, text.size() - 2);
    const bool is_rest = text.ends_with('*');
    if (is_rest) text.remove_suffix(1);
    if (!is_param_name(text)) return "a parameter's name is letters, digits, _ and -";
    for (const Segment& other : segments) {
      if (other.kind != Segment::Kind::literal && other.text == text) return "a name stands twice";
    }
    if (++param_count > RouteParams::count_max) return "too many parameters";
    segments.push_back({is_rest ? Segment::Kind::rest : Segment::Kind::param, text});
  }
  return segments.size() > segments_max ? "too many segments" : nullptr;
}

}  // namespace

struct Router::Route {
  Method method;
  std::uint32_t handler_index;
  std::string pattern;
  std::vector<std::string> param_names;
};

namespace {

template <class Route>
struct Endpoint {
  const Route* routes[method_count] = {};
  MethodSet methods;

  [[nodiscard]] const Route* of(Method method) const {
    const Route* const own = routes[static_cast<std::size_t>(method)];
    if (own != nullptr || method != Method::head) return own;
    return routes[static_cast<std::size_t>(Method::get)];
  }
  [[nodiscard]] const Route* any() const {
    const auto* const found = std::ranges::find_if(routes, [](auto* route) { return route; });
    return found == std::end(routes) ? nullptr : *found;
  }
};

}  // namespace

/// One segment of the patterns that share all segments before it.
struct Router::Node {
  std::string text;                             // Of a literal.
  std::vector<std::unique_ptr<Node>> literals;  // Ordered by text.
  std::unique_ptr<Node> param;
  std::unique_ptr<Node> rest;
  Endpoint<Route> endpoint;  // Of the patterns that end here.

  /// The first literal that is not below what `compare` orders its argument against.
  [[nodiscard]] auto lower_bound(const auto& compare) const {
    return std::ranges::partition_point(
        literals, [&compare](const auto& node) { return compare(node->text) > 0; });
  }
  [[nodiscard]] Node* literal(const auto& compare) const {
    const auto at = lower_bound(compare);
    return at != literals.end() && compare((*at)->text) == 0 ? at->get() : nullptr;
  }
  /// The child that stands for a segment of a path.
  [[nodiscard]] const Node* literal_of(std::string_view segment, bool has_escapes) const {
    if (literals.empty()) return nullptr;
    if (!has_escapes) return literal([=](std::string_view own) { return segment.compare(own); });
    return literal([=](std::string_view own) { return compare_decoded(segment, own); });
  }
  Node& literal_or_new(std::string_view plain) {
    const auto compare = [plain](std::string_view other) { return plain.compare(other); };
    if (Node* const found = literal(compare)) return *found;
    auto node = std::make_unique<Node>();
    node->text = plain;
    const auto position = literals.begin() + (lower_bound(compare) - literals.begin());
    return **literals.insert(position, std::move(node));
  }
  static Node& or_new(std::unique_ptr<Node>& slot) {
    if (slot == nullptr) slot = std::make_unique<Node>();
    return *slot;
  }
};

/// Open addressing over the whole paths of routes without parameters, at most half full.
struct Router::StaticTable {
  struct Slot {
    std::string_view path;  // Of a Route's pattern; null data if free.
    const Node* node = nullptr;
  };
  std::vector<Slot> slots = std::vector<Slot>(8);
  std::size_t used = 0;

  static std::size_t hash(std::string_view path) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
    std::uint64_t state = path.size() * odd;
    while (path.size() >= 8) {
      std::uint64_t word;
      std::memcpy(&word, path.data(), 8);
      state = (state ^ word) * odd;
      state ^= state >> 32;
      path.remove_prefix(8);
    }
    std::uint32_t head = 0;
    std::uint32_t tail = 0;
    if (path.size() >= 4) {  // The two may overlap.
      std::memcpy(&head, path.data(), 4);
      std::memcpy(&tail, path.data() + path.size() - 4, 4);
    } else {
      for (const char c : path) tail = tail << 8 | static_cast<unsigned char>(c);
    }
    state = (state ^ (std::uint64_t{head} << 32 | tail)) * odd;
    return static_cast<std::size_t>(state ^ state >> 32);
  }

  /// The slot that holds the path, or the free one where it would be.
  [[nodiscard]] std::size_t slot_of(std::string_view path) const {
    const std::size_t mask = slots.size() - 1;
    std::size_t at = hash(path) & mask;
    while (slots[at].path.data() != nullptr && slots[at].path != path) at = (at + 1) & mask;
    return at;
  }
  [[nodiscard]] const Node* find(std::string_view path) const { return slots[slot_of(path)].node; }

  void add(std::string_view path, const Node& node) {
    if (find(path) != nullptr) return;
    if (2 * (used + 1) > slots.size()) {
      const auto before = std::exchange(slots, std::vector<Slot>(2 * slots.size()));
      for (const Slot& slot : before) {
        if (slot.node != nullptr) slots[slot_of(slot.path)] = slot;
      }
    }
    slots[slot_of(path)] = {path, &node};
    ++used;
  }
};

/// One walk of find(). Each node is visited at most once, since its depth is fixed.
struct Router::Search {
  Method method;
  std::string_view path;
  bool has_escapes;
  RouteParams& params;
  const Route* route = nullptr;
  const Route* other = nullptr;  // The first of another method.
  MethodSet allowed;

  bool consider(const Endpoint<Route>& endpoint) {
    allowed.add(endpoint.methods);
    if (other == nullptr) other = endpoint.any();
    route = endpoint.of(method);
    return route != nullptr;
  }

  bool with_param(std::string_view raw, auto&& go_on) {
    params.params[params.count++].raw = raw;
    if (go_on()) return true;
    --params.count;
    return false;
  }

  /// `at` is where the next segment begins; past the path's end there is none.
  bool visit(const Node& node, std::size_t at) {
    if (at > path.size()) return consider(node.endpoint);
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view segment = path.substr(at, end - at);
    const Node* const literal = node.literal_of(segment, has_escapes);
    if (literal != nullptr && visit(*literal, end + 1)) return true;
    if (node.param != nullptr && !segment.empty() &&
        with_param(segment, [&] { return visit(*node.param, end + 1); })) {
      return true;
    }
    return node.rest != nullptr &&
           with_param(path.substr(at), [&] { return consider(node.rest->endpoint); });
  }
};

Router::Router() : root_(std::make_unique<Node>()), statics_(std::make_unique<StaticTable>()) {}
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;
Router::~Router() = default;

Result<> Router::add(Method method, std::string_view pattern, std::uint32_t handler_index) {
  const std::string doing =
      "add route " + std::string(http::to_string(method)) + " " + std::string(pattern);
  if (method == Method::other) return failure(Errc::invalid_argument, doing + ": unknown method");
  std::vector<Segment> segments;
  if (const char* const complaint = split_pattern(pattern, segments)) {
    return failure(Errc::invalid_argument, doing + ": " + complaint);
  }
  auto route = std::make_unique<Route>(Route{method, handler_index, std::string(pattern), {}});
  Node* node = root_.get();
  for (const auto& [kind, text] : segments) {
    if (kind == Segment::Kind::literal) {
      node = &node->literal_or_new(text);
    } else {
      node = &Node::or_new(kind == Segment::Kind::param ? node->param : node->rest);
      route->param_names.emplace_back(text);
    }
  }
  const Route*& slot = node->endpoint.routes[static_cast<std::size_t>(method)];
  if (slot != nullptr) {
    return failure(Errc::already_exists, doing + ": it matches the same paths as " + slot->pattern);
  }
  slot = route.get();
  node->endpoint.methods.add(methods_of(method));
  if (route->param_names.empty()) statics_->add(route->pattern, *node);
  routes_.push_back(std::move(route));
  return {};
}

Router::Match Router::find(Method method, std::string_view path, RouteParams& params) const {
  const auto found = [](const Route& route) {
    return Match{Found::route, route.handler_index, {}, route.pattern};
  };
  const auto without_route = [](Found why, MethodSet allowed) {
    return Match{why, 0, allowed, {}};
  };
  params.count = 0;
  if (const Node* const node = statics_->find(path)) {  // No pattern holds a '%'.
    if (const Route* const route = node->endpoint.of(method)) return found(*route);
  }
  const bool has_escapes = path.find('%') != std::string_view::npos;
  if (has_escapes && !is_usable_path(path)) return without_route(Found::bad_request, {});
  Search search{method, path, has_escapes, params, nullptr, nullptr, {}};
  if (path == "*") {
    for (const auto& route : routes_) search.allowed.add(methods_of(route->method));
    return without_route(method == Method::options ? Found::options : Found::not_found,
                         search.allowed);
  }
  if (path.starts_with('/') && search.visit(*root_, 1)) {
    for (std::size_t i = 0; i < params.count; ++i) {
      params.params[i].name = search.route->param_names[i];
    }
    return found(*search.route);
  }
  if (search.allowed.empty()) return without_route(Found::not_found, {});
  const Found why = method == Method::options ? Found::options : Found::method_not_allowed;
  return {why, search.other->handler_index, search.allowed, search.other->pattern};
}

std::string to_string(MethodSet methods) {
  std::string text;
  for (std::size_t i = 0; i < method_count; ++i) {
    const auto method = static_cast<Method>(i);
    if (!methods.contains(method)) continue;
    if (!text.empty()) text += ", ";
    text += to_string(method);
  }
  return text;
}

}  // namespace sennit::http
