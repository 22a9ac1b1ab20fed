// A driver without a device: a library in the place of libcuda that counts what it is asked to load
// and to assemble. It runs nothing.
#ifndef SKIM_TEST_BUNDLE_FAKEDRIVER_H
#define SKIM_TEST_BUNDLE_FAKEDRIVER_H

/// The library's one variable, `skim_fake_driver`.
struct FakeDriver {
  int version = 12080; ///< of CUDA, as the driver tells it
  bool refusesCubins = false;
  bool refusesPtx = false;
  int loadedPtx = 0;    ///< images that were compiled to be loaded
  int loadedCubins = 0; ///< images that were loaded as they are
  int assembled = 0;    ///< PTX that was made into a cubin
};

#endif // SKIM_TEST_BUNDLE_FAKEDRIVER_H
