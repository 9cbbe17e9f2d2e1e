#include "sennit/http/cors.hpp"

#include <algorithm>
#include <memory>

#include "sennit/base/assert.hpp"

namespace sennit::http {
namespace {

std::string joined_names(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) {
    SENNIT_ASSERT(is_header_name(name) && name != "*", name);
    if (!all.empty()) all += ", ";
    all += name;
  }
  return all;
}

void add_field(Response& response, std::string_view name, std::string_view value) {
  const Result<> added = response.headers().add(name, value);
  SENNIT_ASSERT(added.has_value());
}

}  // namespace

class CorsPolicy {
 public:
  explicit CorsPolicy(CorsOptions options) : options_(std::move(options)) {
    SENNIT_ASSERT(!(options_.any_origin_ && options_.credentials_) &&
                  "CORS: any origin and credentials together let every site act as the user");
  }

  [[nodiscard]] bool allows(std::string_view origin) const {
    if (options_.any_origin_) return true;
    if (options_.allowed_ && options_.allowed_(origin)) return true;
    return std::ranges::find(options_.origins_, origin) != options_.origins_.end();
  }
  void allow(Response& response, std::string_view origin) const {
    add_field(response, "Access-Control-Allow-Origin", options_.any_origin_ ? "*" : origin);
    if (options_.credentials_) add_field(response, "Access-Control-Allow-Credentials", "true");
  }
  /// What a cache must tell apart.
  void vary(Response& response) const {
    if (!options_.any_origin_) add_field(response, "Vary", "Origin");
  }
  void expose(Response& response) const {
    if (!options_.exposed_.empty()) {
      add_field(response, "Access-Control-Expose-Headers", options_.exposed_);
    }
  }
  [[nodiscard]] Response preflight(const Request& request, std::string_view origin) const {
    Response response(Status::no_content);
    vary(response);
    if (!allows(origin)) return response;
    allow(response, origin);
    add_field(response, "Access-Control-Allow-Methods", options_.methods_);
    const auto asked = request.header("access-control-request-headers");
    if (!options_.headers_.empty()) {
      add_field(response, "Access-Control-Allow-Headers", options_.headers_);
    } else if (asked) {
      add_field(response, "Access-Control-Allow-Headers", *asked);
      add_field(response, "Vary", "Access-Control-Request-Headers");
    }
    if (options_.private_network_ && request.header("access-control-request-private-network")) {
      add_field(response, "Access-Control-Allow-Private-Network", "true");
    }
    if (options_.max_age_.count() > 0) {
      add_field(response, "Access-Control-Max-Age", std::to_string(options_.max_age_.count()));
    }
    return response;
  }

 private:
  const CorsOptions options_;
};

CorsOptions& CorsOptions::allow_origin(std::string origin) {
  SENNIT_ASSERT(is_header_value(origin) && origin.find("://") != std::string::npos &&
                    origin.find('*') == std::string::npos && !origin.ends_with('/'),
                origin);
  origins_.push_back(std::move(origin));
  return *this;
}
CorsOptions& CorsOptions::allow_any_origin() {
  any_origin_ = true;
  return *this;
}
CorsOptions& CorsOptions::allow_origins_if(std::function<bool(std::string_view)> allowed) {
  allowed_ = std::move(allowed);
  return *this;
}
CorsOptions& CorsOptions::allow_methods(std::vector<std::string> methods) {
  methods_ = joined_names(methods);
  return *this;
}
CorsOptions& CorsOptions::allow_headers(std::vector<std::string> names) {
  headers_ = joined_names(names);
  return *this;
}
CorsOptions& CorsOptions::expose_headers(std::vector<std::string> names) {
  exposed_ = joined_names(names);
  return *this;
}
CorsOptions& CorsOptions::allow_credentials(bool on) {
  credentials_ = on;
  return *this;
}
CorsOptions& CorsOptions::allow_private_network(bool on) {
  private_network_ = on;
  return *this;
}
CorsOptions& CorsOptions::max_age(std::chrono::seconds age) {
  max_age_ = age;
  return *this;
}

namespace {

Task<Response> with_cors(std::shared_ptr<const CorsPolicy> policy, Request& request, Next next) {
  const auto origin = request.header("origin");
  const bool is_preflight = origin && request.method() == Method::options &&
                            request.header("access-control-request-method");
  if (is_preflight) co_return policy->preflight(request, *origin);
  Response response = co_await next(request);
  policy->vary(response);
  if (origin && policy->allows(*origin)) {
    policy->allow(response, *origin);
    policy->expose(response);
  }
  co_return response;
}

}  // namespace

std::function<Task<Response>(Request&, Next)> cors(const CorsOptions& options) {
  auto policy = std::make_shared<const CorsPolicy>(options);
  return [policy](Request& request, Next next) { return with_cors(policy, request, next); };
}

}  // namespace sennit::http
