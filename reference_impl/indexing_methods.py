"""PyTorch's names of the operators that gather, scatter, join and repeat elements."""

from . import advanced_indexing, combining, index_ops, index_writes, joining, scatter_reduction, triangles


class IndexingMethods:
    """The part of `Tensor` that moves elements from place to place. Source: facts 4, torch 2.13."""

    __slots__ = ()

    tile = joining.tile
    repeat_interleave = joining.repeat_interleave
    diag = joining.diag
    diag_embed = joining.diag_embed
    repeat = joining.repeat

    index_select = index_ops.index_select
    gather = index_ops.gather
    take_along_dim = index_ops.take_along_dim
    take = index_ops.take
    masked_select = index_ops.masked_select
    masked_fill = index_ops.masked_fill
    masked_scatter = index_ops.masked_scatter
    masked_fill_ = index_ops.masked_fill_
    masked_scatter_ = index_ops.masked_scatter_

    index_fill = index_writes.index_fill
    index_copy = index_writes.index_copy
    index_add = index_writes.index_add
    scatter = index_writes.scatter
    scatter_add = index_writes.scatter_add
    index_fill_ = index_writes.index_fill_
    index_copy_ = index_writes.index_copy_
    index_add_ = index_writes.index_add_
    scatter_ = index_writes.scatter_
    scatter_add_ = index_writes.scatter_add_

    tril = triangles.tril
    triu = triangles.triu
    fill_diagonal_ = triangles.fill_diagonal_
    tril_ = triangles.tril_
    triu_ = triangles.triu_

    nonzero = advanced_indexing.nonzero
    argwhere = advanced_indexing.argwhere
    index_put = advanced_indexing.index_put
    index_put_ = advanced_indexing.index_put_

    put_ = index_writes.put_
    put = index_writes.put
    nonzero_static = advanced_indexing.nonzero_static

    scatter_reduce = scatter_reduction.scatter_reduce
    scatter_reduce_ = scatter_reduction.scatter_reduce_
    index_reduce = scatter_reduction.index_reduce
    index_reduce_ = scatter_reduction.index_reduce_

    diagflat = combining.diagflat
