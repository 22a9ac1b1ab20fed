// The PTX of TestKernels.c and TensorMapKernels.c.
#ifndef SKIM_TEST_GPU_TESTIMAGE_H
#define SKIM_TEST_GPU_TESTIMAGE_H

namespace skim::test {

extern const char *const kTestImage;
extern const char *const kTensorMapImage;

} // namespace skim::test

#endif // SKIM_TEST_GPU_TESTIMAGE_H
