// PTX to machine code by the driver's own assembler: no Toolkit is needed.
#ifndef SKIM_RUNTIME_CUDA_ASSEMBLE_H
#define SKIM_RUNTIME_CUDA_ASSEMBLE_H

#include <skim/Status.h>

#include <string>
#include <string_view>

namespace skim::cuda {

/// The bytes of a cubin for a device, of which the driver compiles nothing when they are loaded
/// again. `ordinal` as for `Device::open`. A failure has the log of the driver's compiler.
Expected<std::string> assemble(std::string_view ptx, int ordinal = -1);

} // namespace skim::cuda

#endif // SKIM_RUNTIME_CUDA_ASSEMBLE_H
