// The PTX of device/Setup.c, made with the runtime.
#ifndef SKIM_RUNTIME_CUDA_SETUPIMAGE_H
#define SKIM_RUNTIME_CUDA_SETUPIMAGE_H

namespace skim::cuda {

extern const char *const kSetupImage;

} // namespace skim::cuda

#endif // SKIM_RUNTIME_CUDA_SETUPIMAGE_H
