// The arithmetic of the model, against a restatement in f64 with plain loops.
#include "tools/skim/eval/Model.h"
#include "TinyModel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace skim::tool {
namespace {

using Rows = std::vector<std::vector<double>>;

/// Causal attention over [token][head * dim + i].
Rows attendPlainly(const Rows &q, const Rows &k, const Rows &v, int64_t heads, int64_t kvHeads,
                   int64_t dim) {
  Rows out(q.size(), std::vector<double>(heads * dim));
  for (size_t token = 0; token < q.size(); ++token)
    for (int64_t head = 0; head < heads; ++head) {
      int64_t kv = head * kvHeads / heads;
      double total = 0;
      for (size_t key = 0; key <= token; ++key) {
        double score = 0;
        for (int64_t i = 0; i < dim; ++i)
          score += q[token][head * dim + i] * k[key][kv * dim + i];
        double weight = std::exp(score / std::sqrt(double(dim)));
        total += weight;
        for (int64_t i = 0; i < dim; ++i)
          out[token][head * dim + i] += weight * v[key][kv * dim + i];
      }
      for (int64_t i = 0; i < dim; ++i)
        out[token][head * dim + i] /= total;
    }
  return out;
}

class Restatement {
public:
  explicit Restatement(const TinyModel &model) : model(model) {}

  /// Logits of the next byte for each token.
  Rows logits(llvm::ArrayRef<uint8_t> prompt) const {
    Rows x;
    for (uint8_t byte : prompt) {
      x.emplace_back();
      for (int64_t i = 0; i < TinyModel::dim; ++i)
        x.back().push_back(model.matrices.at("embedding").at(byte, i));
    }
    for (int64_t layer = 0; layer < TinyModel::layers; ++layer) {
      std::string prefix = "layers." + std::to_string(layer) + ".";
      Rows h = norm(x, prefix + "attention_norm");
      Rows q = linear(h, prefix + "query"), k = linear(h, prefix + "key");
      turn(q, TinyModel::queryHeads);
      turn(k, TinyModel::kvHeads);
      add(x, linear(attendPlainly(q, k, linear(h, prefix + "value"), TinyModel::queryHeads,
                                  TinyModel::kvHeads, TinyModel::headDim),
                    prefix + "output"));
      h = norm(x, prefix + "feed_forward_norm");
      Rows gate = linear(h, prefix + "gate"), up = linear(h, prefix + "up");
      for (size_t token = 0; token < gate.size(); ++token)
        for (size_t i = 0; i < gate[token].size(); ++i)
          gate[token][i] *= up[token][i] / (1 + std::exp(-gate[token][i]));
      add(x, linear(gate, prefix + "down"));
    }
    return linear(norm(x, "norm"), "embedding");
  }

private:
  Rows norm(const Rows &x, const std::string &name) const {
    Rows result = x;
    for (std::vector<double> &row : result) {
      double squares = 0;
      for (double value : row)
        squares += value * value;
      double root = std::sqrt(squares / TinyModel::dim + 0.01);
      for (int64_t i = 0; i < TinyModel::dim; ++i)
        row[i] *= double(model.norms.at(name)[i]) / root;
    }
    return result;
  }

  Rows linear(const Rows &x, const std::string &name) const {
    const TinyModel::Quantised &matrix = model.matrices.at(name);
    Rows result(x.size(), std::vector<double>(matrix.rows));
    for (size_t token = 0; token < x.size(); ++token)
      for (int64_t row = 0; row < matrix.rows; ++row)
        for (int64_t column = 0; column < matrix.columns; ++column)
          result[token][row] += matrix.at(row, column) * x[token][column];
    return result;
  }

  /// Element i with element i + 3 of each head of 6.
  static void turn(Rows &x, int64_t heads) {
    for (size_t position = 0; position < x.size(); ++position)
      for (int64_t head = 0; head < heads; ++head)
        for (int64_t i = 0; i < 3; ++i) {
          double angle = double(position) * std::pow(500.0, -double(i) / 3);
          double &a = x[position][head * 6 + i];
          double &b = x[position][head * 6 + i + 3];
          double turned = a * std::cos(angle) - b * std::sin(angle);
          b = b * std::cos(angle) + a * std::sin(angle);
          a = turned;
        }
  }

  static void add(Rows &x, const Rows &y) {
    for (size_t token = 0; token < x.size(); ++token)
      for (size_t i = 0; i < x[token].size(); ++i)
        x[token][i] += y[token][i];
  }

  const TinyModel &model;
};

Rows rowsOf(const TensorView &view) {
  EXPECT_EQ(view.dtype, DType::F32);
  const auto *data = static_cast<const float *>(view.data);
  Rows rows;
  for (int64_t token = 0; token < view.shape[0]; ++token)
    rows.emplace_back(data + token * view.strides[0], data + (token + 1) * view.strides[0]);
  return rows;
}

llvm::Expected<std::vector<float>> attendDense(int64_t, const TensorView &q, const TensorView &k,
                                               const TensorView &v) {
  std::vector<float> out;
  for (const std::vector<double> &row :
       attendPlainly(rowsOf(q), rowsOf(k), rowsOf(v), q.shape[1], k.shape[1], q.shape[2]))
    out.insert(out.end(), row.begin(), row.end());
  return out;
}

std::vector<uint8_t> somePrompt(size_t length) {
  std::vector<uint8_t> prompt(length);
  for (size_t i = 0; i < length; ++i)
    prompt[i] = static_cast<uint8_t>(i * i * 7 + i / 3);
  return prompt;
}

class ModelTest : public testing::Test {
protected:
  ModelTest() { tiny.write(folder); }

  TinyModel tiny;
  TemporaryFolder folder;
};

TEST_F(ModelTest, IsWhatItsDescriptionSays) {
  llvm::Expected<ModelWeights> weights = ModelWeights::load(folder.path());
  ASSERT_TRUE(bool(weights)) << llvm::toString(weights.takeError());
  ThreadPool pool = *ThreadPool::create(2);
  // More rows than a thread takes at a time.
  std::vector<uint8_t> prompt = somePrompt(300);
  llvm::Expected<Predictions> got = Model(*weights, DType::F32, pool, 0).run(prompt, attendDense);
  ASSERT_TRUE(bool(got)) << llvm::toString(got.takeError());

  Rows logits = Restatement(tiny).logits(prompt);
  ASSERT_EQ(got->bits.size(), prompt.size() - 1);
  ASSERT_EQ(got->likeliest.size(), prompt.size());
  size_t distinct = 0;
  for (size_t token = 0; token < prompt.size(); ++token) {
    const std::vector<double> &row = logits[token];
    std::vector<double> sorted = row;
    std::nth_element(sorted.begin(), sorted.begin() + 1, sorted.end(), std::greater<>());
    size_t likeliest = std::max_element(row.begin(), row.end()) - row.begin();
    if (row[likeliest] - sorted[1] > 1e-4) {
      EXPECT_EQ(got->likeliest[token], likeliest) << "token " << token;
      ++distinct;
    }
    if (token + 1 == prompt.size())
      break;
    double sum = 0;
    for (double logit : row)
      sum += std::exp2((logit - row[prompt[token + 1]]) * std::numbers::log2e);
    EXPECT_NEAR(got->bits[token], std::log2(sum), 1e-4) << "token " << token;
  }
  EXPECT_GT(distinct, prompt.size() * 9 / 10);
}

TEST_F(ModelTest, DoesNotDependOnThreads) {
  llvm::Expected<ModelWeights> weights = ModelWeights::load(folder.path());
  ASSERT_TRUE(bool(weights)) << llvm::toString(weights.takeError());
  ThreadPool pool = *ThreadPool::create(4);
  std::vector<uint8_t> prompt = somePrompt(700);
  llvm::Expected<Predictions> one = Model(*weights, DType::F32, pool, 1).run(prompt, attendDense);
  llvm::Expected<Predictions> all = Model(*weights, DType::F32, pool, 0).run(prompt, attendDense);
  ASSERT_TRUE(bool(one));
  ASSERT_TRUE(bool(all));
  EXPECT_EQ(one->bits, all->bits);
  EXPECT_EQ(one->likeliest, all->likeliest);
}

TEST_F(ModelTest, RoundsOperandsToTheirType) {
  llvm::Expected<ModelWeights> weights = ModelWeights::load(folder.path());
  ASSERT_TRUE(bool(weights)) << llvm::toString(weights.takeError());
  ThreadPool pool = *ThreadPool::create(1);
  std::vector<uint8_t> prompt = somePrompt(3);
  auto first = [&](DType dtype, auto toF32) {
    std::vector<float> values;
    auto attend = [&](int64_t, const TensorView &q, const TensorView &,
                      const TensorView &) -> llvm::Expected<std::vector<float>> {
      EXPECT_EQ(q.dtype, dtype);
      if (values.empty())
        for (int64_t i = 0; i < q.shape[0] * q.strides[0]; ++i)
          values.push_back(toF32(q.data, i));
      return std::vector<float>(q.shape[0] * q.strides[0]);
    };
    EXPECT_TRUE(bool(Model(*weights, dtype, pool, 0).run(prompt, attend)));
    return values;
  };
  auto halves = [](auto convert) {
    return [=](const void *data, int64_t i) {
      return convert(static_cast<const uint16_t *>(data)[i]);
    };
  };
  std::vector<float> exact = first(
      DType::F32, [](const void *data, int64_t i) { return static_cast<const float *>(data)[i]; });
  std::vector<float> bf16 = first(DType::BF16, halves(bf16ToF32));
  std::vector<float> f16 = first(DType::F16, halves(f16ToF32));
  ASSERT_EQ(exact.size(), size_t(3 * 24));
  for (size_t i = 0; i < exact.size(); ++i) {
    EXPECT_EQ(bf16[i], bf16ToF32(f32ToBf16(exact[i])));
    EXPECT_EQ(f16[i], f16ToF32(f32ToF16(exact[i])));
  }
}

TEST_F(ModelTest, PassesOnWhatAttentionRefuses) {
  llvm::Expected<ModelWeights> weights = ModelWeights::load(folder.path());
  ASSERT_TRUE(bool(weights)) << llvm::toString(weights.takeError());
  ThreadPool pool = *ThreadPool::create(1);
  auto refuse = [](int64_t, const TensorView &, const TensorView &,
                   const TensorView &) -> llvm::Expected<std::vector<float>> {
    return llvm::createStringError("no attention here");
  };
  llvm::Expected<Predictions> got = Model(*weights, DType::F32, pool, 0).run({65, 66}, refuse);
  ASSERT_FALSE(bool(got));
  EXPECT_EQ(llvm::toString(got.takeError()), "no attention here");
}

} // namespace
} // namespace skim::tool
