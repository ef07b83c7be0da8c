"""`torch.linalg`: products, norms, factorisations and solutions by name."""

# ruff: noqa: F401

from .matrices import cholesky as cholesky
from .matrices import cholesky_ex as cholesky_ex
from .matrices import det as det
from .matrices import diagonal as diagonal
from .matrices import eig as eig
from .matrices import eigh as eigh
from .matrices import eigvals as eigvals
from .matrices import eigvalsh as eigvalsh
from .matrices import householder_product as householder_product
from .matrices import inv as inv
from .matrices import inv_ex as inv_ex
from .matrices import lu as lu
from .matrices import lu_factor as lu_factor
from .matrices import lu_factor_ex as lu_factor_ex
from .matrices import lu_solve as lu_solve
from .matrices import matmul as matmul
from .matrices import matrix_exp as matrix_exp
from .matrices import matrix_power as matrix_power
from .matrices import matrix_rank as matrix_rank
from .matrices import multi_dot as multi_dot
from .matrices import pinv as pinv
from .matrices import qr as qr
from .matrices import slogdet as slogdet
from .matrices import solve as solve
from .matrices import solve_ex as solve_ex
from .matrices import solve_triangular as solve_triangular
from .matrices import svd as svd
from .matrices import svdvals as svdvals
from .matrices import vander as vander
from .matrices import vecdot as vecdot
from .norms import matrix_norm as matrix_norm
from .norms import norm as norm
from .norms import vector_norm as vector_norm
from .searching import linalg_cross as cross
