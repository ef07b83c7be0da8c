"""`torch.linalg`: products, norms, factorisations and solutions by name."""

# ruff: noqa: F401

from .calls import add_numpy_names as _add_numpy_names
from .factorizations import cholesky as cholesky
from .factorizations import cholesky_ex as cholesky_ex
from .factorizations import eig as eig
from .factorizations import eigh as eigh
from .factorizations import eigvals as eigvals
from .factorizations import eigvalsh as eigvalsh
from .factorizations import householder_product as householder_product
from .factorizations import ldl_factor as ldl_factor
from .factorizations import ldl_factor_ex as ldl_factor_ex
from .factorizations import lu as lu
from .factorizations import lu_factor as lu_factor
from .factorizations import lu_factor_ex as lu_factor_ex
from .factorizations import qr as qr
from .factorizations import svd as svd
from .factorizations import svdvals as svdvals
from .least_squares import cond as cond
from .least_squares import lstsq as lstsq
from .least_squares import tensorinv as tensorinv
from .least_squares import tensorsolve as tensorsolve
from .matrices import det as det
from .matrices import diagonal as diagonal
from .matrices import matmul as matmul
from .matrices import matrix_exp as matrix_exp
from .matrices import matrix_power as matrix_power
from .matrices import matrix_rank as matrix_rank
from .matrices import multi_dot as multi_dot
from .matrices import slogdet as slogdet
from .matrices import vander as vander
from .matrices import vecdot as vecdot
from .norms import matrix_norm as matrix_norm
from .norms import norm as norm
from .norms import vector_norm as vector_norm
from .products import linalg_cross as cross
from .solving import inv as inv
from .solving import inv_ex as inv_ex
from .solving import ldl_solve as ldl_solve
from .solving import lu_solve as lu_solve
from .solving import pinv as pinv
from .solving import solve as solve
from .solving import solve_ex as solve_ex
from .solving import solve_triangular as solve_triangular

_add_numpy_names(globals())
