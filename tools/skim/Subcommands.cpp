#include "tools/skim/Subcommands.h"

namespace skim::tool {

namespace {

constexpr Subcommand table[] = {
    {"compile", CompileCommand, compile,
     "compile a pattern: intermediate forms, assembly, object, bundle"},
    {"run", RunCommand, runPattern, "run a pattern over Q/K/V and compare it with dense attention"},
    {"show", ShowCommand, show, "draw what a pattern keeps, as SVG or PNG"},
    {"eval", EvalCommand, evaluate,
     "run a small language model under patterns: what they cost in quality"},
    {"inspect", InspectCommand, inspect, "print what a bundle holds"},
    {"bench", BenchCommand, bench,
     "measure attention on this machine, beside another implementation"},
    {"completion", CompletionCommand, completion,
     "print what makes a shell complete subcommands and options"},
};

} // namespace

llvm::ArrayRef<Subcommand> subcommands() { return table; }

} // namespace skim::tool
