// Serves a folder, compressed for who accepts it, with an access log.
//
//   SENNIT_FILES_ROOT=/srv/www files --port 8080

#include "sennit/http/files.hpp"

#include <cstdio>
#include <cstdlib>

#include "sennit/http/compression.hpp"
#include "sennit/http/server.hpp"
#include "sennit/http/standard_middlewares.hpp"

using namespace sennit;

int main(int argc, char** argv) {
  const char* const root = std::getenv("SENNIT_FILES_ROOT");
  const auto files = http::StaticFiles::open(root == nullptr ? "." : root);
  if (!files) {
    std::fprintf(stderr, "could not %s\n", files.error().to_string().c_str());
    return 1;
  }
  http::Server server;
  server.use(http::access_log()).use(http::compression());
  server.get("/{path*}", files->handler("path"));
  return server.run(http::ServerOptions(argc, argv));
}
