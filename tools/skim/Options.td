// The options of every subcommand: unit and default stand in each help text, and
// docs/command-line.md has one entry for each (a test compares them).
include "llvm/Option/OptParser.td"

def CompileCommand : OptionVisibility;
def RunCommand : OptionVisibility;
def ShowCommand : OptionVisibility;
def BenchCommand : OptionVisibility;
def EvalCommand : OptionVisibility;
def InspectCommand : OptionVisibility;
def CompletionCommand : OptionVisibility;

class In<list<OptionVisibility> commands> : Visibility<commands>;

// `--name VALUE` and `--name=VALUE`. A help text may be another for some subcommands. `choices`, separated by
// commas, are what shells complete.
multiclass Value<string name, string metavar, string help, list<OptionVisibility> commands,
                 list<HelpTextVariant> variants = [], string choices = ""> {
  def NAME : Separate<["--"], name>, MetaVarName<metavar>, HelpText<help>, In<commands>, Values<choices> {
    let HelpTextsForVariants = variants;
  }
  def NAME #_eq : Joined<["--"], name #"=">, Alias<!cast<Option>(NAME)>, In<commands>;
}

class Switch<string name, string help, list<OptionVisibility> commands>
    : Flag<["--"], name>, HelpText<help>, In<commands>;

// Of all subcommands.
def help : Switch<"help", "print this text and exit", [CompileCommand, RunCommand, ShowCommand, EvalCommand, BenchCommand, InspectCommand, CompletionCommand]>;
def help_short : Flag<["-"], "h">, Alias<help>, In<[CompileCommand, RunCommand, ShowCommand, EvalCommand, BenchCommand, InspectCommand, CompletionCommand]>;

// Of those that take a pattern.
defm pattern : Value<"pattern", "NAME", "the pattern of the file to take (default: the last one)",
                     [CompileCommand, RunCommand, ShowCommand, EvalCommand]>;
defm set : Value<"set", "NAME=VALUE",
                 "value of a parameter; NAME=A,B,... gives one for each query head; may be repeated (default: the pattern's)",
                 [CompileCommand, RunCommand, ShowCommand, EvalCommand]>;

// What to write.
def output : JoinedOrSeparate<["-"], "o">, MetaVarName<"FILE">, In<[CompileCommand, ShowCommand, EvalCommand]>,
             HelpText<"the file to write; - is the standard output (default: - for text, none for bytes)"> {
  let HelpTextsForVariants = [HelpTextVariant<[ShowCommand, EvalCommand], "the picture to write, FILE.svg or FILE.png (show needs it; default of eval: none)">];
}
def output_eq : Joined<["-"], "o=">, Alias<output>, In<[CompileCommand, ShowCommand, EvalCommand]>;
defm target : Value<"target", "TARGET",
                    "cpu (this machine), x86-64-v2, x86-64-v3, x86-64-v4, aarch64 or sm_90a (NVIDIA Hopper); of a bundle several, separated by commas (default: cpu)", [CompileCommand], [], "cpu,x86-64-v2,x86-64-v3,x86-64-v4,aarch64,sm_90a">;
defm emit : Value<"emit", "FORM",
                  "skim, plan, tile, llvm, asm, object, ptx, cubin or bundle (default: object, of sm_90a ptx)", [CompileCommand], [], "skim,plan,tile,llvm,asm,object,ptx,cubin,bundle">;
def report : Switch<"report", "print what the kernels cost, the workspace they need and what results depend on (default: off)", [CompileCommand]>;

// The problem that a pattern is compiled for.
defm query_heads : Value<"query-heads", "N", "query heads (default: the KV heads)", [CompileCommand, ShowCommand]>;
defm kv_heads : Value<"kv-heads", "N", "KV heads; they divide the query heads (default: 1)", [CompileCommand, ShowCommand]>;
defm head_dim : Value<"head-dim", "N", "elements of a query and a key (default: 128)", [CompileCommand]>;
defm value_dim : Value<"value-dim", "N", "elements of a value (default: as --head-dim)", [CompileCommand]>;
defm input_shape : Value<"input-shape", "NAME=AxB",
                         "shape of an input of vectors or of a weight of linear; may be repeated (default: vectors of --head-dim elements, --head-dim rows)",
                         [CompileCommand]>;
defm dtype : Value<"dtype", "TYPE", "element type of q, k and v: bf16, f16 or f32 (default: bf16)", [CompileCommand, EvalCommand], [], "bf16,f16,f32">;
defm out_dtype : Value<"out-dtype", "TYPE", "element type of the output: f32, bf16 or f16 (default: f32)", [CompileCommand], [], "f32,bf16,f16">;
defm page_size : Value<"page-size", "TOKENS", "tokens of a page of the KV cache; 0 is no pages (default: 0)", [CompileCommand]>;

// What to run on.
defm bundle : Value<"bundle", "FILE", "take the kernel from a bundle (default: compile the pattern)", [RunCommand]>;
defm qkv : Value<"qkv", "FILE", "safetensors file with q, k, v, and where the pattern has inputs, these by name (run needs it; default of show: none)", [RunCommand, ShowCommand]>;
defm inputs : Value<"inputs", "FILE", "safetensors file with inputs of the pattern that --qkv does not hold (default: none)", [RunCommand, ShowCommand, EvalCommand],
                    [HelpTextVariant<[EvalCommand], "safetensors file with inputs of the patterns (default: none)">]>;
defm tokens : Value<"tokens", "N", "use the first N tokens of a file with one contiguous request (default: all)", [CompileCommand, RunCommand, ShowCommand, BenchCommand],
                    [HelpTextVariant<[CompileCommand, BenchCommand],
                                     "query tokens of the call that is counted or measured (default: 8192 of compile, 4096 of bench)">]>;
defm device : Value<"device", "DEVICE", "cpu, reference (slow, f64, every pattern) or cuda (default: cpu)", [RunCommand, ShowCommand, EvalCommand],
                    [HelpTextVariant<[ShowCommand, EvalCommand], "cpu or reference (slow, f64, every pattern) (default: cpu)">], "cpu,reference,cuda">;
defm layer : Value<"layer", "N", "the value of `layer` in the pattern (default: 0)", [RunCommand, ShowCommand]>;
defm threads : Value<"threads", "N", "worker threads (default: one for each core)", [CompileCommand, RunCommand, EvalCommand, BenchCommand]>;
defm repeat : Value<"repeat", "N", "run N times and print the median time, in milliseconds (default: 1)", [RunCommand]>;
defm out : Value<"out", "FILE", "write out, lse and what compact gathers as safetensors (default: none)", [RunCommand]>;
def save_kept : Switch<"save-kept", "add to --out the kept relation, uint8 [heads, q tokens, kv tokens]; at most 1 GiB (default: off)", [RunCommand]>;
defm metrics : Value<"metrics", "FILE", "write what the runs were counted as, and compiling, as Prometheus text (default: none)", [RunCommand]>;
defm probe : Value<"probe", "RATE",
                   "with --metrics: run this share of the rows, 0 to 1, dense beside each run, at that share of dense attention's cost (default: 0)",
                   [RunCommand]>;
def no_dense : Switch<"no-dense", "do not run dense attention: no kept mass, no error (default: off)", [RunCommand, ShowCommand, EvalCommand]>;
def json : Switch<"json", "print one JSON object instead of a table (default: off)", [CompileCommand, RunCommand, EvalCommand, BenchCommand, InspectCommand]>;

// What to draw.
defm q_len : Value<"q-len", "TOKENS", "query tokens, where there is no --qkv (default: as --kv-len)", [ShowCommand]>;
defm kv_len : Value<"kv-len", "TOKENS", "key tokens, where there is no --qkv (default: 1024)", [ShowCommand]>;
defm heads : Value<"heads", "A,B,...", "the query heads to draw, by their numbers from 0 (default: the first 16)", [ShowCommand]>;
defm request : Value<"request", "N", "the request of a batch to draw, from 0 (default: 0)", [ShowCommand]>;

// What the model reads, and where the pattern holds.
defm model : Value<"model", "FOLDER", "folder with config.json and model.safetensors (default: examples/model)", [EvalCommand]>;
defm text : Value<"text", "FILE", "the text to read (default: text.txt in the folder of the model)", [EvalCommand]>;
defm context : Value<"context", "TOKENS", "bytes of a prompt, pairs and questions included (default: 8192)", [CompileCommand, EvalCommand],
                     [HelpTextVariant<[CompileCommand], "key tokens of the reported call (default: as --tokens)">]>;
defm prompts : Value<"prompts", "N", "prompts, each of an excerpt of its own (default: 1)", [EvalCommand]>;
defm pairs : Value<"pairs", "N", "key/value pairs hidden in a prompt, each asked for once (default: 16)", [EvalCommand]>;
defm seed : Value<"seed", "N", "seed of excerpts, pairs and places (default: 0)", [EvalCommand]>;
defm mass_rows : Value<"mass-rows", "N", "rows of a prompt over which kept mass is taken, at even distances (default: 8192)", [EvalCommand]>;
defm dense_layers : Value<"dense-layers", "A,B,...", "layers, by their numbers from 0, that run dense attention (default: none)", [EvalCommand]>;
defm dense_heads : Value<"dense-heads", "L:H,...", "query heads, each as LAYER:HEAD from 0, that run dense attention (default: none)", [EvalCommand]>;
defm sweep : Value<"sweep", "NAME=A,B,...", "one point for each value of a parameter; PATTERN.NAME is that of one pattern; may be repeated (default: none)", [EvalCommand]>;

// What to measure, and beside what.
defm repeats : Value<"repeats", "R", "of cpu: measure everything R times, in turns, and print medians (default: 5)", [BenchCommand]>;
defm peer : Value<"peer", "PEER", "torch (PyTorch's attention; of gpu FlashInfer's too, where it is installed) or none (default: torch)", [BenchCommand], [], "torch,none">;
defm python : Value<"python", "FILE", "the Python interpreter that has the peer (default: python3)", [BenchCommand]>;
defm rows : Value<"rows", "TEXT", "of gpu: the rows whose names contain this text (default: all)", [BenchCommand]>;
defm rounds : Value<"rounds", "N", "of gpu: measure everything N times, in turns, and print medians (default: 3)", [BenchCommand]>;
defm keep : Value<"keep", "FOLDER", "of gpu: write kernels, scripts and runtime library there, and run nothing (default: run, from a temporary folder)", [BenchCommand]>;
