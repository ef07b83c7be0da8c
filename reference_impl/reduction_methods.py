"""PyTorch's names of the operators that compute along dimensions: reductions, scans, sorting, counting."""

from . import (
    differences,
    distances,
    extremes,
    moments,
    nan_reductions,
    norms,
    order_statistics,
    reductions,
    scans,
    searching,
)


class ReductionMethods:
    """The part of `Tensor` that reduces, scans, sorts and counts. Source: facts 4.4, torch 2.13."""

    __slots__ = ()

    sum = reductions.sum
    prod = reductions.prod
    mean = reductions.mean
    amax = extremes.amax
    amin = extremes.amin
    max = extremes.max
    min = extremes.min
    argmax = extremes.argmax
    argmin = extremes.argmin
    all = reductions.all
    any = reductions.any
    var = moments.var
    std = moments.std
    norm = norms.norm_of
    logsumexp = reductions.logsumexp
    count_nonzero = reductions.count_nonzero
    hash_tensor = reductions.hash_tensor
    aminmax = extremes.aminmax

    cumsum = scans.cumsum
    cumprod = scans.cumprod
    cummax = scans.cummax
    cummin = scans.cummin
    softmax = scans.softmax
    log_softmax = scans.log_softmax
    sort = scans.sort
    argsort = scans.argsort
    topk = scans.topk
    flip = scans.flip
    fliplr = scans.fliplr
    flipud = scans.flipud
    roll = scans.roll
    rot90 = scans.rot90
    cumsum_ = scans.cumsum_
    cumprod_ = scans.cumprod_

    median = order_statistics.median
    nanmedian = order_statistics.nanmedian
    kthvalue = order_statistics.kthvalue
    mode = order_statistics.mode
    quantile = order_statistics.quantile
    nanquantile = order_statistics.nanquantile
    msort = order_statistics.msort

    nansum = nan_reductions.nansum
    nanmean = nan_reductions.nanmean

    logcumsumexp = scans.logcumsumexp
    dist = distances.dist
    diff = differences.diff
    cov = moments.cov
    corrcoef = moments.corrcoef
    renorm = norms.renorm

    unique = searching.unique
    unique_consecutive = searching.unique_consecutive
    histc = searching.histc
    bincount = searching.bincount
    histogram = searching.histogram

    renorm_ = norms.renorm_
