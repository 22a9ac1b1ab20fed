// The PTX of device/PackKeys.c, made with the runtime.
#ifndef SKIM_RUNTIME_CUDA_PACKKEYSIMAGE_H
#define SKIM_RUNTIME_CUDA_PACKKEYSIMAGE_H

namespace skim::cuda {

extern const char *const kPackKeysImage;

} // namespace skim::cuda

#endif // SKIM_RUNTIME_CUDA_PACKKEYSIMAGE_H
