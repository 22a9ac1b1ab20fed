// Rule 16 as the report tells it: what breaks chunk invariance, where it stands, and on what
// multiple chunks must end where nothing does.
#include "test/report/ReportTestSupport.h"

#include "llvm/Support/FormatVariadic.h"

using namespace skim;

namespace {

/// The clauses of a causal pattern.
std::string patternOf(const std::string &clauses) { return "pattern p {\n" + clauses + "\n}"; }

/// "holds 64", or "line:column reason" for each breaker.
std::string invarianceOf(const std::string &text) {
  ReportOptions call;
  call.tokens = call.context = 64;
  Report report = reportOn(text, call);
  if (report.chunkBreakers.empty())
    return "holds " + std::to_string(report.chunkMultiple);
  std::string found;
  for (const Remark &breaker : report.chunkBreakers)
    found += llvm::formatv("{0}{1}:{2} {3}", found.empty() ? "" : "; ", breaker.source.line,
                           breaker.source.column, breaker.text);
  return found;
}

TEST(ChunkInvariance, HoldsWherePositionsAndOwnCellsDecide) {
  EXPECT_EQ(invarianceOf(patternOf("keep k < 64 or q - k < 100")), "holds 1");
  EXPECT_EQ(invarianceOf(patternOf("keep k / 48 == q / 48")), "holds 1");
  EXPECT_EQ(invarianceOf(patternOf("input start: index[q]\nkeep k >= start")), "holds 1");
  EXPECT_EQ(invarianceOf(patternOf("input x: f32[k]\nkeep x > 0.5")), "holds 1");
  EXPECT_EQ(invarianceOf(patternOf("input layout: bool[head, q / 64, k / 96]\nkeep layout")),
            "holds 192");
  EXPECT_EQ(invarianceOf(patternOf("input blocks: list[q / 32, k / 16]\nkeep blocks")), "holds 32");
  EXPECT_EQ(invarianceOf(patternOf("keep q - k < 100\nrest mean(48, q / 64)")), "holds 192");
  EXPECT_EQ(invarianceOf(patternOf("keep cover(q / 64, k / 16, q - k == 100)")), "holds 64");
  EXPECT_EQ(invarianceOf(patternOf("keep top_k(dot(Q, mean(K, 16)), 4)")), "holds 16");
  EXPECT_EQ(invarianceOf(patternOf("keep smooth(dot(Q, mean(K, 16)), 3) >= 0.5")), "holds 16");
  EXPECT_EQ(invarianceOf(patternOf("let p = softmax(dot(Q, mean(K, 16)), over: k / 16)\n"
                                   "keep max(p, into: q / 64) >= 0.05 or top_p(p, 0.9)")),
            "holds 64");
  EXPECT_EQ(invarianceOf(patternOf("let e = sum(dot(Q, mean(K, 128)), into: q / 128, over: group)\n"
                                   "keep e >= 0.1 * max(e, over: k / 128)")),
            "holds 128");
}

TEST(ChunkInvariance, BrokenWhereTheCallDecides) {
  EXPECT_EQ(invarianceOf(patternOf("input x: f32[head, k]\nkeep top_k(x, 5)")),
            "3:6 'top_k' over 'k' is decided once over the call");
  EXPECT_EQ(invarianceOf(patternOf("input x: f32[head, k]\nkeep top_p(x, 0.5)")),
            "3:6 'top_p' over 'k' is decided once over the call");
  EXPECT_EQ(invarianceOf(patternOf("input x: f32[head, q - k]\nkeep top_k(x, 5)")),
            "3:6 'top_k' over 'q - k' is decided once over the call");
  EXPECT_EQ(invarianceOf(patternOf("input x: f32[k]\nkeep x >= max(x, over: k)")),
            "3:11 'max' over 'k' takes in all that the call has of it");
  EXPECT_EQ(invarianceOf(patternOf("input x: f32[k]\nkeep softmax(x, over: k) >= 0.1")),
            "3:6 'softmax' over 'k' takes in all that the call has of it");
  EXPECT_EQ(invarianceOf(patternOf("input x: f32[k]\nkeep smooth(x, 5) >= 0.1")),
            "3:6 'smooth' over 'k' takes in all that the call has of it");
  EXPECT_EQ(invarianceOf(patternOf("input x: f32[q, k]\nkeep softmax(x, over: q) >= 0.1")),
            "3:6 'softmax' over 'q' takes in all rows of the call");
  EXPECT_EQ(invarianceOf(patternOf("input x: f32[q / 64, k]\nkeep sum(x, over: q / 64) >= 0.1")),
            "3:6 'sum' removes the query axis");
  EXPECT_EQ(invarianceOf(patternOf("input x: f32[q, k]\nkeep sum(x, into: q - k) >= 0.1")),
            "3:6 'sum' removes the query axis");
  EXPECT_EQ(invarianceOf(patternOf("input x: f32[q, k]\nkeep last(x, 16) >= 0.1")),
            "3:6 'last' depends on where the call ends");
  EXPECT_EQ(invarianceOf(patternOf("keep q - k < 64\ndense when kv_len <= 128")),
            "3:12 mentions 'kv_len'");
  EXPECT_EQ(invarianceOf(patternOf("keep q - k < q_len")), "2:14 mentions 'q_len'");
}

TEST(ChunkInvariance, BrokenWhereRowsLookAhead) {
  // A sum of a row's and a key's number is defined beyond what the row sees.
  EXPECT_EQ(invarianceOf(patternOf("input x: f32[q]\ninput y: f32[k]\nkeep top_k(x + y, 5)")),
            "4:6 'top_k' over 'k' takes in keys that a row does not see");
  EXPECT_EQ(
      invarianceOf(patternOf("input x: f32[q]\ninput y: f32[k]\nkeep smooth(x + y, 3) > 0.5")),
      "4:6 'smooth' over 'k' takes in keys that a row does not see");
  EXPECT_EQ(invarianceOf(patternOf("noncausal\nkeep q - k < 64 and k - q < 64")),
            "1:9 in a 'noncausal' pattern rows see all keys that the call has");
}

TEST(ChunkInvariance, EachBreakerIsTold) {
  EXPECT_EQ(invarianceOf(patternOf("input x: f32[head, k]\nkeep top_k(x, 0.1 * kv_len)\n"
                                   "dense when q_len == 1")),
            "3:21 mentions 'kv_len'; 3:6 'top_k' over 'k' is decided once over the call; "
            "4:12 mentions 'q_len'");
}

} // namespace
