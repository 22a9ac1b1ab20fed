// The PTX of device/KeyNorms.c, made with the runtime.
#ifndef SKIM_RUNTIME_CUDA_KEYNORMSIMAGE_H
#define SKIM_RUNTIME_CUDA_KEYNORMSIMAGE_H

namespace skim::cuda {

extern const char *const kKeyNormsImage;

} // namespace skim::cuda

#endif // SKIM_RUNTIME_CUDA_KEYNORMSIMAGE_H
