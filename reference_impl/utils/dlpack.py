"""PyTorch's older path to its functions for DLPack."""

from ..dlpack import DLDeviceType as DLDeviceType
from ..dlpack import from_dlpack as from_dlpack
from ..dlpack import to_dlpack as to_dlpack
