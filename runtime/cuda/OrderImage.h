// The PTX of device/Order.c, made with the runtime.
#ifndef SKIM_RUNTIME_CUDA_ORDERIMAGE_H
#define SKIM_RUNTIME_CUDA_ORDERIMAGE_H

namespace skim::cuda {

extern const char *const kOrderImage;

} // namespace skim::cuda

#endif // SKIM_RUNTIME_CUDA_ORDERIMAGE_H
