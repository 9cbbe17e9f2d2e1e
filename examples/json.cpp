// A small JSON service: typed arguments, structs in and out, state that handlers share.

#include "sennit/http/json.hpp"

#include <map>
#include <mutex>
#include <string>

#include "sennit/http/server.hpp"

using namespace sennit;

struct Note {
  int id = 0;
  std::string text;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Note, id, text)

struct Notes {
  std::mutex mutex;  // Workers call handlers at the same time.
  std::map<int, Note> by_id;
};

int main(int argc, char** argv) {
  Notes notes;
  http::Server server;
  server.provide(notes);
  server.post("/notes", [](http::State<Notes> all, const http::Json<Note>& note) {
    const std::lock_guard lock(all->mutex);
    all->by_id[note->id] = *note;
    return note;
  });
  server.get("/notes/{id}",
             [](http::State<Notes> all, http::Path<int, "id"> id) -> Result<http::Json<Note>> {
               const std::lock_guard lock(all->mutex);
               const auto found = all->by_id.find(*id);
               if (found == all->by_id.end()) return failure(Errc::not_found, "find that note");
               return http::Json<Note>(found->second);
             });
  return server.run(http::ServerOptions(argc, argv));
}
