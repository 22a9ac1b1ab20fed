// The safetensors reader takes what the format allows and refuses the rest with a reason.
#include "tools/skim/Safetensors.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace skim::tool {
namespace {

using testing::HasSubstr;

/// A file that is gone at the end of the test.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &bytes) {
    llvm::SmallString<128> name;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("skim", "safetensors", name));
    file = name.str().str();
    std::ofstream(file, std::ios::binary) << bytes;
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile() { EXPECT_FALSE(llvm::sys::fs::remove(file)); }

  const std::string &path() const { return file; }

private:
  std::string file;
};

std::string withLength(uint64_t length, const std::string &rest) {
  char bytes[8];
  llvm::support::endian::write64le(bytes, length);
  return std::string(bytes, 8) + rest;
}

std::string container(const std::string &header, const std::string &data = "") {
  return withLength(header.size(), header + data);
}

/// The reason why `bytes` are refused; fails the test when they are taken.
std::string refusal(const std::string &bytes) {
  TemporaryFile file(bytes);
  llvm::Expected<SafetensorsFile> opened = SafetensorsFile::open(file.path());
  if (opened) {
    ADD_FAILURE() << "the file was taken";
    return "";
  }
  return llvm::toString(opened.takeError());
}

TEST(Safetensors, WritesWhatItReads) {
  TemporaryFile file("");
  std::vector<float> floats = {1, 2, 3, 4, 5, 6};
  std::vector<int32_t> ints = {7, -8};
  std::vector<Tensor> tensors = {
      {"a", ElementType::F32, {2, 3}, reinterpret_cast<const char *>(floats.data()), 24},
      {"empty", ElementType::BF16, {0, 5}, nullptr, 0},
      {"b", ElementType::I32, {2}, reinterpret_cast<const char *>(ints.data()), 8}};
  ASSERT_FALSE(bool(writeSafetensors(file.path(), tensors)));
  llvm::Expected<SafetensorsFile> opened = SafetensorsFile::open(file.path());
  ASSERT_TRUE(bool(opened)) << llvm::toString(opened.takeError());
  ASSERT_EQ(opened->tensors().size(), 3u);
  EXPECT_EQ(opened->find("a")->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(opened->find("a")->as<float>().vec(), floats);
  EXPECT_EQ(opened->find("b")->as<int32_t>().vec(), ints);
  EXPECT_EQ(opened->find("empty")->elements(), 0);
  EXPECT_EQ(opened->find("c"), nullptr);
}

TEST(Safetensors, AlignsTensorsThatAreNot) {
  std::string header = R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  while (header.size() % 4 != 1)
    header += ' ';
  float value = 2.5F;
  TemporaryFile file(container(header, std::string(reinterpret_cast<char *>(&value), 4)));
  llvm::Expected<SafetensorsFile> opened = SafetensorsFile::open(file.path());
  ASSERT_TRUE(bool(opened)) << llvm::toString(opened.takeError());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(opened->find("x")->data) % 4, 0u);
  EXPECT_EQ(opened->find("x")->as<float>()[0], 2.5F);
}

TEST(Safetensors, IgnoresMetadata) {
  TemporaryFile file(container(R"({"__metadata__":{"format":"pt"}})"));
  llvm::Expected<SafetensorsFile> opened = SafetensorsFile::open(file.path());
  ASSERT_TRUE(bool(opened)) << llvm::toString(opened.takeError());
  EXPECT_TRUE(opened->tensors().empty());
}

TEST(Safetensors, RefusesWhatIsNoFile) {
  llvm::Expected<SafetensorsFile> missing = SafetensorsFile::open("/nonexistent.safetensors");
  ASSERT_FALSE(bool(missing));
  EXPECT_THAT(llvm::toString(missing.takeError()), HasSubstr("No such file"));
  llvm::Expected<SafetensorsFile> folder = SafetensorsFile::open("/");
  ASSERT_FALSE(bool(folder));
  EXPECT_THAT(llvm::toString(folder.takeError()), HasSubstr("expected a regular file"));
}

TEST(Safetensors, RefusesACutHeader) {
  EXPECT_THAT(refusal(""), HasSubstr("the file has 0 bytes"));
  EXPECT_THAT(refusal("1234567"), HasSubstr("the file has 7 bytes"));
  EXPECT_THAT(refusal(withLength(50, "{}")), HasSubstr("expected a header of 50 bytes but only 2"));
  EXPECT_THAT(refusal(withLength(UINT64_MAX, "{}")), HasSubstr("longer than the 100000000"));
}

TEST(Safetensors, RefusesAHeaderThatIsNoObject) {
  EXPECT_THAT(refusal(container("{\"a\":")), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal(container("[]")), HasSubstr("expected the header to be a JSON object"));
  EXPECT_THAT(refusal(container(std::string(100'000, '['))), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal(container("{\"\xFF\":0}")), HasSubstr("not valid JSON"));
}

TEST(Safetensors, RefusesANameGivenTwice) {
  EXPECT_THAT(refusal(container(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
                                R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})")),
              HasSubstr("names 'a' twice"));
  EXPECT_THAT(
      refusal(container(R"({"a":{"dtype":"U8","dtype":"I8","shape":[0],"data_offsets":[0,0]}})")),
      HasSubstr("names 'dtype' twice"));
}

TEST(Safetensors, RefusesAnEntryWithoutItsParts) {
  EXPECT_THAT(refusal(container(R"({"a":3})")), HasSubstr("tensor 'a': expected an object"));
  EXPECT_THAT(refusal(container(R"({"a":{"dtype":"U8","shape":[0]}})")),
              HasSubstr("expected an object with dtype, shape and data_offsets"));
  EXPECT_THAT(refusal(container(R"({"a":{"dtype":1,"shape":[0],"data_offsets":[0,0]}})")),
              HasSubstr("expected dtype to be a string"));
}

TEST(Safetensors, RefusesAnUnknownType) {
  EXPECT_THAT(refusal(container(R"({"a":{"dtype":"C64","shape":[0],"data_offsets":[0,0]}})")),
              HasSubstr("unknown dtype 'C64'"));
}

TEST(Safetensors, RefusesShapesThatAreNoCounts) {
  for (const char *shape : {"[-1]", "[1.5]", "[\"1\"]", "7", "[1e3]", "[18446744073709551615]"})
    EXPECT_THAT(refusal(container(R"({"a":{"dtype":"U8","shape":)" + std::string(shape) +
                                  R"(,"data_offsets":[0,0]}})")),
                HasSubstr("expected shape to be a list of whole numbers"))
        << shape;
}

TEST(Safetensors, RefusesAShapeTooLargeToCount) {
  EXPECT_THAT(refusal(container(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],)"
                                R"("data_offsets":[0,4]}})",
                                "abcd")),
              HasSubstr("more elements than can be counted"));
}

TEST(Safetensors, RefusesWrongOffsets) {
  auto offsets = [](const std::string &list) {
    return refusal(
        container(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + list + "}}", "abcd"));
  };
  EXPECT_THAT(offsets("[0]"), HasSubstr("expected data_offsets to be two whole numbers"));
  EXPECT_THAT(offsets("[-4,0]"), HasSubstr("expected data_offsets to be two whole numbers"));
  EXPECT_THAT(offsets("[4,0]"), HasSubstr("[4, 0] lie outside of the 4 bytes"));
  EXPECT_THAT(offsets("[0,8]"), HasSubstr("[0, 8] lie outside of the 4 bytes"));
  EXPECT_THAT(offsets("[0,9223372036854775807]"), HasSubstr("lie outside of the 4 bytes"));
  EXPECT_THAT(offsets("[0,2]"), HasSubstr("[4] of U8 takes 4 bytes but data_offsets hold 2"));
}

TEST(Safetensors, RefusesTruncatedData) {
  EXPECT_THAT(
      refusal(container(R"({"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", "abcd")),
      HasSubstr("lie outside of the 4 bytes of data"));
}

TEST(Safetensors, RefusesOverlapsAndGaps) {
  auto two = [](const std::string &first, const std::string &second, const std::string &data) {
    return refusal(container(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + first +
                                 R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + second +
                                 "}}",
                             data));
  };
  EXPECT_THAT(two("[0,2]", "[1,3]", "abc"), HasSubstr("'b' overlaps that of 'a'"));
  EXPECT_THAT(two("[0,2]", "[0,2]", "ab"), HasSubstr("overlaps"));
  EXPECT_THAT(two("[0,2]", "[3,5]", "abcde"), HasSubstr("1 bytes before the data of tensor 'b'"));
  EXPECT_THAT(two("[0,2]", "[2,4]", "abcdef"), HasSubstr("the last 2 bytes of the file"));
}

} // namespace
} // namespace skim::tool
