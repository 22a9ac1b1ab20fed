// Kernels, and what their scheduler and loaders do.
#ifndef SKIM_CODEGEN_NVVM_HOPPEROPS_TD
#define SKIM_CODEGEN_NVVM_HOPPEROPS_TD

include "codegen/nvvm/HopperConsumerOps.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Hopper_KernelOp : Hopper_Op<"kernel",
    [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "one kernel, divided among roles";
  let description = [{
    `page_size` is that of the cache, 0 for contiguous keys and values. With `gather_keys` in its schedule, the scheduler publishes keys (`hopper.publish_keys`), and a visit may be a
    list of keys. `key_norms` is the workspace buffer that has, for each request and KV head, the largest sum of squares of a key, 0 where it is not known.

    Constraints:

    - kernel_c1: the body is one `hopper.role` of each kind in this order: scheduler, loader, value_loader where there is one, consumer.
    - kernel_c2: a tile has 64 rows for each consumer, of which there are 1 to 3: `rows` of the schedule, with items of KV heads for each query head of a group. `keys` is a
      multiple of 16 up to 256; `stages` is a power of two.
    - kernel_c3: `producer_registers` p and `consumer_registers` c of the schedule are multiples of 8 from 24 to 255, and fit into what the block starts with:
      `128 * p + 128 * consumers * c <= t * (min(255, 65536 / t) rounded down to a multiple of 8)` for t threads.
    - kernel_c4: the rings fit into 232,448 bytes of shared memory.
    - kernel_c5: with `gather_keys`, `keys` is a power of two from 32 to 128.
    - kernel_c6: `copy_rows` stands in the schedule unless `page_size` is 0 or a power of two of at least 8: a tensor map describes no other pages.
    - kernel_c7: awaited tiles hold the rows of a tile, or `keys` keys or values of as many stages as the schedule, of the operands' type. Where 64 divides the columns,
      their swizzle is 128 bytes wide, else 64 bytes.

    Example:

    ```mlir
    hopper.kernel @attention attributes {
        problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = bf16>,
        schedule = #tile.schedule<rows = 192, keys = 64, stages = 2, consumers = 3, producer_registers = 56, consumer_registers = 152>,
        items = #tile.items<head = query, axis = queries>} {
      hopper.role scheduler {
      ^bb0(%item: !tile.item):
      }
      hopper.role loader {
      ^bb0(%item: !tile.item):
        hopper.copy_queries %item
      }
      hopper.role consumer {
      ^bb0(%item: !tile.item):
        %q = hopper.await_queries %item : !tile.shared<192x128xbf16, swizzle = 128>
        hopper.release_queries %item
      }
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name, Tile_ProblemAttr:$problem, Tile_ScheduleAttr:$schedule, Tile_ItemsAttr:$items,
    DefaultValuedAttr<Tile_I64<0>, "0">:$page_size, OptionalAttr<Tile_I64<0>>:$key_norms);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::skim::hopper::RoleOp getRole(::skim::hopper::Role kind);
  }];
}

def Hopper_RoleOp : Hopper_Op<"role", [HasParent<"KernelOp">, SingleBlock, NoTerminator]> {
  let summary = "what one group of warps does for each work item";
  let description = [{
    The body runs once for each work item, with the item as its argument. All roles meet the same items in the same order.

    Constraint role_c1: the body has one argument, of type `!tile.item`.

    Example: see `hopper.kernel`.
  }];
  let arguments = (ins Hopper_RoleAttr:$role);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$role $body attr-dict";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getItem() { return getBody().getArgument(0); }
  }];
}

def Hopper_PublishOp : Hopper_Op<"publish"> {
  let summary = "hand a visit to the loaders and the consumers";
  let description = [{
    Stands in the body of the scheduler's `tile.for_each_visit`.

    Example:

    ```mlir
    hopper.publish %visit
    ```
  }];
  let arguments = (ins Tile_Visit:$visit);
  let assemblyFormat = "$visit attr-dict";
}

def Hopper_PublishKeysOp : Hopper_Op<"publish_keys"> {
  let summary = "hand the kept keys of a visit to the loaders and the consumers";
  let description = [{
    Stands in the body of the scheduler's `tile.for_each_visit`, in place of `hopper.publish`. Let S be the keys of the visit's tile that some row keeps, in so far as
    the literals of the walk tell, and n the `keys` of the schedule.

    - Where an interval without literals holds the tile, or S has more than n / 2 keys, the tile is published as `hopper.publish` does, but see below.
    - Else the positions in S are appended to the item's list. When the list has n positions, they become a visit, whose keys they are; at the end of the item,
      what is left becomes one with fewer keys. Such a visit needs its mask where a literal does not hold for all rows at one of its keys.

    Tiles are walked in ascending order, so that which keys share a list does not depend on the keys behind them; and a tile that holds positions of the item's own rows is
    always listed, since how many keys of it exist depends on where the batch ends.

    Constraint publish_keys_c1: the schedule of the kernel has `gather_keys`.

    Example:

    ```mlir
    hopper.publish_keys %visit
    ```
  }];
  let arguments = (ins Tile_Visit:$visit);
  let assemblyFormat = "$visit attr-dict";
  let hasVerifier = 1;
}

def Hopper_CountOp : Hopper_Op<"count"> {
  let summary = "one more visit of its item";
  let description = [{
    Stands in the body of a `tile.for_each_visit` of a program that only counts: how often it is met is written to the work item, and the runtime hands the items of
    attention out in the order of these numbers.

    Example:

    ```mlir
    hopper.count %visit
    ```
  }];
  let arguments = (ins Tile_Visit:$visit);
  let assemblyFormat = "$visit attr-dict";
}

def Hopper_CopyQueriesOp : Hopper_Op<"copy_queries"> {
  let summary = "start to copy the query rows of an item into a slot of their ring";
  let description = [{
    `slot[r, i] = query[tile * rows + r, head, i]`, with items of KV heads `slot[h * rows + r, i] = query[tile * rows + r, kv_head * group + h, i]`. Rows that are not of
    the request hold anything: no result depends on them.

    Example:

    ```mlir
    hopper.copy_queries %item
    ```
  }];
  let arguments = (ins Tile_Item:$item);
  let assemblyFormat = "$item attr-dict";
}

def Hopper_CopyOp : Hopper_Op<"copy"> {
  let summary = "start to copy keys or values of a visit into a slot of their ring";
  let description = [{
    `slot[j, i] = operand[first key + j, kv_head, i]`, or `operand[positions[j], kv_head, i]` where the visit is a list of keys; of block means, those that `tile.pool` wrote. Keys that
    do not exist hold anything; values that do not exist are 0, so that a weight of 0 removes them.

    Example:

    ```mlir
    hopper.copy keys %visit number %n
    ```
  }];
  let arguments = (ins Tile_Operand:$operand, Tile_Visit:$visit, I32:$number);
  let assemblyFormat = "$operand $visit `number` $number attr-dict";
}

def Hopper_ForEachPublishedOp : Hopper_Op<"for_each_published", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "the published visits of an item, in order";
  let description = [{
    The body's arguments are the visit, its number and what is carried.

    Constraint for_each_published_c1: the body takes a `!tile.visit`, an `i32` and the types of `carry`, and yields these types.

    Example:

    ```mlir
    hopper.for_each_published of %item {
    ^bb0(%visit: !tile.visit, %n: i32):
      hopper.copy keys %visit number %n
      tile.yield
    }
    ```
  }];
  let arguments = (ins Tile_Item:$item, Variadic<AnyType>:$carry);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`of` $item (`carry` `(` $carry^ `:` qualified(type($carry)) `)`)? (`->` qualified(type($results))^)? $body attr-dict";
  let hasRegionVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$item, "::mlir::ValueRange":$carry), [{
    build($_builder, $_state, carry.getTypes(), item, carry);
  }]>];
}

def Hopper_PooledVisitOp : Hopper_Op<"pooled_visit"> {
  let summary = "whether a published visit is one of block means, and that visit";
  let description = [{
    Stands in the body of a `hopper.for_each_published` whose visits are of two sources: tokens, and block means. `means` is the visit where `pooled` is true; `visit` itself is
    one of tokens.

    Constraint pooled_visit_c1: the source is pooled.

    Example:

    ```mlir
    %pooled, %means = hopper.pooled_visit %visit of %item source #tile.source<pooled keys = 0, values = 1, block = 128>
    ```
  }];
  let arguments = (ins Tile_Visit:$visit, Tile_Item:$item, Tile_SourceAttr:$source);
  let results = (outs I1:$pooled, Tile_Visit:$means);
  let assemblyFormat = "$visit `of` $item `source` qualified($source) attr-dict";
  let hasVerifier = 1;
}

def Hopper_HasVisitsOp : Hopper_Op<"has_visits"> {
  let summary = "whether the item visits any tile";
  let description = [{
    Example:

    ```mlir
    %any = hopper.has_visits %item
    ```
  }];
  let arguments = (ins Tile_Item:$item);
  let results = (outs I1:$any);
  let assemblyFormat = "$item attr-dict";
}

def Hopper_NextVisitOp : Hopper_Op<"next_visit"> {
  let summary = "wait for the keys of the next published visit";
  let description = [{
    Gives the visit's number, its first key, how many keys of it exist, whether it needs its mask, whether it is the item's last, and whether it is one of block means, of which its
    first key is the first; and in kernels that gather keys where the positions of its keys lie in shared memory, in bytes from its start, or 0 where they are consecutive. Positions
    stay there until the keys of the visit after the next are asked for. There must be a next visit.

    Constraint next_visit_c1: it gives positions where the schedule of the kernel has `gather_keys`, and nowhere else.

    Example:

    ```mlir
    %n, %first, %count, %masked, %last, %pooled = hopper.next_visit of %item
    ```

    Where keys are gathered:

    ```mlir
    %n, %first, %count, %masked, %last, %pooled, %positions = hopper.next_visit of %item listed i32
    ```
  }];
  let arguments = (ins Tile_Item:$item);
  let results = (outs I32:$number, Index:$first_key, Index:$count, I1:$masked, I1:$last, I1:$pooled, Optional<I32>:$positions);
  let assemblyFormat = "`of` $item (`listed` type($positions)^)? attr-dict";
  let hasVerifier = 1;
}

#endif // SKIM_CODEGEN_NVVM_HOPPEROPS_TD
