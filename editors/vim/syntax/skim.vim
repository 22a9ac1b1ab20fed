" Colours of Skim patterns.
if exists("b:current_syntax")
  finish
endif

syn case match

syn keyword skimDeclaration pattern let input nextgroup=skimDeclared skipwhite
syn match skimDeclared contained "\<\h\w*\>"
syn keyword skimImport import
syn keyword skimModifier constexpr
syn keyword skimClause keep rest skip logit sink_logit dense when compact noncausal
syn keyword skimOperator and or not where match
syn keyword skimBoolean true false

" Names of types are words of the language behind a colon only.
syn match skimType ":\s*\zs\<\%(index\|f32\|bool\|vec\|list\)\>"
syn match skimClause "\%(\<rest\s\+\)\@<=\%(drop\|mean\)\>"
syn match skimClause "\<under\s\+max\>"

syn keyword skimValue q k Q K V q_len kv_len layer head kv_head s
syn keyword skimAxis group heads
" Functions and named arguments are such before what follows them.
syn match skimFunction "\<\%(dot\|linear\|last\|bf16\|fp8\|int8\|int4\|exp\|log\|tanh\|relu\|abs\|softmax\|smooth\|sum\|mean\|var\|max\|min\|top_k\|top_p\|cover\)\>\ze\s*("
syn match skimArgument "\<\%(over\|into\|scale\|visible\)\>\ze\s*:"
syn match skimConstant "\%(\<visible\s*:\s*\)\@<=\%(all\|any\)\>"

syn match skimNumber "\<\d\+\%(\.\d*\)\?\%([eE][+-]\?\d\+\)\?\>"
syn region skimString start=+"+ end=+"+ oneline
syn match skimComment "//.*$" contains=@Spell

hi def link skimDeclaration Statement
hi def link skimDeclared Identifier
hi def link skimImport Include
hi def link skimModifier StorageClass
hi def link skimClause Statement
hi def link skimOperator Operator
hi def link skimBoolean Boolean
hi def link skimType Type
hi def link skimValue Constant
hi def link skimAxis Constant
hi def link skimFunction Function
hi def link skimArgument Label
hi def link skimConstant Constant
hi def link skimNumber Number
hi def link skimString String
hi def link skimComment Comment

let b:current_syntax = "skim"
