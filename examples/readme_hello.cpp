#include "sennit/http/server.hpp"

using namespace sennit;

int main(int argc, char** argv) {
  http::Server server;
  server.get("/hello/{name}", [](http::Request& request) {
    return http::text("hello " + std::string(request.param("name")));
  });
  return server.run(http::ServerOptions(argc, argv));
}
