#include <skim/Status.h>

namespace skim {

const char *statusCodeName(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return "ok";
  case StatusCode::InvalidArgument:
    return "invalid argument";
  case StatusCode::WorkspaceTooSmall:
    return "workspace too small";
  case StatusCode::Corrupt:
    return "corrupt";
  case StatusCode::Unsupported:
    return "unsupported";
  case StatusCode::DataOutOfRange:
    return "data out of range";
  case StatusCode::Environment:
    return "environment";
  }
  return "unknown";
}

} // namespace skim
