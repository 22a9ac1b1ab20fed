#include "frontends/cpp/Builder.h"
