"""PyTorch's names of products, decompositions, solvers and transforms."""

from . import (
    combining,
    contraction,
    factorizations,
    joining,
    linear_algebra,
    matrices,
    products,
    short_time_fourier,
    solving,
)


class LinearAlgebraMethods:
    """The part of `Tensor` that multiplies, takes apart and transforms. Source: torch 2.13."""

    __slots__ = ()

    trace = joining.trace

    mm = linear_algebra.mm
    bmm = linear_algebra.bmm
    mv = linear_algebra.mv
    dot = linear_algebra.dot
    vdot = linear_algebra.vdot
    addmm = linear_algebra.addmm
    baddbmm = linear_algebra.baddbmm
    addmv = linear_algebra.addmv
    addmv_ = linear_algebra.addmv_
    baddbmm_ = linear_algebra.baddbmm_
    addmm_ = linear_algebra.addmm_

    outer = products.outer
    matmul = products.matmul
    __matmul__ = products.matmul
    __rmatmul__ = products.rmatmul
    ger = products.ger

    inner = contraction.inner

    addr = products.addr

    cross = products.cross

    kron = combining.kron

    svd = factorizations.old_svd
    geqrf = factorizations.geqrf
    orgqr = factorizations.orgqr
    ormqr = factorizations.ormqr
    lu = factorizations.lu_with_info
    inverse = solving.inverse
    cholesky = factorizations.old_cholesky
    qr = factorizations.old_qr
    det = matrices.old_det
    slogdet = matrices.old_slogdet
    logdet = matrices.logdet
    triangular_solve = solving.triangular_solve
    cholesky_solve = solving.cholesky_solve
    cholesky_inverse = solving.cholesky_inverse
    lu_solve = solving.old_lu_solve
    matrix_power = matrices.matrix_power
    matrix_exp = matrices.matrix_exp
    pinverse = solving.pinverse

    addr_ = products.addr_
    addbmm = products.addbmm
    addbmm_ = products.addbmm_

    stft = short_time_fourier.stft
    istft = short_time_fourier.istft
