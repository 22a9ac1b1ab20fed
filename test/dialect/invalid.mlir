// Each numbered constraint, violated once.
// RUN: skim-opt %s -split-input-file -verify-diagnostics

//===-- Types -----------------------------------------------------------------------------------===//

// expected-error @+1 {{expected an axis ('head', 'kv_head', 'q', 'k' or 'q - k') but got 'v'}}
func.func private @axis(!skim.map<v : f32>)

// -----

// expected-error @+1 {{axis 'head' is repeated or out of order: expected head, query, key}}
func.func private @order(!skim.map<k, head : f32>)

// -----

// expected-error @+1 {{axis 'k' is repeated or out of order: expected head, query, key}}
func.func private @repeated(!skim.set<k, k / 2>)

// -----

// expected-error @+1 {{expected a positive block size but got 0}}
func.func private @block(!skim.map<q / 0 : f32>)

// -----

// expected-error @+1 {{expected an element type ('vec', 'f32', 'index' or 'bool') but got 'f64'}}
func.func private @element(!skim.map<q : f64>)

// -----

// expected-error @+1 {{axis 'q - k' cannot stand beside 'q': write 'q, k'}}
func.func private @diagonal_and_query(!skim.set<q, q - k>)

// -----

// expected-error @+1 {{axis 'q' is repeated or out of order: expected head, query, key}}
func.func private @diagonal_and_key(!skim.set<k / 2, q - k>)

// -----

//===-- Patterns --------------------------------------------------------------------------------===//

// pattern_c1
// expected-error @+1 {{expected parameter 0 to be a map of index, f32 or bool without position axes but got '!skim.map<q : index>'}}
skim.pattern @position_parameter(%a: !skim.map<q : index> {skim.name = "a"}) {
  %all = skim.affine_set affine_set<(q, k) : (0 == 0)> () : () -> !skim.set<>
  skim.keep %all : !skim.set<>
}

// -----

// pattern_c2
// expected-error @+1 {{expected parameter 0 to have a 'skim.name'}}
skim.pattern @nameless(%a: !skim.map<: index>) {
  %all = skim.affine_set affine_set<(q, k) : (0 == 0)> () : () -> !skim.set<>
  skim.keep %all : !skim.set<>
}

// -----

// pattern_c2
// expected-error @+1 {{two parameters have the name 'a'}}
skim.pattern @same_name(%a: !skim.map<: index> {skim.name = "a"}, %b: !skim.map<: index> {skim.name = "a"}) {
  %all = skim.affine_set affine_set<(q, k) : (0 == 0)> () : () -> !skim.set<>
  skim.keep %all : !skim.set<>
}

// -----

// pattern_c3
// expected-error @+1 {{expected the default of 'a' to be of type index but got 1.000000e+00 : f32}}
skim.pattern @wrong_default(%a: !skim.map<: index> {skim.name = "a", skim.default = 1.0 : f32}) {
  %all = skim.affine_set affine_set<(q, k) : (0 == 0)> () : () -> !skim.set<>
  skim.keep %all : !skim.set<>
}

// -----

// pattern_c4
// expected-error @+1 {{expected one 'skim.keep'}}
skim.pattern @no_keep {
}

// -----

// pattern_c4
skim.pattern @two_keeps {
  %all = skim.affine_set affine_set<(q, k) : (0 == 0)> () : () -> !skim.set<>
  // expected-note @+1 {{the first is here}}
  skim.keep %all : !skim.set<>
  // expected-error @+1 {{expected at most one such clause in a pattern}}
  skim.keep %all : !skim.set<>
}

// -----

// pattern_c5
skim.pattern @noncausal_distance attributes {noncausal} {
  // expected-error @+1 {{expected no axis 'q - k' in an input of a noncausal pattern}}
  %near = skim.input "near" : !skim.map<q - k : bool>
  %set = skim.as_set %near : !skim.map<q - k : bool> -> !skim.set<q - k>
  skim.keep %set : !skim.set<q - k>
}

// -----

// pattern_c6
skim.pattern @score_selects(%n: !skim.map<: index> {skim.name = "n"}) {
  // expected-error @+1 {{expected the score to reach 'skim.logit' only}}
  %s = skim.score : !skim.map<head, q, k : f32>
  %e = skim.exp %s : !skim.map<head, q, k : f32>
  // expected-note @+1 {{it reaches 'skim.top_k'}}
  %best = skim.top_k %e, %n : (!skim.map<head, q, k : f32>, !skim.map<: index>) -> !skim.set<head, q, k>
  skim.keep %best : !skim.set<head, q, k>
}

// -----

// pattern_c7
skim.pattern @input_types {
  %a = skim.input "a" : !skim.map<k : bool>
  // expected-error @+1 {{input 'a' has type '!skim.map<q, k : bool>' here and '!skim.map<k : bool>' before}}
  %b = skim.input "a" : !skim.map<q, k : bool>
  %set = skim.as_set %a : !skim.map<k : bool> -> !skim.set<k>
  skim.keep %set : !skim.set<k>
}

// -----

// rest_mean_c1
skim.pattern @rest {
  %all = skim.affine_set affine_set<(q, k) : (0 == 0)> () : () -> !skim.set<>
  skim.keep %all : !skim.set<>
  // expected-error @+1 {{attribute 'query' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  skim.rest_mean query 0 key 128
}

// -----

// logit_c1
skim.pattern @logit {
  %all = skim.affine_set affine_set<(q, k) : (0 == 0)> () : () -> !skim.set<>
  skim.keep %all : !skim.set<>
  %bias = skim.input "bias" : !skim.map<q / 64, k / 64 : f32>
  // expected-error @+2 {{expected a logit for each pair but got blocks: axes 'q / 64, k / 64'}}
  // expected-note @+1 {{write an expression of 's', 'q' and 'k'}}
  skim.logit %bias : !skim.map<q / 64, k / 64 : f32>
}

// -----

// compact_c1
skim.pattern @compact {
  %tokens = skim.input_list "tokens" : !skim.set<q, k>
  skim.keep %tokens : !skim.set<q, k>
  // expected-error @+2 {{expected a set over 'k' but got axes 'q, k'}}
  // expected-note @+1 {{tokens are gathered once for all queries}}
  skim.compact %tokens : !skim.set<q, k>
}

// -----

skim.pattern @p {
  %all = skim.affine_set affine_set<(q, k) : (0 == 0)> () : () -> !skim.set<>
  skim.keep %all : !skim.set<>
}
// attend_c1
// expected-error @+1 {{expected query_heads to be a multiple of kv_heads but got 7 and 2}}
skim.attend @p {query_heads = 7, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// -----

skim.pattern @p {
  %all = skim.affine_set affine_set<(q, k) : (0 == 0)> () : () -> !skim.set<>
  skim.keep %all : !skim.set<>
}
// attend_c2
// expected-error @+1 {{expected f32, bf16 or f16 but got 'f64'}}
skim.attend @p {query_heads = 2, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f64, out = f32}

// -----

// attend_c3
// expected-error @+1 {{expected 'nowhere' to name a 'skim.pattern'}}
skim.attend @nowhere {query_heads = 2, kv_heads = 2, head_dim = 64, value_dim = 64, operand = f32, out = f32}

// -----

//===-- Values ----------------------------------------------------------------------------------===//

// constant_c1
// expected-error @+1 {{expected an index, f32 or bool value but got 64 : i32}}
%0 = skim.constant 64 : i32 -> !skim.map<: index>

// -----

// constant_c1
// expected-error @+1 {{expected result type '!skim.map<: f32>' but got '!skim.map<q : f32>'}}
%0 = skim.constant 1.0 : f32 -> !skim.map<q : f32>

// -----

// uniform_c1
// expected-error @+1 {{expected result type '!skim.map<head : index>' but got '!skim.map<: index>'}}
%0 = skim.uniform head : !skim.map<: index>

// -----

// position_c1
// expected-error @+1 {{expected a map (q, k)[symbols] with one result and 0 symbols but got 1 dimensions, 1 results and 0 symbols}}
%0 = skim.position affine_map<(q) -> (q)> () : () -> !skim.map<q : index>

// -----

// position_c2
%n = skim.constant 4 : index -> !skim.map<: index>
// expected-error @+1 {{expected a quasi-affine expression: factors must be constants, divisors positive ones}}
%0 = skim.position affine_map<(q, k)[s0] -> (q floordiv s0)> (%n) : (!skim.map<: index>) -> !skim.map<q : index>

// -----

// position_c2
// expected-error @+1 {{expected a quasi-affine expression: factors must be constants, divisors positive ones}}
%0 = skim.position affine_map<(q, k) -> (q mod 0)> () : () -> !skim.map<q : index>

// -----

// position_c3
// expected-error @+1 {{expected result type '!skim.map<q - k : index>' but got '!skim.map<q, k : index>'}}
%0 = skim.position affine_map<(q, k) -> (q - k)> () : () -> !skim.map<q, k : index>

// -----

// input_c1
// expected-error @+1 {{expected a name}}
%0 = skim.input "" : !skim.map<k : f32>

// -----

// input_list_c1
// expected-error @+1 {{expected a name}}
%0 = skim.input_list "" : !skim.set<k>

// -----

// input_list_c2
// expected-error @+2 {{expected a list with a key axis but got axes 'q'}}
// expected-note @+1 {{a list holds indices of key blocks}}
%0 = skim.input_list "rows" : !skim.set<q>

// -----

// operand_c1
// expected-error @+1 {{expected result type '!skim.map<kv_head, k : vec>' but got '!skim.map<head, k : vec>'}}
%0 = skim.operand K : !skim.map<head, k : vec>

// -----

// score_c1
// expected-error @+1 {{expected result type '!skim.map<head, q, k : f32>' but got '!skim.map<q, k : f32>'}}
%0 = skim.score : !skim.map<q, k : f32>

// -----

//===-- Maps ------------------------------------------------------------------------------------===//

// last_c1
%k = skim.operand K : !skim.map<kv_head, k : vec>
%n = skim.constant 4 : index -> !skim.map<: index>
// expected-error @+2 {{expected a map with the axis 'q' but got axes 'kv_head, k'}}
// expected-note @+1 {{'last' takes the last rows of the call}}
%0 = skim.last %k, %n : (!skim.map<kv_head, k : vec>, !skim.map<: index>) -> !skim.map<kv_head, k : vec>

// -----

// last_c2
%q = skim.operand Q : !skim.map<head, q : vec>
%n = skim.constant 4 : index -> !skim.map<: index>
// expected-error @+1 {{expected result type '!skim.map<head, q : vec>' but got '!skim.map<head, q / 4 : vec>'}}
%0 = skim.last %q, %n : (!skim.map<head, q : vec>, !skim.map<: index>) -> !skim.map<head, q / 4 : vec>

// -----

// dot_c1
%a = skim.input "a" : !skim.map<k / 64 : vec>
%b = skim.input "b" : !skim.map<k / 128 : vec>
// expected-error @+2 {{expected equal block sizes but got 'k / 64' and 'k / 128'}}
// expected-note @+1 {{coarsen the finer side with 'into: k / 128'}}
%0 = skim.dot %a, %b visible all : (!skim.map<k / 64 : vec>, !skim.map<k / 128 : vec>) -> !skim.map<k / 64 : f32>

// -----

// dot_c1
%a = skim.input "a" : !skim.map<q / 4 : vec>
%b = skim.input "b" : !skim.map<q / 6 : vec>
// expected-error @+2 {{expected equal block sizes but got 'q / 4' and 'q / 6'}}
// expected-note @+1 {{coarsen both sides with 'into: q / 12'}}
%0 = skim.dot %a, %b visible all : (!skim.map<q / 4 : vec>, !skim.map<q / 6 : vec>) -> !skim.map<q / 4 : f32>

// -----

// dot_c1
%a = skim.input "a" : !skim.map<q - k : vec>
%b = skim.input "b" : !skim.map<k / 16 : vec>
// expected-error @+2 {{axis 'q - k' does not meet 'k / 16'}}
// expected-note @+1 {{distances meet positions at token granularity}}
%0 = skim.dot %a, %b visible all : (!skim.map<q - k : vec>, !skim.map<k / 16 : vec>) -> !skim.map<q, k : f32>

// -----

// The common multiple of these blocks does not fit in 64 bits.
%a = skim.input "a" : !skim.map<q / 9223372036854775807 : vec>
%b = skim.input "b" : !skim.map<q / 9223372036854775806 : vec>
// expected-error @+1 {{expected equal block sizes but got 'q / 9223372036854775807' and 'q / 9223372036854775806'}}
%0 = skim.dot %a, %b visible all : (!skim.map<q / 9223372036854775807 : vec>, !skim.map<q / 9223372036854775806 : vec>) -> !skim.map<q : f32>

// -----

// dot_c2
%q = skim.operand Q : !skim.map<head, q : vec>
// expected-error @+1 {{expected result type '!skim.map<head, q : f32>' but got '!skim.map<kv_head, q : f32>'}}
%0 = skim.dot %q, %q visible all : (!skim.map<head, q : vec>, !skim.map<head, q : vec>) -> !skim.map<kv_head, q : f32>

// -----

// cast_c1
%k = skim.operand K : !skim.map<kv_head, k : vec>
%x = skim.constant 2.0 : f32 -> !skim.map<: f32>
// expected-error @+2 {{only 'fp8' takes a scale but got one for 'int8'}}
// expected-note @+1 {{the step of int8 and int4 follows from the vector}}
%0 = skim.cast int8 %k scale %x : (!skim.map<kv_head, k : vec>, !skim.map<: f32>) -> !skim.map<kv_head, k : vec>

// -----

// cast_c2
%x = skim.constant 2.0 : f32 -> !skim.map<: f32>
// expected-error @+2 {{expected vectors for 'int4' but got f32}}
// expected-note @+1 {{use 'bf16' or 'fp8' for numbers}}
%0 = skim.cast int4 %x : (!skim.map<: f32>) -> !skim.map<: f32>

// -----

// cast_c3
%k = skim.operand K : !skim.map<kv_head, k : vec>
// expected-error @+1 {{expected result type '!skim.map<kv_head, k : vec>' but got '!skim.map<head, k : vec>'}}
%0 = skim.cast bf16 %k : (!skim.map<kv_head, k : vec>) -> !skim.map<head, k : vec>

// -----

// linear_c1
%k = skim.operand K : !skim.map<kv_head, k : vec>
%a = skim.input "a" : !skim.map<: vec>
%w = skim.relu %a : !skim.map<: vec>
// expected-error @+1 {{expected the weight to be a 'skim.input'}}
%0 = skim.linear %k, %w : (!skim.map<kv_head, k : vec>, !skim.map<: vec>) -> !skim.map<kv_head, k : vec>

// -----

// linear_c2
%k = skim.operand K : !skim.map<kv_head, k : vec>
%w = skim.input "w" : !skim.map<head : vec>
// expected-error @+1 {{expected result type '!skim.map<head, k : vec>' but got '!skim.map<kv_head, k : vec>'}}
%0 = skim.linear %k, %w : (!skim.map<kv_head, k : vec>, !skim.map<head : vec>) -> !skim.map<kv_head, k : vec>

// -----

// arithmetic_c1
%n = skim.constant 4 : index -> !skim.map<: index>
%x = skim.constant 4.0 : f32 -> !skim.map<: f32>
// expected-error @+1 {{expected equal element types but got index and f32}}
%0 = skim.add %n, %x : (!skim.map<: index>, !skim.map<: f32>) -> !skim.map<: f32>

// -----

// arithmetic_c2
%a = skim.input "a" : !skim.map<q / 64 : f32>
%b = skim.input "b" : !skim.map<q / 128 : f32>
// expected-error @+2 {{expected equal block sizes but got 'q / 64' and 'q / 128'}}
// expected-note @+1 {{coarsen the finer side with 'into: q / 128'}}
%0 = skim.sub %a, %b : (!skim.map<q / 64 : f32>, !skim.map<q / 128 : f32>) -> !skim.map<q / 64 : f32>

// -----

// elementwise_c1
%x = skim.constant 4.0 : f32 -> !skim.map<: f32>
// expected-note @-1 {{prior use here}}
// expected-error @+1 {{use of value '%x' expects different type than prior uses: '!skim.map<q : f32>' vs '!skim.map<: f32>'}}
%0 = skim.exp %x : !skim.map<q : f32>

// -----

// convert_c1
%q = skim.position affine_map<(q, k) -> (q)> () : () -> !skim.map<q : index>
// expected-error @+1 {{expected result type '!skim.map<q : f32>' but got '!skim.map<k : f32>'}}
%0 = skim.convert %q : !skim.map<q : index> -> !skim.map<k : f32>

// -----

// softmax_c1
%a = skim.input "a" : !skim.map<head, q : f32>
// expected-error @+1 {{the map has no axis 'q - k': its axes are 'head, q'}}
%0 = skim.softmax %a over diagonal : !skim.map<head, q : f32>

// -----

// smooth_c1
%a = skim.input "a" : !skim.map<head, q : f32>
%n = skim.constant 5 : index -> !skim.map<: index>
// expected-error @+2 {{expected a map with a key axis but got axes 'head, q'}}
// expected-note @+1 {{'smooth' is a centred mean along 'k'}}
%0 = skim.smooth %a, %n : (!skim.map<head, q : f32>, !skim.map<: index>) -> !skim.map<head, q : f32>

// -----

// smooth_c2
%a = skim.input "a" : !skim.map<k : f32>
%n = skim.constant 4 : index -> !skim.map<: index>
// expected-error @+2 {{expected an odd, positive width but got 4}}
// expected-note @+1 {{a centred mean has as many cells before as behind}}
%0 = skim.smooth %a, %n : (!skim.map<k : f32>, !skim.map<: index>) -> !skim.map<k : f32>

// -----

// smooth_c3
%a = skim.input "a" : !skim.map<k : f32>
%n = skim.uniform head : !skim.map<head : index>
// expected-error @+1 {{expected result type '!skim.map<head, k : f32>' but got '!skim.map<k : f32>'}}
%0 = skim.smooth %a, %n : (!skim.map<k : f32>, !skim.map<head : index>) -> !skim.map<k : f32>

// -----

// reduce_c1
%a = skim.input "a" : !skim.map<k / 48 : f32>
// expected-error @+2 {{cannot coarsen 'k / 48' into 'k / 128': 48 does not divide 128}}
// expected-note @+1 {{choose a multiple, such as 'k / 144'}}
%0 = skim.reduce sum %a : !skim.map<k / 48 : f32> -> !skim.map<k / 128 : f32>

// -----

// reduce_c2
%a = skim.input "a" : !skim.map<q, k / 2 : f32>
// expected-error @+2 {{cannot gather axes 'q, k / 2' into 'q - k'}}
// expected-note @+1 {{diagonals are gathered from a map with the axes 'q' and 'k', without blocks}}
%0 = skim.reduce sum %a : !skim.map<q, k / 2 : f32> -> !skim.map<q - k : f32>

// -----

// reduce_c3
%a = skim.input "a" : !skim.map<k : f32>
// expected-error @+1 {{the map has no axis to coarsen into 'q / 2'}}
%0 = skim.reduce sum %a : !skim.map<k : f32> -> !skim.map<q / 2 : f32>

// -----

// reduce_c3
%a = skim.input "a" : !skim.map<kv_head, k : f32>
// expected-error @+1 {{the map has no 'head' axis to keep}}
%0 = skim.reduce sum %a : !skim.map<kv_head, k : f32> -> !skim.map<head : f32>

// -----

// reduce_c3
%a = skim.input "a" : !skim.map<k : f32>
// expected-error @+1 {{nothing to reduce: the map has the axes 'k' already}}
%0 = skim.reduce sum %a : !skim.map<k : f32> -> !skim.map<k : f32>

// -----

// reduce_c4
%a = skim.input "a" : !skim.map<k : index>
// expected-error @+1 {{cannot take the mean of index}}
%0 = skim.reduce mean %a : !skim.map<k : index> -> !skim.map<k / 2 : index>

// -----

// where_c1
%a = skim.input "a" : !skim.map<q / 64, k / 64 : f32>
%near = skim.affine_set affine_set<(q, k) : (k - q + 63 >= 0)> () : () -> !skim.set<q - k>
// expected-error @+2 {{the set changes within a cell of the map: the map has axes 'q / 64, k / 64' and the set 'q - k'}}
// expected-note @+1 {{round it up: 'cover(q / 64, k / 64, ...)'}}
%0 = skim.where %a, %near : (!skim.map<q / 64, k / 64 : f32>, !skim.set<q - k>) -> !skim.map<q / 64, k / 64 : f32>

// -----

// where_c1
%a = skim.input "a" : !skim.map<k / 64 : f32>
%tokens = skim.input_list "tokens" : !skim.set<k>
// expected-error @+2 {{the set changes within a cell of the map: the map has axes 'k / 64' and the set 'k'}}
// expected-note @+1 {{restrict the map before its cells are joined}}
%0 = skim.where %a, %tokens : (!skim.map<k / 64 : f32>, !skim.set<k>) -> !skim.map<k / 64 : f32>

// -----

// where_c2
%a = skim.input "a" : !skim.map<k : f32>
%blocks = skim.input_list "blocks" : !skim.set<q / 64, k / 64>
// expected-error @+1 {{expected result type '!skim.map<q / 64, k : f32>' but got '!skim.map<k : f32>'}}
%0 = skim.where %a, %blocks : (!skim.map<k : f32>, !skim.set<q / 64, k / 64>) -> !skim.map<k : f32>

// -----

//===-- Sets ------------------------------------------------------------------------------------===//

// affine_set_c1
// expected-error @+1 {{expected a set (q, k)[symbols] with 0 symbols but got 2 dimensions and 1 symbols}}
%0 = skim.affine_set affine_set<(q, k)[s0] : (q - s0 >= 0)> () : () -> !skim.set<q>

// -----

// affine_set_c2
%n = skim.constant 4 : index -> !skim.map<: index>
// expected-error @+1 {{expected quasi-affine constraints: factors must be constants, divisors positive ones}}
%0 = skim.affine_set affine_set<(q, k)[s0] : (q mod s0 == 0)> (%n) : (!skim.map<: index>) -> !skim.set<q>

// -----

// affine_set_c2
// expected-error @+1 {{expected quasi-affine constraints: factors must be constants, divisors positive ones}}
%0 = skim.affine_set affine_set<(q, k) : (k floordiv -2 >= 0)> () : () -> !skim.set<k>

// -----

// affine_set_c3
// expected-error @+1 {{expected result type '!skim.set<q - k>', or a finer one, but got '!skim.set<k>'}}
%0 = skim.affine_set affine_set<(q, k) : (q - k >= 0)> () : () -> !skim.set<k>

// -----

// compare_c1
%n = skim.constant 4 : index -> !skim.map<: index>
%x = skim.constant 4.0 : f32 -> !skim.map<: f32>
// expected-error @+1 {{expected equal element types but got index and f32}}
%0 = skim.compare lt %n, %x : (!skim.map<: index>, !skim.map<: f32>) -> !skim.set<>

// -----

// compare_c2
%a = skim.input "a" : !skim.map<k / 64 : f32>
%b = skim.input "b" : !skim.map<k / 128 : f32>
// expected-error @+2 {{expected equal block sizes but got 'k / 64' and 'k / 128'}}
// expected-note @+1 {{coarsen the finer side with 'into: k / 128'}}
%0 = skim.compare lt %a, %b : (!skim.map<k / 64 : f32>, !skim.map<k / 128 : f32>) -> !skim.set<k / 64>

// -----

// compare_c3
%a = skim.input "a" : !skim.map<k / 64 : index>
%b = skim.input "b" : !skim.map<k / 96 : index>
// expected-error @+1 {{expected result type '!skim.set<k / 32>' but got '!skim.set<k / 64>'}}
%0 = skim.compare lt %a, %b : (!skim.map<k / 64 : index>, !skim.map<k / 96 : index>) -> !skim.set<k / 64>

// -----

// as_set_c1
%a = skim.input "a" : !skim.map<k / 64 : bool>
// expected-error @+1 {{expected result type '!skim.set<k / 64>' but got '!skim.set<k>'}}
%0 = skim.as_set %a : !skim.map<k / 64 : bool> -> !skim.set<k>

// -----

// top_k_c1
%a = skim.input "a" : !skim.map<head, q : f32>
%n = skim.constant 4 : index -> !skim.map<: index>
// expected-error @+2 {{no axis to select along: the map has axes 'head, q', neither 'k' nor 'q - k'}}
// expected-note @+1 {{keep a key axis when you reduce, as in 'sum(p, over: q)'}}
%0 = skim.top_k %a, %n : (!skim.map<head, q : f32>, !skim.map<: index>) -> !skim.set<head, q>

// -----

// top_k_c2
%a = skim.input "a" : !skim.map<k : f32>
%n = skim.uniform kv_head : !skim.map<kv_head : index>
// expected-error @+1 {{expected result type '!skim.set<kv_head, k>' but got '!skim.set<k>'}}
%0 = skim.top_k %a, %n : (!skim.map<k : f32>, !skim.map<kv_head : index>) -> !skim.set<k>

// -----

// top_p_c1
%a = skim.input "a" : !skim.map<head, q : f32>
%x = skim.constant 0.5 : f32 -> !skim.map<: f32>
// expected-error @+2 {{no axis to select along: the map has axes 'head, q', neither 'k' nor 'q - k'}}
// expected-note @+1 {{keep a key axis when you reduce}}
%0 = skim.top_p %a, %x : (!skim.map<head, q : f32>, !skim.map<: f32>) -> !skim.set<head, q>

// -----

// top_p_c2
%a = skim.input "a" : !skim.map<q - k : f32>
%x = skim.constant 0.5 : f32 -> !skim.map<: f32>
// expected-error @+1 {{expected result type '!skim.set<q - k>' but got '!skim.set<q, k>'}}
%0 = skim.top_p %a, %x : (!skim.map<q - k : f32>, !skim.map<: f32>) -> !skim.set<q, k>

// -----

// cover_c1
%tokens = skim.input_list "tokens" : !skim.set<k>
// expected-error @+1 {{attribute 'key' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
%0 = skim.cover %tokens key 0 : !skim.set<k> -> !skim.set<q, k>

// -----

// cover_c2
%tokens = skim.input_list "tokens" : !skim.set<k>
// expected-error @+1 {{expected result type '!skim.set<q, k / 16>' but got '!skim.set<k / 16>'}}
%0 = skim.cover %tokens key 16 : !skim.set<k> -> !skim.set<k / 16>

// -----

// and_c1
// expected-error @+1 {{expected at least one set}}
%0 = "skim.and"() : () -> !skim.set<>

// -----

// and_c2
%a = skim.input_list "a" : !skim.set<k / 64>
%b = skim.input_list "b" : !skim.set<k / 96>
// expected-error @+1 {{expected result type '!skim.set<k / 32>', or a finer one, but got '!skim.set<k / 64>'}}
%0 = skim.and %a, %b : (!skim.set<k / 64>, !skim.set<k / 96>) -> !skim.set<k / 64>

// -----

// or_c1
// expected-error @+1 {{expected at least one set}}
%0 = "skim.or"() : () -> !skim.set<>

// -----

// or_c2
%a = skim.input_list "a" : !skim.set<k / 64>
%near = skim.affine_set affine_set<(q, k) : (k - q + 63 >= 0)> () : () -> !skim.set<q - k>
// expected-error @+1 {{expected result type '!skim.set<q, k>', or a finer one, but got '!skim.set<q - k>'}}
%0 = skim.or %a, %near : (!skim.set<k / 64>, !skim.set<q - k>) -> !skim.set<q - k>

// -----

// not_c1
%a = skim.input_list "a" : !skim.set<k / 64>
// expected-error @+1 {{failed to verify that all of {set, result} have same type}}
%0 = "skim.not"(%a) : (!skim.set<k / 64>) -> !skim.set<k>

// -----

// match_c1
%kind = skim.uniform layer : !skim.map<: index>
%a = skim.input_list "a" : !skim.set<k>
// expected-error @+1 {{expected one label for each arm, and at least one, but got 2 labels and 1 arms}}
%0 = skim.match %kind [0, 1] (%a) : (!skim.map<: index>, !skim.set<k>) -> !skim.set<k>

// -----

// match_c2
%kind = skim.uniform layer : !skim.map<: index>
%a = skim.input_list "a" : !skim.set<k>
// expected-error @+2 {{label 3 is listed twice}}
// expected-note @+1 {{labels of a 'match' are distinct}}
%0 = skim.match %kind [3, 3] (%a, %a) : (!skim.map<: index>, !skim.set<k>, !skim.set<k>) -> !skim.set<k>

// -----

// match_c3
%kind = skim.uniform head : !skim.map<head : index>
%a = skim.input_list "a" : !skim.set<k>
// expected-error @+1 {{expected result type '!skim.set<head, k>' but got '!skim.set<k>'}}
%0 = skim.match %kind [3] (%a) : (!skim.map<head : index>, !skim.set<k>) -> !skim.set<k>

// -----

// Operands of the wrong kind are refused by the types that the operations state.
%a = skim.input "a" : !skim.map<q : f32>
// expected-error @+1 {{operand #0 must be map of vectors, but got '!skim.map<q : f32>'}}
%0 = skim.dot %a, %a visible all : (!skim.map<q : f32>, !skim.map<q : f32>) -> !skim.map<q : f32>
