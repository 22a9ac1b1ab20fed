// The options of every subcommand: unit and default stand in each help text, and
// docs/command-line.md has one entry for each (a test compares them).
include "llvm/Option/OptParser.td"

def CompileCommand : OptionVisibility;
def RunCommand : OptionVisibility;
def ShowCommand : OptionVisibility;
def BenchCommand : OptionVisibility;

class In<list<OptionVisibility> commands> : Visibility<commands>;

// `--name VALUE` and `--name=VALUE`. A help text may be another for some subcommands.
multiclass Value<string name, string metavar, string help, list<OptionVisibility> commands,
                 list<HelpTextVariant> variants = []> {
  def NAME : Separate<["--"], name>, MetaVarName<metavar>, HelpText<help>, In<commands> {
    let HelpTextsForVariants = variants;
  }
  def NAME #_eq : Joined<["--"], name #"=">, Alias<!cast<Option>(NAME)>, In<commands>;
}

class Switch<string name, string help, list<OptionVisibility> commands>
    : Flag<["--"], name>, HelpText<help>, In<commands>;

// Of all subcommands.
def help : Switch<"help", "print this text and exit", [CompileCommand, RunCommand, ShowCommand, BenchCommand]>;
def help_short : Flag<["-"], "h">, Alias<help>, In<[CompileCommand, RunCommand, ShowCommand, BenchCommand]>;

// Of those that take a pattern.
defm pattern : Value<"pattern", "NAME", "the pattern of the file to take (default: the last one)",
                     [CompileCommand, RunCommand, ShowCommand]>;
defm set : Value<"set", "NAME=VALUE",
                 "value of a parameter; NAME=A,B,... gives one for each query head; may be repeated (default: the pattern's)",
                 [CompileCommand, RunCommand, ShowCommand]>;

// What to write.
def output : JoinedOrSeparate<["-"], "o">, MetaVarName<"FILE">, In<[CompileCommand, ShowCommand]>,
             HelpText<"the file to write; - is the standard output (default of compile: - for text)">;
defm target : Value<"target", "TARGET",
                    "cpu (this machine), x86-64-v2, x86-64-v3, x86-64-v4 or aarch64 (default: cpu)", [CompileCommand]>;
defm emit : Value<"emit", "FORM",
                  "skim, plan, tile, llvm, asm or object (default: object)", [CompileCommand]>;

// The problem that a pattern is compiled for.
defm query_heads : Value<"query-heads", "N", "query heads (default: the KV heads)", [CompileCommand, ShowCommand]>;
defm kv_heads : Value<"kv-heads", "N", "KV heads; they divide the query heads (default: 1)", [CompileCommand, ShowCommand]>;
defm head_dim : Value<"head-dim", "N", "elements of a query and a key (default: 128)", [CompileCommand]>;
defm value_dim : Value<"value-dim", "N", "elements of a value (default: as --head-dim)", [CompileCommand]>;
defm dtype : Value<"dtype", "TYPE", "element type of q, k and v: bf16, f16 or f32 (default: bf16)", [CompileCommand]>;
defm page_size : Value<"page-size", "TOKENS", "tokens of a page of the KV cache; 0 is no pages (default: 0)", [CompileCommand]>;

// What to run on.
defm qkv : Value<"qkv", "FILE", "safetensors file with q, k, v, and where the pattern has inputs, these by name", [RunCommand, ShowCommand]>;
defm inputs : Value<"inputs", "FILE", "safetensors file with inputs of the pattern that --qkv does not hold", [RunCommand, ShowCommand]>;
defm tokens : Value<"tokens", "N", "use the first N tokens of a file with one contiguous request (default: all)", [RunCommand, ShowCommand, BenchCommand],
                    [HelpTextVariant<[BenchCommand], "tokens of the prompt (default: 4096)">]>;
defm device : Value<"device", "DEVICE", "cpu, reference (slow, f64, every pattern) or cuda (default: cpu)", [RunCommand, ShowCommand]>;
defm layer : Value<"layer", "N", "the value of `layer` in the pattern (default: 0)", [RunCommand, ShowCommand]>;
defm threads : Value<"threads", "N", "worker threads (default: one for each core)", [RunCommand, BenchCommand]>;
defm repeat : Value<"repeat", "N", "run N times and print the median time (default: 1)", [RunCommand]>;
defm out : Value<"out", "FILE", "write out and lse as safetensors", [RunCommand]>;
def save_kept : Switch<"save-kept", "add to --out the kept relation, uint8 [heads, q tokens, kv tokens]; at most 1 GiB", [RunCommand]>;
def no_dense : Switch<"no-dense", "do not run dense attention: no kept mass, no error", [RunCommand, ShowCommand]>;
def json : Switch<"json", "print one JSON object instead of a table", [RunCommand, BenchCommand]>;

// What to draw.
defm q_len : Value<"q-len", "TOKENS", "query tokens, where there is no --qkv (default: as --kv-len)", [ShowCommand]>;
defm kv_len : Value<"kv-len", "TOKENS", "key tokens, where there is no --qkv (default: 1024)", [ShowCommand]>;
defm heads : Value<"heads", "A,B,...", "the query heads to draw (default: the first 16)", [ShowCommand]>;
defm request : Value<"request", "N", "the request of a batch to draw (default: 0)", [ShowCommand]>;

// What to measure, and beside what.
defm repeats : Value<"repeats", "R", "measure everything R times, in turns, and print medians (default: 5)", [BenchCommand]>;
defm peer : Value<"peer", "PEER", "torch (PyTorch's scaled_dot_product_attention) or none (default: torch)", [BenchCommand]>;
defm python : Value<"python", "FILE", "the Python interpreter that has the peer (default: python3)", [BenchCommand]>;
