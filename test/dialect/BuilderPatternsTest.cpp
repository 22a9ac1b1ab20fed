// Each example pattern of the language, written in C++, and the IR that it becomes.
#include "test/dialect/BuilderTestSupport.h"

using namespace skim;
using namespace skim::ir;
using mlir::Value;

TEST_F(BuilderTest, Streaming) {
  PatternBuilder p(*module, loc, "streaming");
  Value sink = p.parameter(loc, "sink", Element::Index, p.indexAttr(64));
  Value window = p.parameter(loc, "window", Element::Index, p.indexAttr(4096));
  Value q = p.queryPosition(loc);
  Value k = p.keyPosition(loc);
  p.keep(loc, p.disjunction(loc, {p.compare(loc, Comparison::Lt, k, sink),
                                  p.compare(loc, Comparison::Lt, p.sub(loc, q, k), window)}));
  EXPECT_EQ(finish(p), R"(
skim.pattern @streaming(%sink: !skim.map<: index> {skim.default = 64 : index, skim.name = "sink"}, %window: !skim.map<: index> {skim.default = 4096 : index, skim.name = "window"}) {
  %0 = skim.affine_set affine_set<(d0, d1)[s0] : (-d1 + s0 - 1 >= 0)> (%sink) : (!skim.map<: index>) -> !skim.set<k>
  %1 = skim.affine_set affine_set<(d0, d1)[s0] : (-d0 + d1 + s0 - 1 >= 0)> (%window) : (!skim.map<: index>) -> !skim.set<q - k>
  %2 = skim.or %0, %1 : (!skim.set<k>, !skim.set<q - k>) -> !skim.set<q, k>
  skim.keep %2 : !skim.set<q, k>
}
)");
  EXPECT_EQ(reports, "");
}

TEST_F(BuilderTest, BlockMask) {
  PatternBuilder p(*module, loc, "block_mask");
  p.keep(loc, p.input(loc, "layout", Element::Bool, {HeadAxis::Head, 128, 128}));
  EXPECT_EQ(finish(p), R"(
skim.pattern @block_mask {
  %0 = skim.input "layout" : !skim.map<head, q / 128, k / 128 : bool>
  %1 = skim.as_set %0 : !skim.map<head, q / 128, k / 128 : bool> -> !skim.set<head, q / 128, k / 128>
  skim.keep %1 : !skim.set<head, q / 128, k / 128>
}
)");
  EXPECT_EQ(reports, "");
}

TEST_F(BuilderTest, VerticalSlash) {
  PatternBuilder b(*module, loc, "vertical_slash");
  Value vertical = b.parameter(loc, "vertical", Element::Index, b.indexAttr(1024));
  Value slash = b.parameter(loc, "slash", Element::Index, b.indexAttr(2048));
  Value probe = b.parameter(loc, "probe", Element::Index, b.indexAttr(64));
  Value queries = b.last(loc, b.operand(loc, OperandKind::Query), probe);
  Value p = b.softmax(loc, b.dot(loc, queries, b.operand(loc, OperandKind::Key)), Axis::key());
  Value columns = b.topK(loc, b.reduce(loc, ReduceKind::Sum, p, {Axis::query()}, {}), vertical);
  Value diagonals = b.topK(loc, b.reduce(loc, ReduceKind::Sum, p, {}, {Axis::diagonal()}), slash);
  Value distance = b.sub(loc, b.queryPosition(loc), b.keyPosition(loc));
  Value near = b.compare(loc, Comparison::Lt, distance, b.indexConstant(loc, 64));
  b.keep(loc, b.disjunction(loc, {columns, b.cover(loc, diagonals, 64, 64), near}));
  EXPECT_EQ(finish(b), R"(
skim.pattern @vertical_slash(%vertical: !skim.map<: index> {skim.default = 1024 : index, skim.name = "vertical"}, %slash: !skim.map<: index> {skim.default = 2048 : index, skim.name = "slash"}, %probe: !skim.map<: index> {skim.default = 64 : index, skim.name = "probe"}) {
  %0 = skim.operand Q : !skim.map<head, q : vec>
  %1 = skim.last %0, %probe : (!skim.map<head, q : vec>, !skim.map<: index>) -> !skim.map<head, q : vec>
  %2 = skim.operand K : !skim.map<kv_head, k : vec>
  %3 = skim.dot %1, %2 visible all : (!skim.map<head, q : vec>, !skim.map<kv_head, k : vec>) -> !skim.map<head, q, k : f32>
  %4 = skim.softmax %3 over k : !skim.map<head, q, k : f32>
  %5 = skim.reduce sum %4 : !skim.map<head, q, k : f32> -> !skim.map<head, k : f32>
  %6 = skim.top_k %5, %vertical : (!skim.map<head, k : f32>, !skim.map<: index>) -> !skim.set<head, k>
  %7 = skim.reduce sum %4 : !skim.map<head, q, k : f32> -> !skim.map<head, q - k : f32>
  %8 = skim.top_k %7, %slash : (!skim.map<head, q - k : f32>, !skim.map<: index>) -> !skim.set<head, q - k>
  %9 = skim.affine_set affine_set<(d0, d1) : (-d0 + d1 + 63 >= 0)> () : () -> !skim.set<q - k>
  %10 = skim.cover %8 query 64 key 64 : !skim.set<head, q - k> -> !skim.set<head, q / 64, k / 64>
  %11 = skim.or %6, %10, %9 : (!skim.set<head, k>, !skim.set<head, q / 64, k / 64>, !skim.set<q - k>) -> !skim.set<head, q, k>
  skim.keep %11 : !skim.set<head, q, k>
}
)");
  EXPECT_EQ(reports, "");
}

TEST_F(BuilderTest, TokenTopK) {
  PatternBuilder p(*module, loc, "token_topk");
  Value ratio = p.parameter(loc, "ratio", Element::F32, p.f32Attr(0.25));
  Value window = p.parameter(loc, "window", Element::Index, p.indexAttr(256));
  Value importance = p.input(loc, "importance", Element::F32, {HeadAxis::KvHead, 0, 1});
  Value best = p.topK(loc, importance, p.mul(loc, ratio, p.uniform(loc, UniformKind::KeyLength)));
  Value distance = p.sub(loc, p.queryPosition(loc), p.keyPosition(loc));
  p.keep(loc, p.disjunction(loc, {best, p.compare(loc, Comparison::Lt, distance, window)}));
  EXPECT_EQ(finish(p), R"(
skim.pattern @token_topk(%ratio: !skim.map<: f32> {skim.default = 2.500000e-01 : f32, skim.name = "ratio"}, %window: !skim.map<: index> {skim.default = 256 : index, skim.name = "window"}) {
  %0 = skim.input "importance" : !skim.map<kv_head, k : f32>
  %1 = skim.uniform kv_len : !skim.map<: index>
  %2 = skim.convert %1 : !skim.map<: index> -> !skim.map<: f32>
  %3 = skim.mul %ratio, %2 : (!skim.map<: f32>, !skim.map<: f32>) -> !skim.map<: f32>
  %4 = skim.top_k %0, %3 : (!skim.map<kv_head, k : f32>, !skim.map<: f32>) -> !skim.set<kv_head, k>
  %5 = skim.affine_set affine_set<(d0, d1)[s0] : (-d0 + d1 + s0 - 1 >= 0)> (%window) : (!skim.map<: index>) -> !skim.set<q - k>
  %6 = skim.or %4, %5 : (!skim.set<kv_head, k>, !skim.set<q - k>) -> !skim.set<kv_head, q, k>
  skim.keep %6 : !skim.set<kv_head, q, k>
}
)");
  EXPECT_EQ(reports, "");
}

TEST_F(BuilderTest, FlashPrefill) {
  PatternBuilder p(*module, loc, "flash_prefill");
  Value alpha = p.parameter(loc, "alpha", Element::F32, p.f32Attr(0.125));
  Value sink = p.parameter(loc, "sink", Element::Index, p.indexAttr(256));
  Value window = p.parameter(loc, "window", Element::Index, p.indexAttr(512));
  Value pooled =
      p.reduce(loc, ReduceKind::Mean, p.operand(loc, OperandKind::Key), {}, {Axis::key(128)});
  Value rounded = p.cast(loc, CastKind::BF16, pooled);
  Value scores = p.dot(loc, p.operand(loc, OperandKind::Query), rounded);
  Value energy =
      p.reduce(loc, ReduceKind::Sum, p.exp(loc, scores), {Axis::group()}, {Axis::query(128)});
  Value best = p.reduce(loc, ReduceKind::Max, energy, {Axis::key(128)}, {});
  Value q = p.queryPosition(loc);
  Value k = p.keyPosition(loc);
  p.keep(loc, p.disjunction(loc, {p.compare(loc, Comparison::Ge, energy, p.mul(loc, alpha, best)),
                                  p.compare(loc, Comparison::Lt, k, sink),
                                  p.compare(loc, Comparison::Lt, p.sub(loc, q, k), window)}));
  p.restMean(loc, 128, 128);
  EXPECT_EQ(finish(p), R"(
skim.pattern @flash_prefill(%alpha: !skim.map<: f32> {skim.default = 1.250000e-01 : f32, skim.name = "alpha"}, %sink: !skim.map<: index> {skim.default = 256 : index, skim.name = "sink"}, %window: !skim.map<: index> {skim.default = 512 : index, skim.name = "window"}) {
  %0 = skim.operand K : !skim.map<kv_head, k : vec>
  %1 = skim.reduce mean %0 : !skim.map<kv_head, k : vec> -> !skim.map<kv_head, k / 128 : vec>
  %2 = skim.cast bf16 %1 : (!skim.map<kv_head, k / 128 : vec>) -> !skim.map<kv_head, k / 128 : vec>
  %3 = skim.operand Q : !skim.map<head, q : vec>
  %4 = skim.dot %3, %2 visible all : (!skim.map<head, q : vec>, !skim.map<kv_head, k / 128 : vec>) -> !skim.map<head, q, k / 128 : f32>
  %5 = skim.exp %4 : !skim.map<head, q, k / 128 : f32>
  %6 = skim.reduce sum %5 : !skim.map<head, q, k / 128 : f32> -> !skim.map<kv_head, q / 128, k / 128 : f32>
  %7 = skim.reduce max %6 : !skim.map<kv_head, q / 128, k / 128 : f32> -> !skim.map<kv_head, q / 128 : f32>
  %8 = skim.mul %alpha, %7 : (!skim.map<: f32>, !skim.map<kv_head, q / 128 : f32>) -> !skim.map<kv_head, q / 128 : f32>
  %9 = skim.compare ge %6, %8 : (!skim.map<kv_head, q / 128, k / 128 : f32>, !skim.map<kv_head, q / 128 : f32>) -> !skim.set<kv_head, q / 128, k / 128>
  %10 = skim.affine_set affine_set<(d0, d1)[s0] : (-d1 + s0 - 1 >= 0)> (%sink) : (!skim.map<: index>) -> !skim.set<k>
  %11 = skim.affine_set affine_set<(d0, d1)[s0] : (-d0 + d1 + s0 - 1 >= 0)> (%window) : (!skim.map<: index>) -> !skim.set<q - k>
  %12 = skim.or %9, %10, %11 : (!skim.set<kv_head, q / 128, k / 128>, !skim.set<k>, !skim.set<q - k>) -> !skim.set<kv_head, q, k>
  skim.keep %12 : !skim.set<kv_head, q, k>
  skim.rest_mean query 128 key 128
}
)");
  EXPECT_EQ(reports, "");
}

TEST_F(BuilderTest, Peak) {
  PatternBuilder b(*module, loc, "peak");
  Value mass = b.parameter(loc, "mass", Element::F32, b.f32Attr(0.0625));
  Value window = b.parameter(loc, "window", Element::Index, b.indexAttr(128));
  Value pooled =
      b.reduce(loc, ReduceKind::Mean, b.operand(loc, OperandKind::Key), {}, {Axis::key(16)});
  Value rounded = b.cast(loc, CastKind::FP8, pooled);
  Value scores =
      b.dot(loc, b.cast(loc, CastKind::FP8, b.operand(loc, OperandKind::Query)), rounded);
  Value p = b.softmax(loc, scores, Axis::key(16));
  Value peaks = b.compare(loc, Comparison::Ge,
                          b.reduce(loc, ReduceKind::Max, p, {}, {Axis::query(64)}), mass);
  Value q = b.queryPosition(loc);
  Value k = b.keyPosition(loc);
  b.keep(loc, b.disjunction(loc, {b.cover(loc, peaks, 64, 64),
                                  b.compare(loc, Comparison::Lt, k, b.indexConstant(loc, 64)),
                                  b.compare(loc, Comparison::Lt, b.sub(loc, q, k), window)}));
  EXPECT_EQ(finish(b), R"(
skim.pattern @peak(%mass: !skim.map<: f32> {skim.default = 6.250000e-02 : f32, skim.name = "mass"}, %window: !skim.map<: index> {skim.default = 128 : index, skim.name = "window"}) {
  %0 = skim.operand K : !skim.map<kv_head, k : vec>
  %1 = skim.reduce mean %0 : !skim.map<kv_head, k : vec> -> !skim.map<kv_head, k / 16 : vec>
  %2 = skim.cast fp8 %1 : (!skim.map<kv_head, k / 16 : vec>) -> !skim.map<kv_head, k / 16 : vec>
  %3 = skim.operand Q : !skim.map<head, q : vec>
  %4 = skim.cast fp8 %3 : (!skim.map<head, q : vec>) -> !skim.map<head, q : vec>
  %5 = skim.dot %4, %2 visible all : (!skim.map<head, q : vec>, !skim.map<kv_head, k / 16 : vec>) -> !skim.map<head, q, k / 16 : f32>
  %6 = skim.softmax %5 over k : !skim.map<head, q, k / 16 : f32>
  %7 = skim.reduce max %6 : !skim.map<head, q, k / 16 : f32> -> !skim.map<head, q / 64, k / 16 : f32>
  %8 = skim.compare ge %7, %mass : (!skim.map<head, q / 64, k / 16 : f32>, !skim.map<: f32>) -> !skim.set<head, q / 64, k / 16>
  %9 = skim.cover %8 query 64 key 64 : !skim.set<head, q / 64, k / 16> -> !skim.set<head, q / 64, k / 64>
  %10 = skim.affine_set affine_set<(d0, d1) : (-d1 + 63 >= 0)> () : () -> !skim.set<k>
  %11 = skim.affine_set affine_set<(d0, d1)[s0] : (-d0 + d1 + s0 - 1 >= 0)> (%window) : (!skim.map<: index>) -> !skim.set<q - k>
  %12 = skim.or %9, %10, %11 : (!skim.set<head, q / 64, k / 64>, !skim.set<k>, !skim.set<q - k>) -> !skim.set<head, q, k>
  skim.keep %12 : !skim.set<head, q, k>
}
)");
  EXPECT_EQ(reports, "");
}

TEST_F(BuilderTest, Lserve) {
  PatternBuilder p(*module, loc, "lserve");
  Value kind = p.input(loc, "kind", Element::Index, {HeadAxis::Head});
  Value q = p.queryPosition(loc);
  Value k = p.keyPosition(loc);
  Value streaming = p.disjunction(
      loc, {p.compare(loc, Comparison::Lt, k, p.indexConstant(loc, 128)),
            p.compare(loc, Comparison::Lt, p.sub(loc, q, k), p.indexConstant(loc, 8192))});
  p.keep(loc, p.match(loc, kind, {0, 1}, {streaming, p.boolConstant(loc, true)}));
  EXPECT_EQ(finish(p), R"(
skim.pattern @lserve {
  %0 = skim.input "kind" : !skim.map<head : index>
  %1 = skim.affine_set affine_set<(d0, d1) : (-d1 + 127 >= 0)> () : () -> !skim.set<k>
  %2 = skim.affine_set affine_set<(d0, d1) : (-d0 + d1 + 8191 >= 0)> () : () -> !skim.set<q - k>
  %3 = skim.or %1, %2 : (!skim.set<k>, !skim.set<q - k>) -> !skim.set<q, k>
  %4 = skim.affine_set affine_set<(d0, d1) : (0 == 0)> () : () -> !skim.set<>
  %5 = skim.match %0 [0, 1] (%3, %4) : (!skim.map<head : index>, !skim.set<q, k>, !skim.set<>) -> !skim.set<head, q, k>
  skim.keep %5 : !skim.set<head, q, k>
}
)");
  EXPECT_EQ(reports, "");
}
