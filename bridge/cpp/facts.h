//===- facts.h - Bits of facts --------------------------------------------===//
//
// The lists that Rust has: the build script defines a constant of each name.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>

namespace InstFacts {
MIDFLIGHT_INST_FACTS
}
namespace MapFacts {
MIDFLIGHT_MAP_FACTS
}
namespace FunctionFacts {
MIDFLIGHT_FUNCTION_FACTS
}
