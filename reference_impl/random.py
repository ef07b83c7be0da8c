"""What PyTorch has in its module of this name: the seed and the state of all random numbers."""

from .generator import default_generator as default_generator
from .generator import fork_rng as fork_rng
from .generator import get_rng_state as get_rng_state
from .generator import initial_seed as initial_seed
from .generator import manual_seed as manual_seed
from .generator import seed as seed
from .generator import set_rng_state as set_rng_state
